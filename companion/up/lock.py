"""File locks between processes. The kernel frees them when their last holder dies, however it dies."""

import fcntl
import os
from pathlib import Path


def open_lock(path: Path) -> int:
    """A descriptor to lock; the file itself is never removed, or two processes could lock different files."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def share(descriptor: int) -> None:
    """Waits until nobody holds it exclusively, then holds it together with others."""
    fcntl.flock(descriptor, fcntl.LOCK_SH)


def take(descriptor: int) -> None:
    """Waits until nobody else holds it, then holds it alone."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def try_take(descriptor: int) -> bool:
    return _tried(descriptor, fcntl.LOCK_EX)


def try_share(descriptor: int) -> bool:
    return _tried(descriptor, fcntl.LOCK_SH)


def release(descriptor: int) -> None:
    fcntl.flock(descriptor, fcntl.LOCK_UN)


def is_free(path: Path) -> bool:
    """Whether nobody holds the lock at this moment."""
    try:
        descriptor = open_lock(path)
    except FileNotFoundError:
        return True
    try:
        return try_take(descriptor)
    finally:
        os.close(descriptor)


def _tried(descriptor: int, operation: int) -> bool:
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
