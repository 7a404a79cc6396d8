"""What a copied talk points to beside its transcript: spilled tool results and subagents' files (transcripts.md 1.1).

They are copied into the folder of the new session's name. Names come out of a transcript and folders belong to whoever
runs the client: every step goes by descriptor, and no link is followed on either side (security row 6).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sessions.gateways import disk
from sessions.gateways.disk import READ_AT_ONCE, NotWritten

# How much is carried along at most: files, and bytes of one and of all.
MOST_FILES = 5_000
LARGEST = 256 * 1024 * 1024
MOST_BYTES = 1024 * 1024 * 1024
FOLDERS = ("tool-results", "subagents")
NAME = re.compile(r"(?!\.)[\w.-]{1,140}\Z")


@dataclass(slots=True)
class Carried:
    """What became of the side files: how many were copied, bytes, and the names of those that were not."""

    files: int = 0
    size: int = 0
    missing: list[str] = field(default_factory=list)


def names_of(sides: Iterable[str], agents: Iterable[str]) -> list[str]:
    """The files of a plan as `folder/name`; a name that leads elsewhere is left out."""
    found = [*sides, *(f"subagents/agent-{agent}{end}" for agent in agents for end in (".jsonl", ".meta.json"))]
    return [name for name in dict.fromkeys(found) if _split(name) is not None]


def carry(project: Path, source: str, target: str, names: Iterable[str]) -> Carried:
    """Copies side files from the folder of session `source` to that of `target`. One that is not there, or too large, is
    named as missing. Raises NotWritten; what was copied until then is there for `remove`."""
    done = Carried()
    wanted = list(names)
    if not wanted:
        return done
    with ExitStack() as stack:
        try:
            old = stack.enter_context(_folder(project, source))
        except OSError:
            done.missing = wanted
            return done
        try:
            for name in wanted:
                _carry_one(project, old, target, name, done)
        except OSError as fault:
            raise NotWritten.by(fault, project / target) from fault
    return done


def _carry_one(project: Path, old: int, target: str, name: str, done: Carried) -> None:
    folder, file = _split(name) or ("", "")
    try:
        source = _opened(old, folder, file)
    except OSError:
        source = None
    if source is None:
        # A subagent of older clients has no second file.
        if not file.endswith(".meta.json"):
            done.missing.append(name)
        return
    try:
        size = os.fstat(source).st_size
        if done.files >= MOST_FILES or size > LARGEST or done.size + size > MOST_BYTES:
            done.missing.append(name)
            return
        disk.check_room(project, size)
        _write(project, target, folder, file, source, os.fstat(old))
    finally:
        os.close(source)
    done.files += 1
    done.size += size


def _opened(old: int, folder: str, file: str) -> int | None:
    """A descriptor of a regular file; None for anything else."""
    with _opened_folder(folder, old) as inside:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=inside)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def _write(project: Path, target: str, folder: str, file: str, source: int, owner: os.stat_result) -> None:
    with (
        _opened_folder(str(project)) as root,
        _made(root, target, owner) as session,
        _made(session, folder, owner) as inside,
    ):
        # An earlier try of this run may have left a part of it.
        _unlink(file, inside)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(file, flags, 0o600, dir_fd=inside)
        with open(descriptor, "wb") as stream:
            disk.give_to(descriptor, owner)
            while chunk := os.read(source, READ_AT_ONCE):
                stream.write(chunk)
            stream.flush()
            os.fsync(descriptor)


def remove(project: Path, target: str, names: Iterable[str]) -> None:
    """Takes back what `carry` made, and the folders if nothing else is in them. What cannot be removed stays: nobody
    looks for it once its transcript is gone."""
    with suppress(OSError), _folder(project, target) as session:
        for name in names:
            with suppress(OSError):
                _remove_one(session, *(_split(name) or ("", "")))
        for folder in FOLDERS:
            with suppress(OSError):
                os.rmdir(folder, dir_fd=session)
    with suppress(OSError), _opened_folder(str(project)) as root:
        os.rmdir(target, dir_fd=root)


def _remove_one(session: int, folder: str, file: str) -> None:
    with _opened_folder(folder, session) as inside:
        _unlink(file, inside)


def _unlink(name: str, folder: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


@contextmanager
def _folder(project: Path, session: str) -> Iterator[int]:
    with _opened_folder(str(project)) as root, _opened_folder(session, root) as inside:
        yield inside


@contextmanager
def _made(parent: int, name: str, owner: os.stat_result) -> Iterator[int]:
    """A folder below another one, made if need be, mode 0700."""
    try:
        os.mkdir(name, 0o700, dir_fd=parent)
        is_new = True
    except FileExistsError:
        is_new = False
    with _opened_folder(name, parent) as inside:
        if is_new:
            disk.give_to(inside, owner)
        yield inside


@contextmanager
def _opened_folder(name: str, parent: int | None = None) -> Iterator[int]:
    """Below a parent no link is followed; the project's folder itself may be one."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (os.O_NOFOLLOW if parent is not None else 0)
    descriptor = os.open(name, flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _split(name: str) -> tuple[str, str] | None:
    """Folder and file of a name that stays where it belongs."""
    folder, _slash, file = name.partition("/")
    return (folder, file) if folder in FOLDERS and NAME.match(file) else None
