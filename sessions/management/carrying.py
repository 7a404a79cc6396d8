"""Carrying a run to its end from the command line: by the worker while one lives, otherwise here (contract, "Commands")."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.actions import health, run_documents
from sessions.actions.carry_out import carry_out
from sessions.actions.ground import silence
from sessions.management.run_lines import step_line
from sessions.models import Run
from sessions.tasks import queue_run

# Seconds between two looks, and how long one waits for the worker; the run itself has its own bounds.
LOOK, PATIENCE = 0.3, 1_200.0

Say = Callable[[str], None]


def carry_to_its_end(run: Run, say: Say) -> Run:
    """The run as it ended; one that is over already as it is. Raises Refusal where the worker takes too long."""
    if run.is_over:
        return run
    if run.status == Run.Status.PLANNED:
        _check_quiet(run)
    if run.status == Run.Status.PLANNED and not queue_run(run):
        return carry_out(run.pk)
    return _wait(run, say)


def _check_quiet(run: Run) -> None:
    """What was said just now would only use the plan up."""
    quiet = silence(run.window, timezone.now()) if run.window else None
    if run.is_forced or quiet is None or quiet >= settings.ENV.idle_seconds:
        return
    wait = int(settings.ENV.idle_seconds - quiet) + 1
    raise Refusal(
        "not-quiet",
        _("Nothing was done: something was said %(seconds)d seconds ago.") % {"seconds": max(0, int(quiet))},
        _("`apply %(run)s` in %(wait)d seconds, or plan again with --force.") % {"run": str(run.pk)[:8], "wait": wait},
    )


def _wait(run: Run, say: Say) -> Run:
    told: set[tuple[str, str]] = set()
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        run = Run.objects.select_related("window", "companion").get(pk=run.pk)
        _tell(run, told, say)
        if run.is_over:
            return run
        if not health.is_alive("worker"):
            # Its lock tells whether somebody else still works on it.
            return carry_out(run.pk)
        time.sleep(LOOK)
    raise Refusal(
        "still-running",
        _("The run %(run)s is not over yet.") % {"run": run.pk},
        _("It goes on by itself; `apply %(run)s` waits for it again.") % {"run": str(run.pk)[:8]},
    )


def _tell(run: Run, told: set[tuple[str, str]], say: Say) -> None:
    """Each step once for every state that was seen."""
    for step in run.steps:
        seen = (str(step.get("name")), str(step.get("status")))
        if seen not in told:
            told.add(seen)
            say(step_line(run_documents.step(step)))
