"""The demo's folder below the data folder: written whole or not at all, and never anything outside of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from sessions.core.demo.files import File


class Outside(OSError):
    """A path that would leave the demo's folder, or a folder that is a link to somewhere else."""


def projects_root(data: Path) -> Path:
    """The root that the demo's transcripts are indexed under."""
    return folder(data) / "projects"


def folder(data: Path) -> Path:
    return data / "demo"


def write(data: Path, files: Iterable[File]) -> None:
    """Writes each file atomically, mode 0600. Raises OSError; what was written before stays whole."""
    root = projects_root(data)
    for file in files:
        path = root / file.path
        _make_folders(path.parent, data)
        _write_whole(path, file.data)


def remove(data: Path) -> bool:
    """Removes the demo's folder with all in it; False where there is none. Raises OSError."""
    if folder(data).is_symlink():
        raise Outside(f"{folder(data)} is a link")
    if not folder(data).exists():
        return False
    shutil.rmtree(folder(data))
    return True


def _make_folders(path: Path, data: Path) -> None:
    if ".." in path.parts or not path.is_relative_to(data):
        raise Outside(f"{path} is outside of {data}")
    data.mkdir(parents=True, exist_ok=True)
    at = data
    for part in path.relative_to(data).parts:
        at = at / part
        if at.is_symlink():
            raise Outside(f"{at} is a link")
        at.mkdir(mode=0o700, exist_ok=True)


def _write_whole(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.part")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
