"""The commands of window surgery: documents, exit statuses, refusals, second deliveries (contract, "diet · forge")."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions.models import Backup, Run
from sessions.tests.planned import own_ground, rest, seen, talk
from sessions.tests.test_commands import Terminal
from sessions.tests.transcripts import TranscriptFile, assistant, thinking, user

pytestmark = pytest.mark.django_db(transaction=True)
A = "aaaa1111-0000-4000-8000-000000000001"
# The contract's fields, with those inside of them.
FIELDS: dict[str, set[str]] = {
    "run_id": set(), "kind": set(), "status": set(), "selection": set(), "first_preview": set(), "last_preview": set(),
    "handoff_chars": set(), "steps": set(), "warnings": set(), "source": {"session_id", "path", "sha256"},
    "target": {"session_id", "path"}, "range_resolve": {"from", "to"}, "cut": {"from_idx", "to_idx"},
    "kept": {"events", "tokens", "thinking", "tool_results_squashed", "images_squashed"}, "dropped": {"events", "tokens"},
    "hold": {"status", "bucket_id", "text"}, "rehearsal": {"status", "detail"}, "rebind": {"status", "before", "after"},
}  # fmt: skip


@pytest.fixture
def manage(capfd: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capfd)


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


@pytest.fixture
def file(root: Path) -> TranscriptFile:
    return talk(root, session=A)


def check_document(document: dict[str, Any]) -> None:
    assert set(document) >= set(FIELDS)
    for name, inside in FIELDS.items():
        assert not inside or set(document[name]) >= inside, name
    for mark in document["range_resolve"].values():
        assert set(mark) >= {"idx", "uuid", "timestamp", "preview"}
    for step in document["steps"]:
        assert set(step) >= {"name", "status", "seconds", "detail"}
        assert step["status"] in {"ok", "warning", "failed", "skipped"}
        assert isinstance(step["detail"], str)
    assert all(isinstance(warning, str) for warning in document["warnings"])


@pytest.mark.parametrize("kind", ["diet", "forge"])
def test_a_dry_run_has_the_contracts_fields_and_changes_nothing(
    manage: Terminal, file: TranscriptFile, kind: str
) -> None:
    before = seen(file.path)

    plan = manage(kind, A, "--dry-run", "--retain", "3000")

    assert manage.code == 0
    check_document(plan)
    assert (plan["kind"], plan["status"], plan["steps"]) == (kind, "planned", [])
    assert plan["selection"] == {"mode": "tail", "squash": 2000, "retain": 3000, "revive": False}
    assert plan["kept"]["events"] + plan["dropped"]["events"] == 24
    assert plan["cut"]["to_idx"] == 23
    assert plan["first_preview"].startswith("第")
    assert (plan["handoff_chars"] > 0) == (kind == "forge")
    assert len(plan["handoff"]) == plan["handoff_chars"]
    assert seen(file.path) == before
    assert list(file.path.parent.iterdir()) == [file.path]


@pytest.mark.parametrize("kind", ["diet", "forge"])
def test_without_dry_run_it_is_carried_out(manage: Terminal, file: TranscriptFile, kind: str) -> None:
    before = seen(file.path)

    done = manage(kind, A, "--retain", "3000")

    assert (manage.code, done["status"]) == (0, "done")
    check_document(done)
    assert Path(done["target"]["path"]).is_file()
    assert done["rebind"]["status"] == "none"
    assert seen(file.path) == before


def test_apply_carries_out_exactly_the_plan_that_was_shown(manage: Terminal, file: TranscriptFile) -> None:
    plan = manage("forge", A, "--dry-run", "--retain", "3000")

    done = manage("apply", plan["run_id"][:8])

    assert (manage.code, done["status"], done["run_id"]) == (0, "done", plan["run_id"])
    same = ("target", "cut", "kept", "dropped", "first_preview", "last_preview", "handoff", "range_resolve")
    assert {name: done[name] for name in same if name != "target"} == {
        name: plan[name] for name in same if name != "target"
    }
    assert done["target"]["session_id"] == plan["target"]["session_id"]
    lines = Path(done["target"]["path"]).read_bytes().splitlines()
    assert sum(b'"parentUuid"' in line for line in lines) >= plan["kept"]["events"]


def test_applying_twice_answers_the_finished_run_and_changes_nothing(manage: Terminal, file: TranscriptFile) -> None:
    plan = manage("diet", A, "--dry-run")
    first = manage("apply", plan["run_id"])
    beside = {path: seen(path) for path in file.path.parent.iterdir()}

    second = manage("apply", plan["run_id"])

    assert (manage.code, second) == (0, first)
    assert {path: seen(path) for path in file.path.parent.iterdir()} == beside


def test_a_plan_whose_file_has_grown_is_stale(manage: Terminal, file: TranscriptFile) -> None:
    plan = manage("diet", A, "--dry-run")
    file.add(user("one more word"), assistant("yes"))
    rest(file)

    stale = manage("apply", plan["run_id"])
    again = manage("apply", plan["run_id"])

    assert (manage.code, stale["status"], again["status"]) == (1, "stale", "stale")
    check_document(stale)
    assert stale["error"]["code"] == "grown"
    assert list(file.path.parent.iterdir()) == [file.path]


def test_an_export_writes_and_binds_nothing(manage: Terminal, file: TranscriptFile) -> None:
    done = manage("forge", A, "--export-only", "--no-backup", "--no-hold")

    assert (manage.code, done["status"], done["rebind"]["status"]) == (0, "exported", "unchanged")
    assert done["backups"] == []
    assert Path(done["target"]["path"]).is_file()


def test_days_and_ranges_are_shown_as_they_were_asked_for(manage: Terminal, file: TranscriptFile) -> None:
    days = manage("forge", A, "--dry-run", "--keep-days", "2026-03-01", "--cap", "2500")
    picked = manage("diet", A, "--dry-run", "--keep-from-idx", "5", "--keep-to-ts", "2026-03-01 16:02")

    assert days["selection"] == {"mode": "days", "squash": 2000, "days": ["2026-03-01"], "cap": 2500}
    assert "cap-cut" in days["warning_codes"]
    assert picked["selection"]["from"] == {"by": "idx", "value": "5"}
    assert picked["range_resolve"]["from"]["idx"] == 5
    assert (picked["cut"]["from_idx"], picked["cut"]["to_idx"]) == (4, 11)
    assert {"cut-differs", "newest-dropped"} <= set(picked["warning_codes"])


def test_a_hand_off_from_a_file_replaces_the_draft(manage: Terminal, file: TranscriptFile, tmp_path: Path) -> None:
    board = tmp_path / "board.md"
    board.write_text("# 交接\n\n- 薄荷周六换盆\n", encoding="utf-8")

    plan = manage("forge", A, "--dry-run", "--handoff", str(board))

    assert "薄荷周六换盆" in plan["handoff"]
    assert plan["handoff_origin"] == "file"


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("diet", ["--retain", "0"]), ("diet", ["--retain=-5"]), ("forge", ["--retain", "1e9"]), ("diet", ["--squash", "x"]),
        ("forge", ["--keep-days", "2026-02-30"]), ("forge", ["--keep-days", "2026-03-01", "--retain", "5"]),
        ("forge", ["--keep-from-idx", "1", "--keep-from-ts", "16:00"]), ("forge", ["--keep-to-ts", "soon"]),
        ("forge", ["--keep-from-uuid", "ab"]), ("forge", ["--cap", "5"]), ("diet", ["--handoff-days", "2026-03-01"]),
        ("diet", ["--handoff", "x.md"]), ("forge", ["--handoff", "x.md", "--handoff-days", "2026-03-01"]),
        ("forge", ["--keep-days", "2026-03-01", "--keep-to-idx", "4"]), ("forge", ["--nonsense"]), ("diet", ["a", "b"]),
    ],
    ids=str,
)  # fmt: skip
def test_options_that_no_session_could_make_right_are_usage_errors(
    manage: Terminal, file: TranscriptFile, kind: str, arguments: list[str]
) -> None:
    status, code = manage.refusal(kind, *([] if arguments == ["a", "b"] else [A]), *arguments)

    assert (status, bool(code)) == (2, True)
    assert not Run.objects.exists()


def test_a_usage_error_names_its_options(manage: Terminal, file: TranscriptFile) -> None:
    error = manage("forge", A, "--keep-from-idx", "1", "--keep-from-ts", "16:00")["error"]

    assert error["message"].startswith("--keep-from-idx, --keep-from-ts: ")
    assert error["hint"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--keep-from-idx", "99"], "no-such-idx"), (["--keep-from-uuid", "ffffffff-none"], "no-such-uuid"),
        (["--keep-days", "2020-01-01"], "no-such-day"), (["--keep-from-idx", "9", "--keep-to-idx", "2"], "from-after-to"),
        (["--handoff", "/nowhere/board.md"], "unreadable"), (["--handoff-days", "2020-01-01"], None),
    ],
)  # fmt: skip
def test_what_this_session_does_not_have_is_refused(
    manage: Terminal, file: TranscriptFile, arguments: list[str], code: str | None
) -> None:
    status, found = manage.refusal("forge", A, *arguments)

    assert status == 1
    assert code in {None, found}
    assert not Run.objects.exists()


def test_an_unknown_session_is_refused(manage: Terminal, file: TranscriptFile) -> None:
    assert manage.refusal("diet", "cccc") == (1, "unknown-session")


class TestThinking:
    """A model that takes no thinking after a cut (spec W2)."""

    @pytest.fixture
    def bound(self, root: Path) -> TranscriptFile:
        file = TranscriptFile(root, session=A)
        for number in range(3):
            file.add(
                user(f"say {number}"),
                assistant([thinking(), {"type": "text", "text": "yes"}], model="claude-opus-5-5", used=20_000),
            )
        rest(file)
        return file

    def test_a_direct_run_names_the_plan_and_does_nothing(self, manage: Terminal, bound: TranscriptFile) -> None:
        error = manage("forge", A)["error"]

        run = Run.objects.get()
        assert (manage.code, error["code"], run.status) == (1, "drops-thinking", "planned")
        assert str(run.pk) in error["message"]
        assert "apply" in error["hint"]
        assert list(bound.path.parent.iterdir()) == [bound.path]

    @pytest.mark.parametrize("yes", ["--drop-thinking", "--force"])
    def test_saying_so_carries_it_out(self, manage: Terminal, bound: TranscriptFile, yes: str) -> None:
        done = manage("forge", A, yes)

        assert (manage.code, done["status"], done["thinking_dropped"]) == (0, "done", 3)
        assert "thinking-dropped" in done["warning_codes"]

    def test_applying_the_plan_that_was_shown_needs_no_more_words(
        self, manage: Terminal, bound: TranscriptFile
    ) -> None:
        plan = manage("forge", A, "--dry-run")

        assert manage("apply", plan["run_id"])["status"] == "done"


def test_a_window_in_which_somebody_talks_waits_and_the_plan_is_kept(manage: Terminal, root: Path) -> None:
    file = TranscriptFile(root, session=A)
    file.add(user("hello"), assistant("yes", timestamp="2099-01-01T00:00:00Z"))

    error = manage("diet", A)["error"]

    run = Run.objects.get()
    assert (manage.code, error["code"], run.status) == (1, "not-quiet", "planned")
    assert str(run.pk)[:8] in error["hint"]
    assert manage("diet", A, "--force")["status"] == "done"


def test_cancel_drops_a_plan_once_and_for_all(manage: Terminal, file: TranscriptFile) -> None:
    plan = manage("diet", A, "--dry-run")

    first = manage("cancel", plan["run_id"])
    second = manage("cancel", plan["run_id"])

    assert (manage.code, first["status"], second["status"]) == (0, "cancelled", "cancelled")
    assert (manage("apply", plan["run_id"])["status"], manage.code) == ("cancelled", 1)
    assert list(file.path.parent.iterdir()) == [file.path]


def test_what_is_over_cannot_be_cancelled(manage: Terminal, file: TranscriptFile) -> None:
    done = manage("diet", A)

    assert manage.refusal("cancel", done["run_id"]) == (1, "run-over")


def test_rollback_and_rebind_go_back_and_forth(manage: Terminal, file: TranscriptFile) -> None:
    done = manage("forge", A)
    target = Path(done["target"]["path"])

    back = manage("rollback", done["run_id"][:8])
    assert (manage.code, back["status"], target.exists()) == (0, "rolled_back", False)
    check_document(back)
    assert manage.refusal("rollback", done["run_id"]) == (1, "already-rolled-back")
    assert (manage("apply", done["run_id"])["status"], manage.code) == ("rolled_back", 1)

    forth = manage("rebind", done["run_id"])
    assert (manage.code, forth["status"], target.exists()) == (0, "done", True)


def test_rebind_takes_a_session_as_well(manage: Terminal, file: TranscriptFile) -> None:
    done = manage("forge", A)

    by_run = manage("rebind", done["target"]["session_id"])
    alone = manage("rebind", A)

    assert by_run["run_id"] == done["run_id"]
    assert (alone["session_id"], alone["rebind"]["status"], manage.code) == (A, "none", 0)
    assert alone["detail"]


def test_a_beginning_that_a_run_and_a_session_share_is_refused(manage: Terminal, file: TranscriptFile) -> None:
    plan = manage("diet", A, "--dry-run")
    Run.objects.filter(pk=plan["run_id"]).update(id="aaaa9999-0000-4000-8000-000000000001")

    assert manage.refusal("rebind", "aaaa") == (1, "run-or-session")
    assert manage("rebind", "aaaa1")["session_id"] == A


def test_runs_are_listed_the_latest_first_and_can_be_narrowed(manage: Terminal, file: TranscriptFile) -> None:
    other = talk(file.path.parent.parent, project="-srv-garden")
    first = manage("diet", A, "--dry-run")["run_id"]
    second = manage("forge", A)["run_id"]
    third = manage("diet", other.session, "--dry-run")["run_id"]

    def listed(*options: str) -> list[str]:
        return [row["run_id"] for row in manage("runs", *options)["items"]]

    assert listed() == [third, second, first]
    assert listed("--limit", "1") == [third]
    assert listed("--status", "planned") == [third, first]
    assert listed(A) == [second, first]
    assert listed(Run.objects.get(pk=second).target_session_id) == [second]
    check_document(manage("runs")["items"][1])


def test_a_run_that_waits_for_the_worker_is_shown_as_running(manage: Terminal, file: TranscriptFile) -> None:
    plan = manage("diet", A, "--dry-run")
    Run.objects.filter(pk=plan["run_id"]).update(status="queued")

    assert [row["status"] for row in manage("runs", "--status", "running")["items"]] == ["running"]
    assert manage.refusal("runs", "--status", "queued") == (2, "usage")


def test_backups_are_listed_read_again_and_pruned(manage: Terminal, file: TranscriptFile) -> None:
    manage("diet", A)

    listed = manage("backups")
    assert (manage.code, listed["count"], listed["removed"]) == (0, 1, [])
    row = listed["items"][0]
    assert set(row) >= {"session_id", "path", "sha256", "size", "run_id", "created_at"}
    assert Path(row["path"]).read_bytes() == file.path.read_bytes()
    assert manage("backups", "--prune")["count"] == 1

    Path(row["path"]).write_bytes(b"broken")
    assert manage("backups", "--verify")["items"][0]["trouble"]
    assert manage.code == 1
    assert Backup.objects.get().trouble


@pytest.mark.parametrize("command", ["apply", "cancel", "rollback", "rebind"])
def test_a_run_that_cannot_be_meant_is_refused(manage: Terminal, file: TranscriptFile, command: str) -> None:
    status, code = manage.refusal(command, "cccc")

    assert (status, code) == (1, "unknown-session" if command == "rebind" else "unknown-run")
    assert manage.refusal(command) == (2, "usage")
