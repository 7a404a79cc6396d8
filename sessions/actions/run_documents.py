"""Runs and backups in the contract's words: what `diet`, `forge` and `apply` answer, and what stands behind their pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.lib.secrets_mask import masked
from sessions.actions.documents import local, utc
from sessions.actions.sentences import sentence
from sessions.core.usage import percent
from sessions.gateways.bridges.bridge import Rebound
from sessions.models import Backup, Run, Window

Document = dict[str, Any]
# Handed to the worker and begun are one thing to whoever waits.
SHOWN = {Run.Status.QUEUED: Run.Status.RUNNING}
STATUSES = tuple(str(status) for status in Run.Status if status not in SHOWN)


def shown_status(row: Run) -> str:
    """The status as everybody outside reads it."""
    return str(SHOWN.get(Run.Status(row.status), row.status))


def states_of(shown: str) -> list[str]:
    """The states of a row that are shown as `shown`."""
    return [str(status) for status in Run.Status if SHOWN.get(status, status) == shown]


def run(row: Run) -> Document:
    """A run as the contract has it, with what else is known of it. Tokens are estimates; texts are masked."""
    plan = row.plan
    return {
        "run_id": str(row.pk),
        "kind": row.kind,
        "status": shown_status(row),
        "source": {"session_id": row.source_session_id, "path": row.source_path, "sha256": row.source_sha256},
        "target": {"session_id": row.target_session_id, "path": row.target_path, "sha256": row.target_sha256 or None},
        "selection": _selection(row),
        "range_resolve": {"from": _mark(plan.get("start")), "to": _mark(plan.get("end"))},
        "cut": {"from_idx": _cut(plan, 0), "to_idx": _cut(plan, 1)},
        "kept": _kept(plan),
        "dropped": {"events": plan.get("dropped_events", 0), "tokens": plan.get("dropped_tokens", 0)},
        "first_preview": masked(plan.get("first_preview", "")),
        "last_preview": masked(plan.get("last_preview", "")),
        "handoff_chars": len(row.handoff),
        "hold": _hold(row),
        "rehearsal": _rehearsal(row),
        "rebind": _rebind(row),
        "steps": [step(each) for each in row.steps],
        "warnings": [sentence(warning) for warning in row.warnings],
        **_more(row),
    }


def _more(row: Run) -> Document:
    return {
        "warning_codes": [str(warning.get("code", "")) for warning in row.warnings],
        "error": {"code": str(row.error.get("code", "")), "message": sentence(row.error)} if row.error else None,
        "created_at": utc(row.created_at),
        "local_time": local(row.created_at),
        "started_at": utc(row.started_at),
        "finished_at": utc(row.finished_at),
        "used": _used(row),
        "handoff": masked(row.handoff),
        "handoff_origin": row.handoff_origin or None,
        "fattest": row.plan.get("fattest", []),
        "thinking_dropped": row.plan.get("thinking_dropped", 0),
        "export_only": row.is_export_only,
        "backups": [backup(copy) for copy in sorted(row.backups.all(), key=lambda copy: copy.pk)],
        "companion": row.companion.name if row.companion else None,
        "title": masked(row.window.title) if row.window else None,
        "cwd": row.window.cwd if row.window else None,
    }


def _used(row: Run) -> Document:
    return {
        "before": row.used_before,
        "after": row.used_after,
        "window": row.window_tokens,
        "before_pct": percent(row.used_before, row.window_tokens),
        "after_pct": percent(row.used_after, row.window_tokens),
    }


def _selection(row: Run) -> Document:
    """What was asked for, with the figures that the plan took where none were named."""
    asked = row.wish.get("selection") or {}
    mode = asked.get("mode")
    found: Document = {"mode": mode, "squash": row.wish.get("squash")}
    if mode == "tail":
        found |= {"retain": asked.get("retain"), "revive": bool(asked.get("revive"))}
    elif mode == "days":
        found |= {"days": list(asked.get("days", ())), "cap": asked.get("cap")}
    elif mode == "range":
        ends = {"from": _end(asked.get("start")), "to": _end(asked.get("end"))}
        found |= ends | {"cap": asked.get("cap")}
    return found


def _end(end: Mapping[str, Any] | None) -> Document | None:
    return {"by": end["by"], "value": end["text"]} if end else None


def _mark(mark: Mapping[str, Any] | None) -> Document | None:
    return {**mark, "preview": masked(mark.get("preview") or "")} if mark else None


def _cut(plan: Mapping[str, Any], place: int) -> int | None:
    cut = plan.get("cut")
    return cut[place] if cut else None


def _kept(plan: Mapping[str, Any]) -> Document:
    return {
        "events": plan.get("kept_events", 0),
        "tokens": plan.get("kept_tokens", 0),
        "thinking": plan.get("thinking", 0),
        "tool_results_squashed": plan.get("results_squashed", 0),
        "images_squashed": plan.get("images_squashed", 0),
        "turns": plan.get("turns", 0),
    }


def _hold(row: Run) -> Document:
    hold = row.hold
    return {"status": hold.get("status"), "bucket_id": hold.get("bucket_id"), "text": masked(hold.get("text") or "")}


def _rehearsal(row: Run) -> Document:
    return {"status": row.rehearsal.get("status"), "detail": _detail(row.rehearsal.get("detail"))}


def _rebind(row: Run) -> Document:
    rebind = row.rebind
    # Before it was tried nothing is known to be bound.
    return {"status": rebind.get("status") or "none", "before": rebind.get("before"), "after": rebind.get("after")}


def step(row: Mapping[str, Any]) -> Document:
    """One step of a run."""
    return {
        "name": row.get("name"),
        "status": row.get("status"),
        "seconds": row.get("seconds"),
        "detail": _detail(row.get("detail")),
    }


def _detail(detail: Any) -> str:
    """A code with its values as a sentence; a text as it is; nothing as an empty one."""
    if isinstance(detail, Mapping):
        return sentence(detail) if detail else ""
    return masked(str(detail)) if detail else ""


def rebound(window: Window, found: Rebound) -> Document:
    """A session that was bound without a run of its own."""
    return {
        "session_id": window.session_id,
        "path": window.transcript.path,
        "cwd": window.cwd,
        "rebind": {"status": str(found.status), "before": found.before, "after": found.after},
        "detail": _detail(found.detail),
    }


def backup(row: Backup) -> Document:
    """A copy of a transcript as `backups` lists it; `size` in bytes."""
    return {
        "id": row.pk,
        "session_id": row.session_id,
        "source_path": row.source_path,
        "path": row.path,
        "sha256": row.sha256,
        "size": row.size,
        "run_id": str(row.run_id) if row.run_id else None,
        "created_at": utc(row.created_at),
        "local_time": local(row.created_at),
        "verified_at": utc(row.verified_at),
        "trouble": row.trouble or None,
    }
