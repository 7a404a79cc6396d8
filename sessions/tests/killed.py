"""A process that is killed at a chosen moment of a run: a real one, by a real SIGKILL."""

from __future__ import annotations

import functools
import os
import signal
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import connections

from sessions.actions.carry_out import carry_out
from sessions.actions.run_progress import Progress
from sessions.models import Run

Trap = Callable[[], None]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def carry_out_and_die(run: Run, *traps: Trap) -> bool:
    """Carries a run out in a process of its own in which the traps are set; was it killed?"""
    # A connection must not be shared by two processes.
    connections.close_all()
    number = os.fork()
    if number == 0:
        _child(run, traps)
    _pid, status = os.waitpid(number, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _child(run: Run, traps: Iterable[Trap]) -> None:
    """Never returns: whatever happens, the rest of the test belongs to the parent."""
    try:
        for trap in traps:
            trap()
        carry_out(run.pk)
        connections.close_all()
    except BaseException:
        traceback.print_exc()
    os._exit(0)


def at_step(name: str, status: str) -> Trap:
    """When a step has come to stand so on the row."""

    def trap() -> None:
        put = Progress.put

        @functools.wraps(put)
        def watched(self: Progress, step: str, state: str, *rest: Any, **more: Any) -> None:
            put(self, step, state, *rest, **more)
            if step == name and (state == "running") == (status == "running"):
                die()

        setattr(Progress, "put", watched)  # noqa: B010 - an assignment would have to be of its very type

    return trap


def around(place: Any, name: str, *, before: bool = False, call: int = 1) -> Trap:
    """Before or after the given call of a function, counted from 1."""

    def trap() -> None:
        asked, calls = getattr(place, name), []

        @functools.wraps(asked)
        def watched(*given: Any, **more: Any) -> Any:
            calls.append(1)
            if before and len(calls) == call:
                die()
            answer = asked(*given, **more)
            if not before and len(calls) == call:
                die()
            return answer

        setattr(place, name, watched)

    return trap


def amid(place: Any, name: str, *, lines: int) -> Trap:
    """When the method that answers an iterator has given so many."""

    def trap() -> None:
        asked = getattr(place, name)

        @functools.wraps(asked)
        def watched(*given: Any, **more: Any) -> Iterator[Any]:
            for number, line in enumerate(asked(*given, **more)):
                if number == lines:
                    die()
                yield line

        setattr(place, name, watched)

    return trap
