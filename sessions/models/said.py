"""What a person said to a companion, numbered over all its windows."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.db import connection


class Said(NamedTuple):
    """A person's own message; `number` counts from 1 over all windows of the companion, copies once."""

    number: int
    at: datetime
    session_id: str
    window: int
    transcript: int
    seq: int
    uuid: str
    text: str


# The copy that counts is fixed for good (the first by time, then by row), and with it the number.
_SAID = """
WITH one AS (
    SELECT DISTINCT ON (said.uuid) transcript_id, said.seq, said.at, shown.id AS window_id, shown.session_id
    FROM agent_sessions_utterance AS said JOIN agent_sessions_window AS shown USING (transcript_id)
    WHERE shown.companion_id = %(companion)s AND said.kind IN ('h', 'q')
    ORDER BY said.uuid, said.at, transcript_id, said.seq DESC
), numbered AS (
    SELECT row_number() OVER (ORDER BY at, transcript_id, seq) AS number, * FROM one
), asked AS (
    SELECT * FROM numbered
    WHERE (%(number)s::bigint IS NULL OR number = %(number)s) AND (%(before)s::bigint IS NULL OR number < %(before)s)
    ORDER BY number DESC LIMIT %(limit)s
)
SELECT number, said.at, session_id, window_id, transcript_id, seq, said.uuid, said.text
FROM asked JOIN agent_sessions_utterance AS said USING (transcript_id, seq) ORDER BY number
"""


def said_to(
    companion: int, *, number: int | None = None, before: int | None = None, limit: int | None = None
) -> list[Said]:
    """The newest `limit` messages (all if None), oldest first; only that `number`, or only those before one."""
    values = {"companion": companion, "number": number, "before": before, "limit": limit}
    with connection.cursor() as cursor:
        cursor.execute(_SAID, values)
        return [Said(*row) for row in cursor.fetchall()]
