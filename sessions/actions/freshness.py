"""Is a plan still about the file as it is? A cheap look before anybody relies on it; carrying out compares every byte."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path

from django.conf import settings

from sessions.gateways import transcripts
from sessions.models import Run


class Freshness(StrEnum):
    """How the file of a plan stands: as it was, longer, otherwise changed, or not to be had."""

    FRESH = "fresh"
    GROWN = "grown"
    CHANGED = "changed"
    GONE = "gone"


def freshness(run: Run) -> Freshness:
    """By size and time of change alone. A run of another host cannot be looked at from here and counts as fresh."""
    if run.host != settings.ENV.host_name:
        return Freshness.FRESH
    try:
        seen = transcripts.identity(Path(run.source_path))
    except (OSError, ValueError):
        return Freshness.GONE
    if seen.size != run.source_size:
        return Freshness.GROWN if seen.size > run.source_size else Freshness.CHANGED
    return Freshness.CHANGED if _is_later(seen.modified_ns, run.created_at) else Freshness.FRESH


def _is_later(modified_ns: int, at: datetime) -> bool:
    return modified_ns > int(at.timestamp() * 1_000_000_000)
