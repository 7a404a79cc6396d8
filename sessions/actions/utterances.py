"""Keep the words of what was indexed: a follower of the index, at its own pace (spec S9, "never lose a word").

It takes events that the index has stored, reads their lines from the file and writes what they say. A cursor moves with
each batch, guarded by where it stood, so that a second follower changes nothing and a killed one leaves nothing
half-done. A line that is no longer what was indexed stops the file until it is indexed anew.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q

from sessions.actions import health, rows
from sessions.core.events import Kind, bounded_id
from sessions.core.lines import BadLine, read_line
from sessions.core.spoken import spoken
from sessions.core.words import search_words, writable
from sessions.gateways import transcripts
from sessions.gateways.transcripts import Reader
from sessions.models import Event, Transcript, WordsCursor
from sessions.models.words import Saying, analyse, replace_utterances

log = logging.getLogger(__name__)
EVENTS_PER_BATCH = 500
# Characters of text after which a batch is written, however few events it has.
CHARACTERS_PER_BATCH = 2_000_000
# So much news that the planner has to be told.
ANALYSED_AFTER = 20_000
# Seconds a command waits for words where a worker keeps them anyway.
PATIENCE = 5.0
SPEAKING = (Kind.HUMAN, Kind.QUEUED, Kind.ASSISTANT)
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class Changed(Exception):
    """The file is not what was indexed."""


@dataclass(slots=True)
class CaughtUp:
    """What a pass did; `is_done` is False where its time was over first."""

    utterances: int = 0
    is_done: bool = True


@dataclass(slots=True)
class Batch:
    """Sayings of the lines before `lines`; `is_last` where no event was left."""

    sayings: list[Saying]
    lines: int
    is_last: bool
    last_at: datetime


def catch_up_words(limit_seconds: float | None = None) -> CaughtUp:
    """Keeps the words of all that is indexed on this host, the latest file first, for about so long."""
    until = time.monotonic() + limit_seconds if limit_seconds is not None else None
    done = CaughtUp()
    with rows.relaxed():
        for transcript in _behind():
            for count in _follow(transcript):
                done.utterances += count
                if until is not None and time.monotonic() > until:
                    done.is_done = False
                    break
            if not done.is_done:
                break
    if done.utterances > ANALYSED_AFTER:
        analyse()
    return done


def catch_up_before_reading() -> None:
    """Before a command looks for words: all of them where no worker keeps them, else what is new."""
    catch_up_words(PATIENCE if health.is_alive("worker") else None)


def _behind() -> list[Transcript]:
    """Sessions with lines whose words are not kept yet. A file that is gone or out of reach waits till it is back."""
    here = Transcript.objects.filter(
        host=settings.ENV.host_name, kind=Transcript.Kind.MAIN, missing_since=None, trouble="", lines__gt=0
    )
    behind = here.filter(Q(words_cursor=None) | Q(words_cursor__lines__lt=F("lines")))
    return list(behind.only("path", "lines").order_by("-modified_ns"))


def _follow(transcript: Transcript) -> Iterator[int]:
    """Batch after batch of one file; gives the number of utterances of each. Ends where another follower is faster."""
    try:
        with transcripts.opened(Path(transcript.path)) as reader:
            while True:
                cursor, _ = WordsCursor.objects.get_or_create(transcript=transcript)
                # After the cursor: a reading anew in between moves the cursor's turn, and nothing is stored.
                transcript.refresh_from_db(fields=["lines"])
                batch = _read(transcript, cursor, reader)
                if not _store(transcript, cursor, batch):
                    return
                yield len(batch.sayings)
                if batch.is_last:
                    return
    except (OSError, Changed) as fault:
        log.info("%s: its words wait until it is indexed again: %s", transcript.path, fault)


def _read(transcript: Transcript, cursor: WordsCursor, reader: Reader) -> Batch:
    """The next sayings, read outside of any transaction. Raises OSError or Changed."""
    speaking = Event.objects.filter(transcript=transcript, kind__in=SPEAKING, side=False)
    ahead = speaking.filter(seq__gte=cursor.lines, seq__lt=transcript.lines).order_by("seq")
    events = list(ahead.only("seq", "offset", "length", "uuid", "kind", "at")[:EVENTS_PER_BATCH])
    batch = Batch([], transcript.lines, len(events) < EVENTS_PER_BATCH, cursor.last_at or LONG_AGO)
    characters = 0
    for event in events:
        batch.last_at = event.at or batch.last_at
        saying = _saying(event, reader, batch.last_at)
        if saying is not None:
            batch.sayings.append(saying)
            characters += len(saying.text)
        batch.lines = event.seq + 1
        if characters > CHARACTERS_PER_BATCH:
            batch.is_last = False
            break
    if batch.is_last:
        batch.lines = transcript.lines
    return batch


def _saying(event: Event, reader: Reader, at: datetime) -> Saying | None:
    """What a line says; None for an answer without words. A person's picture counts as said, with no words."""
    try:
        line = read_line(reader.line(event.offset, event.length))
    except BadLine as fault:
        raise Changed(str(fault)) from None
    if line is None or not line.uuid or bounded_id(line.uuid) != event.uuid:
        raise Changed(f"line {event.seq + 1} is another one")
    text = writable(spoken(line))
    if event.kind == Kind.ASSISTANT and not text.strip():
        return None
    return Saying(event.seq, event.uuid, at, event.kind, text, search_words(text))


@transaction.atomic
def _store(transcript: Transcript, cursor: WordsCursor, batch: Batch) -> bool:
    """Writes a batch; False if the cursor is no longer where it was, or the file is being read anew."""
    here = WordsCursor.objects.filter(pk=cursor.pk, lines=cursor.lines, turn=cursor.turn)
    if here.update(lines=batch.lines, last_at=batch.last_at) != 1:
        return False
    # The last batch also takes away what an earlier, longer reading left behind.
    replace_utterances(transcript.pk, cursor.lines, None if batch.is_last else batch.lines, batch.sayings)
    return True
