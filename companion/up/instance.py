"""One console per data folder: the running one says where it is, a second one is refused."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

from companion.lib.refusals import Refusal
from companion.up import lock


class Running(TypedDict):
    pid: int
    url: str


def lock_path(run: Path) -> Path:
    return run / "up.lock"


@contextmanager
def only_instance(run: Path, url: str) -> Iterator[None]:
    held = lock.open_lock(lock_path(run))
    try:
        if not lock.try_take(held):
            raise _already_running(run)
        os.ftruncate(held, 0)
        os.pwrite(held, json.dumps(Running(pid=os.getpid(), url=url)).encode(), 0)
        yield
    finally:
        os.close(held)


def running(run: Path) -> Running | None:
    """Who holds the lock; None when nobody does."""
    path = lock_path(run)
    if not path.exists() or lock.is_free(path):
        return None
    return _said(path)


def _said(path: Path) -> Running | None:
    try:
        said = json.loads(path.read_text())
        return Running(pid=int(said["pid"]), url=str(said["url"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _already_running(run: Path) -> Refusal:
    said = _said(lock_path(run))
    where = f" (process {said['pid']}) at {said['url']}" if said else ""
    return Refusal(
        "already-running",
        f"The console already runs on this data folder{where}.",
        "Use that one (`.venv/bin/python manage.py login` prints a new link), or set COMPANION_DATA to another folder.",
    )
