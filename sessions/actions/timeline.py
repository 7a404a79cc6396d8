"""Pages of a timeline, of any session of any size: rows say where, the file says what (spec S6).

A page costs the same wherever it lies: it is found by line number, read by offset, and bounded in lines and bytes.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.core import timeline
from sessions.core.events import DIALOGUE, Kind, bounded_id
from sessions.core.lines import BadLine, Line, agent_of, read_line
from sessions.core.moments import BadMoment, moment_of
from sessions.core.pieces import PART_NAMES
from sessions.core.timeline import Cut, Entry, Placed
from sessions.gateways import transcripts
from sessions.gateways.transcripts import Reader
from sessions.models import Event, Transcript, Window

log = logging.getLogger(__name__)
PAGE = 80
# Rows looked at beyond a page, so that no result is parted from its call.
MARGIN = 60
# Bytes: of a line that is still read for a page, and of all lines of a page.
LARGE_LINE = 4 * 1024 * 1024
PAGE_BYTES = 24 * 1024 * 1024
MOST_ASIDE = 5_000
SPOKEN = [*DIALOGUE, Kind.SUMMARY, Kind.BOUNDARY]
UUID_PREFIX = re.compile(r"[0-9A-Za-z_-]{4,200}\Z")
IDX = re.compile(r"#?(\d{1,9})\Z")


class Show(StrEnum):
    """What of a session is shown."""

    ALL = "all"
    HUMAN = "human"
    TOOLS = "tools"
    THINKING = "thinking"


@dataclass(frozen=True, slots=True)
class Page:
    """A stretch of a timeline; `first` and `last` are line numbers, None at a page without entries."""

    entries: list[Entry]
    first: int | None
    last: int | None
    has_before: bool
    has_after: bool
    trouble: str = ""


def newest(transcript: Transcript, show: Show = Show.ALL, *, branches: bool = False) -> Page:
    """The end of the file."""
    return before(transcript, None, show, branches=branches)


def before(transcript: Transcript, seq: int | None, show: Show = Show.ALL, *, branches: bool = False) -> Page:
    """What stands before a line number; the end of the file for None."""
    rows = _rows(transcript, show, branches)
    found = list((rows if seq is None else rows.filter(seq__lt=seq)).order_by("-seq")[: PAGE + MARGIN])[::-1]
    start = _whole_start(found, len(found) - PAGE)
    return _page(transcript, found[start:], show, branches)


def after(transcript: Transcript, seq: int, show: Show = Show.ALL, *, branches: bool = False) -> Page:
    """What stands after a line number; from the beginning for -1."""
    found = list(_rows(transcript, show, branches).filter(seq__gt=seq).order_by("seq")[: PAGE + MARGIN])
    return _page(transcript, found[: _whole_end(found, PAGE)], show, branches)


def around(transcript: Transcript, seq: int, show: Show = Show.ALL, *, branches: bool = False) -> Page:
    """A page that begins a little before a line and holds it."""
    rows = _rows(transcript, show, branches)
    lead = list(rows.filter(seq__lt=seq).order_by("-seq")[:MARGIN])[::-1]
    start = _whole_start(lead, len(lead) - PAGE // 4)
    found = lead[start:] + list(rows.filter(seq__gte=seq).order_by("seq")[: PAGE + MARGIN])
    return _page(transcript, found[: _whole_end(found, len(lead) - start + PAGE)], show, branches)


def _rows(transcript: Transcript, show: Show, branches: bool) -> QuerySet[Event]:
    rows = Event.objects.filter(transcript=transcript)
    if transcript.kind != Transcript.Kind.SUBAGENT:
        rows = rows.filter(side=False)
        rows = rows if branches else rows.filter(live=True)
    # What the client notes for itself beside the talk; no reader misses it.
    rows = rows.exclude(kind__in=[Kind.PROGRESS, Kind.ATTACHMENT])
    if show is Show.HUMAN:
        return rows.filter(kind__in=[Kind.HUMAN, Kind.QUEUED, Kind.BOUNDARY])
    if show is Show.TOOLS:
        return rows.filter(Q(tool_use__gt=0) | Q(kind__in=[Kind.TOOL_RESULT, Kind.BOUNDARY]))
    if show is Show.THINKING:
        return rows.filter(Q(thinking__gt=0) | Q(kind=Kind.BOUNDARY))
    return rows


def _hangs_on(row: Event, last: Event) -> bool:
    """Would a cut between the two part one message, or a result from its call?"""
    if row.kind == Kind.TOOL_RESULT:
        return last.kind in {Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.ATTACHMENT, Kind.SYSTEM}
    return row.kind == Kind.ASSISTANT and last.kind == Kind.ASSISTANT and row.message_id == last.message_id


def _whole_start(found: Sequence[Event], start: int) -> int:
    start = max(0, start)
    while 0 < start < len(found) and _hangs_on(found[start], found[start - 1]):
        start -= 1
    return start


def _whole_end(found: Sequence[Event], end: int) -> int:
    while 0 < end < len(found) and _hangs_on(found[end], found[end - 1]):
        end += 1
    return end


def _page(transcript: Transcript, found: list[Event], show: Show, branches: bool) -> Page:
    if not found:
        return Page([], None, None, has_before=False, has_after=False)
    rows = _rows(transcript, show, branches)
    first, last = found[0].seq, found[-1].seq
    entries, trouble = read(transcript, found)
    return Page(
        entries,
        first,
        last,
        has_before=_is_any(rows.filter(seq__lt=first).order_by("-seq")),
        has_after=_is_any(rows.filter(seq__gt=last).order_by("seq")),
        trouble=trouble,
    )


def _is_any(rows: QuerySet[Event]) -> bool:
    """`exists()` drops the order, and without it the database may look through half a million rows for one."""
    return rows.values_list("seq", flat=True).first() is not None


def read(transcript: Transcript, rows: Sequence[Event]) -> tuple[list[Entry], str]:
    """Entries of these rows, and why the file could not be read where it could not: then what the index kept is shown."""
    try:
        with transcripts.opened(Path(transcript.path)) as reader:
            lines, agents = _lines(reader, rows)
    except OSError as fault:
        return [_kept(row) for row in rows if row.preview or row.kind == Kind.BOUNDARY], transcripts.reason_of(fault)
    return timeline.entries(lines, agents), ""


def _lines(reader: Reader, rows: Sequence[Event]) -> tuple[list[tuple[Placed, Line | None]], dict[int, str]]:
    lines: list[tuple[Placed, Line | None]] = []
    agents: dict[int, str] = {}
    left = PAGE_BYTES
    for row in rows:
        line = None
        if row.length <= min(LARGE_LINE, left):
            left -= row.length
            raw = reader.line(row.offset, row.length)
            line = line_of(row, raw)
            if row.kind == Kind.TOOL_RESULT and (agent := agent_of(raw)):
                agents[row.seq] = agent
        lines.append((placed(row), line))
    return lines, agents


def line_of(row: Event, raw: bytes) -> Line | None:
    """The line, if it is still the one that was indexed."""
    try:
        line = read_line(raw)
    except BadLine:
        return None
    return line if line is not None and bounded_id(line.uuid or "") == row.uuid else None


def _kept(row: Event) -> Entry:
    words = [Cut(row.preview)] if row.preview else []
    return Entry(placed(row), last=row.seq, words=words, is_whole=False)


def placed(row: Event) -> Placed:
    tokens = sum(getattr(row, name) for name in PART_NAMES)
    return Placed(row.seq, row.idx, row.uuid, row.kind, row.live, row.side, row.at, row.message_id, tokens, row.length)


def place_of(window: Window, where: str) -> int:
    """The line number of a time, `#idx`, or uuid prefix, as a person types it. Raises Refusal naming what is wrong."""
    where = where.strip()
    if idx := IDX.match(where) if len(where) < 9 or where.startswith("#") else None:
        return _place_of_idx(window, int(idx.group(1)))
    try:
        return _place_of_time(window, where)
    except BadMoment:
        return _place_of_uuid(window, where)


def _place_of_idx(window: Window, idx: int) -> int:
    rows = Event.objects.filter(transcript_id=window.transcript_id)
    anchor = rows.anchors().filter(idx__lte=idx).order_by("-idx").values_list("seq", flat=True).first()
    near = (
        rows.filter(seq__gte=anchor or 0, idx__gte=idx, live=True).order_by("seq").values_list("seq", flat=True).first()
    )
    if near is None:
        raise Refusal(
            "no-such-place",
            _("There is no #%(idx)d here.") % {"idx": idx},
            _("The last one is #%(last)d.") % {"last": max(0, window.dialogue_events - 1)},
        )
    return near


def _place_of_time(window: Window, where: str) -> int:
    at = moment_of(where, zone=settings.ENV.zone, now=timezone.now())
    anchors = Event.objects.filter(transcript_id=window.transcript_id).anchors()
    near = anchors.filter(at__lte=at).order_by("-at", "-idx").values_list("seq", flat=True).first()
    return near if near is not None else 0


def _place_of_uuid(window: Window, where: str) -> int:
    if not UUID_PREFIX.match(where):
        raise Refusal(
            "bad-place",
            _("%(where)s is no time, number or id.") % {"where": where[:40]},
            _("Write 2026-11-25 21:00, 21:00, #1702, or the first characters of an id."),
        )
    rows = Event.objects.filter(transcript_id=window.transcript_id, uuid__gte=where, uuid__lt=where + "\U0010ffff")
    found = list(rows.order_by("uuid").values_list("seq", "uuid")[:2])
    if not found:
        raise Refusal("no-such-place", _("No message here has an id that starts with %(id)s.") % {"id": where})
    if len(found) > 1 and found[0][1] != where:
        names = ", ".join(uuid for _, uuid in found)
        raise Refusal("ambiguous-place", _("More than one id starts so: %(names)s …") % {"names": names})
    return int(found[0][0])


def subagent_of(window: Window, agent: str) -> Transcript | None:
    """The file in which a subagent of this session worked."""
    files = Transcript.objects.filter(kind=Transcript.Kind.SUBAGENT, parent_session_id=window.session_id)
    return files.filter(path__endswith=f"/agent-{agent}.jsonl").first()


def aside(window: Window, start: int, end: int) -> list[Entry]:
    """What older clients wrote of a subagent into the session's own file, between a call and its result."""
    rows = Event.objects.filter(transcript_id=window.transcript_id, side=True, seq__gt=start, seq__lt=end)
    return read(window.transcript, list(rows.order_by("seq")[: PAGE + MARGIN]))[0]


