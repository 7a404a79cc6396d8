"""What the pipeline did, counted: one row and one line in `metrics.jsonl` for every start and end of a run (spec O1, W10)."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.utils import timezone

from sessions.actions.documents import utc
from sessions.core.usage import percent
from sessions.gateways import metrics_file
from sessions.models import Metric, Run

log = logging.getLogger(__name__)
EVENTS = {
    Run.Status.DONE: Metric.Event.OK,
    Run.Status.EXPORTED: Metric.Event.OK,
    Run.Status.FAILED: Metric.Event.FAIL,
    Run.Status.STALE: Metric.Event.FAIL,
    Run.Status.CANCELLED: Metric.Event.SKIP,
}


def count_start(run: Run) -> Metric:
    """The row of a run that begins."""
    return _count(run, Metric.Event.TRIGGER)


def count_end(run: Run) -> Metric:
    """The row of a run that is over, by how it ended."""
    return _count(run, EVENTS[Run.Status(run.status)])


def count_skip(run: Run, reason: str) -> Metric:
    """The row of a run that was not begun; `reason` is a code."""
    return _count(run, Metric.Event.SKIP, reason)


def _count(run: Run, event: Metric.Event, reason: str = "") -> Metric:
    return Metric.objects.create(
        event=event,
        kind=run.kind,
        companion_id=run.companion_id,
        run=run,
        session_id=run.source_session_id,
        target_session_id=run.target_session_id,
        used_pct=percent(run.used_before, run.window_tokens),
        used_before=run.used_before,
        used_after=run.used_after,
        retain=_retain(run),
        hold=str(run.hold.get("status") or "")[:20],
        rebind=str(run.rebind.get("status") or "")[:20],
        seconds=_seconds(run),
        status=run.status,
        reason=(reason or str(run.error.get("code") or ""))[:80],
    )


def _retain(run: Run) -> int | None:
    """Tokens of a tail; days and ranges have no such figure."""
    selection = run.wish.get("selection") or {}
    return selection.get("retain") if selection.get("mode") == "tail" else None


def _seconds(run: Run) -> float:
    if run.started_at is None:
        return 0.0
    return round(((run.finished_at or timezone.now()) - run.started_at).total_seconds(), 3)


def write_down(metric: Metric, run: Run) -> bool:
    """The row as a line of the file; False, and a line in the log, where the file cannot be written."""
    try:
        metrics_file.append(settings.ENV.data, line_of(metric, run))
    except OSError as fault:
        log.warning("metrics.jsonl: %s", fault)
        return False
    return True


def line_of(metric: Metric, run: Run) -> dict[str, Any]:
    return {
        "at": utc(metric.at),
        "event": str(metric.event),
        "kind": metric.kind,
        "companion": run.companion.name if run.companion else None,
        "run_id": str(run.pk),
        "session_id": metric.session_id,
        "target_session_id": metric.target_session_id,
        "used_pct": metric.used_pct,
        "used_before": metric.used_before,
        "used_after": metric.used_after,
        "retain": metric.retain,
        "hold": metric.hold or None,
        "rebind": metric.rebind or None,
        "seconds": metric.seconds,
        "status": metric.status,
        "reason": metric.reason or None,
        "error": run.error or None,
    }
