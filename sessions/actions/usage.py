"""What fills a window (spec S3, S7): the reported total, and estimated shares by part."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db.models import QuerySet, Sum

from sessions.core.events import Kind
from sessions.core.pieces import PART_NAMES
from sessions.core.series import Reading, thinned
from sessions.models import Event, UsagePoint, Window

_FIELDS = ("seq", "at", "input", "cache_creation", "cache_read")


def composition(window: Window) -> dict[str, int]:
    """Tokens by part since the last compaction, scaled by the session's calibration. Where usage was reported, `other`
    takes what the parts do not explain (system prompt, tools), so that the parts sum up to `used_tokens`."""
    return weighed(window)[0]


def weighed(window: Window) -> tuple[dict[str, int], float]:
    """The composition, and by how much an event's own estimate is multiplied to be a share of it."""
    boundary = (window.transcript.state or {}).get("boundary", -1)
    live = Event.objects.filter(transcript_id=window.transcript_id, live=True, seq__gt=boundary)
    sums = live.aggregate(**{name: Sum(name) for name in PART_NAMES})
    parts = {name: round((sums[name] or 0) * window.calibration) for name in PART_NAMES}
    fitted, scale = _fitted(parts, window.used_tokens)
    return fitted, window.calibration * scale


def _fitted(parts: dict[str, int], used: int) -> tuple[dict[str, int], float]:
    rest = used - sum(parts.values())
    if rest >= 0:
        return parts | {"other": parts["other"] + rest}, 1.0
    scale = used / sum(parts.values())
    scaled = {name: int(value * scale) for name, value in parts.items()}
    return scaled | {"other": scaled["other"] + used - sum(scaled.values())}, scale


def series(window: Window) -> list[Reading]:
    """What each message of the live thread reported, in file order, thinned for a chart."""
    return thinned(list(readings(window)))


def readings(window: Window) -> Iterator[Reading]:
    """What each message of the live thread reported, in file order."""
    points = _points(window).order_by("seq").values_list(*_FIELDS)
    return (_reading(number, row) for number, row in enumerate(points.iterator(chunk_size=2_000), 1))


def latest_readings(window: Window, *, before: int | None = None, limit: int) -> list[Reading]:
    """The newest ones, newest first; of those before a line where one is given."""
    points = _points(window) if before is None else _points(window).filter(seq__lt=before)
    number = points.count()
    rows = points.order_by("-seq").values_list(*_FIELDS)[:limit]
    return [_reading(number - place, row) for place, row in enumerate(rows)]


def _points(window: Window) -> QuerySet[UsagePoint]:
    return UsagePoint.objects.filter(transcript_id=window.transcript_id, is_live=True)


def _reading(number: int, row: tuple[int, datetime | None, int, int, int]) -> Reading:
    seq, at, fresh, made, read = row
    return Reading(seq, at, fresh + made + read, made, read, number)


def compactions(window: Window) -> list[int]:
    """Line numbers at which the client compacted the window."""
    rows = Event.objects.filter(transcript_id=window.transcript_id, live=True, kind=Kind.BOUNDARY)
    return list(rows.order_by("seq").values_list("seq", flat=True))


def document(window: Window) -> dict[str, object]:
    """The contract's `usage`."""
    return {
        "session_id": window.session_id,
        "used_tokens": window.used_tokens,
        "window": window.window_tokens,
        "used_pct": window.used_percent,
        "estimated": window.is_estimated,
        "compacts_at": window.compacts_at,
        "composition": composition(window),
        "composition_estimated": True,
    }
