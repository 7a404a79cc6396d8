"""One run: its plan as a preview, its steps while it works, how it ended; and the buttons for each (spec W6-W8, W10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from companion.lib.htmx import page_or_part, seen_elsewhere, wants_part
from companion.lib.refusals import Refusal
from sessions import tasks
from sessions.actions import runs
from sessions.actions.carry_out import carry_out
from sessions.actions.freshness import freshness
from sessions.actions.ground import silence
from sessions.actions.rebind import MAY, rebind_only
from sessions.actions.rollback import check_may_go_back, rollback
from sessions.models import Run
from sessions.views.figures import figures, took
from sessions.views.outcome import outcome, title
from sessions.views.preview import preview
from sessions.views.rehearsals import rehearsal
from sessions.views.run_lines import lines_of, listed, mark_of
from sessions.views.steps import progress

Status = Run.Status
WORKING = frozenset({Status.QUEUED, Status.RUNNING})
WRITTEN = frozenset({Status.DONE, Status.EXPORTED, Status.ROLLED_BACK})


def run_of(pk: UUID) -> Run:
    return get_object_or_404(listed(Run.objects.all()), pk=pk)


@require_GET
def run(request: HttpRequest, run: UUID) -> HttpResponse:
    return shown(request, run_of(run))


@require_POST
def apply(request: HttpRequest, run: UUID) -> HttpResponse:
    """Carries out just this plan: by the worker where one lives, else here. Twice is once."""
    found = run_of(run)
    if found.status != Status.PLANNED:
        return seen_elsewhere(place(found))
    if against := reason_to_wait(found, request.POST):
        return shown(request, found, against)
    if tasks.queue_run(found):
        return seen_elsewhere(place(found))
    return done(request, found, lambda it: carry_out(it.pk))


def reason_to_wait(found: Run, sent: Mapping[str, Any]) -> Refusal | None:
    """What would only use the plan up: an agreement that is missing, or words that were said just now."""
    if drops_thinking(found) and not sent.get("agreed"):
        return Refusal(
            "not-agreed",
            gettext("Nothing was done: say first that thinking may be left out."),
            gettext("Tick the box beside the button, then apply once more."),
        )
    quiet = silence(found.window, timezone.now()) if found.window else None
    if found.is_forced or quiet is None or quiet >= settings.ENV.idle_seconds:
        return None
    left = {"seconds": int(settings.ENV.idle_seconds - quiet) + 1}
    return Refusal(
        "not-quiet",
        gettext("Nothing was done: something was said just now."),
        gettext("Apply it in %(seconds)d seconds, or change the plan so that it does not wait.") % left,
    )


@require_POST
def cancel(request: HttpRequest, run: UUID) -> HttpResponse:
    return done(request, run_of(run), runs.cancel)


@require_POST
def roll_back(request: HttpRequest, run: UUID) -> HttpResponse:
    return done(request, run_of(run), rollback)


@require_POST
def bind(request: HttpRequest, run: UUID) -> HttpResponse:
    """Moves the chat to a new window that is written already."""
    return done(request, run_of(run), rebind_only)


def done(request: HttpRequest, found: Run, act: Callable[[Run], Run]) -> HttpResponse:
    try:
        act(found)
    except Refusal as refusal:
        return shown(request, run_of(found.pk), refusal)
    return seen_elsewhere(place(found))


def place(found: Run) -> str:
    return reverse("run", args=[found.pk])


def shown(request: HttpRequest, found: Run, refusal: Refusal | None = None) -> HttpResponse:
    """The page, or its one part; nothing where the reader has it already. A refusal stands above it, and nothing draws
    that page anew: its address takes forms only."""
    whole = context(found) | ({"refusal": refusal, "live": []} if refusal is not None else {})
    if wants_part(request) and refusal is None and request.GET.get("seen") == whole["seen"]:
        return HttpResponse(status=204)
    status = 200 if refusal is None else 422
    return page_or_part(request, "sessions/run.html", "sessions/_run.html", whole, status=status)


def context(found: Run) -> dict[str, Any]:
    return {
        "run": found,
        "short": str(found.pk)[:8],
        "title": title(found),
        "figures": figures(found),
        "binding": found.rebind,
        "took": took(found),
        "is_written": found.status in WRITTEN,
        "line": lines_of([found])[0],
        "progress": progress(found),
        "live": [f"run-{found.window_id}"] if found.window_id else [],
        "seen": mark_of(found.status, found.steps, found.cancel_asked, found.rebind, found.error, found.warnings),
        **phase_context(found),
    }


def phase_context(found: Run) -> dict[str, Any]:
    """What is asked for only where the page shows it."""
    if found.status in WORKING:
        return {"phase": "working"}
    plan = preview(found)
    if found.status == Status.PLANNED:
        return {"phase": "planned", "preview": plan, **planned_context(found)}
    ways = {"can_roll_back": can_roll_back(found), "can_bind": can_bind(found)}
    return {"phase": "over", "preview": plan, "outcome": outcome(found), "rehearsal": rehearsal(found), **ways}


def planned_context(found: Run) -> dict[str, Any]:
    quiet = silence(found.window, timezone.now()) if found.window else None
    return {
        "freshness": freshness(found).value,
        "quiet": quiet,
        "idle_seconds": settings.ENV.idle_seconds,
        "is_quiet": quiet is None or quiet >= settings.ENV.idle_seconds,
        "drops_thinking": drops_thinking(found),
    }


def drops_thinking(found: Run) -> bool:
    return bool(found.plan.get("thinking_dropped"))


def can_roll_back(found: Run) -> bool:
    try:
        check_may_go_back(found)
    except Refusal:
        return False
    return True


def can_bind(found: Run) -> bool:
    """Is there a new window that the chat may be in and is not? Where there is no bridge, one that ended well needs none."""
    is_settled = found.rebind.get("status") in {"bound", "none"} and found.status in {Status.DONE, Status.EXPORTED}
    return bool(found.target_sha256) and found.status in MAY and not is_settled
