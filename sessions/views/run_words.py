"""What a run is called: its kind, its state with a shape, its steps and its change of fullness, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext, pgettext

from sessions.core.usage import percent
from sessions.models import Run

Status = Run.Status
# Shape before word before colour, see `.state`.
SHAPES = {
    Status.PLANNED: "todo", Status.QUEUED: "run", Status.RUNNING: "run", Status.DONE: "ok", Status.EXPORTED: "ok",
    Status.FAILED: "fail", Status.STALE: "skip", Status.CANCELLED: "skip", Status.ROLLED_BACK: "skip",
}  # fmt: skip
# Ended as it was meant to.
WELL = frozenset({Status.DONE, Status.EXPORTED})


def kind_name(kind: str) -> str:
    return pgettext("run", "Diet") if kind == Run.Kind.DIET else pgettext("run", "Forge")


def status_name(status: str) -> str:
    names = {
        Status.PLANNED: pgettext("run", "planned"),
        Status.QUEUED: pgettext("run", "about to begin"),
        Status.RUNNING: pgettext("run", "under way"),
        Status.DONE: pgettext("run", "done"),
        Status.EXPORTED: pgettext("run", "exported"),
        Status.FAILED: pgettext("run", "failed"),
        Status.STALE: pgettext("run", "stale"),
        Status.CANCELLED: pgettext("run", "cancelled"),
        Status.ROLLED_BACK: pgettext("run", "rolled back"),
    }
    return names.get(Status(status), status)


def shape_of(run: Run) -> str:
    """The shape of its state; a run that ended well but lost something on the way is a warning."""
    status = Status(run.status)
    return "warn" if status in WELL and has_trouble(run.steps) else SHAPES[status]


def has_trouble(steps: Sequence[Mapping[str, Any]]) -> bool:
    return any(step.get("status") == "warning" for step in steps)


def step_name(name: str) -> str:
    names = {
        "lock": pgettext("step", "Take the window’s lock"),
        "quiet": pgettext("step", "See that nobody is talking"),
        "digest": pgettext("step", "Compare the file with the plan"),
        "hold": pgettext("step", "Put the hand-off into memory"),
        "backup": pgettext("step", "Make a backup"),
        "write": pgettext("step", "Write the new window"),
        "verify": pgettext("step", "Read it back"),
        "rehearse": pgettext("step", "Rehearse with the client"),
        "rebind": pgettext("step", "Move the chat"),
        "metrics": pgettext("step", "Note the figures"),
    }
    return names.get(name, name)


def change(run: Run) -> str:
    """Fullness before and, as an estimate, after: percent of the window."""
    return gettext("%(before)s → ≈ %(after)s%%") % {
        "before": percent(run.used_before, run.window_tokens),
        "after": percent(run.used_after, run.window_tokens),
    }
