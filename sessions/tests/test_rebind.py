"""Rebind only: into a new window that is written, put back where it was set aside, and never past words (spec W8)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion.lib.refusals import Refusal
from sessions.actions.carry_out import carry_out
from sessions.actions.rebind import rebind_only, rebind_window
from sessions.actions.rollback import rollback
from sessions.gateways import claude_client
from sessions.gateways.bridges.bridge import Rebinding, Rebound
from sessions.gateways.claude_client import Client, Rehearsal
from sessions.models import Run, Window
from sessions.tests.bridged import Chat, bridge
from sessions.tests.indexed import window_of
from sessions.tests.planned import again, own_ground, planned, seen, source_of, talk, target_of
from sessions.tests.test_rollback import asides, speak
from sessions.tests.transcripts import TranscriptFile

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


@pytest.fixture
def file(root: Path) -> TranscriptFile:
    return talk(root)


@pytest.fixture
def chat(monkeypatch: pytest.MonkeyPatch, file: TranscriptFile) -> Chat:
    return bridge(monkeypatch, file.session)


def done(root: Path, file: TranscriptFile, **wish: Any) -> Run:
    return carry_out(planned(root, file, **wish).pk)


def refused(run: Run) -> str:
    with pytest.raises(Refusal) as caught:
        rebind_only(run)
    assert caught.value.message
    return caught.value.code


def test_a_run_that_was_rolled_back_goes_forward_again(root: Path, file: TranscriptFile, chat: Chat) -> None:
    run = done(root, file)
    written = target_of(run).read_bytes()
    rollback(run)

    answered = rebind_only(run)

    assert (answered.status, again(run).status, again(run).rebind["status"]) == ("done", "done", "bound")
    assert chat.bound == run.target_session_id
    assert target_of(run).read_bytes() == written
    assert asides(root) == []
    assert Window.objects.filter(session_id=run.target_session_id).exists()
    assert "put-back" in [warning["code"] for warning in again(run).warnings]


def test_without_a_bridge_the_new_window_is_back_and_nothing_is_bound(root: Path, file: TranscriptFile) -> None:
    run = done(root, file)
    rollback(run)

    answered = rebind_only(run)

    assert (answered.status, answered.rebind["status"]) == ("done", "none")
    assert target_of(run).exists()


def test_a_run_whose_binding_failed_is_bound_later(root: Path, file: TranscriptFile, chat: Chat) -> None:
    chat.ends = Rebinding.UNCHANGED
    run = done(root, file)
    assert (run.status, chat.bound) == ("failed", file.session)
    chat.ends = None

    answered = rebind_only(run)

    assert (answered.status, answered.error, chat.bound) == ("done", {}, run.target_session_id)


def test_an_exported_one_can_be_bound(root: Path, file: TranscriptFile, chat: Chat) -> None:
    run = done(root, file, export_only=True)
    assert chat.bound == file.session

    answered = rebind_only(run)

    assert (answered.status, answered.is_export_only, chat.bound) == ("done", False, run.target_session_id)


def test_an_exported_one_without_a_bridge_stays_exported(root: Path, file: TranscriptFile) -> None:
    run = done(root, file, export_only=True)

    answered = rebind_only(run)

    assert (answered.status, again(run).is_export_only) == ("exported", True)


def test_one_that_is_bound_already_is_answered_as_it_is(root: Path, file: TranscriptFile, chat: Chat) -> None:
    run = done(root, file)
    moves, row = list(chat.moves), Run.objects.values().get(pk=run.pk)

    rebind_only(run)

    assert (chat.moves, Run.objects.values().get(pk=run.pk)) == (moves, row)


def test_words_said_in_the_old_window_since_are_never_left_behind(root: Path, file: TranscriptFile, chat: Chat) -> None:
    run = done(root, file)
    rollback(run)
    speak(source_of(run), "mint")

    assert refused(run) == "said-since-plan"

    assert (chat.bound, again(run).status) == (file.session, "rolled_back")
    assert not target_of(run).exists()
    assert len(asides(root)) == 1


def test_a_new_session_that_is_gone_is_told_of(root: Path, file: TranscriptFile, chat: Chat) -> None:
    run = done(root, file)
    rollback(run)
    asides(root)[0].unlink()

    assert refused(run) == "new-session-gone"


def test_a_new_session_that_was_changed_is_not_put_back(root: Path, file: TranscriptFile, chat: Chat) -> None:
    run = done(root, file)
    rollback(run)
    with asides(root)[0].open("r+b") as stream:
        stream.write(b"X")

    assert refused(run) == "new-session-gone"
    assert not target_of(run).exists()


def test_another_file_under_its_name_is_left_alone(root: Path, file: TranscriptFile, chat: Chat) -> None:
    run = done(root, file)
    rollback(run)
    target_of(run).write_bytes(b"mine\n")

    assert refused(run) == "target-taken"
    assert target_of(run).read_bytes() == b"mine\n"
    assert len(asides(root)) == 1


@pytest.mark.parametrize("ends", [Rebinding.UNCHANGED, OSError("no answer")], ids=str)
def test_a_bridge_that_does_not_follow_changes_no_status(
    root: Path, file: TranscriptFile, chat: Chat, ends: Any
) -> None:
    run = done(root, file)
    rollback(run)
    chat.ends = ends

    assert refused(run) in {"rebind-failed", "bridge-failed"}
    assert (chat.bound, again(run).status) == (file.session, "rolled_back")
    assert target_of(run).stat().st_mtime_ns < source_of(run).stat().st_mtime_ns
    chat.ends = None
    assert rebind_only(run).status == "done"


@pytest.mark.parametrize("status", ["planned", "queued", "running", "stale", "cancelled"])
def test_a_run_that_wrote_nothing_cannot_be_bound(root: Path, file: TranscriptFile, status: str) -> None:
    run = planned(root, file)
    Run.objects.filter(pk=run.pk).update(status=status)

    assert refused(run) == "nothing-written"


def test_one_that_failed_before_it_wrote_cannot_be_bound(root: Path, file: TranscriptFile) -> None:
    run = planned(root, file)
    Run.objects.filter(pk=run.pk).update(status="failed")

    assert refused(run) == "nothing-written"


def test_a_session_is_bound_by_the_run_that_wrote_it(root: Path, file: TranscriptFile, chat: Chat) -> None:
    run = done(root, file, export_only=True)

    found = rebind_window(Window.objects.listed().get(session_id=run.target_session_id))

    assert isinstance(found, Run)
    assert (found.pk, chat.bound) == (run.pk, run.target_session_id)


def test_any_other_session_is_bound_as_it_is(root: Path, file: TranscriptFile, chat: Chat) -> None:
    planned(root, file)
    chat.bound = "somewhere"
    before = seen(file.path)

    found = rebind_window(window_of(file))

    assert isinstance(found, Rebound)
    assert (found.status, chat.bound) == (Rebinding.BOUND, file.session)
    assert seen(file.path) == before


def test_a_session_whose_file_is_gone_is_not_bound(root: Path, file: TranscriptFile, chat: Chat) -> None:
    planned(root, file)
    window = window_of(file)
    file.path.unlink()

    with pytest.raises(Refusal) as caught:
        rebind_window(window)

    assert caught.value.code == "file-gone"


def test_a_new_window_that_the_client_would_not_take_is_not_bound(
    root: Path, file: TranscriptFile, chat: Chat, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    run = done(root, file)
    rollback(run)
    settings.ENV = replace(settings.ENV, rehearse=True)
    failed = Rehearsal("failed", {"code": "no-client"}, "line 3", 0.1)
    monkeypatch.setattr(claude_client, "find_client", lambda given: Client(("claude",)))
    monkeypatch.setattr(claude_client, "rehearse", lambda *given, **more: failed)

    assert refused(run) == "rehearsal-failed"

    assert (chat.bound, again(run).status) == (file.session, "rolled_back")
    assert not target_of(run).exists()
    assert len(asides(root)) == 1
