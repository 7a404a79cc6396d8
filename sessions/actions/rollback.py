"""Back to the old window, at any later time (spec W8): the chat first, then the new file out of the way.

Whatever fails leaves the chat where it goes now, with its transcript in place. Done twice by halves it comes to the same end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from companion.lib.live import announce
from companion.lib.refusals import Refusal
from sessions.actions import backups, metrics
from sessions.actions.carry_out import forget_window
from sessions.actions.find_runs import named
from sessions.actions.index import index_one
from sessions.actions.propose import check_place
from sessions.actions.run_progress import Coded
from sessions.actions.sentences import sentence
from sessions.core.events import ANCHORS, Kind, kind_of
from sessions.core.lines import BadLine, read_line
from sessions.gateways import disk, locks, new_file, transcripts
from sessions.gateways.bridges import bridge_for
from sessions.gateways.bridges.bridge import Rebinding, Rebound
from sessions.gateways.disk import NotWritten, Sum
from sessions.gateways.new_file import NewFile, Standing
from sessions.gateways.transcripts import Found
from sessions.models import Backup, Run

Status = Run.Status
# A run that ended otherwise can only be gone back on if it moved the chat.
MOVED = frozenset({Rebinding.BOUND, Rebinding.UNPROVEN})
SPOKEN = ANCHORS | {Kind.ASSISTANT}


def rollback(run: Run) -> Run:
    """The run, rolled back: the chat goes into the old window, the new file is set aside unless somebody spoke in it.

    Raises Refusal with the chat as it was: nothing to go back on, done already, a later run in the way, no transcript
    and no whole backup of it, a bridge that does not follow.
    """
    with alone(run) as run:
        check_may_go_back(run)
        notes = put_source_back(run)
        rebound = _bound_back(run)
        notes += _clear_target(run)
        _note(run, rebound, notes)
    return run


@contextmanager
def alone(run: Run) -> Iterator[Run]:
    """The run as it is now, with nobody else at work on its session. Raises Refusal."""
    if run.host != settings.ENV.host_name:
        raise Refusal("other-host", _("This run belongs to the host %(host)s.") % {"host": run.host})
    try:
        with locks.held(settings.ENV.data, run.source_session_id):
            yield Run.objects.select_related("window", "companion", "window__transcript").get(pk=run.pk)
    except locks.Held:
        raise Refusal(
            "session-busy",
            _("Another run is working on this session."),
            _("Wait until it is over; `runs` shows it."),
        ) from None


def check_may_go_back(run: Run) -> None:
    """Raises Refusal where there is nothing to go back on, or something in the way."""
    short = {"run": str(run.pk)[:8]}
    if run.status == Status.PLANNED:
        raise Refusal(
            "not-carried-out",
            _("This run is only a plan; nothing was changed."),
            _("`cancel %(run)s` drops it.") % short,
        )
    if run.status in {Status.QUEUED, Status.RUNNING}:
        raise Refusal("run-under-way", _("This run is still under way."), _("`cancel %(run)s` stops it.") % short)
    if run.status == Status.ROLLED_BACK:
        raise Refusal(
            "already-rolled-back",
            _("This run was rolled back already."),
            _("`rebind %(run)s` goes to the new window again.") % short,
        )
    if run.status != Status.DONE and run.rebind.get("status") not in MOVED:
        raise Refusal(
            "never-moved",
            _("This run moved nothing: the old window was in use all the time."),
            _("There is nothing to go back on."),
        )
    _check_last(run)


def _check_last(run: Run) -> None:
    """A later run that goes on from the new window has to be gone back on first."""
    ended = [Status.DONE, Status.QUEUED, Status.RUNNING]
    later = Run.objects.filter(source_session_id=run.target_session_id, status__in=ended, is_export_only=False).first()
    if later is not None:
        raise Refusal(
            "later-run",
            _("A later run went on from this new window: %(name)s.") % {"name": named(later)},
            _("Roll that one back first."),
        )


def put_source_back(run: Run) -> list[Coded]:
    """The old transcript from its backup, where it is gone; never over another file. Raises Refusal."""
    path = Path(run.source_path)
    if os.path.lexists(path):
        return []
    check_place(path)
    copy = _whole_copy(run)
    if copy is None:
        raise Refusal(
            "no-backup",
            _("The old transcript is gone, and there is no whole backup of it: %(path)s") % {"path": path},
            _("`backups --verify` shows what there is."),
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = Sum(copy.sha256, copy.size)
        tag = f"back-{str(run.pk)[:8]}"
        write_whole(path, disk.chunks_of(Path(copy.path)), content, tag=tag, modified_ns=time.time_ns())
    except (NotWritten, OSError) as fault:
        raise not_written(fault, path) from fault
    show(run, path)
    return [{"code": "source-restored", "path": str(path)}]


def _whole_copy(run: Run) -> Backup | None:
    """The newest copy that holds all that was planned on, perhaps more, read through just now."""
    planned = Sum(run.source_sha256, run.source_size)
    held = {Standing.AS_WRITTEN, Standing.GROWN}
    copies = Backup.objects.filter(session_id=run.source_session_id).order_by("-created_at", "-pk")
    return next(
        (copy for copy in copies if new_file.standing(Path(copy.path), planned) in held and backups.verify(copy)), None
    )


def write_whole(path: Path, chunks: Iterable[bytes], expected: Sum, *, tag: str, modified_ns: int) -> None:
    """A file that was kept elsewhere, back in its place: written beside it, read back, then named; `modified_ns` will be
    its time of change. Raises NotWritten."""
    file = NewFile(path, tag)
    file.write(chunks, owner=path.parent.stat())
    __, found = file.read_back(lambda lines: sum(1 for _line in lines))
    if found != expected:
        file.discard()
        raise NotWritten("disk-error", path)
    file.publish(modified_ns)


def not_written(fault: NotWritten | OSError, path: Path) -> Refusal:
    """A file that could not be put in its place, in words."""
    if isinstance(fault, OSError):
        fault = NotWritten.by(fault, path)
    words = sentence({"code": fault.code, "path": str(fault.path), "reason": fault.reason})
    return Refusal(fault.code, words, _("Nothing was changed."))


def show(run: Run, path: Path) -> None:
    """Reads a file that is there again, so that lists show it."""
    root = Path(run.window.transcript.root) if run.window else path.parent.parent
    index_one(Found(root, path, path.parent.name, path.stem, is_subagent=False))


def _bound_back(run: Run) -> Rebound:
    """Raises Refusal where the chat does not go into the old window now."""
    try:
        found = bridge_for(run.companion).restore(run.source_session_id, run.target_session_id)
    except OSError as fault:
        raise bridge_failed(fault) from fault
    if found.status in {Rebinding.UNCHANGED, Rebinding.NEEDS_HAND}:
        words = sentence(dict(found.detail) or {"code": str(found.status)})
        hint = _("The new window stays in use. Mend the bridge, then roll back again.")
        raise Refusal("not-bound-back", words, hint)
    return found


def bridge_failed(fault: OSError) -> Refusal:
    return Refusal(
        "bridge-failed",
        _("The bridge does not answer: %(reason)s.") % {"reason": transcripts.reason_of(fault)},
        _("The binding is as it was. Mend the bridge, then try again."),
    )


def _clear_target(run: Run) -> list[Coded]:
    """Out of the way with the new file, so that nobody resumes it by accident; one in which somebody spoke stays."""
    path = Path(run.target_path)
    standing = new_file.standing(path, Sum(run.target_sha256, run.target_size))
    if standing is Standing.ABSENT:
        return []
    if standing is not Standing.AS_WRITTEN:
        lines = said_since(path, run.target_size) if standing is Standing.GROWN else 0
        code = "said-since" if lines else "left-in-place"
        return [{"code": code, "path": str(path), "lines": lines}]
    try:
        aside = new_file.set_aside(path, settings.ENV.data, str(run.pk)[:8])
    except NotWritten as fault:
        return [{"code": "not-set-aside", "path": str(path), "reason": fault.reason}]
    forget_window(run)
    return [{"code": "set-aside", "path": str(aside)}]


def said_since(path: Path, offset: int) -> int:
    """How many lines of person and companion stand behind `offset` bytes of a transcript; 0 where it cannot be read."""
    try:
        with transcripts.opened(path) as reader:
            return sum(_is_spoken(line.raw) for lines, __ in reader.batches(offset, 0) for line in lines)
    except OSError:
        return 0


def _is_spoken(raw: bytes | None) -> bool:
    try:
        line = read_line(raw) if raw is not None else None
    except BadLine:
        return False
    return line is not None and kind_of(line) in SPOKEN


def _note(run: Run, rebound: Rebound, notes: list[Coded]) -> None:
    rebind = {
        "status": str(rebound.status),
        "before": rebound.before,
        "after": rebound.after,
        "detail": dict(rebound.detail),
    }
    with transaction.atomic():
        ended = (Status.DONE, Status.EXPORTED, Status.FAILED)
        run.move(*ended, to=Status.ROLLED_BACK, rebind=rebind, warnings=[*run.warnings, *notes])
        metric = metrics.count_skip(run, "rolled-back")
    metrics.write_down(metric, run)
    if run.window_id is not None:
        announce("run", run.window_id)
