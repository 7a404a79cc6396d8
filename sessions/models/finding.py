"""Finding utterances: candidates by the word index, one per message, best or newest first, a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

from sessions.core.words import Query
from sessions.models.words import match_of, rank_of

# Hits up to which all are ranked and counted; of more, the newest come first.
MOST_RANKED = 1_000


class Place(NamedTuple):
    """Where a hit stands in its order: one comes after another if its place is smaller."""

    rank: int
    at: datetime
    transcript: int
    seq: int


class Scope(NamedTuple):
    """Where to look: in one transcript, in some, or in all; `live_only`: not on branches a rewind left behind."""

    transcript: int | None = None
    transcripts: tuple[int, ...] | None = None
    live_only: bool = False


class Row(NamedTuple):
    """A hit as the database knows it. `idx`, `event_at` and `live` are None where the line is not indexed now."""

    rank: int
    at: datetime
    transcript: int
    seq: int
    uuid: str
    kind: str
    text: str
    window: int
    session_id: str
    companion: int
    companion_name: str
    is_current: bool
    idx: int | None
    event_at: datetime | None
    live: bool | None

    @property
    def place(self) -> Place:
        return Place(self.rank, self.at, self.transcript, self.seq)


# The candidates are taken from one table alone: joined to the windows, the planner would ask the word index once for each
# window. What else has to be known of a row is asked row by row, spelled so that the planner takes it for half true:
# thinking that few rows are left, it would not walk back through time for a common word.
# Of a message that was copied into later windows only the copy in the latest one; in one window, the last line of it.
_ONLY_COPY = """
NOT coalesce((
    SELECT true FROM agent_sessions_utterance AS copy JOIN agent_sessions_window AS other USING (transcript_id)
    WHERE copy.uuid = said.uuid AND (copy.transcript_id, copy.seq) <> (said.transcript_id, said.seq) {inside}
      AND other.companion_id = (SELECT companion_id FROM agent_sessions_window WHERE transcript_id = said.transcript_id)
      AND (coalesce(other.last_activity, '-infinity'), other.id, copy.seq) > (
        SELECT coalesce(last_activity, '-infinity'), id, said.seq
        FROM agent_sessions_window WHERE transcript_id = said.transcript_id
      )
    LIMIT 1
), false)
"""
_FROM = "agent_sessions_utterance AS said"
_LIVE = """
(
    SELECT event.live FROM agent_sessions_event AS event
    WHERE event.transcript_id = said.transcript_id AND event.seq = said.seq AND event.uuid = said.uuid
)
"""
# Of the hits of a page only: the texts, where they stand on the thread, whether their window is the companion's current.
_SHOW = """
SELECT page.rank, said.at, said.transcript_id, said.seq, said.uuid, said.kind, said.text, shown.id, shown.session_id,
    companion.id, companion.name, shown.id = (
        SELECT newest.id FROM agent_sessions_window AS newest
        WHERE newest.companion_id = shown.companion_id AND NOT newest.is_archived
        ORDER BY newest.last_activity DESC NULLS LAST, newest.id DESC LIMIT 1
    ), event.idx, event.at, event.live
FROM page
JOIN agent_sessions_utterance AS said USING (transcript_id, seq)
JOIN agent_sessions_window AS shown USING (transcript_id)
JOIN agent_sessions_companion AS companion ON companion.id = shown.companion_id
LEFT JOIN agent_sessions_event AS event
    ON event.transcript_id = said.transcript_id AND event.seq = said.seq AND event.uuid = said.uuid
