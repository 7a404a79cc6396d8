"""Rows in the contract's words: the same fields on the command line and behind every list page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.utils import timezone

from companion.lib.secrets_mask import masked
from sessions.core.events import Kind
from sessions.models import Companion, Event, Window

Document = dict[str, Any]
SESSION_FIELDS = (
    "session_id", "path", "project", "title", "model", "window", "used_tokens", "used_pct", "estimated", "human_messages",
    "events", "bad_lines", "last_activity", "bound_to", "companion",
)  # fmt: skip
ANCHOR_FIELDS = ("idx", "uuid", "timestamp", "local_time", "preview", "queued")


def utc(at: datetime | None) -> str | None:
    """ISO 8601 in UTC, with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at is not None else None


def local(at: datetime | None) -> str | None:
    """Wall-clock time in COMPANION_TZ."""
    return timezone.localtime(at).strftime("%Y-%m-%d %H:%M:%S") if at is not None else None


def session(window: Window) -> Document:
    """A window as `sessions` lists it. Needs `companion` and `transcript` loaded."""
    return {
        "session_id": window.session_id,
        "path": window.transcript.path,
        "project": window.companion.project,
        "title": masked(window.title),
        "model": window.model,
        "window": window.window_tokens,
        "used_tokens": window.used_tokens,
        "used_pct": window.used_percent,
        "estimated": window.is_estimated,
        "human_messages": window.human_messages,
        "events": window.events,
        "bad_lines": window.bad_lines,
        "last_activity": utc(window.last_activity),
        # No bridge yet: nothing is bound.
        "bound_to": None,
        "companion": window.companion.name,
    }


def session_in_full(window: Window) -> Document:
    """A window as `session` shows it."""
    transcript = window.transcript
    return session(window) | {
        "dialogue_events": window.dialogue_events,
        "compacts_at": window.compacts_at,
        "compactions": window.compactions,
        "client_version": window.client_version,
        "cwd": window.cwd,
        "started_at": utc(window.started_at),
        "pinned": window.is_pinned,
        "archived": window.is_archived,
        "missing_since": utc(transcript.missing_since),
        "trouble": transcript.trouble or None,
        "bad_line_samples": transcript.bad_samples,
    }


def anchor(event: Event) -> Document:
    """A person's message as `anchors` lists it."""
    return {
        "idx": event.idx,
        "uuid": event.uuid,
        "timestamp": utc(event.at),
        "local_time": local(event.at),
        "preview": masked(event.preview or ""),
        "queued": event.kind == Kind.QUEUED,
    }


def companion(row: Companion) -> Document:
    """A companion as `companions` lists it; `windows` where they were counted."""
    return {
        "name": row.name,
        "project": row.project,
        "cwd": row.cwd,
        "confirmed": row.confirmed,
        "windows": getattr(row, "window_count", None),
        "last_activity": utc(row.last_activity),
    }
