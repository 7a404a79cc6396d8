"""What fills a window (spec S3, S7): the reported total, and estimated shares by part."""

from __future__ import annotations

from django.db.models import Sum

from sessions.core.pieces import PART_NAMES
from sessions.models import Event, Window


def composition(window: Window) -> dict[str, int]:
    """Tokens by part since the last compaction, scaled by the session's calibration. Where usage was reported, `other`
    takes what the parts do not explain (system prompt, tools), so that the parts sum up to `used_tokens`."""
    boundary = (window.transcript.state or {}).get("boundary", -1)
    live = Event.objects.filter(transcript_id=window.transcript_id, live=True, seq__gt=boundary)
    sums = live.aggregate(**{name: Sum(name) for name in PART_NAMES})
    parts = {name: round((sums[name] or 0) * window.calibration) for name in PART_NAMES}
    return _fitted(parts, window.used_tokens)


def _fitted(parts: dict[str, int], used: int) -> dict[str, int]:
    rest = used - sum(parts.values())
    if rest >= 0:
        return parts | {"other": parts["other"] + rest}
    scale = used / sum(parts.values())
    scaled = {name: int(value * scale) for name, value in parts.items()}
    return scaled | {"other": scaled["other"] + used - sum(scaled.values())}


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
