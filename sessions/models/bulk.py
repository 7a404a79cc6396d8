"""Many rows at once, by COPY and set-wise statements: what an index of half a million lines needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from django.db import connection

from sessions.core.batches import Point, Row
from sessions.core.pieces import PART_NAMES
from sessions.core.thread import Link

_COLUMNS = (
    "transcript_id", "seq", '"offset"', "length", "uuid", "parent_uuid", "kind", "side", "live", "idx", "at", "message_id",
    "preview", *PART_NAMES,
)  # fmt: skip
_COPY = f"COPY agent_sessions_event ({', '.join(_COLUMNS)}) FROM STDIN"
_NULL = "\\N"
_PARTS = "\t".join(["%d"] * len(PART_NAMES))
USUAL_STAMP = len("2026-11-30T19:04:35.000Z")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def copy_events(transcript_id: int, rows: Iterable[Row]) -> None:
    """Writes new chain lines. Raises the database's error if one of them is there already."""
    with connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.write("".join([_as_text(transcript_id, row) for row in rows]))


def _as_text(transcript_id: int, row: Row) -> str:
    return (
        f"{transcript_id}\t{row.seq}\t{row.offset}\t{row.length}\t{_text(row.uuid)}\t{_text(row.parent)}\t{row.kind}\t"
        f"{row.side}\t{row.live}\t{_NULL if row.idx is None else row.idx}\t{_time(row)}\t"
        f"{_text(row.message_id)}\t{_text(row.preview)}\t{_PARTS % tuple(row.parts)}\n"
    )


def _text(value: str | None) -> str:
    if value is None:
        return _NULL
    return value if value.replace("-", "").isalnum() else value.translate(_ESCAPES)


def _time(row: Row) -> str:
    """The client's own spelling where it is the usual one: no need to write it again."""
    if row.at is None:
        return _NULL
    stamp = row.stamp or ""
    return stamp if len(stamp) == USUAL_STAMP and stamp[-1] == "Z" and stamp[10] == "T" else str(row.at)


_POINTS = "CREATE TEMPORARY TABLE IF NOT EXISTS new_points (LIKE agent_sessions_usagepoint) ON COMMIT DELETE ROWS"
_POINT_COLUMNS = "transcript_id, message_id, seq, at, model, input, cache_creation, cache_read, output, is_live"
_UPSERT = f"""
INSERT INTO agent_sessions_usagepoint ({_POINT_COLUMNS}) SELECT {_POINT_COLUMNS} FROM new_points
ON CONFLICT (transcript_id, message_id) DO UPDATE SET seq = excluded.seq, at = excluded.at, model = excluded.model,
    input = excluded.input, cache_creation = excluded.cache_creation, cache_read = excluded.cache_read,
    output = excluded.output, is_live = excluded.is_live
"""


def copy_points(transcript_id: int, points: Collection[Point]) -> None:
    """Writes what messages reported that were not heard of before."""
    _copy_points("agent_sessions_usagepoint", transcript_id, points)


def upsert_points(transcript_id: int, points: Collection[Point]) -> None:
    """Writes what messages reported; of one message the last line wins. Needs a transaction around it."""
    if points:
        with connection.cursor() as cursor:
            cursor.execute(_POINTS)
            _copy_points("new_points", transcript_id, points)
            cursor.execute(_UPSERT)


def _copy_points(table: str, transcript_id: int, points: Collection[Point]) -> None:
    if points:
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} ({_POINT_COLUMNS}) FROM STDIN") as copy:
            copy.write("".join([_point_as_text(transcript_id, point) for point in points]))


def _point_as_text(transcript_id: int, point: Point) -> str:
    usage = point.usage
    return (
        f"{transcript_id}\t{_text(point.message_id)}\t{point.seq}\t{point.at or _NULL}\t{_text(point.model)}\t"
        f"{usage.input}\t{usage.cache_creation}\t{usage.cache_read}\t{usage.output}\t{point.live}\n"
    )


_LINKS = f"""
SELECT seq, uuid, parent_uuid, kind, side, message_id, at, {" + ".join(PART_NAMES)}
FROM agent_sessions_event WHERE transcript_id = %s ORDER BY seq
"""


def links_of(transcript_id: int) -> Iterator[tuple[Link, int]]:
    """Every chain line of a transcript in file order, with its estimated tokens."""
    with connection.cursor() as cursor:
        cursor.execute(_LINKS, [transcript_id])
        while table := cursor.fetchmany(5_000):
            for *link, weight in table:
                yield Link(*link), weight


_USAGE = """
SELECT seq, input + cache_creation + cache_read FROM agent_sessions_usagepoint WHERE transcript_id = %s AND is_live
"""


def live_usage(transcript_id: int) -> list[tuple[int, int]]:
    """(seq, tokens of context) of what messages on the live thread reported."""
    with connection.cursor() as cursor:
        cursor.execute(_USAGE, [transcript_id])
        found: list[tuple[int, int]] = cursor.fetchall()
    return found


_PLACE = """
UPDATE agent_sessions_event AS event SET live = place.seq IS NOT NULL, idx = place.idx
FROM agent_sessions_event AS old LEFT JOIN unnest(%s::int[], %s::int[]) AS place (seq, idx) ON place.seq = old.seq
WHERE event.transcript_id = %s AND old.transcript_id = event.transcript_id AND old.seq = event.seq
  AND (event.live IS DISTINCT FROM (place.seq IS NOT NULL) OR event.idx IS DISTINCT FROM place.idx)
"""
_LIVE_POINTS = """
UPDATE agent_sessions_usagepoint AS point SET is_live = event.live FROM agent_sessions_event AS event
WHERE point.transcript_id = %s AND event.transcript_id = point.transcript_id AND event.seq = point.seq
  AND point.is_live IS DISTINCT FROM event.live
"""


def place(transcript_id: int, places: Mapping[int, int | None]) -> None:
    """Puts the live thread onto the rows: `places` maps seq to idx; every line not in it is off the thread."""
    with connection.cursor() as cursor:
        cursor.execute(_PLACE, [list(places), list(places.values()), transcript_id])
        cursor.execute(_LIVE_POINTS, [transcript_id])
