"""Planning and writing the copy of a 100 MB transcript against a script that does the same reads, hashes, parsing,
writing and syncing, and nothing else.

Everything is kept, so that every line goes all the way. The script is told where the kept lines stand and which of them
a squash may touch; the database, the locks, the checks and the counting are what the product adds. The file is indexed
before, and in the page cache for both; the rehearsal is off.
"""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import orjson

from bench import corpus
from bench.figures import Figure, ratio
from bench.ground import ROOT, Ground, database, folders
from bench.measure import Size

MEGABYTES = 100
PEER = "script with the same reads, hashes, loads, dumps, writes, fsyncs"
GOAL = 1.5
KEEP_ALL = 10**9
CHUNK = 1024 * 1024
# Megabytes of the smaller and the larger file that memory is compared on.
SMALL, LARGE = 25, 400
FLAT = 1.5


def measure(size: Size) -> list[Figure]:
    os.environ["REHEARSE"] = "0"
    with folders() as ground, database():
        path = laid_out(ground, MEGABYTES)
        rounds = [one_round(ground, path) for _ in range(size.rounds)]
        first, again, shown = ([each[place] / each[-1] for each in rounds] for place in range(3))
        return [
            ratio("surgery", f"plan and write, {MEGABYTES} MB, never looked at", first, PEER, GOAL),
            ratio("surgery", "plan and write, looked at on the page before", again, PEER, GOAL),
            ratio("surgery", "until the new window is in the list, never looked at", shown, PEER),
            *memory(ground),
        ]


def laid_out(ground: Ground, megabytes: int) -> Path:
    folder = ground.projects / f"-srv-{megabytes}"
    corpus.lay_out(folder.parent / folder.name, megabytes=megabytes, files=1)
    found = next(folder.rglob("*.jsonl"))
    path = folder / found.name
    found.rename(path)
    return path


def one_round(ground: Ground, path: Path) -> tuple[float, float, float, float]:
    """Seconds: ours until the file is written, the same where the window is remembered, the first to its end, and the
    script's, before and after."""
    from sessions.actions import sight

    lines = kept_lines(path)
    before = seconds_of_script(ground, path, lines)
    sight.forget()
    first, shown = seconds_of_ours(path)
    again, __ = seconds_of_ours(path)
    return first, again, shown, (before + seconds_of_script(ground, path, lines)) / 2


def seconds_of_ours(path: Path) -> tuple[float, float]:
    from sessions.actions.carry_out import carry_out
    from sessions.actions.propose import Wish, propose
    from sessions.core.selection import Mode, Selection

    window = window_of(path)
    started = time.perf_counter()
    run = propose(window, Wish("diet", Selection(Mode.TAIL, retain=KEEP_ALL), export_only=True, force=True))
    planned = time.perf_counter() - started
    run = carry_out(run.pk)
    spent = time.perf_counter() - started
    if run.status != "exported":
        raise RuntimeError(f"the run ended as {run.status}: {run.error}")
    forget(run)
    return planned + sum(step["seconds"] for step in run.steps), spent


def window_of(path: Path) -> object:
    from sessions.actions.find import window_for

    return window_for(str(path))


def forget(run: object) -> None:
    """Every round copies and backs up anew."""
    from sessions.models import Backup

    for backup in Backup.objects.all():
        Path(backup.path).unlink(missing_ok=True)
        backup.delete()
    Path(run.target_path).unlink(missing_ok=True)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Place:
    """A kept line: bytes from the start, bytes long, and whether a squash looks at it while planning."""

    offset: int
    length: int
    is_weighed: bool


def kept_lines(path: Path) -> list[Place]:
    from sessions.actions.ground import steps_of

    steps = steps_of(window_of(path))  # type: ignore[arg-type]
    return [Place(step.offset, step.length, step.squashable > 0) for step in steps]


def seconds_of_script(ground: Ground, path: Path, lines: list[Place]) -> float:
    started = time.perf_counter()
    with open(path, "rb", buffering=0) as stream:
        # The plan: a digest, the lines that may be squashed, a copy into nothing.
        digest(stream)
        for line in lines:
            if line.is_weighed:
                orjson.loads(read(stream, line))
        for line in lines:
            written(read(stream, line))
        # Carrying out: the digest, a backup, the copy, and both read back.
        digest(stream)
        copy(stream, ground.folder / "backup")
        write(stream, lines, ground.folder / "copy")
        digest(stream)
    return time.perf_counter() - started


def read(stream: object, line: Place) -> bytes:
    stream.seek(line.offset)  # type: ignore[attr-defined]
    found: bytes = stream.read(line.length)  # type: ignore[attr-defined]
    return found


def written(raw: bytes) -> bytes:
    record = orjson.loads(raw)
    record.pop("toolUseResult", None)
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def digest(stream: object) -> str:
    found = hashlib.sha256()
    for data in chunks(stream):
        found.update(data)
    return found.hexdigest()


def chunks(stream: object) -> Iterator[bytes]:
    stream.seek(0)  # type: ignore[attr-defined]
    while data := stream.read(CHUNK):  # type: ignore[attr-defined]
        yield data


def copy(stream: object, target: Path) -> None:
    found = hashlib.sha256()
    with open(target, "wb") as out:
        for data in chunks(stream):
            found.update(data)
            out.write(data)
        out.flush()
        os.fsync(out.fileno())
    with open(target, "rb", buffering=0) as again:
        digest(again)
    target.unlink()


def write(stream: object, lines: list[Place], target: Path) -> None:
    found = hashlib.sha256()
    with open(target, "wb") as out:
        for line in lines:
            data = written(read(stream, line))
            found.update(data)
            out.write(data)
        out.flush()
        os.fsync(out.fileno())
    again = hashlib.sha256()
    with open(target, "rb") as back:
        for data in back:
            again.update(data)
            orjson.loads(data)
    target.unlink()


def memory(ground: Ground) -> list[Figure]:
    """How much more memory a file sixteen times as large takes; each in a process of its own."""
    peaks = [peak_of(laid_out(ground, megabytes)) for megabytes in (SMALL, LARGE)]
    limit = f"a {SMALL} MB file"
    return [ratio("surgery", f"peak memory, {LARGE} MB", [peaks[1] / peaks[0]], limit, FLAT)]


def peak_of(path: Path) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "bench.surgery", str(path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return float(done.stdout.split()[-1])


def main() -> None:
    """Plans and writes one transcript and prints the peak of its memory in kilobytes."""
    with database():
        seconds_of_ours(Path(sys.argv[1]))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    main()
