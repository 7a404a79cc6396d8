"""Runs from outside: cancelling one, and finding those whose worker is gone (spec W10, X7)."""

from __future__ import annotations

import os
from contextlib import suppress

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.live import announce
from companion.lib.refusals import Refusal
from sessions.actions.carry_out import carry_out
from sessions.gateways import locks
from sessions.models import Run


def cancel(run: Run) -> Run:
    """A plan, or a run that waits, is over at once; one under way is asked to stop before the new file has its name, and
    one whose worker is gone is ended here.

    Raises Refusal for one that is over. Cancelling twice is cancelling once.
    """
    waiting = (Run.Status.PLANNED, Run.Status.QUEUED)
    if not run.move(*waiting, to=Run.Status.CANCELLED, finished_at=timezone.now(), error={"code": "cancelled"}):
        asked = Run.objects.filter(pk=run.pk, status=Run.Status.RUNNING).update(cancel_asked=True)
        if asked:
            _end_if_left(run)
        run.refresh_from_db()
        if not asked and run.status != Run.Status.CANCELLED:
            raise Refusal(
                "run-over",
                _("This run is over already."),
                _("`rollback %(run)s` goes back to the old window, if it has moved.") % {"run": str(run.pk)[:8]},
            )
    if run.window_id is not None:
        announce("run", run.window_id)
    return run


def _end_if_left(run: Run) -> None:
    """Nobody would hear the wish. Once the new file stands there is nothing to cancel, only something to finish."""
    if not is_worked_on(run) and not os.path.lexists(run.target_path):
        with suppress(Refusal):
            carry_out(run.pk)


def is_worked_on(run: Run) -> bool:
    """Does anybody hold the lock of its session?"""
    return locks.is_held(settings.ENV.data, run.source_session_id)


def heal() -> list[Run]:
    """Runs of this host that are not over and that nobody works on: handed over and never begun, or left by a worker that
    was killed. Whoever carries them out again does no harm."""
    here = Run.objects.unfinished().filter(host=settings.ENV.host_name).order_by("created_at")
    return [run for run in here if not is_worked_on(run)]
