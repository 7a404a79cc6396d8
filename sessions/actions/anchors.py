"""Anchors of a window: what a person said, with the idx that surgery uses too (spec S5)."""

from __future__ import annotations

from sessions.models import Event, Window


def newest_anchors(window: Window, *, limit: int | None = None, query: str = "") -> list[Event]:
    """The newest `limit` human messages (all if None) that contain `query`, oldest first."""
    found = Event.objects.filter(transcript_id=window.transcript_id).anchors().order_by("-idx")
    found = found.filter(preview__icontains=query) if query else found
    return list(found[:limit])[::-1]