def aside_lines(transcript: Transcript, first: int, last: int) -> list[int]:
    """Where, between two lines, an older client wrote of a subagent; a bounded number of line numbers."""
    rows = Event.objects.filter(transcript=transcript, side=True, seq__gt=first, seq__lt=last)
    return list(rows.order_by("seq").values_list("seq", flat=True)[:MOST_ASIDE])


def newest_seq(transcript_id: int) -> int:
    """The number of the last line that a timeline shows; -1 for none."""
    shown = Event.objects.filter(transcript_id=transcript_id, side=False, kind__in=SPOKEN).order_by("-seq")
    last = shown.values_list("seq", flat=True).first()
    return -1 if last is None else last


def neighbours(window: Window) -> tuple[Window | None, Window | None]:
    """The windows the companion lived in before and after this one, by the time of their first words."""
    others = Window.objects.filter(companion_id=window.companion_id).exclude(pk=window.pk)
    if window.started_at is None:
        return None, None
    earlier = others.filter(started_at__lt=window.started_at).order_by("-started_at", "-pk").first()
    later = others.filter(started_at__gt=window.started_at).order_by("started_at", "pk").first()
    return earlier, later


def fattest(window: Window, limit: int = 50) -> Iterator[Event]:
    """The heaviest lines of the window as it is now, each with its `weight` in estimated tokens."""
    boundary = (window.transcript.state or {}).get("boundary", -1)
    weight = sum((F(name) for name in PART_NAMES[1:]), start=F(PART_NAMES[0]))
    rows = Event.objects.filter(transcript_id=window.transcript_id, live=True, seq__gt=boundary)
    return itertools.islice(rows.annotate(weight=weight).order_by("-weight", "seq").iterator(), limit)
