"""The steps of a run, one function each: what each looks at, writes, and when it ends the run (spec W7-W13)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from sessions.actions import backups
from sessions.actions.copying import Copying, copied
from sessions.actions.ground import silence, steps_of
from sessions.actions.run_progress import Coded, Note, Progress, Stop
from sessions.core.invariants import Checker
from sessions.core.turns import is_mid_turn
from sessions.core.usage import window_size
from sessions.gateways import claude_client, new_file, side_files, transcripts
from sessions.gateways.backup_files import Differs
from sessions.gateways.bridges import Bridge, bridge_for
from sessions.gateways.bridges.bridge import Rebinding, Rebound
from sessions.gateways.disk import NotWritten, Sum
from sessions.gateways.new_file import NewFile, Standing
from sessions.models import Run

# Silence after which an unfinished turn was given up, whatever its last line says.
GIVEN_UP = 3_600
# A time of change that lies further ahead is a clock that was wrong.
AHEAD = 60
# Events at the end of a window among which its last turn's state shows.
LAST_EVENTS = 400
REHEARSAL_SECONDS = 180.0
# By how much a new file is made to look older than its source, until the chat has moved.
OLDER_NS = 1_000_000_000
NAMED_FAULTS = 5
LONGEST_DIFFERENCE = 2_000


@dataclass(slots=True)
class Job:
    """One run being carried out. `keeps_file`: from here on a failure leaves the new file where it stands."""

    run: Run
    progress: Progress
    keeps_file: bool = False
    written: Sum = field(init=False)
    copying: Copying = field(init=False)
    source: Path = field(init=False)
    target: Path = field(init=False)
    file: NewFile = field(init=False)

    def __post_init__(self) -> None:
        self.source, self.target = Path(self.run.source_path), Path(self.run.target_path)
        self.file = NewFile(self.target, str(self.run.pk)[:8])

    @property
    def standing(self) -> Standing:
        """What stands under the new file's name."""
        if not self.run.target_sha256:
            return Standing.OTHER if os.path.lexists(self.target) else Standing.ABSENT
        return new_file.standing(self.target, Sum(self.run.target_sha256, self.run.target_size))

    @property
    def sides(self) -> list[str]:
        return side_files.names_of(self.run.plan.get("sides", ()), self.run.plan.get("agents", ()))


def quiet(job: Job) -> None:
    """The idle gate (spec W12)."""
    with job.progress.step("quiet") as note:
        seconds = _silent_for(job)
        busy = _why_busy(job, seconds)
        if busy is None:
            note.ok("quiet", seconds=int(seconds))
        elif job.run.is_forced:
            note.warn("forced", seconds=int(seconds))
        else:
            raise Stop(Run.Status.FAILED, **busy)


def _silent_for(job: Job) -> float:
    """Seconds since anything happened, by the file and by its last line, whichever is less."""
    try:
        changed = time.time() - transcripts.identity(job.source).modified_ns / 1e9
    except OSError:
        # Whether it is there at all is the next step's question.
        changed = float(GIVEN_UP)
    said = silence(job.run.window, timezone.now()) if job.run.window else None
    known = [seconds for seconds in (changed, said) if seconds is not None and seconds > -AHEAD]
    return max(0.0, min(known, default=float(GIVEN_UP)))


def _why_busy(job: Job, seconds: float) -> Coded | None:
    idle = settings.ENV.idle_seconds
    if seconds < idle:
        return {"code": "not-quiet", "seconds": int(seconds), "wait": int(idle - seconds) + 1}
    window = job.run.window
    if window is None or seconds >= GIVEN_UP:
        return None
    last = steps_of(window, first=max(0, window.dialogue_events - LAST_EVENTS))
    return {"code": "still-answering", "seconds": int(seconds)} if is_mid_turn(last) else None


def digest(job: Job) -> None:
    """Is the file still, byte for byte, the one that was planned (spec W6)?"""
    with job.progress.step("digest") as note:
        check_digest(job)
        note.ok("digest-same", bytes=job.run.source_size)


