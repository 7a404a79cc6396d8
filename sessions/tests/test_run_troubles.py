"""What goes wrong behind the gates: rehearsal, disk, folder, the unforeseen; the old window stays as it was (W9, W13)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion.lib.refusals import Refusal
from sessions.actions.carry_out import carry_out
from sessions.core.selection import Mode, Selection
from sessions.gateways import claude_client
from sessions.gateways.claude_client import Client, Rehearsal
from sessions.models import Transcript, Window
from sessions.tests.indexed import index
from sessions.tests.people import as_nobody
from sessions.tests.planned import (
    again,
    at,
    check_done,
    check_nothing_written,
    own_ground,
    planned,
    seen,
    source_of,
    step_of,
    talk,
    transcripts_beside,
)
from sessions.tests.test_new_file import small_disk

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


# What the rehearsal says.


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Callable[[str], None]:
    """A client that ends its rehearsal as it is told."""
    settings.ENV = replace(settings.ENV, rehearse=True)

    def says(status: str) -> None:
        monkeypatch.setattr(claude_client, "find_client", lambda _given: Client(("claude",)))
        monkeypatch.setattr(
            claude_client,
            "rehearse",
            lambda *_given, **_more: Rehearsal(
                status, {"code": "rehearsed-otherwise", "version": "2.1.332"}, "line 3", 0.1
            ),
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
    assert (step_of(run, "rehearse")["status"], step_of(run, "rehearse")["detail"]) == (
        status,
        {"code": "rehearsed-otherwise", "version": "2.1.332"},
    )
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


def test_a_full_disk_fails_the_run_and_leaves_nothing(tmp_path: Path, settings: Any) -> None:
    with small_disk(tmp_path / "small", "200k") as folder:
        settings.ENV = replace(settings.ENV, data=tmp_path / "data", roots=(folder,), rehearse=False)
        run = planned(folder, talk(folder, turns=10), selection=Selection(Mode.TAIL, retain=90_000), squash=0)
        (folder / "filler").write_bytes(b"x" * shutil.disk_usage(folder).free)
        before = seen(source_of(run))

        carry_out(run.pk)

        check_nothing_written(run, "failed", "no-space")
        assert seen(source_of(run)) == before
        assert Window.objects.filter(session_id=run.source_session_id).exists()


def test_a_full_data_folder_fails_the_run_before_it_writes(tmp_path: Path, settings: Any) -> None:
    root = own_ground(tmp_path, settings)
    run = planned(root)
    with small_disk(tmp_path / "small", "64k") as folder:
        settings.ENV = replace(settings.ENV, data=folder)

        carry_out(run.pk)

        assert (again(run).status, again(run).error["code"]) == ("failed", "no-space")
        assert [path for path in (folder / "backups").rglob("*") if path.is_file()] == []
    assert transcripts_beside(run) == []
