"""Utterances by COPY, and words as PostgreSQL spells them: lexemes written as they are, never parsed by it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from django.db import connection

from sessions.core.words import Query, Term, Words

_COPY = "COPY agent_sessions_utterance (transcript_id, seq, uuid, at, kind, text, words) FROM STDIN"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_QUOTES = str.maketrans({"'": "''", "\\": "\\\\"})


class Saying(NamedTuple):
    """An utterance as it is written (`sessions.models.Utterance`)."""

    seq: int
    uuid: str
    at: datetime
    kind: str
    text: str
    words: Words


def replace_utterances(transcript_id: int, first: int, last: int | None, sayings: Iterable[Saying]) -> None:
    """Puts what was said in the lines from `first` to before `last` (None: to the end) in place of what was kept there."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM agent_sessions_utterance WHERE transcript_id = %s AND seq >= %s AND (%s::bigint IS NULL OR seq < %s)",
            [transcript_id, first, last, last],
        )
        with cursor.copy(_COPY) as copy:
            copy.write("".join([_as_text(transcript_id, saying) for saying in sayings]))


def _as_text(transcript_id: int, saying: Saying) -> str:
    return (
        f"{transcript_id}\t{saying.seq}\t{saying.uuid.translate(_ESCAPES)}\t{saying.at}\t{saying.kind}\t"
        f"{saying.text.translate(_ESCAPES)}\t{_vector(saying.words).translate(_ESCAPES)}\n"
    )


def _vector(words: Words) -> str:
    """Words with weight A, which takes a position; pairs and single characters with none, to be smaller."""
    return " ".join([*(f"{_quoted(word)}:1A" for word in words.strong), *map(_quoted, words.weak)])


def _quoted(word: str) -> str:
    return f"'{word.translate(_QUOTES)}'"


def match_of(query: Query) -> str:
    """The tsquery that finds: everything asked for has to be there."""
    return " & ".join(map(_asked, query.terms))


def rank_of(query: Query) -> str:
    """The tsquery that ranks: the more of it, and the more of it as words, the better. Empty where nothing can tell."""
    return " | ".join(map(_asked, query.ranked))


def _asked(term: Term) -> str:
    return f"{_quoted(term.text)}:*" if term.is_start else _quoted(term.text)


def analyse() -> None:
    """Tells the planner how common words are; it has no idea of a table just filled."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE agent_sessions_utterance")
