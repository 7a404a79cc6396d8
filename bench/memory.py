"""Memory of a family of processes, shared pages counted once (PSS), and work kept to one processor."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.figures import Figure

EVERY_SECONDS = 0.05
MEGABYTE = 2**20


@dataclass(slots=True)
class Peak:
    """The most that was seen at one moment, in bytes: the indexing processes, and the database server."""

    index: int = 0
    database: int = 0


def watch(process: subprocess.Popen[bytes], data: Path) -> Peak:
    """Looks at a process, its children and the embedded database until it ends."""
    peak = Peak()
    while process.poll() is None:
        with contextlib.suppress(psutil.NoSuchProcess):
            peak.index = max(peak.index, total(family(process.pid)))
        peak.database = max(peak.database, total(database_processes(data)))
        time.sleep(EVERY_SECONDS)
    return peak


def figures(bench: str, peaks: list[Peak], goal: float) -> list[Figure]:
    how = "limit, PSS of all its processes" if sys.platform == "linux" else "limit, RSS of all its processes"
    index = [peak.index / MEGABYTE for peak in peaks]
    database = [peak.database / MEGABYTE for peak in peaks]
    return [
        Figure(bench, "peak memory of the indexer", max(index), min(index), max(index), "MB", how, goal),
        Figure(bench, "peak memory of the database", max(database), min(database), max(database), "MB", "no limit set"),
    ]


def total(processes: Iterable[psutil.Process]) -> int:
    return sum(memory_of(process) for process in processes)


def memory_of(process: psutil.Process) -> int:
    try:
        full = process.memory_full_info() if sys.platform == "linux" else process.memory_info()
    except psutil.Error:
        return 0
    return int(getattr(full, "pss", full.rss))


def family(number: int) -> list[psutil.Process]:
    own = psutil.Process(number)
    return [own, *own.children(recursive=True)]


def database_processes(data: Path) -> list[psutil.Process]:
    try:
        return family(int((data / "run" / "postgres.pid").read_text()))
    except (OSError, ValueError, psutil.NoSuchProcess):
        return []


@contextlib.contextmanager
def on_one_processor(wanted: bool) -> Iterator[None]:
    """Keeps this process, its future children and the database on a single processor, where the system can."""
    if not wanted or not hasattr(os, "sched_setaffinity"):
        yield
        return
    kept = [psutil.Process(), *database_processes(Path(os.environ["COMPANION_DATA"]))]
    allowed = sorted(os.sched_getaffinity(0))
    try:
        bind(kept, allowed[-1:])
        yield
    finally:
        bind(kept, allowed)


def bind(processes: Iterable[psutil.Process], processors: list[int]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.cpu_affinity(processors)
