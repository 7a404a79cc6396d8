"""Backups: made once, read back, kept by a policy that never takes the last good one (spec W8)."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from sessions.actions import backups
from sessions.actions.carry_out import carry_out
from sessions.gateways import backup_files, disk
from sessions.gateways.backup_files import Differs
from sessions.gateways.disk import NotWritten, Sum
from sessions.models import Backup, Run
from sessions.tests.planned import (
    again,
    age,
    check_done,
    check_nothing_written,
    own_ground,
    planned,
    rest,
    source_of,
    step_of,
    talk,
)
from sessions.tests.test_new_file import small_disk
from sessions.tests.transcripts import TranscriptFile, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


def made(run: Run) -> Backup:
    return backups.back_up(run, source_of(run))


def test_a_copy_is_private_and_byte_for_byte(root: Path, settings: Any) -> None:
    run = planned(root)

    backup = made(run)

    path = Path(backup.path)
    assert path.read_bytes() == source_of(run).read_bytes()
    assert path.is_relative_to(settings.ENV.data / "backups" / run.source_session_id)
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    assert backup.verified_at is not None


def test_the_same_content_is_copied_once(root: Path) -> None:
    file = talk(root)
    first, second = planned(root, file), planned(root, file)

    kept, again_asked = made(first), made(second)

    assert kept.pk == again_asked.pk
    assert len(list(Path(kept.path).parent.iterdir())) == 1


@pytest.mark.parametrize("harm", ["gone", "changed", "short"])
def test_a_copy_that_took_harm_is_made_again(root: Path, harm: str) -> None:
    run = planned(root)
    backup = made(run)
    spoil(backup, harm)

    fresh = made(run)

    assert fresh.trouble == ""
    assert Path(fresh.path).read_bytes() == source_of(run).read_bytes()
    assert again(run).backups.filter(trouble="").count() == 1


def spoil(backup: Backup, harm: str) -> None:
    path = Path(backup.path)
    if harm == "gone":
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(data[:-1] if harm == "short" else b"X" + data[1:])


def test_a_source_that_is_another_one_leaves_no_copy(root: Path, settings: Any) -> None:
    file = talk(root)
    run = planned(root, file)
    file.add(user("等一下"))

    with pytest.raises(Differs):
        made(run)

    assert not Backup.objects.exists()
    assert [path for path in (settings.ENV.data / "backups").rglob("*") if path.is_file()] == []


def test_a_source_that_changes_within_its_size_leaves_no_copy(root: Path, settings: Any) -> None:
    run = planned(root)
    source_of(run).write_bytes(b"X" + source_of(run).read_bytes()[1:])

    with pytest.raises(Differs):
        made(run)

    assert [path for path in (settings.ENV.data / "backups").rglob("*") if path.is_file()] == []


def test_too_little_room_is_known_before_a_byte_is_written(
    root: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = planned(root)
    monkeypatch.setattr(disk, "RESERVE", 2**60)

    carry_out(run.pk)

    check_nothing_written(run, "failed", "no-space")
    assert step_of(run, "backup")["status"] == "failed"
    assert not Backup.objects.exists()


def test_a_disk_that_fills_up_meanwhile_leaves_no_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "RESERVE", -(2**60))
    source = TranscriptFile(tmp_path)
    source.add_bytes(b"x" * 200_000 + b"\n")
    data = source.path.read_bytes()

    with small_disk(tmp_path / "small", "64k") as folder:
        place = folder / "backups" / "s" / "one.jsonl"
        with pytest.raises(NotWritten) as refused:
            backup_files.copy(source.path, place, Sum(disk.read_sum(source.path).sha256, len(data)))

        assert (refused.value.code, list(place.parent.iterdir())) == ("no-space", [])


def test_a_copy_is_verified_by_every_byte(root: Path) -> None:
    backup = made(planned(root))
    first = backups.verify(backup)
    spoil(backup, "changed")

    seen = backups.verify(backup, thorough=False), backups.verify(backup), backups.verify(backup, thorough=False)

    assert (first, seen) == (True, (True, False, False))
    assert Backup.objects.get().trouble == "changed"


# The policy.


def copies(root: Path, count: int, *, days_apart: float = 1.0) -> tuple[TranscriptFile, list[Backup]]:
    """Copies of a session that grew between them, the newest first, the newest of today."""
    file = talk(root, turns=2)
    found: list[Backup] = []
    for number in range(count):
        file.add(user(f"还有第{number}件事"))
        rest(file)
        backup = made(planned(root, file))
        age(backup, (count - 1 - number) * days_apart)
        found.insert(0, backup)
    return file, found


def left() -> set[int]:
    return set(Backup.objects.values_list("pk", flat=True))


def test_the_newest_few_of_a_session_stay(root: Path) -> None:
    _file, found = copies(root, 7)

    gone = backups.prune(keep=5)

    assert [backup.pk for backup in gone] == [backup.pk for backup in found[5:]]
    assert [Path(backup.path).exists() for backup in found] == [True] * 5 + [False] * 2
    assert left() == {backup.pk for backup in found[:5]}


def test_old_ones_go_but_the_last_good_one(root: Path) -> None:
    _file, found = copies(root, 3, days_apart=40)
    age(found[0], 35)

    backups.prune(days=30)

    assert left() == {found[0].pk}
    assert backups.prune(days=30) == []


def test_a_newest_copy_that_took_harm_does_not_count_as_good(root: Path) -> None:
    _file, found = copies(root, 3, days_apart=40)
    spoil(found[0], "changed")

    backups.prune(days=30)

    assert found[1].pk in left()
    assert found[2].pk not in left()


def test_where_no_copy_is_good_none_goes(root: Path) -> None:
    _file, found = copies(root, 3, days_apart=40)
    for backup in found:
        spoil(backup, "changed")

    assert backups.prune(days=30) == []
    assert len(left()) == 3


def test_a_copy_that_stands_for_a_lost_source_stays_while_its_run_can_be_rolled_back(root: Path) -> None:
    file, found = copies(root, 3, days_apart=40)
    oldest = found[-1]
    Run.objects.filter(backups=oldest).update(status="done")
    file.path.unlink()

    backups.prune(days=30)

    assert left() == {found[0].pk, oldest.pk}


def test_copies_of_another_host_are_not_looked_at(root: Path) -> None:
    copies(root, 2, days_apart=40)
    Run.objects.update(host="elsewhere")

    assert backups.prune(days=30) == []
    assert len(left()) == 2


def test_a_copy_that_is_reused_is_said_to_be(root: Path) -> None:
    file = talk(root)
    made(planned(root, file))
    run = planned(root, file)

    carry_out(run.pk)

    check_done(run)
    assert step_of(run, "backup")["detail"]["code"] == "backup-reused"
