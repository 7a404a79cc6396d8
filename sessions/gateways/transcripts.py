"""Transcript files on this host: finding them and reading their lines on. Nothing here ever writes one (spec S1, S2)."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sessions.core.batches import RawLine
from sessions.core.lines import BadLine, read_line

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z", re.IGNORECASE)
# Bytes read at once, and bytes of lines that are handled together.
CHUNK = 256 * 1024
HASHED_AT_ONCE = 1024 * 1024
BATCH = 2 * 1024 * 1024
LINES_PER_BATCH = 4_000
# A longer line is passed over unread: nothing the client writes comes near it.
LONGEST_LINE = 64 * 1024 * 1024
HEAD = 4096
TAIL = 256


@dataclass(frozen=True, slots=True)
class Found:
    """A transcript on disk. `session` is the id its path gives it, `parent` the session a subagent's path names."""

    root: Path
    path: Path
    project: str
    session: str
    is_subagent: bool
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A folder or file that could not be looked into, and why."""

    path: Path
    reason: str


def discover(root: Path) -> Iterator[Found | Trouble]:
    """Every transcript below one projects root; folders that cannot be read come as troubles, never as errors."""
    for folder in _entries(root):
        if isinstance(folder, Trouble):
            yield folder
        elif _is_folder(folder, root):
            yield from _in_project(root, Path(folder.path))


def _in_project(root: Path, project: Path) -> Iterator[Found | Trouble]:
    for entry in _entries(project):
        if isinstance(entry, Trouble):
            yield entry
        elif entry.name.endswith(".jsonl"):
            if _is_inside(entry, root) and (found := recognise(root, Path(entry.path))):
                yield found
        elif UUID.match(entry.name) and entry.is_dir(follow_symlinks=False):
            yield from _side_files(root, Path(entry.path))


def _side_files(root: Path, session: Path) -> Iterator[Found | Trouble]:
    for folder in _entries(session):
        if isinstance(folder, Trouble):
            yield folder
        elif folder.name == "subagents" and _is_folder(folder, root):
            yield from _subagents(root, Path(folder.path))


def _subagents(root: Path, folder: Path) -> Iterator[Found | Trouble]:
    for entry in _entries(folder):
        if isinstance(entry, Trouble):
            yield entry
        elif _is_inside(entry, root) and (found := recognise(root, Path(entry.path))):
            yield found


def recognise(root: Path, path: Path) -> Found | None:
    """What a path below the root is by its name alone; None for anything that is no transcript."""
    parts = path.relative_to(root).parts
    if path.suffix != ".jsonl" or len(parts) < 2:
        return None
    project, name = parts[0], path.stem
    if len(parts) == 2 and UUID.match(name):
        return Found(root, path, project, name, is_subagent=False)
    if len(parts) == 2 and name.startswith("agent-"):
        return Found(root, path, project, name, is_subagent=True)
    if len(parts) == 4 and UUID.match(parts[1]) and parts[2] == "subagents" and name.startswith("agent-"):
        return Found(root, path, project, name, is_subagent=True, parent=parts[1])
    return None


def _entries(folder: Path) -> list[os.DirEntry[str] | Trouble]:
    try:
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
    except OSError as fault:
        return [Trouble(folder, reason_of(fault))]
    return [
        entry if _is_text(entry.name) else Trouble(Path(entry.path), "its name is no readable text") for entry in found
    ]


def _is_text(name: str) -> bool:
    """A name of other bytes than UTF-8 fits no row."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_folder(entry: os.DirEntry[str], root: Path) -> bool:
    try:
        return entry.is_dir() and _is_inside(entry, root)
    except OSError:
        return False


def _is_inside(entry: os.DirEntry[str], root: Path) -> bool:
    """A link may not lead out of the root (security row 6)."""
    if not entry.is_symlink():
        return True
    try:
        return Path(entry.path).resolve(strict=True).is_relative_to(root.resolve())
    except (OSError, RuntimeError):
        # A link in a circle is a RuntimeError before Python 3.13.
        return False


def reason_of(fault: OSError) -> str:
    """The system's own words for a failure, without the path."""
    return (fault.strerror or type(fault).__name__).lower()


@dataclass(frozen=True, slots=True)
class Identity:
    """What tells one file from another and one content from another: device, inode, bytes, nanoseconds."""

    device: int
    inode: int
    size: int
    modified_ns: int


def identity(path: Path) -> Identity:
    """Raises OSError where the file is gone or out of reach."""
    return _identity(os.stat(path))


def _identity(seen: os.stat_result) -> Identity:
    return Identity(_signed(seen.st_dev), seen.st_ino, seen.st_size, seen.st_mtime_ns)


def _signed(number: int) -> int:
    """A device number as the 64 signed bits that a database column holds."""
    return number - 2**64 if number >= 2**63 else number


