"""Writing whole files: bytes on the disk before anybody sees them, and one code for whatever the disk refuses."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sessions.gateways.transcripts import reason_of

READ_AT_ONCE = 1024 * 1024
# Bytes that stay free behind whatever is written: the database lives on the same disk.
RESERVE = 32 * 1024 * 1024
CODES = {
    errno.ENOSPC: "no-space",
    errno.EDQUOT: "no-space",
    errno.EFBIG: "no-space",
    errno.EACCES: "not-allowed",
    errno.EPERM: "not-allowed",
    errno.EROFS: "read-only",
    errno.ENOENT: "folder-gone",
    errno.ENOTDIR: "folder-gone",
    errno.ESTALE: "folder-gone",
    errno.EEXIST: "target-taken",
    errno.ELOOP: "is-a-link",
    errno.EIO: "disk-error",
}
_PLAIN_NAME = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_-]{0,99}\Z")


class NotWritten(Exception):
    """A file that could not be written or put in its place; nothing of it is left.

    `code` is one of `CODES`, or `not-written` with the system's own words in `reason`.
    """

    def __init__(self, code: str, path: Path, reason: str = "") -> None:
        super().__init__(f"{code}: {path} {reason}".rstrip())
        self.code = code
        self.path = path
        self.reason = reason

    @classmethod
    def by(cls, fault: OSError, path: Path) -> NotWritten:
        """The system's refusal, as it concerns `path`."""
        return cls(CODES.get(fault.errno or 0, "not-written"), path, reason_of(fault))


@dataclass(frozen=True, slots=True)
class Sum:
    """What was written or read: hex SHA-256 and bytes."""

    sha256: str
    size: int


def write_new(path: Path, chunks: Iterable[bytes], *, owner: os.stat_result | None = None) -> Sum:
    """Writes a file that is not there yet, mode 0600, down to the disk. Raises OSError, and whatever `chunks` raise; then
    nothing is left of it. `owner`: whose it shall be, where this process may decide that."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as stream:
            os.fchmod(descriptor, 0o600)
            give_to(descriptor, owner)
            found, size = hashlib.sha256(), 0
            for chunk in chunks:
                stream.write(chunk)
                found.update(chunk)
                size += len(chunk)
            stream.flush()
            os.fsync(descriptor)
            _forget_cached(descriptor)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return Sum(found.hexdigest(), size)


def give_to(descriptor: int, owner: os.stat_result | None) -> None:
    """Hands a file over to the owner of another one; only root can, and only root need."""
    if owner is not None and os.geteuid() == 0 and (owner.st_uid, owner.st_gid) != (0, 0):
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def read_sum(path: Path) -> Sum:
    """The sum of a file as it stands on the disk. Raises OSError."""
    found, size = hashlib.sha256(), 0
    for chunk in chunks_of(path):
        found.update(chunk)
        size += len(chunk)
    return Sum(found.hexdigest(), size)


def chunks_of(path: Path) -> Iterator[bytes]:
    """The bytes of a regular file, no link followed. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb", buffering=0) as stream:
        while chunk := stream.read(READ_AT_ONCE):
            yield chunk


def settle_folder(folder: Path) -> None:
    """Makes the names in a folder survive a power cut. A file system that cannot is no reason to fail."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private(folder: Path) -> Path:
    """A folder of the console's own, mode 0700. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def check_room(folder: Path, size: int) -> None:
    """Raises NotWritten where `size` bytes would fill the disk of `folder`."""
    if shutil.disk_usage(folder).free < size + RESERVE:
        raise NotWritten("no-space", folder, f"{size} bytes")


def plain_name(session: str) -> str:
    """A session's id as the name of a file: itself, or a digest of it where it could lead astray."""
    if _PLAIN_NAME.match(session):
        return session
    return "x-" + hashlib.blake2b(session.encode("utf-8", errors="replace"), digest_size=16).hexdigest()


def _forget_cached(descriptor: int) -> None:
    """So that reading back asks the disk and not the memory."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
