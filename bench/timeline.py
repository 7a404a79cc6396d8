"""A timeline of half a million events, read from one real file: server time of its first page and of a jump into it.

Asked through Django's test client in this process, the pages in turns, so that what else runs on the machine falls on
all of them.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable
from pathlib import Path

from bench.corpus import STARTED, Writer
from bench.figures import Figure, milliseconds
from bench.ground import database, folders
from bench.measure import Size

EVENTS = 500_000
TIMES = 40
FIRST, JUMP = 100.0, 150.0
AGAINST = "limit, server time"
Ask = Callable[[str], None]


def measure(size: Size, events: int = EVENTS) -> list[Figure]:
    with folders() as ground, database():
        lay_out_long(ground.projects, events)
        window = indexed()
        spent = timed(in_process(), pages_of(window))
    return [
        milliseconds("timeline", f"{name} of {events} events", seconds, 95, AGAINST, FIRST if name in LIGHT else JUMP)
        for name, seconds in spent.items()
    ]


LIGHT = {
    "first page",
    "first page, your words",
    "first page, tools",
    "first page, thinking",
    "page before",
    "page after",
}


def lay_out_long(root: Path, events: int) -> None:
    """One session of `events` lines that hang on each other, and a little more."""
    chance = random.Random(7)
    own = str(uuid.UUID(int=chance.getrandbits(128)))
    writer, written = Writer(chance, own, at=STARTED), 0
    folder = root / "-srv-companion-0"
    folder.mkdir(parents=True)
    with open(folder / f"{own}.jsonl", "wb") as stream:
        while written < events:
            writer.turn()
            stream.write(b"\n".join(writer.lines) + b"\n")
            written += sum(b'"parentUuid"' in line for line in writer.lines)
            writer.lines.clear()


def indexed() -> int:
    from django.db import connection

    from sessions.actions.index import index_all
    from sessions.models import Window

    index_all()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return Window.objects.get().pk


def pages_of(window: int) -> dict[str, Callable[[], str]]:
    """Each page by name; a jump goes somewhere else every time."""
    from sessions.models import Event, Window

    it = Window.objects.get(pk=window)
    chance = random.Random(3)
    events = Event.objects.filter(transcript_id=it.transcript_id).order_by("seq")
    last = events.values_list("seq", flat=True).reverse()[0]
    uuids = [events.filter(seq__gte=chance.randrange(last))[0].uuid for _ in range(60)]
    base = f"/sessions/{window}/"

    def middle() -> int:
        return chance.randrange(last // 3, 2 * last // 3)

    return {
        "first page": lambda: base,
        "first page, your words": lambda: f"{base}?show=human",
        "first page, tools": lambda: f"{base}?show=tools",
        "first page, thinking": lambda: f"{base}?show=thinking",
        "page before": lambda: f"{base}?until={middle()}",
        "page after": lambda: f"{base}?since={middle()}",
        "jump by number": lambda: f"{base}?at=%23{chance.randrange(it.dialogue_events)}",
        "jump by id": lambda: f"{base}?at={chance.choice(uuids)}",
        "jump by time": lambda: f"{base}?at={at(it, chance.random())}",
        "jump by number, your words": lambda: f"{base}?show=human&at=%23{chance.randrange(it.dialogue_events)}",
        "jump with branches": lambda: f"{base}?branches=1&line={middle()}",
    }


def at(window: object, share: float) -> str:
    start, end = window.started_at, window.last_activity  # type: ignore[attr-defined]
    return f"{(start + (end - start) * share).timestamp():.0f}"


def timed(ask: Ask, pages: dict[str, Callable[[], str]]) -> dict[str, list[float]]:
    """Seconds of each page; the first look at each warms what is kept in memory and does not count."""
    for page in pages.values():
        ask(page())
    spent: dict[str, list[float]] = {name: [] for name in pages}
    for name in random.Random(1).sample(list(pages) * TIMES, len(pages) * TIMES):
        path = pages[name]()
        started = time.perf_counter()
        ask(path)
        spent[name].append(time.perf_counter() - started)
    return spent


def in_process() -> Ask:
    from companion.tests.rows import signed_in

    client = signed_in(headers={"host": "127.0.0.1"})

    def ask(path: str) -> None:
        answer = client.get(path)
        # A page that is quick because it is the wrong one is worth nothing.
        if answer.status_code != 200 or b"data-entry" not in answer.content:
            raise RuntimeError(f"{path} answered {answer.status_code}")

    return ask
