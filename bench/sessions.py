"""The sessions list with ten thousand sessions, read from ten thousand real files: server time of its pages.

Asked twice: through Django's test client in this process, and through the real web process over loopback. The pages
are asked in turns, so that what else runs on the machine falls on all of them.
"""

from __future__ import annotations

import http.client
import random
import time
from collections.abc import Callable
from urllib.parse import quote

from bench.corpus import lay_out_small
from bench.figures import Figure, milliseconds
from bench.ground import Ground, database, folders
from bench.measure import Size
from bench.sweep import sweep_figure

LIMIT = 100.0
AGAINST = "limit, server time"
TIMES = 60
PAGES = {
    "first page": "",
    "page 100": "?page=100",
    "found by two characters": f"?q={quote('橘猫')}",
    "found by nothing": f"?q={quote('没有这个')}",
    "one companion": "?companion={companion}",
    "at least 55 %": "?used=55",
    "fullest first": "?sort=used",
    "by title, page 50": "?sort=title&page=50",
    "most talked in": "?sort=messages",
}
Ask = Callable[[str], None]


def measure(size: Size) -> list[Figure]:
    from companion.tests.consoles import console

    with folders() as ground, database():
        lay_out_small(ground.projects, size.sessions)
        sweep = fill(ground)
        cookie, companion = prepared()
        ask = in_process(cookie)
        # Its own processor time shows what a page costs where the machine has other things to do.
        found = {"in process": timed(ask, companion), "processor time": timed(ask, companion, time.process_time)}
        with console(ground.data, COMPANION_PROJECTS_ROOT=str(ground.projects)) as running:
            found["over loopback"] = timed(over_loopback(running.port, cookie), companion)
    return [*(figure for way, pages in found.items() for figure in figures(way, pages, size.sessions)), sweep]


def fill(ground: Ground) -> Figure:
    """Indexes everything; answers what a sweep costs with so many files."""
    from django.db import connection

    from sessions.actions.index import index_all

    index_all()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return sweep_figure("sessions", ground.projects)


def prepared() -> tuple[str, int]:
    """A signed-in session's cookie, and a companion to filter by."""
    from companion.tests.rows import signed_in
    from sessions.models import Companion

    return str(signed_in().cookies["companion"].value), Companion.objects.order_by("pk")[0].pk


def timed(ask: Ask, companion: int, clock: Callable[[], float] = time.perf_counter) -> dict[str, list[float]]:
    """Seconds of each page; the first look at each warms what is kept in memory and does not count."""
    paths = {name: "/sessions/" + query.replace("{companion}", str(companion)) for name, query in PAGES.items()}
    for path in paths.values():
        ask(path)
    spent: dict[str, list[float]] = {name: [] for name in paths}
    for name in random.sample(list(paths) * TIMES, len(paths) * TIMES):
        started = clock()
        ask(paths[name])
        spent[name].append(clock() - started)
    return spent


def in_process(cookie: str) -> Ask:
    from django.test import Client

    client = Client(headers={"host": "127.0.0.1"})
    client.cookies["companion"] = cookie

    def ask(path: str) -> None:
        answer = client.get(path)
        check(path, answer.status_code, answer.content)

    return ask


def over_loopback(port: int, cookie: str) -> Ask:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(path: str) -> None:
        line.request("GET", path, headers={"Cookie": f"companion={cookie}"})
        answer = line.getresponse()
        check(path, answer.status, answer.read())

    return ask


def check(path: str, status: int, body: bytes) -> None:
    """A page that is quick because it is the wrong one is worth nothing."""
    if status != 200 or b'id="sessions"' not in body:
        raise RuntimeError(f"{path} answered {status}")


def figures(way: str, pages: dict[str, list[float]], sessions: int) -> list[Figure]:
    # Ours alone, without the database's: not the whole that the limit is for.
    goal = None if way == "processor time" else LIMIT
    return [
        milliseconds("sessions", f"{name} of {sessions}, {way}", seconds, 95, AGAINST, goal)
        for name, seconds in pages.items()
    ]
