"""Which measurements there are, and how one is run."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module

from bench.figures import Figure

NAMES = ("index", "live", "sessions", "timeline", "search", "surgery")


@dataclass(frozen=True, slots=True)
class Size:
    """How much to measure: runs to take a median of, megabytes of transcripts, lines to append, sessions to list."""

    rounds: int
    megabytes: int
    lines: int
    sessions: int


def apart(name: str, size: Size) -> list[Figure]:
    """Each in a process of its own: settings are read once in a process, and memory is counted from nothing."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(pool.submit(measured, name, size).result())


def measured(name: str, size: Size) -> list[Figure]:
    found: list[Figure] = import_module(f"bench.{name}").measure(size)
    return found
