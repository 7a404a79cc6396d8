"""Where the time of a cold index goes: each stage over every line, as a ratio to the bare loop over the same lines.

Processor time, not the clock: what else runs on the machine does not count. A stage that cannot be called alone is the
difference between two passes with and without it. What is left over of the whole pass in one process is what sending
rows to the database costs us; what its server spends on them is counted apart.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from bench.figures import Figure, ratio
from bench.memory import database_processes

Seconds = Counter[str]
NAMES = ("read", "parse", "kind and thread", "estimate", "rows as text", "database, our side", "database, its server")
AGAINST = "that loop, processor time"


def figures(transcripts: list[Path], rounds: int) -> list[Figure]:
    found = [one_round(transcripts) for _ in range(rounds)]
    whole = [sum(each[name] for name in NAMES) / each["loop"] for each in found]
    stages = [
        ratio("index", f"stage: {name}", [each[name] / each["loop"] for each in found], AGAINST) for name in NAMES
    ]
    return [ratio("index", "all stages, database included", whole, AGAINST), *stages]


def one_round(transcripts: list[Path]) -> Seconds:
    spent: Seconds = Counter()
    for path in transcripts:
        one_file(path, spent)
    spent["kind and thread"] = spent["fold"] - spent["parse"]
    spent["estimate"] = spent["fold and weigh"] - spent["fold"]
    ours, spent[NAMES[-1]] = whole_pass()
    spent[NAMES[-2]] = ours - sum(spent[name] for name in NAMES[:-2])
    return spent


def one_file(path: Path, spent: Seconds) -> None:
    from bench.index import loop
    from sessions.core.batches import State

    with timed(spent, "loop"):
        loop([path])
    state, weighed = State(), State()
    batches = all_batches(path)
    while True:
        with timed(spent, "read"):
            lines = next(batches, None)
        if lines is None:
            return
        one_batch(lines, state, weighed, spent)


def one_batch(lines: list[Any], state: Any, weighed: Any, spent: Seconds) -> None:
    from sessions.core import reading
    from sessions.models import bulk

    with timed(spent, "parse"):
        parse(lines)
    with mock.patch.object(reading, "Weigher", NoWeigher), timed(spent, "fold"):
        reading.read_batch(lines, state)
    with timed(spent, "fold and weigh"):
        batch = reading.read_batch(lines, weighed)
    with mock.patch.object(bulk, "connection", Nowhere()), timed(spent, "rows as text"):
        bulk.copy_events(1, batch.rows)
        bulk.copy_points(1, list(batch.points.values()))


def parse(lines: list[Any]) -> None:
    from sessions.core.lines import BadLine, read_line

    for raw in lines:
        try:
            read_line(raw.raw or b"")
        except BadLine:
            continue


def all_batches(path: Path) -> Iterator[list[Any]]:
    from sessions.gateways import transcripts

    with transcripts.opened(path) as reader:
        for lines, _ in reader.batches(0, 0):
            yield lines


def whole_pass() -> tuple[float, float]:
    """Seconds of a cold pass in this one process: ours, and those of the database server."""
    from bench.index import forget
    from companion.lib import forks
    from sessions.actions.index import index_all

    forget()
    ours, server = time.process_time(), server_seconds()
    with mock.patch.object(forks, "MOST_PROCESSES", 1):
        index_all()
    return time.process_time() - ours, server_seconds() - server


def server_seconds() -> float:
    """Processor time of the embedded server so far, ended children included."""
    processes = database_processes(Path(os.environ["COMPANION_DATA"]))
    times = [process.cpu_times() for process in processes]
    ended = sum(getattr(spent, "children_user", 0) + getattr(spent, "children_system", 0) for spent in times[:1])
    return float(sum(spent.user + spent.system for spent in times) + ended)


@contextmanager
def timed(spent: Seconds, name: str) -> Iterator[None]:
    started = time.process_time()
    yield
    spent[name] += time.process_time() - started


class NoWeigher:
    """Stands where the estimate is made and makes none."""

    def __init__(self, *_: object) -> None:
        self._lines = 0

    def add(self, *_: object) -> None:
        self._lines += 1

    add_nothing = add

    def weigh(self) -> list[list[int]]:
        return [[0] * 7] * self._lines


class Nowhere:
    """A database connection whose COPY goes nowhere."""

    def cursor(self) -> Nowhere:
        return self

    def copy(self, _: str) -> Nowhere:
        return self

    def write(self, _: str) -> None:
        """Dropped."""

    def __enter__(self) -> Nowhere:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""
