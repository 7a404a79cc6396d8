"""A run's figures before and after: percent of the window, tokens, events, and how long it took."""

from __future__ import annotations

from dataclasses import dataclass

from sessions.core.plan import Plan
from sessions.core.usage import percent
from sessions.models import Run
from sessions.views.preview import plan_of
from sessions.views.steps import lasted


@dataclass(frozen=True, slots=True)
class Figures:
    """Percent of the window; `plan` is None where the stored one cannot be read."""

    before_percent: float
    after_percent: float
    plan: Plan | None

    @property
    def before_share(self) -> float:
        return min(self.before_percent, 100.0)

    @property
    def after_share(self) -> float:
        return min(self.after_percent, 100.0)

    @property
    def events_before(self) -> int:
        return self.plan.kept_events + self.plan.dropped_events if self.plan else 0


def figures(run: Run) -> Figures:
    before, after = percent(run.used_before, run.window_tokens), percent(run.used_after, run.window_tokens)
    return Figures(before, after, plan_of(run))


def took(run: Run) -> str:
    """From its beginning to its end; empty for a run that has not had both."""
    if run.started_at is None or run.finished_at is None:
        return ""
    return lasted(max(0.0, (run.finished_at - run.started_at).total_seconds()))
