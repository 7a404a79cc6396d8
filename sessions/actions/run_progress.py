"""How far a run has come: its steps, each on its row before and after it is done, and what ends it (spec W10)."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from companion.lib.live import announce
from companion.lib.refusals import Refusal
from sessions.actions.copying import Changed, Uncopyable
from sessions.gateways.backup_files import Differs
from sessions.gateways.disk import NotWritten
from sessions.models import Run

log = logging.getLogger(__name__)
STEPS = ("lock", "quiet", "digest", "hold", "backup", "write", "verify", "rehearse", "rebind", "metrics")
Coded = dict[str, Any]
LONGEST_TEXT = 300


class Stop(Exception):
    """The run is over here: the status it ends with, and why."""

    def __init__(self, status: Run.Status, code: str, **values: Any) -> None:
        super().__init__(code)
        self.status = status
        self.coded: Coded = {"code": code, **values}


@dataclass(slots=True)
class Note:
    """What a step has to say when it is done. Nothing said is ok."""

    status: str = "ok"
    detail: Mapping[str, Any] | str = field(default_factory=dict)

    def ok(self, code: str, **values: Any) -> None:
        self.status, self.detail = "ok", {"code": code, **values}

    def warn(self, code: str, **values: Any) -> None:
        self.status, self.detail = "warning", {"code": code, **values}

    def skip(self, code: str, **values: Any) -> None:
        self.status, self.detail = "skipped", {"code": code, **values}


@dataclass(slots=True)
class Progress:
    """Writes steps and findings onto a run's row and tells the open pages. Only the holder of the session's lock does."""

    run: Run

    @contextmanager
    def step(self, name: str) -> Iterator[Note]:
        """One step: under way, then as its note says; failed, with the reason, where it raises."""
        started, note = time.monotonic(), Note()
        try:
            self.put(name, "running")
            yield note
        except BaseException as fault:
            self.put(name, "failed", time.monotonic() - started, coded(fault))
            raise
        self.put(name, note.status, time.monotonic() - started, note.detail)

    def put(self, name: str, status: str, seconds: float = 0.0, detail: Mapping[str, Any] | str = "") -> None:
        """A step as it stands now; one of that name is replaced."""
        step = {"name": name, "status": status, "seconds": round(seconds, 3), "detail": detail or {}}
        names = [each["name"] for each in self.run.steps]
        if name in names:
            self.run.steps[names.index(name)] = step
        else:
            self.run.steps.append(step)
        self.save(steps=self.run.steps)

    def save(self, **values: Any) -> None:
        """Findings onto the row, and nothing else of it: a wish to cancel may have been written meanwhile."""
        Run.objects.filter(pk=self.run.pk).update(**values)
        for name, value in values.items():
            setattr(self.run, name, value)
        if self.run.window_id is not None:
            announce("run", self.run.window_id)

    def warn(self, code: str, **values: Any) -> None:
        """Something to know that belongs to no step."""
        self.save(warnings=[*self.run.warnings, {"code": code, **values}])

    def heed_cancel(self) -> None:
        """Raises Stop where somebody wants no more of this run."""
        if Run.objects.filter(pk=self.run.pk, cancel_asked=True).exists():
            raise Stop(Run.Status.CANCELLED, "cancelled")


def coded(fault: BaseException) -> Coded:
    """Why something ended, as a code with its values. A refusal keeps its sentences."""
    if isinstance(fault, Stop):
        return fault.coded
    if isinstance(fault, Refusal):
        return {"code": fault.code, "message": fault.message, "hint": fault.hint}
    if isinstance(fault, NotWritten):
        return {"code": fault.code, "path": str(fault.path), "reason": fault.reason}
    if isinstance(fault, Changed | Differs):
        return {"code": "changed"}
    if isinstance(fault, Uncopyable):
        return {"code": "uncopyable", "line": fault.line}
    if isinstance(fault, KeyboardInterrupt | SystemExit):
        return {"code": "interrupted"}
    return {"code": "unexpected", "text": f"{type(fault).__name__}: {fault}"[:LONGEST_TEXT]}


def status_of(fault: BaseException) -> Run.Status:
    """How a run ends that was ended by this."""
    if isinstance(fault, Stop):
        return fault.status
    if isinstance(fault, Changed | Differs):
        return Run.Status.STALE
    if isinstance(fault, KeyboardInterrupt | SystemExit):
        return Run.Status.CANCELLED
    return Run.Status.FAILED
