"""When a run does not go on: the session is in use, the file another one, somebody was first, or nobody wants it (W6, W8, W12)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from companion.lib.refusals import Refusal
from sessions.actions import runs
from sessions.actions.carry_out import carry_out
from sessions.gateways import locks
from sessions.models import Metric, Run, Window
from sessions.tests.planned import (
    LONG_AGO,
    again,
    at,
    check_done,
    check_nothing_written,
    events_of,
    own_ground,
    planned,
    rest,
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
