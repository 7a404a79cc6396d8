"""The commands around sessions: their documents, their exit codes, their refusals (contract, "Commands")."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from companion.lib.console import ConsoleCommand
from companion.up.commandline import run
from sessions.actions import health
from sessions.tests.transcripts import TranscriptFile, assistant, custom_title, queued, user

pytestmark = pytest.mark.django_db(transaction=True)
A = "aaaa1111-0000-4000-8000-000000000001"
SESSION = {
    "session_id", "path", "project", "title", "model", "window", "used_tokens", "used_pct", "estimated", "human_messages",
    "events", "bad_lines", "last_activity", "bound_to", "companion",
}  # fmt: skip
HOSTILE = 't\x00 \ud83d \u2028 \x1b[31m \\ " 盆'


class Terminal:
    """Runs a command as `manage.py` does, in this process."""

    def __init__(self, capfd: pytest.CaptureFixture[str]) -> None:
        self._capture = capfd
        self.code = -1

    def __call__(self, *arguments: str) -> Any:
        """The document it printed; its exit code stays in `code`."""
        self._capture.readouterr()
        try:
            self.code = run(["manage.py", *arguments, "--json"])
        except SystemExit as ended:
            self.code = int(ended.code or 0)
        return json.loads(self._capture.readouterr().out)

    def refusal(self, *arguments: str) -> tuple[int, str]:
        error = self(*arguments)["error"]
        assert set(error) == {"code", "message", "hint"}
        assert error["message"]
        return self.code, error["code"]


@pytest.fixture
def manage(capfd: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capfd)


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    """A projects root that nobody watches."""
    folder = tmp_path / "projects"
    settings.ENV = dataclasses.replace(settings.ENV, roots=(folder,), host_name=f"host-{tmp_path.name}")
    return folder


@pytest.fixture
def talk(root: Path) -> TranscriptFile:
    file = TranscriptFile(root, session=A)
    file.add(user("one"), assistant(used=80_000), queued("two"), user("three"), custom_title("Herbs"))
    return file


def test_index_tells_the_totals_and_what_this_run_read(manage: Terminal, talk: TranscriptFile) -> None:
    talk.add_bytes(b"{half\n")

    first = manage("index")
    again = manage("index")

    assert set(first) >= {"sessions", "events", "bad_lines", "bytes", "new_events", "seconds"}
    assert (first["sessions"], first["events"], first["bad_lines"], first["new_events"]) == (1, 5, 1, 5)
    assert first["bytes"] == talk.path.stat().st_size - 1
    assert (again["events"], again["new_events"], manage.code) == (5, 0, 0)


def test_index_full_reads_everything_again(manage: Terminal, talk: TranscriptFile) -> None:
    manage("index")

    assert manage("index", "--full")["new_events"] == 5


def test_index_names_what_it_could_not_look_into(manage: Terminal, root: Path) -> None:
    answer = manage("index")

    assert answer["troubles"] == [{"path": str(root), "reason": "no such file or directory"}]
    assert (answer["sessions"], manage.code) == (0, 0)


def test_sessions_have_the_contracts_fields(manage: Terminal, talk: TranscriptFile) -> None:
    answer = manage("sessions")

    assert set(answer) == {"items", "count"}
    row = answer["items"][0]
    assert set(row) >= SESSION
    assert {name: row[name] for name in SESSION} == {
        "session_id": A, "path": str(talk.path), "project": "-srv-balcony", "title": "Herbs", "model": "claude-opus-4-7",
        "window": 1_000_000, "used_tokens": 80_000, "used_pct": 8.0, "estimated": False, "human_messages": 3, "events": 5,
        "bad_lines": 0, "last_activity": "2026-03-01T08:00:40Z", "bound_to": None, "companion": "balcony",
    }  # fmt: skip


def test_sessions_come_with_the_latest_first(manage: Terminal, talk: TranscriptFile) -> None:
    later = TranscriptFile(talk.path.parent.parent)
    later.add(user(timestamp="2026-04-01T00:00:00Z"))

    answer = manage("sessions")

    assert ([row["session_id"] for row in answer["items"]], answer["count"]) == ([later.session, A], 2)


def test_sessions_without_any_are_an_empty_list(manage: Terminal, root: Path) -> None:
    assert manage("sessions") == {"items": [], "count": 0}


def test_a_command_reads_what_came_since(manage: Terminal, talk: TranscriptFile) -> None:
    before = manage("sessions")["items"][0]["events"]

    talk.add(user("four"))

    assert (before, manage("sessions")["items"][0]["events"]) == (5, 6)


def test_a_command_leaves_the_reading_to_a_watcher_that_lives(manage: Terminal, talk: TranscriptFile) -> None:
    health.beat("watcher")

    assert manage("sessions")["count"] == 0


def test_anchors_have_the_contracts_fields_and_come_oldest_first(manage: Terminal, talk: TranscriptFile) -> None:
    answer = manage("anchors", A)

    assert (answer["count"], [row["idx"] for row in answer["items"]]) == (3, [0, 2, 3])
    assert [row["queued"] for row in answer["items"]] == [False, True, False]
    first = answer["items"][0]
    assert set(first) >= {"idx", "uuid", "timestamp", "local_time", "preview", "queued"}
    assert (first["timestamp"], first["local_time"], first["preview"]) == (
        "2026-03-01T08:00:10Z",
        "2026-03-01 16:00:10",
        "one",
    )


@pytest.mark.parametrize(
    ("options", "previews"),
    [
        (["--limit", "2"], ["two", "three"]), (["--limit", "99"], ["one", "two", "three"]), (["--query", "TH"], ["three"]),
        (["--query", "%"], []), (["--query", "o", "--limit", "1"], ["two"]), (["--query", ""], ["one", "two", "three"]),
    ],
    ids=["newest", "more-than-there-are", "any-case", "no-wildcard", "both", "empty"],
)  # fmt: skip
def test_anchors_can_be_narrowed(
    manage: Terminal, talk: TranscriptFile, options: list[str], previews: list[str]
) -> None:
    assert [row["preview"] for row in manage("anchors", A, *options)["items"]] == previews


@pytest.mark.parametrize("limit", ["0", "-1", "x", "1.5", "٣", "99999999999"])
def test_a_limit_is_a_whole_number_above_none(manage: Terminal, talk: TranscriptFile, limit: str) -> None:
    assert manage.refusal("anchors", A, f"--limit={limit}") == (2, "usage")


def test_usage_has_the_contracts_fields(manage: Terminal, talk: TranscriptFile) -> None:
    answer = manage("usage", A)

    assert (answer["used_tokens"], answer["window"], answer["used_pct"], answer["estimated"]) == (
        80_000,
        1_000_000,
        8.0,
        False,
    )
    assert answer["compacts_at"] == 963_000
    parts = {"dialogue", "thinking", "tool_use", "tool_results", "images", "injected", "other"}
    assert set(answer["composition"]) == parts
    assert sum(answer["composition"].values()) == 80_000


def test_session_takes_a_title_a_pin_and_an_archive_and_gives_them_back(manage: Terminal, talk: TranscriptFile) -> None:
    marked = manage("session", A, "--title", "  My   herbs ", "--pin", "--archive")
    shown = manage("session", A)
    freed = manage("session", A, "--title", "", "--no-pin", "--no-archive")

    assert (marked["title"], marked["pinned"], marked["archived"]) == ("My herbs", True, True)
    assert shown == marked
    assert set(shown) >= SESSION
    assert (freed["title"], freed["pinned"], freed["archived"]) == ("Herbs", False, False)


def test_a_title_that_is_too_long_is_refused_and_changes_nothing(manage: Terminal, talk: TranscriptFile) -> None:
    refused = manage.refusal("session", A, "--title", "x" * 201, "--pin")

    assert refused == (1, "bad-title")
    assert (manage("session", A)["title"], manage("session", A)["pinned"]) == ("Herbs", False)


def test_session_says_which_lines_are_bad(manage: Terminal, talk: TranscriptFile) -> None:
    talk.add_bytes(b"{half\n")

    assert manage("session", A)["bad_line_samples"][0]["line"] == 6


def test_companions_have_their_fields_and_can_be_confirmed(manage: Terminal, talk: TranscriptFile) -> None:
    before = manage("companions")
    after = manage("companions", "--confirm", "balcony")

    assert before["items"][0] == {
        "name": "balcony", "project": "-srv-balcony", "cwd": "/srv/balcony", "confirmed": False, "windows": 1,
        "last_activity": "2026-03-01T08:00:40Z",
    }  # fmt: skip
    assert (after["items"][0]["confirmed"], after["count"]) == (True, 1)


def test_doctor_lists_its_checks_and_ends_badly_where_one_fails(manage: Terminal, root: Path) -> None:
    root.mkdir()

    well = manage("doctor")
    well_code = manage.code
    TranscriptFile(root).path.with_name(f"{A}.jsonl").mkdir()
    manage("index")
    ill = manage("doctor")

    assert all(set(row) >= {"check", "status", "detail", "fix"} for row in well["items"])
    assert {row["status"] for row in well["items"]} <= {"pass", "warn"}
    assert well_code == 0
    assert ("unreadable-transcripts", "fail") in {(row["check"], row["status"]) for row in ill["items"]}
    assert manage.code == 1


@pytest.mark.parametrize("command", ["session", "anchors", "usage"])
@pytest.mark.parametrize(
    ("session", "code"),
    [
        ("cccc", "unknown-session"), ("a b", "bad-session"), ("/nowhere/x.jsonl", "unknown-session"), ("aaaa", "ambiguous-session"),
    ],
    ids=["unknown", "no-id", "no-file", "ambiguous"],
)  # fmt: skip
def test_a_session_that_cannot_be_meant_is_refused(
    manage: Terminal, talk: TranscriptFile, command: str, session: str, code: str
) -> None:
    TranscriptFile(talk.path.parent.parent, "-srv-garden", session=A).add(user())

    assert manage.refusal(command, session) == (1, code)


@pytest.mark.parametrize("command", ["session", "anchors", "usage"])
def test_without_any_session_a_command_is_refused(manage: Terminal, root: Path, command: str) -> None:
    assert manage.refusal(command) == (1, "no-session")


@pytest.mark.parametrize(
    "arguments",
    [
        ["anchors", "--nonsense"],
        ["usage", A, "too-many"],
        ["sesions"],
        ["index", "--full=yes"],
        ["companions", "--confirm"],
    ],
    ids=["option", "argument", "name", "value", "no-value"],
)
def test_a_wrong_command_line_is_a_usage_error(manage: Terminal, root: Path, arguments: list[str]) -> None:
    assert manage.refusal(*arguments) == (2, "usage")


def test_an_unknown_companion_is_refused(manage: Terminal, talk: TranscriptFile) -> None:
    assert manage.refusal("companions", "--confirm", "nobody") == (1, "unknown-companion")
    assert manage.refusal("anchors", "--companion", "nobody") == (1, "unknown-companion")


@pytest.mark.parametrize(
    "command", [["sessions"], ["session", A], ["anchors", A], ["usage", A], ["companions"], ["index"]], ids=" ".join
)
def test_the_output_is_one_document_whatever_a_file_holds(
    manage: Terminal, capfd: pytest.CaptureFixture[str], root: Path, command: list[str]
) -> None:
    TranscriptFile(root, session=A, cwd=f"/srv/{HOSTILE}").add(user(HOSTILE), custom_title(HOSTILE))

    manage(*command)
    assert manage.code == 0
    assert run(["manage.py", *command]) == 0

    shown = capfd.readouterr().out
    assert shown
    assert not {"\x00", "\x1b", "\u2028"} & set(shown)


def test_every_command_here_speaks_json() -> None:
    from django.core.management import get_commands, load_command_class

    for name in ("index", "sessions", "session", "anchors", "usage", "companions", "doctor"):
        assert isinstance(load_command_class(str(get_commands()[name]), name), ConsoleCommand)
