"""Rehearsals with the real clients, on files written by hand as surgery writes them (spec W13)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.actions.sentences import sentence
from sessions.core.events import HANDOFF_ORIGIN, SYNTHETIC_MODEL
from sessions.gateways import stub_api
from sessions.gateways.claude_client import Client, Rehearsal, find_client, rehearse
from sessions.tests.realclient.clients import MODEL
from sessions.tests.transcripts import (
    Record,
    TranscriptFile,
    assistant,
    blocks,
    custom_title,
    image,
    queued,
    thinking,
    tool_result,
    tool_use,
    user,
)

pytestmark = pytest.mark.realclient
SECONDS = 40
HOSTILE = "zero\u200bwidth \u202e bidi \x1b[31m esc \x00nul e\u0301 \u2028 line \u0085 \ufeff \ufffd \r\n tab\t😀"


def said(content: Any, *, message: str = "", used: int = 0, model: str = MODEL, **more: Any) -> Record:
    """An answer as surgery copies it, its usage zeroed."""
    line = assistant(content, message=message, used=used, model=model, **more)
    line["message"] |= {"type": "message", "stop_reason": "end_turn", "stop_sequence": None}
    line["message"].setdefault("usage", {"input_tokens": 0, "output_tokens": 0})
    return line


def handoff(text: str = "# 交接\n\nWe water the mint.") -> Record:
    return user(text, isMeta=True, origin={"kind": HANDOFF_ORIGIN})


CALLS = [
    said([thinking("two pots")], message="m1"),
    said("I look.", message="m1"),
    said([tool_use("toolu_1")], message="m1"),
    said([tool_use("toolu_2", where="屋顶", n=2)], message="m1"),
    tool_result("toolu_1", "four\n"),
    user([{"type": "tool_result", "tool_use_id": "toolu_2", "content": blocks("none"), "is_error": True}]),
]
WHOLE: dict[str, list[Record]] = {
    "everything": [
        handoff(),
        user("first 你好"),
        *CALLS,
        queued("and the basil\n罗勒"),
        queued([{"type": "text", "text": "with a picture"}, image()]),
        said("both"),
        user([{"type": "text", "text": "look"}, image()]),
        said([thinking("a leaf", signature="c2lnMg=="), *blocks("a leaf")]),
        user("continue", isMeta=True),
        said("yes"),
        user("a task is over", origin={"kind": "task-notification"}),
        said([tool_use("toolu_3")], message="m9"),
        tool_result("toolu_3"),
        said([tool_use("toolu_4")], message="m9"),
        tool_result("toolu_4"),
        said("good"),
        user(HOSTILE),
        said(HOSTILE),
        user("then an error"),
        said("API Error: 500", model=SYNTHETIC_MODEL, isApiErrorMessage=True),
        user("once more"),
        queued("or twice"),
        said("done"),
        custom_title("Mint"),
    ],
    "a closing line of nobody": [handoff(), user("and now"), said("…", model=SYNTHETIC_MODEL)],
}
PAIR = [user("q"), said("a")]


@pytest.fixture
def held(client: Client, tmp_path: Path) -> Callable[..., Rehearsal]:
    def hold(records: list[Record], *, model: str = MODEL, by: Client = client) -> Rehearsal:
        file = TranscriptFile(tmp_path)
        file.add(*records)
        return rehearse(by, file.path, file.session, model=model, seconds=SECONDS, within=tmp_path)

    return hold


@pytest.mark.parametrize("records", WHOLE.values(), ids=WHOLE)
def test_a_file_as_surgery_writes_it_is_sent_as_it_is(
    held: Callable[..., Rehearsal], records: list[Record], version: str, tmp_path: Path
) -> None:
    found = held(records)

    assert (found.status, found.difference) == ("ok", ""), found.detail
    assert version in sentence(found.detail)
    assert not list(tmp_path.glob("companion-room*"))


@pytest.mark.parametrize(
    ("records", "words"),
    [
        ([user("q"), said("a"), user("r")], "No response requested."),
        ([user("q"), said([tool_use("toolu_9")]), user("r"), said("a")], "toolu_9"),
    ],
    ids=["a user line last", "a call without a result"],
)
def test_a_file_that_is_not_sent_as_it_is_fails(
    held: Callable[..., Rehearsal], records: list[Record], words: str
) -> None:
    found = held(records)

    assert found.status == "failed"
    assert words in found.difference


def test_usage_of_the_old_window_is_found_out(held: Callable[..., Rehearsal], version: str) -> None:
    talk = [line for number in range(10) for line in (user(f"{number} " + "word " * 200), said(f"a{number}"))]

    found = held([*talk, user("q"), said("a", used=195_000)])

    # The newest one does not believe the figure.
    assert found.status == ("ok" if version == "2.1.332" else "failed"), found.detail
    assert version == "2.1.332" or "2 requests" in sentence(found.detail)


def test_thinking_of_another_model_may_be_left_out(held: Callable[..., Rehearsal]) -> None:
    answer = said([thinking(), *blocks("a")], model="claude-opus-4-5-20251101")

    found = held([user("q"), answer])

    assert found.status == "ok", found.detail


def test_home_and_configuration_of_the_operator_play_no_part(
    held: Callable[..., Rehearsal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, mark = tmp_path / "operator", tmp_path / "mark"
    hook = {"hooks": [{"type": "command", "command": f"touch {shlex.quote(str(mark))}"}]}
    files = {
        home / ".claude" / "settings.json": json.dumps({"hooks": {"SessionStart": [hook], "UserPromptSubmit": [hook]}}),
        home / ".claude" / "CLAUDE.md": "operator's words",
        home / ".claude.json": "{}",
        tmp_path / "CLAUDE.md": "words of a folder above",
        tmp_path / ".mcp.json": json.dumps({"mcpServers": {"x": {"command": "touch", "args": [str(mark)]}}}),
        tmp_path / ".claude" / "settings.json": json.dumps({"hooks": {"SessionStart": [hook]}}),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / ".claude"))
    before = picture(home)

    found = held(PAIR)

    assert found.status == "ok", found.detail
    assert picture(home) == before
    assert not mark.exists()


def picture(folder: Path) -> dict[str, tuple[int, int]]:
    """Every path below with its size and time of change."""
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*"))}


def test_a_wrapper_cannot_lead_the_client_elsewhere(
    held: Callable[..., Rehearsal], client: Client, tmp_path: Path
) -> None:
    wrapper = tmp_path / "claude"
    with stub_api.running() as elsewhere:
        wrapper.write_text(
            f"#!/bin/sh\nexport ANTHROPIC_BASE_URL={elsewhere.url} ANTHROPIC_API_KEY={elsewhere.key}\n"
            f'exec {shlex.join(client.command)} "$@"\n'
        )
        wrapper.chmod(0o755)

        found = held(PAIR, by=find_client(str(wrapper)))

    assert found.status == "ok", found.detail
    assert elsewhere.bodies == []
