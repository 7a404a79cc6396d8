"""A plan as a person reads it: what stays with its first and last words, what goes, what is cut short (spec W6)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

import msgspec
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from sessions.actions.sentence_table import LEFT
from sessions.actions.sentences import sentence
from sessions.core.plan import Fat, Mark, Plan
from sessions.core.reading import time_of
from sessions.models import Event, Run
from sessions.views.reading import Reading, outlook


@dataclass(frozen=True, slots=True)
class Words:
    """Words as they stand; only a person's own are set as such. `link` leads to them in the old window."""

    text: str
    idx: int
    at: datetime | None
    is_person: bool
    link: str


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of thing: how much of it stays and how much goes, in words; `share` is the percent that stays."""

    name: str
    stays: str
    goes: str
    share: float | None = None


@dataclass(frozen=True, slots=True)
class FatRow:
    """A line that is cut short, in estimated tokens; `share` is what is left of it in percent."""

    fat: Fat
    link: str

    @property
    def share(self) -> float:
        return 100 * self.fat.after / max(self.fat.before, 1)


@dataclass(frozen=True, slots=True)
class Preview:
    plan: Plan
    reading: Reading
    rows: list[Row]
    fattest: list[FatRow]
    first: Words
    last: Words
    warnings: list[str]
    start: Words | None
    end: Words | None

    @property
    def is_cut_elsewhere(self) -> bool:
        """Do whole turns stay where the ends that were meant lie inside of one?"""
        ends = (self.start.idx if self.start else self.plan.cut[0], self.end.idx if self.end else self.plan.cut[1])
        return ends != self.plan.cut


def preview(run: Run) -> Preview | None:
    """None where the stored plan is none that can be read here. Asks for at most two rows."""
    plan = plan_of(run)
    if plan is None:
        return None
    return Preview(
        plan=plan,
        reading=outlook(run, run.window.compacts_at if run.window else 0),
        rows=rows(plan),
        fattest=[FatRow(fat, place(run, fat.idx)) for fat in plan.fattest],
        first=first_words(run, plan),
        last=last_words(run, plan),
        warnings=[sentence(warning) for warning in run.warnings if warning.get("code") not in LEFT],
        start=end_of(run, plan.start),
        end=end_of(run, plan.end),
    )


def plan_of(run: Run) -> Plan | None:
    try:
        return msgspec.convert(run.plan, Plan)
    except msgspec.ValidationError:
        return None


def place(run: Run, idx: int) -> str:
    """Where an event stands in the old window's timeline; empty where that window is gone."""
    if run.window_id is None:
        return ""
    return f"{reverse('session', args=[run.window_id])}?{urlencode({'to': f'#{idx}'})}"


def first_words(run: Run, plan: Plan) -> Words:
    """A turn begins with a person's words."""
    idx = plan.cut[0]
    at = anchor_before(run, idx, plan.first_preview)
    return Words(plan.first_preview, idx, at.at if at else None, at is not None, place(run, idx))


def last_words(run: Run, plan: Plan) -> Words:
    """The last words may be anybody's: they are a person's where the last anchor says them."""
    anchor = anchor_before(run, plan.cut[1], plan.last_preview)
    if anchor is not None and anchor.idx is not None:
        return Words(plan.last_preview, anchor.idx, anchor.at, True, place(run, anchor.idx))
    at = time_of(plan.end.timestamp) if plan.end and plan.end.idx == plan.cut[1] else None
    return Words(plan.last_preview, plan.cut[1], at, False, place(run, plan.cut[1]))


def anchor_before(run: Run, idx: int, words: str) -> Event | None:
    """The last anchor up to `idx`, if it says just these words."""
    if run.window is None or not words:
        return None
    anchors = Event.objects.filter(transcript_id=run.window.transcript_id, idx__lte=idx).anchors()
    found = anchors.order_by("-idx").first()
    return found if found is not None and found.preview == words else None


def end_of(run: Run, mark: Mark | None) -> Words | None:
    if mark is None:
        return None
    return Words(mark.preview, mark.idx, time_of(mark.timestamp), False, place(run, mark.idx))


def rows(plan: Plan) -> list[Row]:
    """What stays and what goes, kind by kind; kinds there are none of are left out."""
    found = [
        Row(gettext("Dialogue events"), f"{plan.kept_events:,}", f"{plan.dropped_events:,}", events_share(plan)),
        Row(gettext("Tokens, about"), f"{plan.kept_tokens:,}", f"{plan.dropped_tokens:,}", tokens_share(plan)),
        Row(gettext("Turns"), f"{plan.turns:,}", ""),
    ]
    if plan.thinking or plan.thinking_dropped:
        found.append(Row(gettext("Thinking"), thinking(plan), blocks(plan.thinking_dropped)))
    if plan.results_squashed:
        found.append(Row(gettext("Long tool answers"), squashed(plan), ""))
    if plan.images_squashed:
        found.append(Row(gettext("Pictures"), pictures(plan.images_squashed), ""))
    if plan.sides or plan.agents:
        found.append(Row(gettext("Files beside it"), f"{len(plan.sides) + len(plan.agents):,}", ""))
    return found


def events_share(plan: Plan) -> float:
    return 100 * plan.kept_events / max(plan.kept_events + plan.dropped_events, 1)


def tokens_share(plan: Plan) -> float:
    return 100 * plan.kept_tokens / max(plan.kept_tokens + plan.dropped_tokens, 1)


def thinking(plan: Plan) -> str:
    if not plan.thinking:
        return ""
    return gettext("%(blocks)s, word for word") % {"blocks": blocks(plan.thinking)}


def blocks(number: int) -> str:
    if not number:
        return ""
    return ngettext("%(number)s block", "%(number)s blocks", number) % {"number": f"{number:,}"}


def squashed(plan: Plan) -> str:
    words = ngettext(
        "%(number)s, cut to %(cap)s characters", "%(number)s, each cut to %(cap)s characters", plan.results_squashed
    )
    return words % {"number": f"{plan.results_squashed:,}", "cap": f"{plan.squash:,}"}


def pictures(number: int) -> str:
    words = ngettext("%(number)s, a line in its place", "%(number)s, a line in place of each", number)
    return words % {"number": f"{number:,}"}
