"""Going back to the old window: the chat first, nothing lost on either side, clear refusals (spec W8)."""

from __future__ import annotations

import shutil
import uuid
from pathlib import Path
from typing import Any

import pytest

from companion.lib.refusals import Refusal
from sessions.actions.carry_out import carry_out
from sessions.actions.rollback import rollback
from sessions.gateways import locks
from sessions.gateways.bridges.bridge import Rebinding
from sessions.models import Backup, Metric, Run, Transcript, Window
from sessions.tests.bridged import bridge
from sessions.tests.indexed import index, window_of
from sessions.tests.planned import again, own_ground, planned, rest, seen, source_of, talk, target_of
from sessions.tests.transcripts import TranscriptFile, as_bytes, assistant, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


def done(root: Path, file: TranscriptFile | None = None, **wish: Any) -> Run:
    return carry_out(planned(root, file, **wish).pk)


def refused(run: Run) -> str:
    with pytest.raises(Refusal) as caught:
        rollback(run)
    assert caught.value.message
    return caught.value.code


def codes(run: Run) -> list[str]:
    return [warning["code"] for warning in again(run).warnings]


def asides(root: Path) -> list[Path]:
    return sorted((root.parent / "data" / "set-aside").glob("*"))


def speak(path: Path, *words: str) -> None:
    """Somebody goes on in a window."""
    with path.open("ab") as stream:
        stream.write(as_bytes([user(word, uuid=f"said-{word}", timestamp="2026-11-01T08:00:00Z") for word in words]))


def test_a_run_is_rolled_back_and_its_new_file_is_set_aside(root: Path) -> None:
    run = done(root)
    before, written = seen(source_of(run)), target_of(run).read_bytes()

    answered = rollback(run)

    assert (answered.status, again(run).status) == ("rolled_back", "rolled_back")
    assert seen(source_of(run)) == before
    assert not target_of(run).exists()
    assert [path.read_bytes() for path in asides(root)] == [written]
    assert codes(run)[-1] == "set-aside"
    assert not Window.objects.filter(session_id=run.target_session_id).exists()
    last = Metric.objects.filter(run=run).latest("pk")
    assert (last.event, last.reason, last.status) == ("skip", "rolled-back", "rolled_back")


def test_the_chat_goes_back_into_the_old_window(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = talk(root)
    chat = bridge(monkeypatch, file.session)
    run = done(root, file)
    assert chat.bound == run.target_session_id

    answered = rollback(run)

    assert chat.bound == file.session
    assert answered.rebind == {
        "status": "bound", "before": run.target_session_id, "after": file.session, "detail": {},
    }  # fmt: skip


def test_a_second_rollback_is_refused_and_changes_nothing(root: Path) -> None:
    run = done(root)
    rollback(run)
    counted = Metric.objects.count()

    assert refused(run) == "already-rolled-back"
    assert Metric.objects.count() == counted


def test_a_new_window_in_which_somebody_spoke_stays_and_is_told_of(root: Path) -> None:
    run = done(root)
    speak(target_of(run), "mint", "basil")

    rollback(run)

    warning = again(run).warnings[-1]
    assert (warning["code"], warning["lines"]) == ("said-since", 2)
    assert target_of(run).exists()
    assert asides(root) == []


def test_another_file_under_the_new_name_is_left_alone(root: Path) -> None:
    run = done(root)
    target_of(run).write_bytes(b"something else\n" * 10_000)

    rollback(run)

    assert codes(run)[-1] == "left-in-place"
    assert target_of(run).read_bytes().startswith(b"something else")


def test_a_new_file_that_is_gone_is_no_hindrance(root: Path) -> None:
    run = done(root)
    target_of(run).unlink()

    assert rollback(run).status == "rolled_back"


def test_an_old_transcript_that_is_gone_comes_back_from_the_backup(root: Path) -> None:
    run = done(root)
    content = source_of(run).read_bytes()
    source_of(run).unlink()
    index(root)

    rollback(run)

    assert source_of(run).read_bytes() == content
    assert source_of(run).stat().st_mode & 0o777 == 0o600
    assert "source-restored" in codes(run)
    assert Transcript.objects.get(path=run.source_path).missing_since is None


def test_also_where_its_folder_is_gone(root: Path) -> None:
    run = done(root)
    content = source_of(run).read_bytes()
    shutil.rmtree(source_of(run).parent)

    rollback(run)

    assert source_of(run).read_bytes() == content


def test_the_backup_that_holds_more_of_the_old_window_is_taken(root: Path) -> None:
    file = talk(root)
    first = done(root, file)
    file.add(user("still here"), assistant("yes"))
    rest(file)
    done(root, file)
    content = file.path.read_bytes()
    file.path.unlink()

    rollback(first)

    assert file.path.read_bytes() == content


def test_a_backup_that_is_not_whole_is_not_used(root: Path) -> None:
    run = done(root)
    kept = seen(target_of(run))
    source_of(run).unlink()
    Path(Backup.objects.get().path).write_bytes(b"broken\n")

    assert refused(run) == "no-backup"
    assert again(run).status == "done"
    assert seen(target_of(run)) == kept
    assert not source_of(run).exists()


def test_without_backup_a_missing_transcript_cannot_come_back(root: Path) -> None:
    run = done(root, with_backup=False)
    source_of(run).unlink()

    assert refused(run) == "no-backup"


def test_an_old_transcript_that_is_there_is_never_written_over(root: Path) -> None:
    run = done(root)
    source_of(run).write_bytes(b"another file\n")

    rollback(run)

    assert source_of(run).read_bytes() == b"another file\n"


def test_a_link_under_the_old_name_is_not_followed(root: Path, tmp_path: Path) -> None:
    run = done(root)
    source_of(run).unlink()
    source_of(run).symlink_to(tmp_path / "elsewhere")

    rollback(run)

    assert not (tmp_path / "elsewhere").exists()


def test_nothing_is_written_outside_of_the_roots(root: Path, settings: Any, tmp_path: Path) -> None:
    run = done(root)
    source_of(run).unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Run.objects.filter(pk=run.pk).update(source_path=str(elsewhere / source_of(run).name))

    assert refused(run) == "outside-roots"
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("planned", "not-carried-out"), ("queued", "run-under-way"), ("running", "run-under-way"), ("stale", "never-moved"),
        ("cancelled", "never-moved"), ("failed", "never-moved"),
    ],
)  # fmt: skip
def test_a_run_that_moved_nothing_cannot_be_gone_back_on(root: Path, status: str, code: str) -> None:
    run = planned(root)
    Run.objects.filter(pk=run.pk).update(status=status)

    assert refused(run) == code
    assert again(run).status == status


