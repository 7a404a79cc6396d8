"""Copies of transcripts in the data folder: plain files, written whole and read back (spec W8)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from sessions.gateways import disk, transcripts
from sessions.gateways.disk import NotWritten, Sum


class Differs(Exception):
    """The file was another one than expected while it was copied; nothing is left of the copy."""


def place_of(data: Path, session: str, at: datetime, sha256: str) -> Path:
    """Where the copy of a session made at this time goes; the same content in the same second is the same copy."""
    return folder_of(data, session) / f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{sha256[:12]}.jsonl"


def folder_of(data: Path, session: str) -> Path:
    return data / "backups" / disk.plain_name(session)


def discard(folder: Path) -> None:
    """Removes what a killed process has left of a copy. Only for the holder of the session's lock."""
    for part in folder.glob(".*.part"):
        with suppress(OSError):
            part.unlink()


def copy(source: Path, place: Path, expected: Sum) -> Sum:
    """Copies a transcript to `place`, mode 0600, and reads it back; answers the sum as read from the copy.

    Raises Differs where the source is not what was expected, NotWritten, and OSError where the source cannot be read.
    """
    beside = place.with_name(f".{place.name}.part")
    with transcripts.opened(source) as reader:
        if reader.identity.size != expected.size:
            raise Differs
        try:
            disk.make_private(place.parent)
            discard(place.parent)
            disk.check_room(place.parent, expected.size)
            written = disk.write_new(beside, _chunks(reader))
        except OSError as fault:
            raise NotWritten.by(fault, place) from fault
    if written != expected:
        beside.unlink(missing_ok=True)
        raise Differs
    return _put(beside, place, expected)


def _put(beside: Path, place: Path, expected: Sum) -> Sum:
    try:
        found = disk.read_sum(beside)
        if found != expected:
            raise NotWritten("disk-error", place)
        beside.replace(place)
        disk.settle_folder(place.parent)
    except OSError as fault:
        raise NotWritten.by(fault, place) from fault
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    return found


def _chunks(reader: transcripts.Reader) -> Iterator[bytes]:
    """The file as long as it was when it was opened."""
    at = 0
    while at < reader.identity.size:
        data = reader.line(at, min(disk.READ_AT_ONCE, reader.identity.size - at))
        if not data:
            return
        yield data
        at += len(data)


def trouble_with(path: Path, expected: Sum, *, thorough: bool = True) -> str:
    """Why a copy can no longer be trusted: `gone`, `changed`, or the system's words for what it refuses; empty if it can.
    Not thorough: by its size alone."""
    try:
        size = path.lstat().st_size
        if size != expected.size or (thorough and disk.read_sum(path) != expected):
            return "changed"
    except FileNotFoundError:
        return "gone"
    except OSError as fault:
        return transcripts.reason_of(fault)
    return ""


def remove(path: Path) -> None:
    """Removes a copy, and its folder with the last one. Raises NotWritten."""
    try:
        path.unlink(missing_ok=True)
    except OSError as fault:
        raise NotWritten.by(fault, path) from fault
    with suppress(OSError):
        path.parent.rmdir()
