"""A new transcript beside an old one: written whole or not at all, and never over another file (spec W7, security 13).

It stands under a name that no reader of transcripts knows until every byte of it was read back; then it gets its own
name in one step. Its time of change is the caller's: the client's `-c` takes the newest file of a folder.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from sessions.gateways import disk
from sessions.gateways.disk import NotWritten, Sum

Seen = TypeVar("Seen")
# Errors of file systems that know no second name of a file.
NO_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV})


class Standing(StrEnum):
    """What stands under a name: nothing, what was written, that with more behind it, or something else."""

    ABSENT = "absent"
    AS_WRITTEN = "as-written"
    GROWN = "grown"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class NewFile:
    """A transcript in the making. `target` is where it will stand, `tag` tells this run's leftovers from others'."""

    target: Path
    tag: str

    @property
    def beside(self) -> Path:
        return self.target.with_name(f".{self.target.stem}.tmp-{self.tag}")

    def write(self, lines: Iterable[bytes], *, owner: os.stat_result) -> Sum:
        """Writes every line beside the target, for whom `owner` tells. Raises NotWritten, and whatever `lines` raise; then
        nothing is left."""
        if os.path.lexists(self.target):
            raise NotWritten("target-taken", self.target)
        if os.geteuid() not in {0, owner.st_uid}:
            raise NotWritten("owner-differs", self.target)
        self.discard()
        with _telling(self.target):
            return disk.write_new(self.beside, lines, owner=owner)

    def read_back(self, judge: Callable[[Iterator[bytes]], Seen]) -> tuple[Seen, Sum]:
        """What `judge` finds in the lines as they came to stand on the disk, and their sum. Raises NotWritten."""
        with _telling(self.target):
            summing = _Summing(self.beside)
            return judge(summing.lines()), summing.sum

    def publish(self, modified_ns: int) -> None:
        """Gives it its own name and a time of change (nanoseconds). Raises NotWritten: the name is taken, the folder gone."""
        with _telling(self.target):
            os.utime(self.beside, ns=(modified_ns, modified_ns), follow_symlinks=False)
            _name(self.beside, self.target)
            disk.settle_folder(self.target.parent)

    def discard(self) -> None:
        """Removes what this run has left unfinished, now or before it was killed."""
        try:
            self.beside.unlink(missing_ok=True)
        except OSError as fault:
            # A folder that is gone or closed holds nothing that could be taken for a transcript.
            if fault.errno not in {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS}:
                raise NotWritten.by(fault, self.beside) from fault


class _Summing:
    """Lines of a file, summed up as they are read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._found = hashlib.sha256()
        self._size = 0

    @property
    def sum(self) -> Sum:
        return Sum(self._found.hexdigest(), self._size)

    def lines(self) -> Iterator[bytes]:
        with open(self._path, "rb") as stream:
            for line in stream:
                self._found.update(line)
                self._size += len(line)
                yield line


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """Turns what the system refuses into what is wrong with `path`."""
    try:
        yield
    except OSError as fault:
        raise NotWritten.by(fault, path) from fault


def _name(beside: Path, target: Path) -> None:
    """A second name, then the first one away: unlike a renaming, this never takes the place of another file."""
    try:
        os.link(beside, target, follow_symlinks=False)
    except OSError as fault:
        if fault.errno not in NO_LINKS:
            raise
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "file exists", str(target)) from None
        beside.rename(target)
        return
    beside.unlink()


def standing(path: Path, written: Sum) -> Standing:
    """What stands under the name of a file that was written once. One that cannot be read counts as another one."""
    try:
        size = path.lstat().st_size
        if size < written.size:
            return Standing.OTHER
        if _sum_of_first(path, written.size) != written.sha256:
            return Standing.OTHER
    except FileNotFoundError:
        return Standing.ABSENT
    except OSError:
        return Standing.OTHER
    return Standing.AS_WRITTEN if size == written.size else Standing.GROWN


def _sum_of_first(path: Path, size: int) -> str:
    found, left = hashlib.sha256(), size
    for chunk in disk.chunks_of(path):
        found.update(chunk[:left])
        left -= len(chunk[:left])
        if not left:
            break
    return found.hexdigest()


def touch(path: Path) -> None:
    """From now on `claude -c` takes this one. Raises NotWritten."""
    with _telling(path):
        os.utime(path, follow_symlinks=False)


def set_aside(path: Path, data: Path, tag: str) -> Path:
    """Moves a file of ours that must not be resumed out of the client's sight; answers where it is. Raises NotWritten:
    then it stands where it stood."""
    folder = data / "set-aside"
    aside = folder / f"{path.stem}-{tag}.jsonl"
    with _telling(path):
        disk.make_private(folder)
        aside.unlink(missing_ok=True)
        try:
            path.rename(aside)
        except OSError as fault:
            if fault.errno != errno.EXDEV:
                raise
            disk.write_new(aside, disk.chunks_of(path))
            path.unlink()
        disk.settle_folder(path.parent)
    return aside


def aside_files(data: Path) -> list[Path]:
    """What was set aside and nobody has looked at."""
    folder = data / "set-aside"
    return sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
