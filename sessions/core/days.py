"""Days of a talk for a calendar to pick from: how much was said on each (spec H3).

A turn belongs to the day of its person's message, so a day here is exactly what choosing it keeps.
"""

from __future__ import annotations

from bisect import bisect_left
from calendar import Calendar, monthrange
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

from sessions.core.events import ANCHORS
from sessions.core.turns import Step, Turn

# Steps of the heat map beside none.
LEVELS = 4
WEEK = Calendar(firstweekday=0)


@dataclass(frozen=True, slots=True)
class Day:
    """What was said on a day: the person's messages, tokens as they would be kept, the turns with their first and last
    idx. `level` is 1-4 among the days of the same talk."""

    date: date
    messages: int
    tokens: int
    first: int
    last: int
    level: int


def days_of(steps: Sequence[Step], turns: Sequence[Turn], *, zone: tzinfo, weigh: Callable[[Turn], int]) -> list[Day]:
    """The days on which the person said something, in order. Turns without any time are on no day."""
    found: dict[date, list[Turn]] = {}
    for turn in turns:
        day = turn.day(zone)
        if day is not None:
            found.setdefault(day, []).append(turn)
    messages = {day: sum(_messages(steps, turn) for turn in own) for day, own in found.items()}
    ordered = sorted(messages.values())
    return [
        Day(
            day,
            messages[day],
            sum(weigh(turn) for turn in found[day]),
            found[day][0].first,
            found[day][-1].last,
            level_of(messages[day], ordered),
        )
        for day in sorted(found)
    ]


def _messages(steps: Sequence[Step], turn: Turn) -> int:
    return sum(step.kind in ANCHORS for step in steps[turn.first : turn.last + 1])


def level_of(count: int, ordered: Sequence[int]) -> int:
    """Which quarter of all days (counts in rising order) a day is in: 1-4; 0 for a day without a word."""
    if not count:
        return 0
    return 1 + min(LEVELS - 1, bisect_left(ordered, count) * LEVELS // len(ordered))


def weeks_of(year: int, month: int) -> list[list[date | None]]:
    """The weeks of a month, Monday first; None for the days of its neighbours."""
    return [[day if day.month == month else None for day in week] for week in WEEK.monthdatescalendar(year, month)]


def month_after(year: int, month: int, months: int) -> tuple[int, int]:
    """(year, month) so many months later, or earlier for a negative number."""
    number = year * 12 + month - 1 + months
    return number // 12, number % 12 + 1


def same_day(day: date, year: int, month: int) -> date:
    """The day of the same number in another month, or that month's last one."""
    return date(year, month, min(day.day, monthrange(year, month)[1]))
