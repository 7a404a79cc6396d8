"""Search over a million utterances, as the page asks for it: the whole `search` action, first page, on this machine.

The peer is what one would otherwise do in PostgreSQL: `ILIKE '%…%'` over the same texts with a trigram index, the newest
fifty. Both are asked in turns in the same run. The utterances are written by the console's own COPY path.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from bench import talk
from bench.figures import Figure, milliseconds
from bench.ground import database, folders
from bench.measure import Size

LIMIT = 200.0
AGAINST = "limit"
PEER = "peer: ILIKE '%…%', trigram index"
PEER_MS = 60_000
TIMES = 40
PEER_TIMES = 7
PER_SESSION = 1_000
COMPANIONS = 20
BATCH = 2_000
QUESTIONS = {
    "rare word 失眠": "失眠",
    "rare name of three characters": "林夕月",
    "word in 1 of 200": "焦糖",
    "word of every tenth": "晚上",
    "character of every other 的": "的",
    "rarer character 眠": "眠",
    "two common words": "今天 晚上",
    "common and rare": "的 失眠",
    "a sentence": "我们今天晚上觉得",
    "rare English word": "thunderstorm",
    "common English word": "time",
    "start of English words": "thu",
    "English in 1 of 200": "migration",
    "nothing": "鼹鼠",
}
INSIDE = ("失眠", "焦糖", "今天", "的", "time", "鼹鼠")
Ask = Callable[[], object]


def measure(size: Size) -> list[Figure]:
    count = size.sessions * 100
    with folders(), database():
        rate, bulk_rate = fill(count)
        return [
            Figure(
                "search",
                f"filling {count} utterances, index made after",
                bulk_rate,
                bulk_rate,
                bulk_rate,
                "µs each",
                "-",
            ),
            Figure("search", "filling with the index in place", rate, rate, rate, "µs each", "-"),
            *figures(count),
        ]


def fill(count: int) -> tuple[float, float]:
    """Writes the utterances; microseconds for each with the word index there, and over all with it made afterwards."""
    from companion.lib.forks import spread

    sessions = make_sessions(count)
    first, rest = sessions[:20], sessions[20:]
    started = time.perf_counter()
    for session in first:
        fill_session(session)
    rate = (time.perf_counter() - started) / sum(number for _, number in first) * 1e6
    started = time.perf_counter()
    words_index = statement("SELECT pg_get_indexdef('utterance_words'::regclass)")[0][0]
    statement("DROP INDEX utterance_words")
    spread(fill_sessions, rest, lambda session: session[1])
    statement("SET maintenance_work_mem = '512MB'")
    statement(words_index)
    statement("VACUUM ANALYZE agent_sessions_utterance")
    bulk_rate = (time.perf_counter() - started) / sum(number for _, number in rest) * 1e6
    statement(EVENTS)
    statement("VACUUM ANALYZE agent_sessions_event")
    return rate, bulk_rate


EVENTS = """
INSERT INTO agent_sessions_event (transcript_id, seq, "offset", length, uuid, kind, side, live, idx, at, dialogue, thinking,
    tool_use, tool_results, images, injected, other)
SELECT transcript_id, seq, 0, 0, uuid, kind, false, seq % 50 <> 7, seq, at, 0, 0, 0, 0, 0, 0, 0 FROM agent_sessions_utterance
"""


def make_sessions(count: int) -> list[tuple[int, int]]:
    """(transcript, utterances in it); the last session has a tenth of all."""
    from companion.tests.rows import make_companion, make_window

    companions = [make_companion(f"伴{number}") for number in range(COMPANIONS)]
    numbers = [PER_SESSION] * (count * 9 // 10 // PER_SESSION) + [count // 10]
    made = []
    for place, number in enumerate(numbers):
        at = talk.STARTED.replace(year=2025)
        made.append((make_window(companions[place % COMPANIONS], last_activity=at).transcript_id, number))
    return made


def fill_sessions(sessions: list[tuple[int, int]]) -> None:
    from sessions.actions.rows import relaxed

    with relaxed():
        for session in sessions:
            fill_session(session)


def fill_session(session: tuple[int, int]) -> None:
    from sessions.core.words import search_words
    from sessions.models.words import Saying, replace_utterances

    transcript, number = session
    sayings = []
    for seq, (uuid, kind, at, text) in enumerate(talk.utterances(transcript, number)):
        sayings.append(Saying(seq, uuid, at, kind, text, search_words(text)))
        if len(sayings) == BATCH:
            replace_utterances(transcript, sayings[0].seq, seq + 1, sayings)
            sayings.clear()
    if sayings:
        replace_utterances(transcript, sayings[0].seq, None, sayings)


def figures(count: int) -> list[Figure]:
    from sessions.actions.search import search
    from sessions.models import Companion, Window

    long = Window.objects.order_by("-pk")[0]
    companion = Companion.objects.order_by("pk")[0]
    asked: dict[str, Ask] = {name: partial(search, text) for name, text in QUESTIONS.items()}
    asked |= {f"inside one long session: {text}": partial(search, text, window=long) for text in INSIDE}
    asked |= {f"inside one companion: {text}": partial(search, text, companion=companion) for text in INSIDE}
    asked |= {f"live only: {text}": partial(search, text, live_only=True) for text in ("失眠", "的")}
    asked["second page of 失眠"] = partial(search, "失眠", limit=20, after=search("失眠", limit=20).after)
    asked["second page of 的"] = partial(search, "的", after=search("的").after)
    spent = timed(asked, TIMES)
    found = [
        milliseconds("search", name, spent[name], share, AGAINST, LIMIT if share == 95 else None)
        for name in spent
        for share in (50, 95)
    ]
    everything = [second for name in spent for second in spent[name]]
    return [milliseconds("search", f"all of these over {count}", everything, 95, AGAINST, LIMIT), *found, *peers(spent)]


def peers(spent: dict[str, list[float]]) -> list[Figure]:
    """The peer's time for the same words, and how much of it the console takes."""
    statement("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    statement("CREATE INDEX utterance_trigrams ON agent_sessions_utterance USING gin (text gin_trgm_ops)")
    statement("VACUUM ANALYZE agent_sessions_utterance")
    names = [name for name, text in QUESTIONS.items() if " " not in text]
    theirs = timed({name: partial(by_trigrams, QUESTIONS[name]) for name in names}, PEER_TIMES)
    found = []
    for name in names:
        found.append(milliseconds("search", f"peer, {name}", theirs[name], 50, PEER, None))
        share = statistics.median(spent[name]) / statistics.median(theirs[name])
        found.append(Figure("search", name, share, share, share, "×", PEER))
    return found


def by_trigrams(text: str) -> list[Any]:
    # A peer that takes longer than a minute has lost anyway.
    statement(f"SET statement_timeout = {PEER_MS}")
    try:
        return statement(
            "SELECT transcript_id, seq, text FROM agent_sessions_utterance WHERE text ILIKE %s ORDER BY at DESC LIMIT 50",
            [f"%{text}%"],
        )
    finally:
        statement("RESET statement_timeout")


def timed(asked: dict[str, Ask], times: int) -> dict[str, list[float]]:
    """Seconds of each, in turns; the first of each warms what is kept in memory and does not count."""
    for ask in asked.values():
        ask()
    spent: dict[str, list[float]] = {name: [] for name in asked}
    for name in random.Random(1).sample(list(asked) * times, len(asked) * times):
        started = time.perf_counter()
        asked[name]()
        spent[name].append(time.perf_counter() - started)
    return spent


def statement(sql: str, values: list[Any] | None = None) -> list[Any]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall()) if cursor.description else []
