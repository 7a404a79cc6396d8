"""What the index costs once it is warm: a sweep that finds nothing new, and one appended line."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from bench.corpus import session
from bench.figures import Figure, milliseconds, ratio

TIMES = 21
LIMIT = 150.0


def appended_figures(bench: str, transcripts: list[Path]) -> list[Figure]:
    from sessions.actions.index import index_all

    index_all()
    appended = [one_line(path) for path in (transcripts * TIMES)[:TIMES]]
    return [
        milliseconds(bench, "one appended line, indexed", appended, share, "limit, line to gauge", LIMIT)
        for share in (50, 95)
    ]


def sweep_figure(bench: str, root: Path) -> Figure:
    """The index must be up to date. Taken in turns, so that what else runs on the machine falls on both."""
    from bench.index import seconds_of
    from sessions.actions.index import index_all

    runs, files = [], walk(root)
    for _ in range(TIMES):
        sweep = seconds_of(index_all)
        runs.append(sweep / seconds_of(lambda: walk(root)))
    return ratio(bench, "sweep, nothing new", runs, f"walk and stat of the same {files} files")


def one_line(path: Path) -> float:
    """Seconds to index a line that was just written."""
    from bench.index import seconds_of
    from sessions.actions.index import index_path

    with open(path, "ab") as stream:
        stream.write(continued(path) + b"\n")
    return seconds_of(lambda: index_path(path))


def continued(path: Path) -> bytes:
    """A reply of the same session that hangs on its last line."""
    lines = path.read_bytes().splitlines()
    last = next(found for found in map(orjson.loads, reversed(lines)) if found.get("uuid"))
    fresh = next(found for found in map(orjson.loads, session(len(lines), 1)) if found["type"] == "assistant")
    return orjson.dumps({**fresh, "sessionId": last["sessionId"], "parentUuid": last["uuid"]})


def walk(root: Path) -> int:
    """The least that a look at every file costs; answers how many there are."""
    return sum(entry.stat().st_size > 0 for folder in os.scandir(root) for entry in os.scandir(folder.path))
