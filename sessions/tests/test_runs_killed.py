"""kill -9 at every moment of a run: the old window stays, one new file or none, and the next hand finishes (X7, row 13)."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions.actions import backups, carry_out, metrics, runs
from sessions.actions.copying import Copying
from sessions.gateways import backup_files, claude_client, locks, new_file, side_files
from sessions.gateways.claude_client import Client, Rehearsal
from sessions.gateways.new_file import NewFile
from sessions.models import Backup, Run, Window
from sessions.tests.killed import Trap, amid, around, at_step, carry_out_and_die
from sessions.tests.planned import (
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
from sessions.tests.transcripts import assistant, user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


STEP_BY_STEP = [
    pytest.param(at_step(name, status), id=f"{name}-{status}")
    for name in STEPS
    for status in ("running", "over")
    if (name, status) not in {("lock", "running"), ("metrics", "over")}
]
MOMENTS = [
    pytest.param(around(metrics, "count_start", before=True), id="before-the-first-metric"),
    pytest.param(around(metrics, "write_down"), id="claimed"),
    pytest.param(around(os, "fsync", call=1), id="amid-the-backup"),
    pytest.param(around(backup_files, "_put", before=True), id="before-the-backup-has-its-name"),
    pytest.param(around(backup_files, "copy"), id="before-the-backup-has-its-row"),
    pytest.param(around(backups, "back_up"), id="behind-the-backup"),
    pytest.param(amid(Copying, "__iter__", lines=0), id="before-the-first-line"),
    pytest.param(amid(Copying, "__iter__", lines=5), id="amid-the-lines"),
    pytest.param(around(NewFile, "write"), id="behind-the-last-line"),
    pytest.param(around(NewFile, "read_back"), id="read-back"),
    pytest.param(around(side_files, "carry"), id="behind-the-side-files"),
    pytest.param(around(NewFile, "publish", before=True), id="before-its-name"),
    pytest.param(around(os, "utime"), id="before-the-link"),
    pytest.param(around(os, "link"), id="two-names"),
    pytest.param(around(NewFile, "publish"), id="behind-its-name"),
    pytest.param(around(new_file, "touch"), id="come-first"),
    pytest.param(around(carry_out, "index_one", before=True), id="before-the-index"),
    pytest.param(around(carry_out, "_show"), id="behind-the-index"),
    pytest.param(around(metrics, "count_end"), id="amid-the-end"),
]


@pytest.mark.parametrize("trap", [*STEP_BY_STEP, *MOMENTS])
def test_killed_anywhere_the_next_hand_finishes_it(root: Path, trap: Trap) -> None:
    run = planned(root)
    before = seen(source_of(run))

    assert carry_out_and_die(run, trap)

    assert seen(source_of(run)) == before
    assert again(run).status in {"planned", "running"}
    assert [path for path in transcripts_beside(run) if path != target_of(run)] == []
    assert [found.pk for found in runs.heal()] == ([run.pk] if again(run).status == "running" else [])

    carry_out.carry_out(run.pk)

    check_done(run)
    assert seen(source_of(run)) == before
    assert Backup.objects.filter(sha256=run.source_sha256).count() == 1
    assert Window.objects.filter(session_id=run.target_session_id).count() == 1
    assert runs.heal() == []


def test_killed_within_the_last_transaction_it_is_not_over(root: Path) -> None:
    run = planned(root)

    assert carry_out_and_die(run, at_step("metrics", "over"))
    left = again(run).status, events_of(run)
    carry_out.carry_out(run.pk)

    assert left == ("running", ["trigger"])
    check_done(run)


def test_killed_behind_its_end_it_is_over_and_stays_so(root: Path) -> None:
    run = planned(root)

    assert carry_out_and_die(run, around(metrics, "write_down", call=2))
    check_done(run)
    carry_out.carry_out(run.pk)

    check_done(run)


@pytest.mark.parametrize("trap", [*STEP_BY_STEP, *MOMENTS])
def test_killed_anywhere_and_spoken_in_meanwhile_nothing_is_lost(root: Path, trap: Trap, settings: Any) -> None:
    file = talk(root)
    run = planned(root, file)
    assert carry_out_and_die(run, trap)
    file.add(user("你在吗"), assistant("在"))
    rest(file)
    before = seen(source_of(run))

    carry_out.carry_out(run.pk)

    check_nothing_written(run, "stale", "grown")
    assert seen(source_of(run)) == before
    assert not Window.objects.filter(session_id=run.target_session_id).exists()


@pytest.mark.parametrize("moment", ["behind-its-name", "rehearse-over", "behind-the-index"])
def test_a_new_window_that_is_talked_in_already_stays(root: Path, moment: str) -> None:
    run = planned(root)
    trap = next(param.values[0] for param in [*STEP_BY_STEP, *MOMENTS] if param.id == moment)
    assert carry_out_and_die(run, trap)  # type: ignore[arg-type]
    with target_of(run).open("ab") as stream:
        stream.write(b'{"type":"user"}\n')
    grown = seen(target_of(run))

    carry_out.carry_out(run.pk)

    assert again(run).status == "done"
    assert seen(target_of(run)) == grown
    assert transcripts_beside(run) == [target_of(run)]
    assert step_of(run, "rehearse")["detail"] == {"code": "talked-in"}


def test_a_new_window_that_is_talked_in_is_never_set_aside(root: Path, settings: Any) -> None:
    file = talk(root)
    run = planned(root, file)
    assert carry_out_and_die(run, around(NewFile, "publish"))
    file.add(user("等一下"))
    with target_of(run).open("ab") as stream:
        stream.write(b'{"type":"user"}\n')

    carry_out.carry_out(run.pk)

    assert (again(run).status, again(run).error["code"]) == ("stale", "grown")
    assert transcripts_beside(run) == [target_of(run)]
    assert again(run).warnings[-1] == {"code": "left-in-place", "path": run.target_path}
    assert not (settings.ENV.data / "set-aside").exists()


def test_killed_and_cancelled_it_is_over_at_once(root: Path) -> None:
    run = planned(root)
    assert carry_out_and_die(run, around(NewFile, "write"))

    runs.cancel(again(run))

    check_nothing_written(run, "cancelled", "cancelled")


def test_killed_behind_the_new_file_a_wish_to_cancel_comes_too_late(root: Path) -> None:
    run = planned(root)
    assert carry_out_and_die(run, around(NewFile, "publish"))

    asked = runs.cancel(again(run))
    carry_out.carry_out(run.pk)

    assert asked.status == "running"
    check_done(run)
    assert {"code": "cancel-too-late"} in again(run).warnings


@pytest.mark.parametrize(
    "trap",
    [
        pytest.param(at_step("rehearse", "over"), id="behind-the-verdict"),
        pytest.param(around(new_file, "set_aside", before=True), id="before-it-is-aside"),
        pytest.param(around(new_file, "set_aside"), id="behind-it"),
        pytest.param(around(side_files, "remove"), id="tidied"),
        pytest.param(at_step("metrics", "running"), id="before-the-end"),
    ],
)
def test_killed_while_a_failed_one_is_put_away_it_fails_again(
    root: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, trap: Trap
) -> None:
    settings.ENV = replace(settings.ENV, rehearse=True)
    monkeypatch.setattr(claude_client, "find_client", lambda _given: Client(("claude",)))
    monkeypatch.setattr(
        claude_client, "rehearse", lambda *_given, **_more: Rehearsal("failed", {"code": "no-client"}, "line 1")
    )
    run = planned(root)
    assert carry_out_and_die(run, trap)

    carry_out.carry_out(run.pk)

    check_nothing_written(run, "failed", "rehearsal-failed")
    assert len(list((settings.ENV.data / "set-aside").iterdir())) == 1


def test_a_run_that_kills_every_worker_is_given_up(root: Path) -> None:
    run = planned(root)
    for _time in range(carry_out.MOST_TRIES):
        assert carry_out_and_die(run, around(NewFile, "write"))

    carry_out.carry_out(run.pk)

    check_nothing_written(run, "failed", "worker-lost")


def test_a_run_that_is_worked_on_is_nobody_elses(root: Path, settings: Any) -> None:
    run = planned(root)
    Run.objects.update(status="running")

    with locks.held(settings.ENV.data, run.source_session_id):
        found = runs.heal()

    assert found == []
    assert [waiting.pk for waiting in runs.heal()] == [run.pk]