def test_an_exported_one_only_where_it_was_bound(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = done(root, export_only=True)

    assert refused(run) == "never-moved"

    bridge(monkeypatch, run.target_session_id)
    Run.objects.filter(pk=run.pk).update(rebind={"status": "bound"})
    assert rollback(run).status == "rolled_back"


def test_a_failed_one_where_the_chat_had_moved(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = talk(root)
    chat = bridge(monkeypatch, file.session)
    run = done(root, file)
    Run.objects.filter(pk=run.pk).update(status="failed", error={"code": "unexpected"})

    rollback(run)

    assert chat.bound == file.session


@pytest.mark.parametrize("ends", [Rebinding.UNCHANGED, Rebinding.NEEDS_HAND, OSError("no answer")], ids=str)
def test_a_bridge_that_does_not_follow_leaves_everything_as_it_is(
    root: Path, monkeypatch: pytest.MonkeyPatch, ends: Any
) -> None:
    file = talk(root)
    chat = bridge(monkeypatch, file.session)
    run = done(root, file)
    before, chat.ends = seen(target_of(run)), ends

    assert refused(run) in {"not-bound-back", "bridge-failed"}

    assert (chat.bound, again(run).status, seen(target_of(run))) == (run.target_session_id, "done", before)
    chat.ends = None
    assert rollback(run).status == "rolled_back"


def test_a_chat_that_went_elsewhere_since_is_left_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = talk(root)
    chat = bridge(monkeypatch, file.session)
    run = done(root, file)
    chat.bound = "a-third-window"

    assert refused(run) == "not-bound-back"
    assert chat.bound == "a-third-window"


def test_a_later_run_has_to_be_gone_back_on_first(root: Path) -> None:
    first = done(root)
    later = again(first)
    later.pk, later.target_session_id = uuid.uuid4(), "the-window-after-that"
    later.source_session_id = first.target_session_id
    later.save(force_insert=True)

    with pytest.raises(Refusal) as caught:
        rollback(first)

    assert caught.value.code == "later-run"
    assert str(later.pk) in caught.value.message
    Run.objects.filter(pk=later.pk).update(status="rolled_back")
    assert rollback(first).status == "rolled_back"


def test_while_another_run_works_on_the_session_it_is_refused(root: Path) -> None:
    run = done(root)

    with locks.held(root.parent / "data", run.source_session_id):
        assert refused(run) == "session-busy"

    assert again(run).status == "done"


def test_a_run_of_another_host_is_not_touched(root: Path) -> None:
    run = done(root)
    run.host = "elsewhere"

    assert refused(run) == "other-host"


def test_the_old_window_can_be_planned_again_afterwards(root: Path) -> None:
    file = talk(root)
    rollback(done(root, file))
    assert window_of(file).session_id == file.session

    assert done(root, file).status == "done"
