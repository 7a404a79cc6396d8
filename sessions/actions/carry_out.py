"""Carry a planned run out: lock, look, copy, prove, move the chat (spec W6-W13, X7).

The row is the job, and the session's lock says whether anybody works on it. Whoever holds the lock of a run that was
left behind goes on from what stands on the disk: before the new file has its name everything is done anew; afterwards
that file is the one, and no second one is ever written. Whatever fails, the old window stays as it was.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.live import announce
from companion.lib.refusals import Refusal
from sessions.actions import metrics, rows
from sessions.actions.index import index_one
from sessions.actions.run_progress import Coded, Progress, Stop, coded, status_of
from sessions.actions.run_steps import Job, backup, digest, hold, quiet, rebind, rehearse, verify, write
from sessions.gateways import backup_files, locks, new_file, side_files
from sessions.gateways.disk import NotWritten
from sessions.gateways.new_file import Standing
from sessions.gateways.transcripts import Found
from sessions.models import Run, Transcript, Utterance, Window

log = logging.getLogger(__name__)
Status = Run.Status
# A run that costs its worker's life so often is given up.
MOST_TRIES = 5
OURS = frozenset({Standing.AS_WRITTEN, Standing.GROWN})
BEFORE_THE_FILE = (quiet, digest, hold, backup, write, verify)


def carry_out(run_id: UUID | str) -> Run:
    """Does the whole run in this process and answers it as it ended; a second call changes nothing.

    Raises Refusal, with the run as it was: there is none, it is another host's, or its session is being worked on.
    """
    run = _run(run_id)
    if run.is_over:
        return run
    if run.host != settings.ENV.host_name:
        raise Refusal("other-host", _("This run belongs to the host %(host)s.") % {"host": run.host})
    try:
        with locks.held(settings.ENV.data, run.source_session_id):
            # What was read before the lock may be over by now.
            run = _run(run_id)
            job = Job(run, Progress(run))
            if _claim(job):
                _work(job)
    except locks.Held:
        raise Refusal(
            "session-busy",
            _("Another run is working on this session."),
            _("Wait until it is over; `runs` shows it."),
        ) from None
    except NotWritten as fault:
        raise Refusal(
            "data-folder",
            _("The data folder cannot be written: %(path)s (%(reason)s).")
            % {"path": fault.path, "reason": fault.reason},
            _("Check who owns it and whether the disk is full."),
        ) from fault
    return _run(run_id)


def _run(run_id: UUID | str) -> Run:
    run = Run.objects.select_related("window", "companion", "window__transcript").filter(pk=run_id).first()
    if run is None:
        raise Refusal("unknown-run", _("There is no run %(id)s.") % {"id": run_id}, _("`runs` lists what there is."))
    return run


def _claim(job: Job) -> bool:
    """Makes the run ours; one that was left running is taken up again. False for one that is over or cancelled."""
    run = job.run
    if run.status == Status.RUNNING:
        _take_up(job)
        return True
    with transaction.atomic():
        if not run.move(Status.PLANNED, Status.QUEUED, to=Status.RUNNING, started_at=timezone.now(), steps=[]):
            return False
        metric = metrics.count_start(run)
    metrics.write_down(metric, run)
    job.progress.put("lock", "ok", detail={"code": "claimed"})
    return True


def _take_up(job: Job) -> None:
    run = job.run
    tries = next((step["detail"].get("times", 1) for step in run.steps if step["name"] == "lock"), 0) + 1
    is_there = job.standing in OURS
    run.steps = [step for step in run.steps if is_there and step["status"] != "running"]
    job.progress.put("lock", "ok", detail={"code": "taken-up", "times": tries})


def _work(job: Job) -> None:
    """The story and its end. A database that is away is no end: the row stays as it is, for whoever comes later."""
    try:
        status, error = _story(job), Coded()
    except (OperationalError, InterfaceError):
        raise
    except BaseException as fault:
        status, error = status_of(fault), coded(fault)
        if error["code"] == "unexpected":
            log.exception("run %s", job.run.pk)
        _tidy(job)
        _end(job, status, error)
        if not isinstance(fault, Exception):
            raise
    else:
        _show(job)
        _end(job, status, error)


def _story(job: Job) -> Status:
    _check_tries(job)
    if job.standing in OURS:
        _note_found(job)
    else:
        for step in BEFORE_THE_FILE:
            job.progress.heed_cancel()
            step(job)
    rehearse(job)
    return rebind(job)


def _check_tries(job: Job) -> None:
    tries = job.run.steps[0]["detail"].get("times", 1)
    if tries > MOST_TRIES:
        raise Stop(Status.FAILED, "worker-lost", times=tries - 1)


def _note_found(job: Job) -> None:
    """The file of this run, written before its worker was killed."""
    job.file.discard()
    done = {step["name"] for step in job.run.steps}
    for name in ("write", "verify"):
        if name not in done:
            job.progress.put(name, "ok", detail={"code": "found-written", "bytes": job.run.target_size})


def _tidy(job: Job) -> None:
    """Leaves nothing of a run that failed but what somebody may need. Never raises: the end has to be written."""
    with suppress(NotWritten):
        job.file.discard()
    backup_files.discard(backup_files.folder_of(settings.ENV.data, job.run.source_session_id))
    try:
        is_there = not _put_away(job)
    except NotWritten as fault:
        is_there = True
        job.progress.warn("not-set-aside", path=str(job.target), reason=fault.reason)
    if not is_there:
        side_files.remove(job.target.parent, job.run.target_session_id, job.sides)


def _put_away(job: Job) -> bool:
    """Is nothing of this run left under the new name? A file of ours that nobody talks in is set aside."""
    standing = job.standing
    if standing is Standing.ABSENT:
        # Nothing was ever to be found under the name it would have had.
        if job.run.target_sha256 and not _is_aside(job):
            job.progress.save(target_sha256="", target_size=0)
        return True
    if standing is not Standing.AS_WRITTEN or job.keeps_file:
        if standing is not Standing.OTHER:
            job.progress.warn("left-in-place", path=str(job.target))
        return False
    aside = new_file.set_aside(job.target, settings.ENV.data, job.file.tag)
    job.progress.warn("set-aside", path=str(aside))
    forget_window(job.run)
    return True


def _is_aside(job: Job) -> bool:
    return any(warning.get("code") == "set-aside" for warning in job.run.warnings)


def forget_window(run: Run) -> None:
    """Whoever looked into the folder meanwhile may have indexed a window that is none."""
    here = Transcript.objects.filter(host=settings.ENV.host_name)
    known = list(here.filter(Q(path=run.target_path) | Q(parent_session_id=run.target_session_id)))
    with transaction.atomic():
        windows = dict(Window.objects.filter(transcript__in=known).values_list("pk", "companion_id"))
        Utterance.objects.filter(transcript__in=known).delete()
        Window.objects.filter(pk__in=windows).delete()
        for transcript in known:
            rows.drop(transcript.path)
    announce("window", *windows)
    announce("companion", *set(windows.values()))


def _show(job: Job) -> None:
    """The new window comes into the list; if it cannot, the next sweep brings it."""
    root = Path(job.run.window.transcript.root) if job.run.window else job.target.parent.parent
    found = Found(root, job.target, job.target.parent.name, job.run.target_session_id, is_subagent=False)
    try:
        index_one(found)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("%s waits for the sweep", job.target)


def _end(job: Job, status: Status, error: Coded) -> None:
    """The last step: status, figures and the row of the metrics at once, then the line of the file."""
    run, progress = job.run, job.progress
    if status in {Status.DONE, Status.EXPORTED} and Run.objects.filter(pk=run.pk, cancel_asked=True).exists():
        progress.warn("cancel-too-late")
    progress.put("metrics", "running")
    with transaction.atomic():
        progress.put("metrics", "ok")
        if not run.move(Status.RUNNING, to=status, error=error, finished_at=timezone.now()):
            return
        metric = metrics.count_end(run)
    if not metrics.write_down(metric, run):
        progress.put("metrics", "warning", detail={"code": "metrics-not-written"})
    if run.window_id is not None:
        announce("run", run.window_id)
