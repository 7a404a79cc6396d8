"""Rebind only: the new window is written, and the chat did not get there, or was taken back (spec W8)."""

from __future__ import annotations

import time
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.live import announce
from companion.lib.refusals import Refusal
from sessions.actions import metrics
from sessions.actions.carry_out import forget_window
from sessions.actions.rollback import alone, bridge_failed, not_written, said_since, show, write_whole
from sessions.actions.run_progress import Coded, Progress, Stop
from sessions.actions.run_steps import OLDER_NS, Job
from sessions.actions.run_steps import rebind as move_chat
from sessions.actions.run_steps import rehearse as rehearse_target
from sessions.actions.sentences import sentence
from sessions.core.invariants import Checker
from sessions.gateways import disk, new_file, side_files, transcripts
from sessions.gateways.bridges import bridge_for
from sessions.gateways.bridges.bridge import Rebinding, Rebound
from sessions.gateways.disk import NotWritten, Sum
from sessions.gateways.new_file import Standing
from sessions.models import Run, Window

Status = Run.Status
MAY = (Status.DONE, Status.EXPORTED, Status.FAILED, Status.ROLLED_BACK)


def rebind_only(run: Run) -> Run:
    """The run with its chat in the new window; where there is no bridge, the new window in its place and nothing bound.

    Raises Refusal with the binding as it was: nothing is written, words were said in the old window since, the new file is
    gone or another one, the client would not take it, the bridge does not follow.
    """
    with alone(run) as run:
        job = Job(run, Progress(run))
        _check_may_move(job)
        if _is_there(run):
            return run
        _check_nothing_said(run)
        was_aside = _put_target_back(job)
        try:
            _check_whole(job)
            rehearse_target(job)
            # What was written only is bound now because somebody asked for it.
            run.is_export_only = False
            move_chat(job)
        except Stop as stop:
            if was_aside and not job.keeps_file:
                _set_aside_again(job)
            raise Refusal(
                str(stop.coded["code"]), sentence(stop.coded), _("The old window is bound as before.")
            ) from None
        except OSError as fault:
            raise bridge_failed(fault) from fault
        show(run, job.target)
        _end(run, job.progress)
    return run


def rebind_window(window: Window) -> Run | Rebound:
    """The chat of a window's companion into this window: by the run that wrote it, where one did. Raises Refusal."""
    run = Run.objects.filter(target_session_id=window.session_id).exclude(target_sha256="").latest_first().first()
    if run is not None and run.status in MAY:
        return rebind_only(run)
    if not Path(window.transcript.path).is_file():
        raise Refusal("file-gone", _("The transcript %(path)s is no longer there.") % {"path": window.transcript.path})
    bridge = bridge_for(window.companion)
    bound = bridge.binding()
    try:
        return bridge.rebind(bound.session_id if bound else "", window.session_id, digest_holds=lambda: True)
    except OSError as fault:
        raise bridge_failed(fault) from fault


def _is_there(run: Run) -> bool:
    """Does the chat go into the new window already?"""
    bound = bridge_for(run.companion).binding()
    return run.status == Status.DONE and bound is not None and bound.session_id == run.target_session_id


def _check_may_move(job: Job) -> None:
    run = job.run
    if run.status not in MAY:
        raise Refusal(
            "nothing-written",
            _("This run has written no new session to go into."),
            _("Only one that failed late, was exported or was rolled back can be bound."),
        )
    if not run.target_sha256:
        raise Refusal("nothing-written", _("This run has written no new session to go into."), _("Plan once more."))


def _check_nothing_said(run: Run) -> None:
    """Words that were said in the old window since are not in the new one, and must not be left behind unseen."""
    path = Path(run.source_path)
    standing = new_file.standing(path, Sum(run.source_sha256, run.source_size))
    if standing in {Standing.AS_WRITTEN, Standing.ABSENT}:
        return
    lines = said_since(path, run.source_size) if standing is Standing.GROWN else 0
    if standing is Standing.OTHER or lines:
        raise Refusal(
            "said-since-plan",
            _("The old window has changed since: %(lines)d lines were said in it that the new one does not have.")
            % {"lines": lines},
            _("Plan once more."),
        )


def _put_target_back(job: Job) -> bool:
    """The new file in its place; True where it had been set aside."""
    if job.standing is Standing.OTHER:
        raise Refusal(
            "target-taken", sentence({"code": "target-taken", "path": str(job.target)}), _("Nothing was changed.")
        )
    if job.standing is not Standing.ABSENT:
        return False
    wanted = Sum(job.run.target_sha256, job.run.target_size)
    aside = _aside(job, wanted)
    if aside is None:
        raise Refusal(
            "new-session-gone",
            _("The new session is gone: %(path)s") % {"path": job.target},
            _("Plan once more; the old window has everything."),
        )
    try:
        write_whole(job.target, disk.chunks_of(aside), wanted, tag=job.file.tag, modified_ns=_older(job))
        side_files.carry(job.target.parent, job.run.source_session_id, job.run.target_session_id, job.sides)
        aside.unlink(missing_ok=True)
    except (NotWritten, OSError) as fault:
        raise not_written(fault, job.target) from fault
    job.progress.warn("put-back", path=str(job.target))
    return True


def _older(job: Job) -> int:
    """A time of change behind the old window's: until the chat has moved, `claude -c` takes that one."""
    try:
        return transcripts.identity(job.source).modified_ns - OLDER_NS
    except OSError:
        return time.time_ns()


def _aside(job: Job, wanted: Sum) -> Path | None:
    """The new file as it was written, among those that were set aside."""
    name = f"{job.target.stem}-{job.file.tag}.jsonl"
    asides = [path for path in new_file.aside_files(settings.ENV.data) if path.name == name]
    return next((path for path in asides if new_file.standing(path, wanted) is Standing.AS_WRITTEN), None)


def _set_aside_again(job: Job) -> None:
    try:
        aside = new_file.set_aside(job.target, settings.ENV.data, job.file.tag)
    except NotWritten as fault:
        job.progress.warn("not-set-aside", path=str(job.target), reason=fault.reason)
        return
    forget_window(job.run)
    job.progress.warn("set-aside", path=str(aside))


def _check_whole(job: Job) -> None:
    """Raises Stop where the new file is not as it has to be. One in which somebody spoke has proved itself."""
    if job.standing is Standing.GROWN:
        return
    checker = Checker(job.run.target_session_id)
    with open(job.target, "rb") as stream:
        faults = checker.faults(stream)
    if faults:
        raise Stop(Status.FAILED, "not-whole", count=len(faults), faults=faults[:5])


def _end(run: Run, progress: Progress) -> None:
    """Done, also for a run that had failed or was rolled back; one that was only written and is bound nowhere stays so."""
    is_bound = run.rebind.get("status") != Rebinding.NONE
    ended = Status.EXPORTED if run.status == Status.EXPORTED and not is_bound else Status.DONE
    values: Coded = {"error": {}, "finished_at": timezone.now()}
    with transaction.atomic():
        run.move(*MAY, to=ended, is_export_only=ended == Status.EXPORTED, **values)
        metric = metrics.count_end(run)
    metrics.write_down(metric, run)
    if run.window_id is not None:
        announce("run", run.window_id)