ORDER BY page.rank DESC, {order}
"""
_NEWEST = "{t}.at DESC, {t}.transcript_id DESC, {t}.seq DESC"
_LATEST = "{t}.seq DESC"


def count(query: Query, scope: Scope) -> int:
    """How many messages match; anything above MOST_RANKED only says that there are more."""
    where, values = _where(query, scope)
    statement = f"SELECT count(*) FROM (SELECT FROM {_FROM} WHERE {where} LIMIT {MOST_RANKED + 1}) AS few"  # noqa: S608
    (number,) = _rows(statement, values)[0]
    return int(number)


def best(query: Query, scope: Scope, after: Place | None, limit: int) -> list[Row]:
    """The next hits, best first, of equals the newest. Only for a query with few enough of them."""
    where, values = _where(query, scope)
    rank = rank_of(query)
    # Weight A for words, the least for pairs; longer texts count a little less; whole numbers, to be the same next time.
    ranked = "(ts_rank('{0.3, 0.3, 0.3, 1}', said.words, %s::tsquery, 1) * 1000000)::int" if rank else "0"
    behind = "WHERE (rank, at, transcript_id, seq) < (%s, %s, %s, %s)" if after is not None else ""
    statement = f"""
WITH found AS MATERIALIZED (
    SELECT {ranked} AS rank, said.at, said.transcript_id, said.seq FROM {_FROM} WHERE {where} LIMIT {4 * MOST_RANKED}
), page AS (
    SELECT * FROM found {behind} ORDER BY rank DESC, at DESC, transcript_id DESC, seq DESC LIMIT %s
)
"""  # noqa: S608
    ranks = [rank] if rank else []
    return _shown(statement, [*ranks, *values, *(after or ()), limit], scope, by_rank=True)


def newest(query: Query, scope: Scope, after: Place | None, limit: int) -> list[Row]:
    """The next hits, newest first; of a common word, a walk back through time finds some soon."""
    where, values = _matches(query, scope)
    behind, places = "", list[Any]()
    if after is not None and scope.transcript is not None:
        behind, places = "AND said.seq < %s", [after.seq]
    elif after is not None:
        behind, places = "AND (said.at, said.transcript_id, said.seq) < (%s, %s, %s)", list(after[1:])
    # In order first, and then asked row by row until there are enough.
    statement = f"""
WITH page AS MATERIALIZED (
    SELECT 0 AS rank, at, transcript_id, seq FROM (
        SELECT said.at, said.transcript_id, said.seq, said.uuid FROM {_FROM} WHERE {where} {behind}
        ORDER BY {_order(scope, "said")} OFFSET 0
    ) AS said WHERE {_asks(scope)} LIMIT %s
)
"""  # noqa: S608
    return _shown(statement, [*values, *places, limit], scope)


def _shown(statement: str, values: Sequence[Any], scope: Scope, *, by_rank: bool = False) -> list[Row]:
    order = _NEWEST.format(t="said") if by_rank else _order(scope, "said")
    return [Row(*row) for row in _rows(statement + _SHOW.format(order=order), values)]


def _order(scope: Scope, table: str) -> str:
    """In one transcript the order of its lines; over several that of time."""
    return (_LATEST if scope.transcript is not None else _NEWEST).format(t=table)


def _where(query: Query, scope: Scope) -> tuple[str, list[Any]]:
    matches, values = _matches(query, scope)
    return f"{matches} AND {_asks(scope)}", values


def _matches(query: Query, scope: Scope) -> tuple[str, list[Any]]:
    """What indexes answer: words, and where."""
    if scope.transcript is not None:
        return "said.words @@ %s::tsquery AND said.transcript_id = %s", [match_of(query), scope.transcript]
    if scope.transcripts is not None:
        return "said.words @@ %s::tsquery AND said.transcript_id = ANY(%s)", [match_of(query), list(scope.transcripts)]
    return "said.words @@ %s::tsquery", [match_of(query)]


def _asks(scope: Scope) -> str:
    """What is asked of each row."""
    inside = "AND copy.transcript_id = said.transcript_id" if scope.transcript is not None else ""
    only_copy = _ONLY_COPY.format(inside=inside)
    return f"{_LIVE} AND {only_copy}" if scope.live_only else only_copy


def _rows(statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
