"""Carrying a run to its end from the command line: by the worker while one lives, otherwise here (contract, "Commands")."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.actions import health
from sessions.actions.carry_out import carry_out
from sessions.actions.ground import silence
from sessions.models import Run
from sessions.tasks import queue_run
from sessions.views.run_words import step_name

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
    told: set[str] = set()
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


def _tell(run: Run, told: set[str], say: Say) -> None:
    """A step that takes its time, once; how each went stands in the document."""
    for step in run.steps:
        if step.get("status") == "running" and step["name"] not in told:
            told.add(step["name"])
            say(f"… {step_name(step['name'])}")
