"""A talk of a real client, put on a diet and forged by the commands, and resumed by the same client (spec W1, W2, W7)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from companion.tests.consoles import manage, short_folder
from sessions.core.rehearsal import difference, expected, sent
from sessions.gateways.claude_client import Client
from sessions.tests.realclient.api import Json, contents, refusal
from sessions.tests.realclient.clients import MODEL
from sessions.tests.realclient.talks import FORGETFUL, PICTURE, QUEUED, TOOLS, Talk, finished

pytestmark = [pytest.mark.realclient, pytest.mark.processes]
AFTER = "after the cut: 还在吗"
HANDOFF = "# 交接\n\nWe water the mint together. HANDOFF-WORDS"
# What stays, by cue, in order. A forge is told to begin with the fourth turn.
KEPT = {
    "diet": ["leaves", "diary", "picture", "forbidden", "waiting", "twice", "good night"],
    "forge": ["forbidden", "waiting", "twice", "good night"],
}


@dataclass(frozen=True)
class Cut:
    """A run of the product and what the client then did with the new file."""

    kind: str
    talk: Talk
    document: Json
    planned: list[bytes]
    resumed: bytes
    session: str
    code: int
    bodies: list[Json]
    refusals: list[str]
    is_source_untouched: bool

    @property
    def target(self) -> str:
        return str(self.document["target"]["session_id"])

    @property
    def request(self) -> Json:
        (body,) = self.bodies
        return body

    def blocks(self, kind: str) -> list[Json]:
        return [part for message in self.request["messages"] for part in contents(message) if part["type"] == kind]

    def texts(self) -> list[str]:
        """The words of the request, block by block, without white space at the ends."""
        return [part["text"].strip() for part in self.blocks("text")]


@pytest.fixture(scope="module")
def talk(client: Client, version: str) -> Iterator[Talk]:
    with short_folder() as folder, finished(client.command, version, folder) as talk:
        yield talk


@pytest.fixture(scope="module", params=list(KEPT))
def cut(request: pytest.FixtureRequest, talk: Talk, embedded_servers: None) -> Cut:
    """Cuts the talk by the command line, then says one more thing in the new window."""
    before = (talk.path.read_bytes(), talk.path.stat().st_mtime_ns)
    document = _run(request.param, talk)
    target = Path(document["target"]["path"])
    planned = target.read_bytes().splitlines()
    asked, refused = len(talk.api.requests), len(talk.api.refusals)
    with talk.seat.talk(*TOOLS, "--resume", document["target"]["session_id"]) as conversation:
        conversation.say(AFTER)
        code = conversation.end()
    return Cut(
        request.param, talk, document, planned, target.read_bytes(), conversation.session, code,
        talk.api.requests[asked:], talk.api.refusals[refused:],
        (talk.path.read_bytes(), talk.path.stat().st_mtime_ns) == before,
    )  # fmt: skip


def _run(kind: str, talk: Talk) -> Json:
    handoff = talk.seat.folder / "handoff.md"
    handoff.write_text(HANDOFF)
    forging = ["--keep-from-uuid", _uuid_of(talk, "forbidden"), "--handoff", str(handoff)] if kind == "forge" else []
    # Servers that already run; the settings of the suite itself are the data folder's only.
    data = Path(os.environ["COMPANION_DATA"])

    done = manage(
        data, kind, str(talk.path), "--force", "--no-hold", "--json", *forging,
        COMPANION_PROJECTS_ROOT=str(talk.seat.projects), CLAUDE_BIN=talk.seat.command[-1],
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr[-2_000:]
    document: Json = json.loads(done.stdout)
    return document


def _uuid_of(talk: Talk, word: str) -> str:
    lines = [json.loads(line) for line in talk.path.read_bytes().splitlines()]
    prompts = [line for line in lines if line["type"] == "user" and line["message"]["content"] == talk.prompts[word]]
    return str(prompts[0]["uuid"])


def test_the_run_is_done_and_rehearsed_with_the_client_itself(cut: Cut) -> None:
    assert cut.document["status"] == "done"
    assert cut.document["rehearsal"]["status"] == "ok", cut.document["rehearsal"]


def test_the_new_window_goes_on_under_its_own_id(cut: Cut) -> None:
    assert (cut.code, cut.session) == (0, cut.target)
    assert len(cut.bodies) == 1
    assert cut.refusals == []


def test_the_next_turn_is_written_to_the_new_file(cut: Cut) -> None:
    added = [json.loads(line) for line in cut.resumed.splitlines()[len(cut.planned) :]]
    talked = [line["message"]["content"] for line in added if line["type"] == "user"]

    assert cut.resumed.startswith(b"\n".join(cut.planned))
    # The oldest one writes prompts of several blocks, and all behind them, a second time.
    assert talked[-1 if cut.talk.seat.version in FORGETFUL else 0 :] == [AFTER]


def test_the_source_is_untouched(cut: Cut) -> None:
    assert cut.is_source_untouched


def test_the_request_is_what_the_file_holds(cut: Cut) -> None:
    assert difference(expected(cut.planned), sent(cut.request), prompt=AFTER) == ""


def test_the_request_is_one_that_the_api_takes(cut: Cut) -> None:
    assert refusal(cut.request["messages"], cut.talk.api.signatures()) == ""


def test_the_kept_prompts_are_sent_word_by_word_in_order_and_no_others(cut: Cut) -> None:
    wanted = [cut.talk.prompts[word] for word in KEPT[cut.kind]]
    dropped = [prompt for word, prompt in cut.talk.prompts.items() if word not in KEPT[cut.kind]]

    assert [text for text in cut.texts() if text in cut.talk.prompts.values()] == wanted
    assert [prompt for prompt in dropped if prompt in json.dumps(cut.request, ensure_ascii=False)] == []
    assert cut.texts()[-1] == AFTER


def test_the_kept_calls_are_sent_with_their_results_and_no_others(cut: Cut) -> None:
    wanted = cut.talk.calls(*KEPT[cut.kind])

    assert [part["id"] for part in cut.blocks("tool_use")] == wanted
    # Of two calls at once, either may be answered first.
    assert sorted(part["tool_use_id"] for part in cut.blocks("tool_result")) == sorted(wanted)


def test_the_kept_thinking_is_sent_unchanged(cut: Cut) -> None:
    wanted = cut.talk.signatures(*KEPT[cut.kind])

    assert [part["signature"] for part in cut.blocks("thinking")] == wanted
    assert wanted


def test_a_message_sent_meanwhile_comes_along(cut: Cut) -> None:
    whole = json.dumps(cut.request["messages"], ensure_ascii=False)

    assert whole.count(QUEUED) == (0 if cut.talk.seat.version in FORGETFUL else 1)


def test_the_handoff_stands_before_the_first_message(cut: Cut) -> None:
    places = [place for place, text in enumerate(cut.texts()) if "HANDOFF-WORDS" in text]
    first = cut.texts().index(cut.talk.prompts[KEPT[cut.kind][0]])

    assert places == ([first - 1] if cut.kind == "forge" else [])


def test_old_results_and_pictures_are_squashed(cut: Cut) -> None:
    whole = json.dumps(cut.request["messages"], ensure_ascii=False)

    assert "\\n1250\\n" not in whole
    assert PICTURE not in whole
    assert ("1\\n2\\n3\\n" in whole) is (cut.kind == "diet")


def test_what_was_denied_is_still_an_error(cut: Cut) -> None:
    denied = set(cut.talk.calls("forbidden"))

    assert [part["is_error"] for part in cut.blocks("tool_result") if part["tool_use_id"] in denied] == [True]


def test_the_model_of_the_talk_goes_on(cut: Cut) -> None:
    assert cut.request["model"] == MODEL
