"""`manage.py watch`: index transcripts the moment they change (spec S4). Runs under the supervisor."""

from __future__ import annotations

import logging
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import InterfaceError, OperationalError, close_old_connections
from watchfiles import Change
from watchfiles import watch as watch_files

from sessions.actions import health, index
from sessions.tasks import queue_words

log = logging.getLogger(__name__)
# Milliseconds: changes this close together are one; the second figure is how soon a lone one is handled.
DEBOUNCE, STEP = 60, 15
# Milliseconds without a change after which the watcher looks whether its roots are still the same and says it lives.
BEAT = 5_000
TRANSCRIPT = ".jsonl"


class Command(BaseCommand):
    help = "Watch the projects roots and index what changes. The console starts this by itself."

    def handle(self, *args: Any, **options: Any) -> None:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        health.beat("watcher")
        try:
            self.watch()
        finally:
            # Without a watcher a command looks at the files itself.
            health.gone("watcher")

    def watch(self) -> None:
        look_through()
        while True:
            roots = _there()
            for changed in changes(roots):
                take(changed)
                if roots != _there():
                    break


def look_through() -> None:
    """All that changed while nobody watched. A database that is away for a moment costs a log line."""
    try:
        index.index_all()
        queue_words()
    except (OperationalError, InterfaceError) as fault:
        log.warning("not indexed now: %s", fault)
        close_old_connections()


def _there() -> list[Path]:
    """The roots that exist; somebody's first session makes the folder."""
    return [root for root in settings.ENV.roots if root.is_dir()]


def changes(roots: list[Path]) -> Iterator[set[Path]]:
    """Transcripts that changed, as they do; an empty set now and then. What changed before the watching began comes first."""
    if not roots:
        time.sleep(BEAT / 1000)
        yield set()
        return
    first = True
    options: dict[str, Any] = {"debounce": DEBOUNCE, "step": STEP, "rust_timeout": BEAT, "yield_on_timeout": True}
    for found in watch_files(*roots, watch_filter=_concerns_us, ignore_permission_denied=True, **options):
        if first:
            look_through()
            first = False
        yield {Path(path) for _, path in found}


def _concerns_us(change: Change, path: str) -> bool:
    """Transcripts, and folders that are new: what was put into one before it was watched told nobody."""
    return path.endswith(TRANSCRIPT) or (change == Change.added and Path(path).is_dir())


def take(changed: set[Path]) -> None:
    """Indexes what changed. A database that is away for a moment costs a log line: the sweep catches up."""
    health.beat("watcher")
    files = {path for path in changed if path.suffix == TRANSCRIPT}
    if changed - files:
        look_through()
    if sum(map(_take_file, files)):
        queue_words()


def _take_file(path: Path) -> int:
    """The number of new records in one transcript."""
    try:
        return index.index_path(path)
    except (OperationalError, InterfaceError) as fault:
        log.warning("%s is not indexed now: %s", path, fault)
        close_old_connections()
    except Exception:
        log.exception("%s is not indexed", path)
    return 0
