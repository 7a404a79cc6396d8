"""What the client said when it opened the new window for a try (spec W13)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext

from sessions.actions.sentences import sentence
from sessions.models import Run

SHAPES = {"ok": "ok", "failed": "fail", "warning": "warn", "skipped": "skip"}


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """`difference` is what the client would have sent against what was planned, where there was one."""

    shape: str
    word: str
    detail: str
    difference: str


def rehearsal(run: Run) -> Rehearsed | None:
    """None where no try was made or noted."""
    found = run.rehearsal
    if not found:
        return None
    status = str(found.get("status"))
    words = {
        "ok": gettext("the same as planned"),
        "failed": gettext("something else than planned"),
        "warning": gettext("with a reservation"),
        "skipped": gettext("not tried"),
    }
    detail = found.get("detail")
    text = sentence(detail) if isinstance(detail, Mapping) else str(detail or "")
    return Rehearsed(SHAPES.get(status, "skip"), words.get(status, status), text, str(found.get("difference") or ""))
