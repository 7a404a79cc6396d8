"""A planned run carried out: every step said, the source untouched, one whole new file (spec W7, W8, W10, W11, O1)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from sessions.actions.carry_out import carry_out
from sessions.models import Backup, Metric, Run, Window
from sessions.tests.planned import (
    STEPS,
    again,
    check_done,
    own_ground,
    planned,
    seen,
    source_of,
    step_of,
    talk,
    target_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


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
