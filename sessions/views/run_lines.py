"""Runs as lines of a list: what was done to which window, how it ended, and where each window is found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import F
from django.db.models import Window as Over
from django.db.models.functions import RowNumber

from sessions.actions.sentences import sentence
from sessions.models import Run, Window
from sessions.models.run import RunQuerySet
from sessions.views.run_words import change, kind_name, shape_of, status_name

# Of a companion's card and of a window's own page.
LAST = 3


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run; `new` is its new window where that is among the sessions."""

    run: Run
    new: Window | None = None

    @property
    def kind(self) -> str:
        return kind_name(self.run.kind)

    @property
    def status(self) -> str:
        return status_name(self.run.status)

    @property
    def shape(self) -> str:
        return shape_of(self.run)

    @property
    def change(self) -> str:
        return change(self.run)

    @property
    def error(self) -> str:
        return sentence(self.run.error) if self.run.error else ""

    @property
    def losses(self) -> int:
        """Warnings of the plan and of its steps."""
        steps = [step for step in self.run.steps if step.get("status") == "warning"]
        return len(self.run.warnings) + len(steps)

    @property
    def target(self) -> str:
        return self.run.target_session_id[:8]

    @property
    def source(self) -> str:
        return self.run.source_session_id[:8]


def lines_of(runs: Iterable[Run]) -> list[RunLine]:
    """Lines with their new windows, in one query more than the runs themselves."""
    found = list(runs)
    new = windows_written(found)
    return [RunLine(run, new.get(run.target_session_id)) for run in found]


def windows_written(runs: Sequence[Run]) -> dict[str, Window]:
    """The new windows of these runs by session id, those that were indexed."""
    paths = {run.target_session_id: run.target_path for run in runs}
    windows = Window.objects.filter(session_id__in=paths).listed()
    return {it.session_id: it for it in windows if it.transcript.path == paths[it.session_id]}


def listed(runs: RunQuerySet) -> RunQuerySet:
    return runs.select_related("window", "window__companion", "companion")


def last_of_companions(companions: Sequence[int]) -> dict[int, list[RunLine]]:
    """The last runs of each companion, in one query however many there are."""
    rank = Over(RowNumber(), partition_by=F("companion"), order_by=[F("created_at").desc(), F("pk").desc()])
    ranked = Run.objects.filter(companion__in=companions).annotate(rank=rank).filter(rank__lte=LAST)
    found: dict[int, list[RunLine]] = {}
    for run in ranked.order_by("companion", "rank"):
        found.setdefault(run.companion_id or 0, []).append(RunLine(run))
    return found


def mark_of(*values: object) -> str:
    """What a page shows, in a few characters: its part is only drawn anew where this has changed."""
    return hashlib.blake2b(repr(values).encode(), digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class Descent:
    """Where a window comes from and where it went on: the run that wrote it, and the last runs of it."""

    lines: list[RunLine]
    written_by: Run | None = None

    @property
    def carried_on(self) -> list[RunLine]:
        """Runs whose new window is there to go on in."""
        return [line for line in self.lines if line.new is not None and line.run.status != Run.Status.ROLLED_BACK]


def descent(window: Window) -> Descent:
    """In at most three queries."""
    written = Run.objects.filter(target_session_id=window.session_id, target_path=window.transcript.path)
    own = Run.objects.filter(window=window).latest_first()[:LAST]
    return Descent(lines_of(own), written.select_related("window").latest_first().first())
