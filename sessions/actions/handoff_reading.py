"""What was said on chosen days, read from the file for a hand-off: the person's messages and the companion's answers on
the live thread, nothing that a machine delivered (spec H3, D4, T1).

A turn belongs to the day of its person's message (contract, "Small print"). What is read is bounded: the newest first.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from companion.lib.secrets_mask import masked
from sessions.actions.timeline import line_of
from sessions.core.events import Kind
from sessions.core.handoff_fields import Said
from sessions.core.sentences import LONGEST_READ, own_words
from sessions.core.spoken import spoken
from sessions.core.words import writable
from sessions.gateways import transcripts
from sessions.gateways.transcripts import Reader
from sessions.models import Event, Window

# Of one draft: messages, bytes of their lines, and bytes of a line that is still read whole (a picture makes it long).
MOST_MESSAGES = 2_000
MOST_BYTES = 4 * 1024 * 1024
LARGEST_LINE = 512 * 1024
NAMED_DAYS = 4


class Turn(NamedTuple):
    """Where a turn begins in the thread and in the file, and its day; None where no line near it has a time."""

    idx: int
    seq: int
    day: date | None


@dataclass(frozen=True, slots=True)
class Heard:
    """The messages in order, the days they are of, and whether older ones of these days were left out."""

    said: list[Said]
    days: list[date]
    is_bounded: bool = False


def heard(window: Window, days: Sequence[date], until_idx: int | None) -> Heard:
    """What was said on these days; on the last two that follow each other where none are given. Raises Refusal."""
    turns = _turns(window, until_idx)
    chosen = _chosen(turns, days)
    wanted = [turn for turn in turns if turn.day in chosen] if chosen else turns
    if not wanted:
        return Heard([], [])
    said, is_bounded = _read(window, turns, {turn.idx for turn in wanted}, until_idx)
    return Heard(said, sorted(chosen), is_bounded)


def _turns(window: Window, until_idx: int | None) -> list[Turn]:
    rows = Event.objects.filter(transcript_id=window.transcript_id).anchors().filter(kind=Kind.HUMAN)
    rows = rows if until_idx is None else rows.filter(idx__lte=until_idx)
    found = list(rows.order_by("idx").values_list("idx", "seq", "at"))
    days = _days(at for _idx, _seq, at in found)
    return [Turn(idx or 0, seq, day) for (idx, seq, _at), day in zip(found, days, strict=True)]


def _days(ats: Iterable[datetime | None]) -> list[date | None]:
    """The day of each message in the operator's zone; one without a time has the day of the one before, or of the next."""
    days = [at.astimezone(settings.ENV.zone).date() if at is not None else None for at in ats]
    last = next((day for day in days if day is not None), None)
    for place, day in enumerate(days):
        last = days[place] = day or last
    return days


def _chosen(turns: Sequence[Turn], days: Sequence[date]) -> set[date]:
    known = {turn.day for turn in turns if turn.day is not None}
    if days:
        missing = sorted(set(days) - known)
        if missing:
            raise _no_such_day(missing, sorted(known))
        return set(days)
    last = max(known, default=None)
    return {last, last - timedelta(days=1)} & known if last is not None else set()


def _no_such_day(missing: list[date], known: list[date]) -> Refusal:
    near = sorted(sorted(known, key=lambda day: min(abs(day - wanted) for wanted in missing))[:NAMED_DAYS])
    return Refusal(
        "no-such-day",
        _("The person said nothing here on %(days)s.") % {"days": ", ".join(map(str, missing[:NAMED_DAYS]))},
        _("The nearest days with words: %(days)s.") % {"days": ", ".join(map(str, near)) or "-"},
    )


def _read(window: Window, turns: Sequence[Turn], wanted: set[int], until_idx: int | None) -> tuple[list[Said], bool]:
    """(messages oldest first, was there more than may be read) of the turns that begin at these numbers."""
    said: list[Said] = []
    left = MOST_BYTES
    try:
        with transcripts.opened(Path(window.transcript.path)) as reader:
            for row in _rows(window, turns, wanted, until_idx):
                left -= row.length if row.length <= LARGEST_LINE else 0
                if left < 0 or len(said) == MOST_MESSAGES:
                    return said[::-1], True
                if (one := _said(row, reader)) is not None:
                    said.append(one)
    except OSError as fault:
        reason = transcripts.reason_of(fault)
        raise Refusal(
            "unreadable",
            _("%(path)s cannot be read: %(reason)s.") % {"path": window.transcript.path, "reason": reason},
            _("Check who owns the file and its mode."),
        ) from None
    return said[::-1], False


def _rows(window: Window, turns: Sequence[Turn], wanted: set[int], until_idx: int | None) -> Iterator[Event]:
    """The newest first. Line numbers bound what the database looks at; the numbers in the thread say whose turn it is."""
    starts = [turn.idx for turn in turns]
    seqs = [turn.seq for turn in turns if turn.idx in wanted]
    behind = next((turn.seq for turn in turns if turn.idx > max(wanted)), None)
    rows = Event.objects.filter(
        Q(kind__in=[Kind.HUMAN, Kind.QUEUED]) | Q(kind=Kind.ASSISTANT, preview__isnull=False),
        transcript_id=window.transcript_id, live=True, side=False, idx__isnull=False, seq__gte=min(seqs),
    )  # fmt: skip
    rows = rows if behind is None else rows.filter(seq__lt=behind)
    rows = rows if until_idx is None else rows.filter(idx__lte=until_idx)
    for row in rows.order_by("-seq").iterator(chunk_size=500):
        turn = bisect.bisect_right(starts, row.idx or 0) - 1
        if turn >= 0 and starts[turn] in wanted:
            yield row


def _said(row: Event, reader: Reader) -> Said | None:
    """A message with its secrets covered; None for one without words. Raises Refusal where the line is another one."""
    text = row.preview or ""
    if row.length <= LARGEST_LINE:
        line = line_of(row, reader.line(row.offset, row.length))
        if line is None:
            raise Refusal("changed", _("The file has changed; it is being read again."), _("Try again in a moment."))
        text = spoken(line)
    text = masked(own_words(writable(text, LONGEST_READ * 2))).strip()
    if not text:
        return None
    at = row.at.astimezone(settings.ENV.zone) if row.at is not None else None
    return Said(row.idx or 0, row.uuid, at, "companion" if row.kind == Kind.ASSISTANT else "human", text)
