"""What a plan is made from: a window's dialogue as rows tell it, and what each turn would weigh once squashed (spec W6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.core.events import Kind, text_of
from sessions.core.lines import BadLine, read_line
from sessions.core.turns import Step
from sessions.gateways.transcripts import Reader
from sessions.models import Event, Window

PLACE = ("idx", "seq", "offset", "length", "uuid", "kind")
NOT_WEIGHED = (0, 0, 0, 0, 0)
FIELDS = (
    *PLACE, "at", "preview",
    "dialogue", "thinking", "tool_use", "tool_results", "images", "injected", "other",
)  # fmt: skip


def steps_of(window: Window, *, first: int = 0) -> list[Step]:
    """The dialogue events of the live thread, in order, from idx `first` on."""
    found = _rows(window).filter(idx__gte=first).values_list(*FIELDS)
    return [_step(row, window.calibration) for row in found.iterator(chunk_size=5_000)]


def places_of(window: Window, first: int, last: int) -> list[Step]:
    """Steps from idx `first` to `last` as far as copying needs them: where they stand and what they are, nothing else."""
    found = _rows(window).filter(idx__gte=first, idx__lte=last).values_list(*PLACE)
    return [Step._make([*row, None, None, *NOT_WEIGHED]) for row in found.iterator(chunk_size=5_000)]


def _rows(window: Window) -> QuerySet[Event]:
    return Event.objects.filter(transcript_id=window.transcript_id, idx__isnull=False).order_by("idx")


def _step(row: tuple[Any, ...], calibration: float) -> Step:
    place, parts = row[:8], row[8:]
    weights = [round(part * calibration) for part in parts]
    by_part = dict(zip(FIELDS[8:], weights, strict=True))
    squashable = by_part["tool_results"] + by_part["images"]
    return Step._make([*place, sum(weights), squashable, by_part["thinking"], by_part["tool_use"], by_part["images"]])


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before the turns that stay: where the last compaction cut (idx), its summary, and a hand-off that an
    earlier run injected; empty texts for none."""

    floor: int
    summaries: list[tuple[int, str]]
    handoff: str


def before_of(window: Window, reader: Reader, steps: Sequence[Step]) -> Before:
    """Raises Refusal where a line is no longer what was indexed."""
    live = Event.objects.filter(transcript_id=window.transcript_id, live=True, side=False)
    summaries = [
        (row.seq, text_of_row(row, reader)) for row in live.filter(kind=Kind.SUMMARY).order_by("-seq")[:1]
    ]  # the newest one speaks for those before it
    handoff = live.filter(kind=Kind.HANDOFF).order_by("seq").first()
    return Before(_floor(window, reader, steps), summaries, text_of_row(handoff, reader) if handoff else "")


def _floor(window: Window, reader: Reader, steps: Sequence[Step]) -> int:
    """The first idx that the client still sends: behind the last boundary, or where its preserved segment begins."""
    boundary = (
        Event.objects.filter(transcript_id=window.transcript_id, live=True, side=False, kind=Kind.BOUNDARY)
        .order_by("-seq")
        .first()
    )
    if boundary is None:
        return 0
    floor = next((step.idx for step in steps if step.seq > boundary.seq), len(steps))
    head = _preserved_head(reader.line(boundary.offset, boundary.length))
    return min([floor, *(step.idx for step in steps if head and step.uuid == head)])


def _preserved_head(raw: bytes) -> str:
    try:
        segment = msgspec.json.decode(raw)["compactMetadata"]["preservedSegment"]
        return str(segment["headUuid"])
    except (msgspec.MsgspecError, UnicodeError, RecursionError, KeyError, TypeError):
        return ""


def text_of_row(row: Event, reader: Reader) -> str:
    """The words of one indexed line."""
    try:
        line = read_line(reader.line(row.offset, row.length))
    except BadLine:
        line = None
    if line is None or not line.uuid:
        raise changed()
    return text_of(line)


def changed() -> Refusal:
    return Refusal(
        "changed", _("The file has changed while it was looked at."), _("Wait a moment, then plan once more.")
    )


def silence(window: Window, now: datetime) -> float | None:
    """Seconds since the last word in a window; None where no time is known."""
    return (now.astimezone(UTC) - window.last_activity).total_seconds() if window.last_activity else None
