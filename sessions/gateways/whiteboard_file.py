"""`SESSION_HANDOFF.md` in a companion's working folder: read as a file of text, written whole or not at all (spec H4).

Nothing is ever written through a link: the folder is opened once and every name is looked up in it (security rows 6, 13).
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NAME = "SESSION_HANDOFF.md"
BEFORE = f"{NAME}.before"
# Bytes of an older file that are compared; a longer one is surely another text.
LONGEST_COMPARED = 1024 * 1024
# Errors of file systems that know no second name of a file.
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


class NoPlainFile(OSError):
    """What stands there is a link, a folder, a pipe or a device."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was done: the file, where the text that stood there before is kept, and whether it was the same anyway."""

    path: Path
    kept: Path | None = None
    was_same: bool = False


def read(path: Path, most: int) -> bytes:
    """The first `most` bytes of a regular file. Raises OSError, NoPlainFile for anything else; never waits for a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NoPlainFile(errno.EINVAL, "not a regular file", str(path))
    with open(descriptor, "rb") as stream:
        return stream.read(most)


def write(folder: Path, text: str) -> Written:
    """Writes the text, mode 0600 or the mode of the file before it, which is kept beside as `….before`.

    Raises OSError: the folder is gone, a link, or closed; NoPlainFile where a link or something else has the name.
    """
    data = text.encode("utf-8", errors="replace")
    with _opened(folder) as at:
        old = _standing(at)
        if old is not None and _is_same(at, data):
            return Written(folder / NAME, was_same=True)
        beside = _write_beside(at, data, old)
        try:
            if old is not None:
                _keep(at)
            os.rename(beside, NAME, src_dir_fd=at, dst_dir_fd=at)
        except OSError:
            _discard(at, beside)
            raise
        os.fsync(at)
    return Written(folder / NAME, folder / BEFORE if old is not None else None)


def check(folder: Path) -> None:
    """Raises OSError where `write` would, as far as that can be seen without writing."""
    with _opened(folder) as at:
        _standing(at)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "permission denied", str(folder))


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _standing(at: int) -> os.stat_result | None:
    """What has the name now; None for nothing. Raises NoPlainFile."""
    try:
        seen = os.stat(NAME, dir_fd=at, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(seen.st_mode):
        raise NoPlainFile(errno.EINVAL, "not a regular file", NAME)
    return seen


def _is_same(at: int, data: bytes) -> bool:
    try:
        descriptor = os.open(NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=at)
    except PermissionError:
        return False
    with open(descriptor, "rb") as stream:
        return stream.read(LONGEST_COMPARED) == data


def _write_beside(at: int, data: bytes, old: os.stat_result | None) -> str:
    """The text under a name of its own, on the disk to its last byte."""
    beside = f".{NAME}.{os.getpid()}.part"
    _discard(at, beside)
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(beside, flags, 0o600, dir_fd=at)
    try:
        with open(descriptor, "wb") as stream:
            _give(stream.fileno(), old or os.fstat(at), stat.S_IMODE(old.st_mode) if old is not None else 0o600)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError:
        _discard(at, beside)
        raise
    return beside


def _give(descriptor: int, owner: os.stat_result, mode: int) -> None:
    """To whoever had the file or has the folder: a console that runs as root writes for somebody else."""
    if os.geteuid() == 0:
        os.fchown(descriptor, owner.st_uid, owner.st_gid)
    os.fchmod(descriptor, mode & 0o777)


def _keep(at: int) -> None:
    """Gives the old file its second name, in one step; its first one stays until the new text takes it."""
    second = f"{BEFORE}.{os.getpid()}.part"
    _discard(at, second)
    try:
        os.link(NAME, second, src_dir_fd=at, dst_dir_fd=at, follow_symlinks=False)
    except OSError as fault:
        if fault.errno not in NO_LINKS:
            raise
        os.rename(NAME, BEFORE, src_dir_fd=at, dst_dir_fd=at)
        return
    try:
        os.rename(second, BEFORE, src_dir_fd=at, dst_dir_fd=at)
    finally:
        _discard(at, second)


def _discard(at: int, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)
