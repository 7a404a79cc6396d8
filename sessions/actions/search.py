"""Find what was said, in every window or in one, in Chinese and English (spec S8, S9)."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from companion.lib.secrets_mask import masked
from sessions.actions.documents import local, utc
from sessions.core.events import Kind
from sessions.core.marks import Snippet, highlight, snippet
from sessions.core.words import LONGEST_QUERY, Query, query_words
from sessions.models import Companion, Window
from sessions.models.finding import MOST_RANKED, Place, Row, Scope, best, count, newest

PAGE = 50
MOST_AT_ONCE = 1_000
WHO = {Kind.HUMAN.value: "human", Kind.QUEUED.value: "queued", Kind.ASSISTANT.value: "companion"}
# Characters around a hit that are read for secrets before the snippet is cut from them.
AROUND = 4_000
BEST, NEWEST = "b", "n"


@dataclass(frozen=True, slots=True)
class Hit:
    """One message that was found. `idx` is its position in the dialogue, None off the live thread."""

    companion: int
    companion_name: str
    window: int
    session_id: str
    transcript: int
    seq: int
    idx: int | None
    uuid: str
    at: datetime | None
    # One letter, see `sessions.core.events.Kind`: h, q or a.
    kind: str
    snippet: Snippet
    # On a branch that a rewind left behind.
    is_branch: bool
    # Not before the companion now: in an earlier window, or on a branch.
    dropped: bool
    # Millionths; 0 where the order is by time.
    rank: int

    @property
    def who(self) -> str:
        return WHO.get(self.kind, self.kind)


@dataclass(frozen=True, slots=True)
class Found:
    """A page of hits. `count` is exact unless `is_capped`; `after` asks for the next page, None on the last."""

    hits: list[Hit]
    count: int = 0
    is_capped: bool = False
    is_by_rank: bool = True
    after: str | None = None

    @property
    def count_shown(self) -> str:
        return f"{MOST_RANKED:,}+" if self.is_capped else str(self.count)


def search(
    text: str,
    *,
    window: Window | None = None,
    companion: Companion | None = None,
    live_only: bool = False,
    limit: int = PAGE,
    after: str | None = None,
) -> Found:
    """Messages that have all the words of `text`, best first; of more than MOST_RANKED the newest first.

    A message copied into later windows is one hit, in the latest of them. Raises Refusal for an `after` of another kind.
    """
    query = query_words(text[:LONGEST_QUERY])
    if not query or (window is None and companion is not None and companion.pk is None):
        return Found([])
    scope = Scope(
        transcript=window.transcript_id if window is not None else None,
        transcripts=_transcripts_of(companion) if companion is not None and window is None else None,
        live_only=live_only,
    )
    limit = max(1, min(limit, MOST_AT_ONCE))
    total = count(query, scope)
    order, place = _read_cursor(after)
    # An order once begun is kept, unless words have become so common meanwhile that it cannot be.
    by_rank = total <= MOST_RANKED if order is None else order == BEST and total <= MOST_RANKED
    if order == BEST and not by_rank:
        place = None
    rows = (best if by_rank else newest)(query, scope, place, limit + 1)
    more = _cursor(rows[limit - 1].place, by_rank=by_rank) if len(rows) > limit else None
    return Found(
        [_hit(row, query) for row in rows[:limit]],
        count=min(total, MOST_RANKED),
        is_capped=total > MOST_RANKED,
        is_by_rank=by_rank,
        after=more,
    )


def _transcripts_of(companion: Companion) -> tuple[int, ...]:
    return tuple(Window.objects.filter(companion=companion).order_by().values_list("transcript_id", flat=True))


def _hit(row: Row, query: Query) -> Hit:
    is_branch = row.live is False
    return Hit(
        companion=row.companion,
        companion_name=row.companion_name,
        window=row.window,
        session_id=row.session_id,
        transcript=row.transcript,
        seq=row.seq,
        idx=row.idx,
        uuid=row.uuid,
        at=row.event_at or row.at,
        kind=row.kind,
        snippet=_snippet(row.text, query),
        is_branch=is_branch,
        dropped=not (row.is_current and row.live),
        rank=row.rank,
    )


def _snippet(text: str, query: Query) -> Snippet:
    """Cut from around the first hit, after secrets were covered: a key cut in two would not be known as one."""
    start, end = 0, len(text)
    if end > 2 * AROUND:
        found = highlight(text, query)
        first = found[0][0] if found else 0
        start, end = max(0, first - AROUND), min(end, first + AROUND)
    part = snippet(masked(text[start:end]), query)
    return Snippet(part.text, part.spans, part.starts_inside or start > 0, part.ends_inside or end < len(text))


def _cursor(place: Place, *, by_rank: bool) -> str:
    parts = [BEST if by_rank else NEWEST, place.rank, place.at.isoformat(), place.transcript, place.seq]
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def _read_cursor(after: str | None) -> tuple[str | None, Place | None]:
    if not after:
        return None, None
    try:
        padded = after[:400].encode("ascii") + b"=="
        order, rank, at, transcript, seq = json.loads(base64.urlsafe_b64decode(padded))
        numbers = [int(number) for number in (rank, transcript, seq)]
        if order not in {BEST, NEWEST} or any(abs(number) >= 2**31 for number in numbers):
            raise ValueError(order)
        return order, Place(numbers[0], datetime.fromisoformat(at), numbers[1], numbers[2])
    except (ValueError, TypeError, binascii.Error, UnicodeError, OverflowError, RecursionError):
        raise Refusal(
            "bad-cursor", _("This is no place to go on from."), _("Search again from the first page.")
        ) from None


def hit_document(hit: Hit) -> dict[str, Any]:
    """A hit as `search` lists it."""
    cut = hit.snippet
    return {
        "session_id": hit.session_id,
        "uuid": hit.uuid,
        "idx": hit.idx,
        "timestamp": utc(hit.at),
        "local_time": local(hit.at),
        "who": hit.who,
        "preview": ("…" if cut.starts_inside else "") + cut.text + ("…" if cut.ends_inside else ""),
        "dropped": hit.dropped,
        "branch": hit.is_branch,
        "companion": hit.companion_name,
    }