def check_digest(job: Job) -> None:
    """Raises Stop: grown or changed is stale, gone or unreadable a failure."""
    with _source(job), transcripts.opened(job.source) as reader:
        _check_size(job, reader.identity.size)
        if reader.sha256() != job.run.source_sha256:
            raise Stop(Run.Status.STALE, "changed")
        # It may have grown while it was read.
        _check_size(job, transcripts.identity(job.source).size)


def _check_size(job: Job, size: int) -> None:
    if size > job.run.source_size:
        raise Stop(Run.Status.STALE, "grown", bytes=size - job.run.source_size)
    if size < job.run.source_size:
        raise Stop(Run.Status.STALE, "changed")


@contextmanager
def _source(job: Job) -> Iterator[None]:
    """What the system refuses in here is about the old transcript."""
    try:
        yield
    except FileNotFoundError:
        raise Stop(Run.Status.FAILED, "source-gone", path=str(job.source)) from None
    except OSError as fault:
        reason = transcripts.reason_of(fault)
        raise Stop(Run.Status.FAILED, "source-unreadable", path=str(job.source), reason=reason) from fault


def hold(job: Job) -> None:
    """Into memory before anything is dropped; there is none to hold it yet."""
    with job.progress.step("hold") as note:
        note.skip("no-memory-yet" if job.run.wish.get("with_hold", True) else "hold-not-wanted")
        job.progress.save(hold={**job.run.hold, "status": "skipped"})


def backup(job: Job) -> None:
    with job.progress.step("backup") as note:
        if not job.run.with_backup:
            note.skip("backup-not-wanted")
            return
        try:
            with _source(job):
                made = backups.back_up(job.run, job.source)
        except Differs:
            # Grown, mostly, and then it can be said by how much.
            check_digest(job)
            raise
        code = "backed-up" if made.run_id == job.run.pk else "backup-reused"
        note.ok(code, path=made.path, bytes=made.size)


def write(job: Job) -> None:
    """Every line beside its place, on the disk, under a name that nobody reads."""
    with job.progress.step("write") as note:
        with _source(job), transcripts.opened(job.source) as reader:
            job.copying = copied(job.run, reader, now=timezone.now())
            job.written = job.file.write(job.copying, owner=job.source.stat())
        note.ok("written", bytes=job.written.size, events=job.copying.tally.events)


def verify(job: Job) -> None:
    """Reads it back, carries along what it points to, and gives it its name. From here on it exists."""
    with job.progress.step("verify") as note:
        faults = _faults(job)
        if faults:
            raise Stop(Run.Status.FAILED, "not-whole", count=len(faults), faults=faults[:NAMED_FAULTS])
        carried = side_files.carry(job.target.parent, job.run.source_session_id, job.run.target_session_id, job.sides)
        _publish(job)
        if carried.missing:
            note.warn("sides-left-behind", count=len(carried.missing), names=carried.missing[:NAMED_FAULTS])
        else:
            note.ok("verified", bytes=job.run.target_size, sides=carried.files)


def _faults(job: Job) -> list[str]:
    """What the bytes on the disk have against them."""
    checker = Checker(job.run.target_session_id)
    faults, found = job.file.read_back(checker.faults)
    if not faults and found != job.written:
        faults = ["what was read is not what was written"]
    if not faults and checker.uuids != job.copying.uuids:
        faults = ["other lines than were copied"]
    if not faults and job.copying.tally.events != job.run.plan.get("kept_events"):
        faults = ["another number of events than was planned"]
    return faults


def _publish(job: Job) -> None:
    """The row knows the file before its name does: a run that is killed right here finds its own again."""
    with _source(job):
        seen = transcripts.identity(job.source)
    _check_size(job, seen.size)
    job.progress.save(target_sha256=job.written.sha256, target_size=job.written.size)
    job.progress.heed_cancel()
    job.file.publish(seen.modified_ns - OLDER_NS)


def rehearse(job: Job) -> None:
    """The client opens the new window before the chat does (spec W13)."""
    with job.progress.step("rehearse") as note:
        found = _rehearsed(job, note)
        job.progress.save(rehearsal=found)
        if found["status"] == claude_client.FAILED:
            values = {name: found[name] for name in ("detail", "difference")}
            raise Stop(Run.Status.FAILED, "rehearsal-failed", **values)