class Reader:
    """An open transcript. Offsets are bytes from its start; lines are split at newlines only."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.identity = _identity(os.fstat(stream.fileno()))

    def digest(self, start: int, end: int) -> str:
        """A short digest of the bytes in a range, to notice that a file was replaced."""
        self._stream.seek(max(0, start))
        return hashlib.blake2b(self._stream.read(end - max(0, start)), digest_size=16).hexdigest()

    def head_digest(self, offset: int) -> str:
        return self.digest(0, min(HEAD, offset))

    def tail_digest(self, offset: int) -> str:
        return self.digest(offset - TAIL, offset)

    def sha256(self) -> str:
        """The digest of every byte from the start to where the file ended when it was opened."""
        found, at = hashlib.sha256(), 0
        while at < self.identity.size:
            data = self.line(at, min(HASHED_AT_ONCE, self.identity.size - at))
            if not data:
                break
            found.update(data)
            at += len(data)
        return found.hexdigest()

    def line(self, offset: int, length: int) -> bytes:
        """The bytes of one indexed line."""
        self._stream.seek(offset)
        return self._stream.read(length)

    def batches(self, offset: int, seq: int) -> Iterator[tuple[list[RawLine], bool]]:
        """Lines from `offset` to the end as it was when the file was opened, in batches of bounded size; with the last
        one comes True.

        A last line without its newline is given only if it is a whole JSON object: a half-written one waits. A line
        longer than LONGEST_LINE comes without its bytes.
        """
        last: list[RawLine] = []
        for batch in self._batches(offset + self._stands_before_newline(offset, seq), seq, self.identity.size):
            if last:
                yield last, False
            last = batch
        if last:
            yield last, True

    def _batches(self, offset: int, seq: int, until: int) -> Iterator[list[RawLine]]:
        rest, batch = b"", list[RawLine]()
        while offset + len(rest) < until:
            data = self.line(offset + len(rest), min(max(CHUNK, len(rest)), until - offset - len(rest)))
            if not data:
                break
            lines, rest = _split(rest + data)
            batch += _number(lines, offset, seq)
            offset, seq = _behind(batch) if lines else (offset, seq)
            if batch and (
                len(batch) >= LINES_PER_BATCH or offset - batch[0].offset >= BATCH or len(rest) > LONGEST_LINE
            ):
                yield from _parted(batch)
                batch = []
            if len(rest) > LONGEST_LINE:
                end = self._to_newline(offset + len(rest), until)
                if end is None:
                    return
                length = end - offset
                yield [RawLine(seq, offset, None, length)]
                offset, seq, rest = offset + length + 1, seq + 1, b""
        if _is_whole(rest):
            batch.append(RawLine(seq, offset, rest, len(rest)))
        yield from _parted(batch)

    def _stands_before_newline(self, offset: int, seq: int) -> bool:
        """A reading ends behind its last line but before the newline of it, which may not have been there yet."""
        return seq > 0 and self.line(offset, 1) == b"\n"

    def _to_newline(self, offset: int, until: int) -> int | None:
        """The offset of the next newline, None if there is none yet; nothing is kept of what lies between."""
        while offset < until:
            data = self.line(offset, CHUNK)
            at = data.find(b"\n")
            if at >= 0:
                return offset + at
            if not data:
                break
            offset += len(data)
        return None


def _parted(batch: list[RawLine]) -> Iterator[list[RawLine]]:
    for start in range(0, len(batch), LINES_PER_BATCH):
        yield batch[start : start + LINES_PER_BATCH]


def _split(data: bytes) -> tuple[list[bytes], bytes]:
    lines = data.split(b"\n")
    rest = lines.pop()
    return lines, rest


def _number(lines: list[bytes], offset: int, seq: int) -> list[RawLine]:
    numbered = []
    for raw in lines:
        numbered.append(RawLine(seq, offset, raw, len(raw)))
        offset += len(raw) + 1
        seq += 1
    return numbered


def _behind(batch: list[RawLine]) -> tuple[int, int]:
    """Offset and number of the line after a batch whose lines all end in a newline."""
    last = batch[-1]
    return last.offset + last.length + 1, last.seq + 1


def _is_whole(raw: bytes) -> bool:
    """Could this unfinished line be a finished one that only lacks its newline?"""
    stripped = raw.strip()
    if not stripped.endswith(b"}") or not stripped.removeprefix(b"\xef\xbb\xbf").startswith(b"{"):
        return False
    try:
        return read_line(raw) is not None
    except BadLine:
        return False


@contextmanager
def opened(path: Path) -> Iterator[Reader]:
    """Opens a transcript for reading. Raises OSError, for anything but a regular file too."""
    with open(path, "rb", buffering=0, opener=_at_once) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        yield Reader(stream)


def _at_once(path: str, flags: int) -> int:
    """Opening a pipe would wait for somebody who writes into it."""
    return os.open(path, flags | os.O_NONBLOCK)
