"""A run's steps as its page draws them: each with its shape, its seconds and why, and how far the whole has come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext, pgettext

from sessions.actions.run_progress import STEPS
from sessions.actions.sentences import sentence
from sessions.models import Run
from sessions.views.run_words import step_name

SHAPES = {"running": "run", "ok": "ok", "warning": "warn", "failed": "fail", "skipped": "skip"}


@dataclass(frozen=True, slots=True)
class Step:
    """One step; `seconds` is None for one that has not ended."""

    name: str
    shape: str
    seconds: float | None = None
    why: str = ""

    @property
    def title(self) -> str:
        return step_name(self.name)

    @property
    def word(self) -> str:
        """The shape in words, for those who cannot see it."""
        words = {
            "ok": pgettext("step", "done"),
            "warn": pgettext("step", "warning"),
            "fail": pgettext("step", "failed"),
            "run": pgettext("step", "under way"),
            "skip": pgettext("step", "left out"),
            "todo": pgettext("step", "not yet"),
        }
        return words[self.shape]

    @property
    def took(self) -> str:
        return lasted(self.seconds) if self.seconds is not None else ""


@dataclass(frozen=True, slots=True)
class Progress:
    """All steps in order, those that are to come among them."""

    steps: list[Step]

    @property
    def count(self) -> int:
        return len(self.steps)

    @property
    def finished(self) -> int:
        return sum(step.shape not in {"run", "todo"} for step in self.steps)

    @property
    def current(self) -> Step | None:
        return next((step for step in self.steps if step.shape == "run"), None)

    @property
    def number(self) -> int:
        """Of the step under way or the next one, counted from 1."""
        return min(self.finished + 1, self.count)

    @property
    def sentence(self) -> str:
        """How far it has come, in one line."""
        place = {"number": self.number, "all": self.count}
        if self.current is None:
            return gettext("Step %(number)d of %(all)d") % place
        return gettext("Step %(number)d of %(all)d: %(name)s") % {**place, "name": self.current.title}

    @property
    def can_cancel(self) -> bool:
        """Until the new window has its name, which is the end of reading it back."""
        shapes = {step.name: step.shape for step in self.steps}
        return shapes.get("verify", "todo") in {"todo", "run"} and shapes.get("rehearse", "todo") == "todo"


def progress(run: Run) -> Progress:
    """The steps of a run; what a run that is over never came to is marked as left out."""
    known = [taken(step) for step in run.steps if isinstance(step, Mapping)]
    names = {step.name for step in known}
    rest = "skip" if run.is_over else "todo"
    return Progress(known + [Step(name, rest) for name in coming(names)])


def taken(step: Mapping[str, Any]) -> Step:
    shape = SHAPES.get(str(step.get("status")), "todo")
    seconds = step.get("seconds")
    is_over = shape != "run" and isinstance(seconds, int | float)
    return Step(str(step.get("name", "")), shape, float(seconds) if is_over and seconds else None, words(step))


def words(step: Mapping[str, Any]) -> str:
    """A step's detail: a code with its values, or a text as it is."""
    detail = step.get("detail")
    if isinstance(detail, Mapping):
        return sentence(detail) if detail else ""
    return str(detail or "")


def coming(names: set[str]) -> list[str]:
    """The steps behind the last one that is known."""
    last = max((STEPS.index(name) for name in names if name in STEPS), default=-1)
    return [name for name in STEPS[last + 1 :] if name not in names]


def lasted(seconds: float) -> str:
    if seconds < 0.05:
        return gettext("under 0.1 s")
    if seconds < 60:
        return gettext("%(seconds)s s") % {"seconds": f"{seconds:.1f}"}
    return gettext("%(minutes)d min %(seconds)d s") % {"minutes": seconds // 60, "seconds": int(seconds % 60)}