def _rehearsed(job: Job, note: Note) -> dict[str, Any]:
    if job.standing is Standing.GROWN:
        # Whoever talks in it has tried it better than a rehearsal could.
        note.warn("talked-in")
        return {"status": "skipped", "detail": {"code": "talked-in"}}
    client = claude_client.find_client(settings.ENV.claude_bin) if settings.ENV.rehearse else None
    if client is None:
        code = "no-client" if settings.ENV.rehearse else "rehearse-off"
        note.skip(code)
        return {"status": "skipped", "detail": {"code": code}}
    found = claude_client.rehearse(
        client, job.target, job.run.target_session_id, model=_model(job.run), seconds=REHEARSAL_SECONDS
    )
    note.status, note.detail = found.status, found.detail
    return {
        "status": found.status,
        "detail": found.detail,
        "difference": found.difference[:LONGEST_DIFFERENCE],
        "seconds": round(found.seconds, 3),
    }


def _model(run: Run) -> str:
    """The model that goes on, marked where only the mark makes its window as large as it is."""
    window = run.window
    if window is None or not window.model:
        return ""
    plain = window_size(model=window.model, version=window.client_version)
    return window.model if plain >= run.window_tokens or "[1m]" in window.model else f"{window.model}[1m]"


def rebind(job: Job) -> Run.Status:
    """The chat moves, if nothing was said in the old window meanwhile; answers how the run ends (spec W8, W11)."""
    with job.progress.step("rebind") as note:
        if job.run.is_export_only:
            note.skip("export-only")
            job.progress.save(rebind={"status": str(Rebinding.UNCHANGED), "before": None, "after": None})
            return Run.Status.EXPORTED
        _note_rebound(note, _rebound(job, bridge_for(job.run.companion)))
        _come_first(job, note)
    return Run.Status.DONE


def _rebound(job: Job, bridge: Bridge) -> Rebound:
    """Raises Stop. Once a bridge was asked, the new file stays: it is bound, or can be bound later."""
    grown: list[Stop] = []

    def digest_holds() -> bool:
        try:
            check_digest(job)
        except Stop as stop:
            grown.append(stop)
        return not grown

    with _asking(job):
        is_bound = _is_bound(job, bridge)
    if not is_bound:
        check_digest(job)
    with _asking(job):
        found = bridge.rebind(job.run.source_session_id, job.run.target_session_id, digest_holds=digest_holds)
    job.keeps_file = not grown
    job.progress.save(rebind=_as_row(found))
    if found.status is Rebinding.UNCHANGED:
        raise grown[0] if grown else Stop(Run.Status.FAILED, "rebind-failed", why=dict(found.detail))
    return found


def _is_bound(job: Job, bridge: Bridge) -> bool:
    """Did a run that was killed come this far before?"""
    bound = bridge.binding()
    return bound is not None and bound.session_id == job.run.target_session_id


@contextmanager
def _asking(job: Job) -> Iterator[None]:
    """A bridge that breaks leaves unknown what is bound: then the new file is not touched."""
    job.keeps_file = True
    try:
        yield
    except OSError as fault:
        raise Stop(Run.Status.FAILED, "bridge-failed", reason=transcripts.reason_of(fault)) from fault
    job.keeps_file = False


def _as_row(found: Rebound) -> Coded:
    detail: Mapping[str, Any] = found.detail
    return {"status": str(found.status), "before": found.before, "after": found.after, "detail": dict(detail)}


def _note_rebound(note: Note, found: Rebound) -> None:
    detail = dict(found.detail) or {"code": str(found.status)}
    if found.status is Rebinding.NONE:
        note.skip(**detail)
    elif found.status is Rebinding.BOUND:
        note.ok(**detail)
    else:
        note.warn(**detail)


def _come_first(job: Job, note: Note) -> None:
    """Only now may `claude -c` take the new window; one in which somebody talks is the newest already."""
    if job.standing is Standing.AS_WRITTEN:
        try:
            new_file.touch(job.target)
        except NotWritten as fault:
            note.warn("not-the-newest", path=str(job.target), reason=fault.reason)
