"""A new transcript: whole or not at all, never over another file; and locks (spec W7, security row 13)."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sessions.gateways import locks, new_file
from sessions.gateways.disk import NotWritten, Sum
from sessions.gateways.new_file import NewFile, Standing
from sessions.tests.people import as_nobody

LINES = [b'{"a":1}\n', b'{"b":2}\n']
SESSION = "aaaa1111-0000-4000-8000-000000000001"
OTHER = "bbbb2222-0000-4000-8000-000000000002"


@pytest.fixture
def file(tmp_path: Path) -> NewFile:
    folder = tmp_path / "-srv"
    folder.mkdir()
    return NewFile(folder / f"{SESSION}.jsonl", "12345678")


def write(file: NewFile, lines: list[bytes] | Iterator[bytes] = LINES) -> Sum:
    return file.write(lines, owner=file.target.parent.stat())


def names(file: NewFile) -> list[str]:
    return sorted(path.name for path in file.target.parent.iterdir())


def test_until_it_is_published_no_reader_of_transcripts_knows_it(file: NewFile) -> None:
    write(file)

    assert names(file) == [f".{SESSION}.tmp-12345678"]
    assert stat.S_IMODE(file.beside.stat().st_mode) == 0o600


def test_published_it_is_the_only_one_with_the_given_time(file: NewFile) -> None:
    write(file)

    file.publish(1_700_000_000_000_000_001)

    assert names(file) == [f"{SESSION}.jsonl"]
    assert file.target.read_bytes() == b"".join(LINES)
    assert (file.target.stat().st_mtime_ns, file.target.stat().st_nlink) == (1_700_000_000_000_000_001, 1)


def test_what_is_read_back_comes_from_the_file(file: NewFile) -> None:
    written = write(file)
    file.beside.write_bytes(b"other\n")

    found, again = file.read_back(list)

    assert found == [b"other\n"]
    assert again != written


@pytest.mark.parametrize("when", ["before", "behind"])
def test_a_name_that_is_taken_is_never_taken_over(file: NewFile, when: str) -> None:
    if when == "behind":
        write(file)
    file.target.write_text("mine")

    with pytest.raises(NotWritten) as refused:
        write(file) if when == "before" else file.publish(0)

    assert refused.value.code == "target-taken"
    assert file.target.read_text() == "mine"


def test_a_link_under_the_name_counts_as_taken(file: NewFile, tmp_path: Path) -> None:
    file.target.symlink_to(tmp_path / "nowhere")

    with pytest.raises(NotWritten) as refused:
        write(file)

    assert refused.value.code == "target-taken"
    assert not (tmp_path / "nowhere").exists()


def test_a_link_in_the_way_of_the_unfinished_one_is_not_followed(file: NewFile, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("kept")
    file.beside.symlink_to(tmp_path / "precious")

    write(file)

    assert (tmp_path / "precious").read_text() == "kept"
    assert not file.beside.is_symlink()


def test_without_second_names_it_is_renamed_and_still_never_over_another(
    file: NewFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_given: object, **_more: object) -> None:
        raise OSError(1, "operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    write(file)
    file.target.write_text("mine")
    with pytest.raises(NotWritten) as refused:
        file.publish(0)
    file.target.unlink()

    file.publish(0)

    assert refused.value.code == "target-taken"
    assert (names(file), file.target.read_bytes()) == ([f"{SESSION}.jsonl"], b"".join(LINES))


def test_lines_that_break_leave_nothing(file: NewFile) -> None:
    def breaking() -> Iterator[bytes]:
        yield LINES[0]
        raise RuntimeError("a gear")

    with pytest.raises(RuntimeError, match="a gear"):
        write(file, breaking())

    assert names(file) == []


def test_leftovers_of_this_run_are_removed_and_of_no_other(file: NewFile) -> None:
    other = file.target.with_name(f".{SESSION}.tmp-99999999")
    other.touch()
    write(file)

    file.discard()

    assert names(file) == [other.name]


def test_a_folder_that_may_not_be_written_says_so(open_folder: Path) -> None:
    folder = open_folder / "-srv"
    folder.mkdir(mode=0o555)
    os.chown(folder, 65534, 65534)
    file = NewFile(folder / f"{SESSION}.jsonl", "1")

    with as_nobody(), pytest.raises(NotWritten) as refused:
        write(file)

    assert (refused.value.code, refused.value.path) == ("not-allowed", file.target)


def test_a_folder_that_is_gone_says_so(file: NewFile) -> None:
    write(file)
    owner = file.target.parent.stat()
    file.beside.unlink()
    file.target.parent.rmdir()

    with pytest.raises(NotWritten) as refused:
        file.write(LINES, owner=owner)
    file.discard()

    assert refused.value.code == "folder-gone"


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], capture_output=True)
    if done.returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", "64k") as folder:
        file = NewFile(folder / f"{SESSION}.jsonl", "1")
        with pytest.raises(NotWritten) as refused:
            write(file, iter([b"x" * 10_000 + b"\n"] * 50))

        assert refused.value.code == "no-space"
        assert names(file) == []


def test_a_disk_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", "64k") as folder:
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        file = NewFile(folder / f"{SESSION}.jsonl", "1")
        with pytest.raises(NotWritten) as refused:
            write(file)

        assert refused.value.code == "read-only"


def test_a_limit_on_the_size_of_files_leaves_nothing(file: NewFile) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(NotWritten) as refused:
            write(file, iter([b"x" * 10_000 + b"\n"] * 5))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert (refused.value.code, names(file)) == ("no-space", [])


def test_how_a_written_file_stands_is_told_by_its_bytes(file: NewFile) -> None:
    written = write(file)
    seen = [new_file.standing(file.target, written)]
    file.publish(0)
    seen.append(new_file.standing(file.target, written))
    with file.target.open("ab") as stream:
        stream.write(b"more\n")
    seen.append(new_file.standing(file.target, written))
    for other in (b"", b"x" * (written.size + 5)):
        file.target.write_bytes(other)
        seen.append(new_file.standing(file.target, written))

    assert seen == [Standing.ABSENT, Standing.AS_WRITTEN, Standing.GROWN, Standing.OTHER, Standing.OTHER]


def test_what_is_set_aside_is_out_of_sight_and_private(file: NewFile, tmp_path: Path) -> None:
    write(file)
    file.publish(0)

    aside = new_file.set_aside(file.target, tmp_path / "data", "12345678")

    assert names(file) == []
    assert aside.read_bytes() == b"".join(LINES)
    assert new_file.aside_files(tmp_path / "data") == [aside]
    assert stat.S_IMODE(aside.parent.stat().st_mode) == 0o700


def test_it_is_set_aside_onto_another_disk_too(file: NewFile, tmp_path: Path) -> None:
    write(file)
    file.publish(0)

    with small_disk(tmp_path / "small", "64k") as data:
        aside = new_file.set_aside(file.target, data, "1")
        kept = aside.read_bytes()

    assert (kept, names(file)) == (b"".join(LINES), [])


def test_what_cannot_be_set_aside_stays(file: NewFile, tmp_path: Path) -> None:
    write(file)
    file.publish(0)
    (tmp_path / "data").touch()

    with pytest.raises(NotWritten):
        new_file.set_aside(file.target, tmp_path / "data", "1")

    assert file.target.read_bytes() == b"".join(LINES)


# Locks.


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    with locks.held(tmp_path, SESSION):
        with pytest.raises(locks.Held), locks.held(tmp_path, SESSION):
            pass
        with locks.held(tmp_path, OTHER):
            held = locks.is_held(tmp_path, SESSION), locks.is_held(tmp_path, OTHER)
    free = locks.is_held(tmp_path, SESSION), locks.is_held(tmp_path, "never-seen")

    assert (held, free) == ((True, True), (False, False))


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    number = os.fork()
    if number == 0:
        with locks.held(tmp_path, SESSION):
            os.write(writing, b"1")
            os.read(os.pipe()[0], 1)
    os.read(reading, 1)
    before = locks.is_held(tmp_path, SESSION)

    os.kill(number, 9)
    os.waitpid(number, 0)

    assert (before, locks.is_held(tmp_path, SESSION)) == (True, False)


def test_lock_files_are_private_and_stay(tmp_path: Path) -> None:
    with locks.held(tmp_path, SESSION):
        pass

    (path,) = (tmp_path / "locks").iterdir()
    assert (path.name, stat.S_IMODE(path.stat().st_mode)) == (f"{SESSION}.lock", 0o600)


@pytest.mark.parametrize("session", ["../../etc/x", "..", "a/b", "x" * 200, "盆", ""])
def test_a_strange_id_locks_a_file_in_its_folder(tmp_path: Path, session: str) -> None:
    with locks.held(tmp_path, session):
        assert locks.is_held(tmp_path, session)

    assert [path.parent.name for path in tmp_path.rglob("*.lock")] == ["locks"]
