"""Which turns stay: the tail, days, or a range picked by hand (spec W3-W5, W14). Whole turns only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, tzinfo
from enum import StrEnum

from sessions.core.ranges import BadSelection, End, resolve
from sessions.core.turns import Step, Turn, turn_at

NAMED_DAYS = 5


class Mode(StrEnum):
    TAIL = "tail"
    DAYS = "days"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for. `retain` and `cap` are tokens; `revive` lets a tail reach behind the last compaction. With
    `as_said` a tail counts what stands in the old window (spec W2: original dialogue), else what will stand in the new."""

    mode: Mode
    retain: int = 0
    days: tuple[date, ...] = ()
    start: End | None = None
    end: End | None = None
    cap: int = 100_000
    revive: bool = False
    as_said: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """What is chosen from. `floor` is the idx before which the last compaction cut (0: none did); `weigh` answers the
    tokens of a turn as it would be kept."""

    steps: Sequence[Step]
    turns: Sequence[Turn]
    floor: int
    zone: tzinfo
    now: datetime
    weigh: Callable[[Turn], int]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What stays: turns in order with their tokens; `start` and `end` are the events the ends meant (spec W4).
    `capped` counts the turns that the cap took from the oldest side."""

    turns: list[Turn]
    tokens: int
    start: Step | None = None
    end: Step | None = None
    capped: int = 0
    notes: list[str] = field(default_factory=list)


def choose(selection: Selection, ground: Ground) -> Chosen:
    """The turns that stay. Raises BadSelection: what `ranges.resolve` raises, `no-turn`, `no-turn-since-compaction`,
    `no-day`, `no-such-day` (with `days` there are), `from-after-to`, `empty-range`."""
    if not ground.turns:
        raise BadSelection("no-turn")
    if selection.mode is Mode.TAIL:
        return _tail(selection, ground)
    if selection.mode is Mode.DAYS:
        return _capped(_of_days(selection, ground), None, None, selection.cap, ground)
    return _range(selection, ground)


def _tail(selection: Selection, ground: Ground) -> Chosen:
    """The newest turns of at most `retain` tokens; the last one always stays, whatever it weighs."""
    floor = 0 if selection.revive else ground.floor
    kept: list[Turn] = []
    total = 0
    for turn in reversed(ground.turns):
        if turn.first < floor:
            break
        total += _as_said(turn, ground) if selection.as_said else ground.weigh(turn)
        if kept and total > selection.retain:
            break
        kept.append(turn)
    if not kept:
        raise BadSelection("no-turn-since-compaction")
    kept.reverse()
    return Chosen(kept, sum(map(ground.weigh, kept)), ground.steps[kept[0].first], ground.steps[kept[-1].last])


def _as_said(turn: Turn, ground: Ground) -> int:
    """Tokens of a turn as it stands in the old window."""
    return sum(step.tokens for step in ground.steps[turn.first : turn.last + 1])


def _of_days(selection: Selection, ground: Ground) -> list[Turn]:
    if not selection.days:
        raise BadSelection("no-day")
    wanted = set(selection.days)
    there = {turn.day(ground.zone) for turn in ground.turns}
    missing = sorted(wanted - there)
    if missing:
        known = sorted(day for day in there if day is not None)
        nearest = sorted(known, key=lambda day: abs((day - missing[0]).days))[:NAMED_DAYS]
        raise BadSelection("no-such-day", missing=missing[:NAMED_DAYS], days=sorted(nearest))
    return [turn for turn in ground.turns if turn.day(ground.zone) in wanted]


def _range(selection: Selection, ground: Ground) -> Chosen:
    start = _end_of(selection.start, ground) or ground.steps[0]
    end = _end_of(selection.end, ground) or ground.steps[-1]
    if start.idx > end.idx:
        raise BadSelection("from-after-to", start=start, end=end)
    first, last = turn_at(ground.turns, start.idx), turn_at(ground.turns, end.idx)
    if last is None:
        raise BadSelection("empty-range", first=ground.turns[0].first)
    return _capped(ground.turns[first or 0 : last + 1], start, end, selection.cap, ground)


def _end_of(end: End | None, ground: Ground) -> Step | None:
    return resolve(end, ground.steps, zone=ground.zone, now=ground.now) if end is not None else None


def _capped(turns: Sequence[Turn], start: Step | None, end: Step | None, cap: int, ground: Ground) -> Chosen:
    """A chosen set over the cap loses its oldest turns, never its last one (spec W5)."""
    kept: list[Turn] = []
    total = 0
    for turn in reversed(turns):
        weight = ground.weigh(turn)
        if kept and total + weight > cap:
            break
        kept.append(turn)
        total += weight
    kept.reverse()
    start = start or ground.steps[turns[0].first]
    end = end or ground.steps[turns[-1].last]
    return Chosen(kept, total, start, end, len(turns) - len(kept))
