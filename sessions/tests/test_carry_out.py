"""A planned run carried out: every step said, the source untouched, one whole new file or none (spec W6-W13, W8, O1)."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion.lib.refusals import Refusal
from sessions.actions import run_steps, runs
from sessions.actions.carry_out import carry_out
from sessions.actions.run_progress import Progress
from sessions.gateways import locks
from sessions.gateways.claude_client import Client, Rehearsal
from sessions.models import Backup, Metric, Run, Transcript, Window
from sessions.tests.indexed import index
from sessions.tests.people import as_nobody
from sessions.tests.planned import (
    LONG_AGO,
    STEPS,
    again,
    check_done,
    check_nothing_written,
    events_of,
    own_ground,
    planned,
    rest,
    seen,
    source_of,
    step_of,
    talk,
    target_of,
    transcripts_beside,
)
from sessions.tests.transcripts import TranscriptFile, assistant, tool_use, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


def at(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object], *, when: str = "running") -> None:
    """Does `act` once at the moment a step begins, or has become what `when` says."""
    put, done = Progress.put, []

    def watched(self: Progress, step: str, status: str, *rest: Any, **more: Any) -> None:
        put(self, step, status, *rest, **more)
        if (step, status) == (name, when) and not done:
            done.append(act())

    monkeypatch.setattr(Progress, "put", watched)


def test_a_run_goes_through_every_step_and_leaves_one_whole_file(root: Path) -> None:
    run = planned(root)
    before = seen(source_of(run))

    done = carry_out(run.pk)

    check_done(run)
    assert seen(source_of(run)) == before
    assert done.status == "done"
    assert {step["name"]: step["status"] for step in done.steps} == {
        **dict.fromkeys(STEPS, "ok"), "hold": "skipped", "rehearse": "skipped", "rebind": "skipped",
    }  # fmt: skip
    assert [step["detail"]["code"] for step in done.steps if step["status"] == "skipped"] == [
        "no-memory-yet", "rehearse-off", "no-bridge",
    ]  # fmt: skip
    assert done.rebind["status"] == "none"
    assert done.hold["status"] == "skipped"
    assert Window.objects.get(session_id=run.target_session_id).human_messages == run.plan["turns"]


def test_a_forge_is_written_with_its_handoff_first(root: Path) -> None:
    run = planned(root, kind="forge")

    carry_out(run.pk)

    check_done(run)
    first = json.loads(target_of(run).read_bytes().split(b"\n")[0])
    assert first["message"]["content"] == run.handoff


def test_the_backup_is_the_file_as_it_was(root: Path) -> None:
    run = planned(root)

    carry_out(run.pk)

    backup = Backup.objects.get()
    assert Path(backup.path).read_bytes() == source_of(run).read_bytes()
    assert (backup.sha256, str(backup.run_id)) == (run.source_sha256, str(run.pk))
    assert stat.S_IMODE(Path(backup.path).stat().st_mode) == 0o600


def test_a_run_without_backup_says_so(root: Path) -> None:
    run = planned(root, with_backup=False)

    carry_out(run.pk)

    check_done(run)
    assert not Backup.objects.exists()
    assert step_of(run, "backup")["detail"] == {"code": "backup-not-wanted"}


def test_a_second_call_changes_nothing(root: Path) -> None:
    run = planned(root)
    carry_out(run.pk)
    rows = list(Run.objects.values()), Metric.objects.count(), Backup.objects.count()
    file = seen(target_of(run))

    answered = carry_out(str(run.pk))

    assert answered.status == "done"
    assert (list(Run.objects.values()), Metric.objects.count(), Backup.objects.count()) == rows
    assert seen(target_of(run)) == file


def test_the_new_window_comes_first_for_a_client_that_continues_the_newest(root: Path) -> None:
    run = planned(root)

    carry_out(run.pk)

    assert target_of(run).stat().st_mtime_ns > source_of(run).stat().st_mtime_ns


def test_an_exported_one_stays_behind_the_old_window(root: Path) -> None:
    run = planned(root, export_only=True)

    carry_out(run.pk)

    check_done(run)
    assert again(run).status == "exported"
    assert target_of(run).stat().st_mtime_ns < source_of(run).stat().st_mtime_ns
    assert (again(run).rebind["status"], step_of(run, "rebind")["detail"]["code"]) == ("unchanged", "export-only")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_writes_belongs_to_whom_the_source_belongs(root: Path) -> None:
    file = talk(root)
    os.chown(file.path, 1234, 2345)
    run = planned(root, file)

    carry_out(run.pk)

    check_done(run)
    found = target_of(run).stat()
    assert (found.st_uid, found.st_gid) == (1234, 2345)


def test_every_start_and_end_is_a_line_of_the_metrics(root: Path, settings: Any) -> None:
    run = planned(root)

    carry_out(run.pk)

    path = settings.ENV.data / "metrics.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["trigger", "ok"]
    assert (lines[1]["session_id"], lines[1]["target_session_id"]) == (run.source_session_id, run.target_session_id)
    assert (lines[1]["retain"], lines[1]["rebind"], lines[1]["hold"], lines[1]["error"]) == (
        2_500,
        "none",
        "skipped",
        None,
    )
    assert (lines[1]["used_before"], lines[1]["used_after"]) == (run.used_before, run.used_after)
    assert lines[1]["seconds"] > 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_metrics_that_cannot_be_written_are_a_warning(root: Path, settings: Any) -> None:
    (settings.ENV.data / "metrics.jsonl").mkdir()
    run = planned(root)

    carry_out(run.pk)

    check_done(run)
    assert step_of(run, "metrics")["status"] == "warning"


# The idle gate.


def test_a_session_that_was_just_written_to_is_left_alone(root: Path) -> None:
    file = talk(root)
    os.utime(file.path)
    run = planned(root, file)

    carry_out(run.pk)

    check_nothing_written(run, "failed", "not-quiet")
    assert again(run).error["wait"] > 100


def test_a_session_that_is_still_answering_is_left_alone(root: Path) -> None:
    file = talk(root)
    file.add(user("还有一件事"), assistant([tool_use("toolu_x")]))
    ten_minutes_ago(file)
    run = planned(root, file)

    carry_out(run.pk)

    check_nothing_written(run, "failed", "still-answering")


def test_an_answer_that_never_came_is_given_up(root: Path) -> None:
    file = talk(root)
    file.add(user("还有一件事"))
    rest(file)
    run = planned(root, file)

    carry_out(run.pk)

    check_done(run)


def test_a_forced_run_goes_on_and_says_so(root: Path) -> None:
    file = talk(root)
    os.utime(file.path)
    run = planned(root, file, force=True)

    carry_out(run.pk)

    check_done(run)
    assert (step_of(run, "quiet")["status"], step_of(run, "quiet")["detail"]["code"]) == ("warning", "forced")


def ten_minutes_ago(file: TranscriptFile) -> None:
    then = file.path.stat().st_mtime_ns - 600 * 10**9
    os.utime(file.path, ns=(then, then))


# The file is not the one that was planned.


def test_a_file_that_has_grown_makes_the_plan_stale(root: Path) -> None:
    file = talk(root)
    run = planned(root, file)
    file.add(user("还在吗"))
    rest(file)

    carry_out(run.pk)

    check_nothing_written(run, "stale", "grown")


def test_a_file_of_the_same_size_and_other_bytes_makes_it_stale(root: Path) -> None:
    run = planned(root)
    data = source_of(run).read_bytes()
    source_of(run).write_bytes(data.replace("浇好了".encode(), "浇过了".encode(), 1))
    os.utime(source_of(run), ns=(LONG_AGO, LONG_AGO))

    carry_out(run.pk)

    check_nothing_written(run, "stale", "changed")


def test_a_file_that_is_gone_fails(root: Path) -> None:
    run = planned(root)
    source_of(run).unlink()

    carry_out(run.pk)

    check_nothing_written(run, "failed", "source-gone")


@pytest.mark.parametrize("step", ["digest", "hold", "backup", "write", "verify", "rehearse", "rebind"])
def test_a_word_said_before_the_chat_moves_is_never_lost(
    root: Path, monkeypatch: pytest.MonkeyPatch, settings: Any, step: str
) -> None:
    file = talk(root)
    run = planned(root, file)
    at(monkeypatch, step, lambda: file.add(user("等一下")))

    carry_out(run.pk)

    check_nothing_written(run, "stale", "grown")
    aside = list((settings.ENV.data / "set-aside").glob("*"))
    assert len(aside) == (step in {"rehearse", "rebind"})
    assert not Window.objects.filter(session_id=run.target_session_id).exists()


@pytest.mark.parametrize("step", ["digest", "hold", "backup", "write", "verify", "rebind"])
def test_a_file_that_vanishes_on_the_way_fails(root: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    run = planned(root)
    at(monkeypatch, step, lambda: source_of(run).unlink())

    carry_out(run.pk)

    check_nothing_written(run, "failed", "source-gone")


def test_a_word_said_while_an_export_ends_does_not_spoil_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = talk(root)
    run = planned(root, file, export_only=True)
    at(monkeypatch, "rebind", lambda: file.add(user("等一下")))

    carry_out(run.pk)

    check_done(run)


# Somebody else.


def test_a_busy_session_leaves_the_run_as_it_was(root: Path, settings: Any) -> None:
    run = planned(root)

    with locks.held(settings.ENV.data, run.source_session_id), pytest.raises(Refusal) as refused:
        carry_out(run.pk)

    assert refused.value.code == "session-busy"
    assert (again(run).status, again(run).steps, events_of(run)) == ("planned", [], [])
    assert transcripts_beside(run) == []


def test_a_run_of_another_host_is_refused(root: Path) -> None:
    run = planned(root)
    Run.objects.update(host="elsewhere")

    with pytest.raises(Refusal, match="elsewhere"):
        carry_out(run.pk)

    assert again(run).status == "planned"


def test_a_name_that_is_taken_is_left_as_it_is(root: Path) -> None:
    run = planned(root)
    target_of(run).write_text("somebody's\n")

    carry_out(run.pk)

    assert target_of(run).read_text() == "somebody's\n"
    assert (again(run).status, again(run).error["code"]) == ("failed", "target-taken")


def test_a_name_that_is_taken_at_the_last_moment_is_left_as_it_is(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = planned(root)
    at(monkeypatch, "verify", lambda: target_of(run).write_text("somebody's\n"))

    carry_out(run.pk)

    assert target_of(run).read_text() == "somebody's\n"
    assert (again(run).status, again(run).error["code"]) == ("failed", "target-taken")
    assert [path.name for path in root.rglob(".*")] == []


# Cancelling.


@pytest.mark.parametrize("step", ["lock", "quiet", "digest", "hold", "backup", "write", "verify"])
def test_a_run_can_be_cancelled_until_the_new_file_has_its_name(
    root: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    run = planned(root)
    at(monkeypatch, step, lambda: runs.cancel(again(run)), when="ok" if step == "lock" else "running")

    carry_out(run.pk)

    check_nothing_written(run, "cancelled", "cancelled")
    assert Metric.objects.filter(run=run).last().event == "skip"  # type: ignore[union-attr]


@pytest.mark.parametrize("step", ["rehearse", "rebind"])
def test_cancelled_too_late_it_goes_on_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    run = planned(root)
    at(monkeypatch, step, lambda: runs.cancel(again(run)))

    carry_out(run.pk)

    check_done(run)
    assert {"code": "cancel-too-late"} in again(run).warnings


@pytest.mark.parametrize("status", ["planned", "queued"])
def test_a_run_that_waits_is_cancelled_at_once(root: Path, status: str) -> None:
    run = planned(root)
    Run.objects.update(status=status)

    runs.cancel(run)
    runs.cancel(run)
    carry_out(run.pk)

    assert again(run).status == "cancelled"
    assert (transcripts_beside(run), events_of(run)) == ([], [])


def test_a_run_that_is_over_cannot_be_cancelled(root: Path) -> None:
    run = planned(root)
    carry_out(run.pk)

    with pytest.raises(Refusal) as refused:
        runs.cancel(again(run))

    assert refused.value.code == "run-over"
    check_done(run)


def test_an_interrupt_ends_a_run_as_a_cancelled_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = planned(root)

    def interrupt() -> None:
        raise KeyboardInterrupt

    at(monkeypatch, "verify", interrupt)

    with pytest.raises(KeyboardInterrupt):
        carry_out(run.pk)

    check_nothing_written(run, "cancelled", "interrupted")


# What the rehearsal says.


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Callable[[str], None]:
    """A client that ends its rehearsal as it is told."""
    settings.ENV = replace(settings.ENV, rehearse=True)

    def says(status: str) -> None:
        monkeypatch.setattr(run_steps.claude_client, "find_client", lambda _given: Client(("claude",)))
        monkeypatch.setattr(
            run_steps.claude_client, "rehearse", lambda *_given, **_more: Rehearsal(status, "its words", "line 3", 0.1)
        )

    return says


@pytest.mark.parametrize("status", ["ok", "warning", "skipped"])
def test_a_rehearsal_that_did_not_fail_lets_the_run_go_on(
    root: Path, client: Callable[[str], None], status: str
) -> None:
    client(status)
    run = planned(root)

    carry_out(run.pk)

    check_done(run)
    assert (step_of(run, "rehearse")["status"], step_of(run, "rehearse")["detail"]) == (status, "its words")
    assert again(run).rehearsal["status"] == status


def test_a_failed_rehearsal_sets_the_new_file_aside(root: Path, client: Callable[[str], None], settings: Any) -> None:
    client("failed")
    run = planned(root)
    before = seen(source_of(run))

    carry_out(run.pk)

    check_nothing_written(run, "failed", "rehearsal-failed")
    assert seen(source_of(run)) == before
    aside = list((settings.ENV.data / "set-aside").glob("*.jsonl"))
    assert [path.stat().st_size for path in aside] == [again(run).target_size]
    assert again(run).error["difference"] == "line 3"
    assert again(run).warnings[-1]["code"] == "set-aside"


def test_a_window_that_was_seen_meanwhile_is_forgotten_with_its_file(
    root: Path, client: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    client("failed")
    run = planned(root)
    at(monkeypatch, "rehearse", lambda: index(root))

    carry_out(run.pk)

    assert not Window.objects.filter(session_id=run.target_session_id).exists()
    assert not Transcript.objects.filter(path=run.target_path).exists()


def test_without_a_client_the_run_says_so_and_goes_on(root: Path, settings: Any, tmp_path: Path) -> None:
    settings.ENV = replace(settings.ENV, rehearse=True, claude_bin=str(tmp_path / "nowhere"))
    run = planned(root)

    carry_out(run.pk)

    check_done(run)
    assert step_of(run, "rehearse")["detail"] == {"code": "no-client"}


def test_a_step_that_breaks_in_an_unforeseen_way_fails_the_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = planned(root)

    def break_down() -> None:
        raise RuntimeError("a gear")

    at(monkeypatch, "rehearse", break_down)

    carry_out(run.pk)

    check_nothing_written(run, "failed", "unexpected")
    assert again(run).error["text"] == "RuntimeError: a gear"


# Places that cannot be written.


def test_a_folder_that_may_not_be_written_fails_the_run(open_folder: Path, settings: Any) -> None:
    root = own_ground(open_folder, settings)
    run = planned(root)
    for path in [settings.ENV.data, *settings.ENV.data.rglob("*")]:
        os.chown(path, 65534, 65534)
    os.chown(source_of(run), 65534, 65534)
    source_of(run).parent.chmod(0o555)

    with as_nobody():
        carry_out(run.pk)

    check_nothing_written(run, "failed", "not-allowed")


def test_a_file_of_somebody_else_is_not_copied_by_who_cannot_give_it_away(open_folder: Path, settings: Any) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs two owners")
    root = own_ground(open_folder, settings)
    run = planned(root)
    source_of(run).chmod(0o644)
    source_of(run).parent.chmod(0o777)
    for path in [settings.ENV.data, *settings.ENV.data.rglob("*")]:
        os.chown(path, 65534, 65534)

    with as_nobody():
        carry_out(run.pk)

    check_nothing_written(run, "failed", "owner-differs")


def test_a_data_folder_that_cannot_be_written_refuses_and_leaves_the_plan(open_folder: Path, settings: Any) -> None:
    root = own_ground(open_folder, settings)
    run = planned(root)
    settings.ENV.data.chmod(0o500)

    with as_nobody(), pytest.raises(Refusal) as refused:
        carry_out(run.pk)

    assert refused.value.code == "data-folder"
    assert again(run).status == "planned"


def test_a_folder_that_vanishes_fails_the_run(root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run = planned(root)
    at(monkeypatch, "verify", lambda: source_of(run).parent.rename(tmp_path / "away"))

    carry_out(run.pk)

    assert (again(run).status, again(run).error["code"]) == ("failed", "folder-gone")
    assert [path.name for path in tmp_path.rglob("*.jsonl") if path.parent.name == "away"] == [source_of(run).name]
