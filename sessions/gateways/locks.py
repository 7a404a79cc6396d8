"""One lock per session: whoever changes its windows holds it. The kernel frees it when its holder dies (security row 13)."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sessions.gateways.disk import NotWritten, make_private, plain_name

# Whoever only asks holds a lock for an instant: it is tried again, so often and so many seconds apart.
TRIES, PAUSE = 5, 0.02


class Held(Exception):
    """Somebody else holds the lock of this session."""


@contextmanager
def held(data: Path, session: str) -> Iterator[None]:
    """Holds the lock of a session, without waiting for one who works on it. Raises Held, and NotWritten where no lock can
    be made."""
    path = _path(data, session)
    try:
        make_private(path.parent)
        # Never removed: two processes could lock two files of one name.
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as fault:
        raise NotWritten.by(fault, path) from fault
    try:
        if not _try_often(descriptor):
            raise Held(session)
        yield
    finally:
        os.close(descriptor)


def is_held(data: Path, session: str) -> bool:
    """Does anybody hold the lock of this session at this moment?"""
    try:
        descriptor = os.open(_path(data, session), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        # Shared, so that two who ask at once do not find each other.
        return not _try(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _try_often(descriptor: int) -> bool:
    for _time in range(TRIES):
        if _try(descriptor, fcntl.LOCK_EX):
            return True
        time.sleep(PAUSE)
    return False


def _try(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _path(data: Path, session: str) -> Path:
    return data / "locks" / f"{plain_name(session)}.lock"
