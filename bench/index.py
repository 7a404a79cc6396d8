"""A cold index of a large folder of transcripts against a bare `orjson.loads` loop over the same lines, on one core.

A round is: loop, index as shipped, index with everything on one processor, ccusage, loop. Each figure is divided by the
mean of its own round's two loops; the table shows medians over the rounds. Every round starts with an empty database;
the files are in the page cache for all alike.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import orjson

from bench import ccusage, corpus, memory, stages, sweep
from bench.figures import Figure, ratio
from bench.ground import ROOT, Ground, database, folders
from bench.measure import Size

FILES = 64
LOOP = "orjson.loads loop, one core"
GOAL = 4.0
MEMORY_GOAL = 300.0


def measure(size: Size) -> list[Figure]:
    with folders() as ground, database():
        corpus.lay_out(ground.projects, megabytes=size.megabytes, files=FILES)
        transcripts = sorted(ground.projects.rglob("*.jsonl"))
        peers = ccusage.installed(ground.folder)
        rounds = [one_round(ground, transcripts, peers) for _ in range(size.rounds)]
        peaks = [memory_of_index(ground) for _ in range(2)]
        return [
            *totals(rounds),
            *memory.figures("index", peaks, MEMORY_GOAL),
            *sweep.appended_figures("index", transcripts),
            *stages.figures(transcripts, size.rounds),
        ]


def one_round(ground: Ground, transcripts: list[Path], peers: list[ccusage.Peer]) -> dict[str, float]:
    """Seconds by what was done."""
    before = seconds_of(lambda: loop(transcripts))
    found = {"shipped": index(), "one processor": index(one_processor=True)}
    for peer in peers:
        found[peer.name] = seconds_of(partial(peer.run, ground.config))
    found["loop"] = (before + seconds_of(lambda: loop(transcripts))) / 2
    return found


def totals(rounds: list[dict[str, float]]) -> list[Figure]:
    def against_loop(name: str) -> list[float]:
        return [each[name] / each["loop"] for each in rounds]

    peers = [name for name in rounds[0] if name.startswith("ccusage")]
    return [
        ratio("index", "cold, as shipped (all processors)", against_loop("shipped"), LOOP, GOAL),
        ratio("index", "cold, with its database on one processor", against_loop("one processor"), LOOP, GOAL),
        *(
            ratio("index", "cold, as shipped", [each["shipped"] / each[name] for each in rounds], name)
            for name in peers
        ),
        *(ratio("index", f"{name} itself", against_loop(name), LOOP) for name in peers),
    ]


def loop(transcripts: list[Path]) -> None:
    """What nobody who wants every line can do without: read it and parse it."""
    for path in transcripts:
        with open(path, "rb") as stream:
            for line in stream:
                orjson.loads(line)


def index(*, one_processor: bool = False) -> float:
    """Seconds of the pass, as the real command reports them."""
    forget()
    with memory.on_one_processor(one_processor):
        done = subprocess.run(command(), cwd=ROOT, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["seconds"])


def memory_of_index(ground: Ground) -> memory.Peak:
    forget()
    process = subprocess.Popen(command(), cwd=ROOT, stdout=subprocess.DEVNULL)
    return memory.watch(process, ground.data)


def command() -> list[str]:
    return [sys.executable, "manage.py", "index", "--json"]


def forget() -> None:
    """An empty index; the servers stay warm."""
    from django.db import connection

    tables = ("companion", "transcript", "window", "event", "usagepoint")
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(f'agent_sessions_{name}' for name in tables)} CASCADE")
        cursor.execute("CHECKPOINT")


def seconds_of(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
