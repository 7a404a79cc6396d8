"""Days of a talk, their heat, and the pages of the calendar (spec H3)."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from sessions.core.days import days_of, level_of, month_after, same_day, weeks_of
from sessions.core.turns import Step, turns_of

SHANGHAI = ZoneInfo("Asia/Shanghai")
MIDNIGHT = datetime(2026, 3, 1, 16, tzinfo=UTC)


def step(idx: int, kind: str, at: datetime | None, tokens: int = 10) -> Step:
    return Step(idx, idx, 0, 0, f"u{idx}", kind, at, None, tokens, 0, 0, 0)


def found(steps: list[Step]) -> list[tuple[date, int, int]]:
    days = days_of(
        steps,
        turns_of(steps),
        zone=SHANGHAI,
        weigh=lambda turn: sum(s.tokens for s in steps[turn.first : turn.last + 1]),
    )
    return [(day.date, day.messages, day.tokens) for day in days]


def test_a_turn_over_midnight_belongs_to_the_day_it_began_on() -> None:
    steps = [
        step(0, "h", MIDNIGHT - timedelta(minutes=1)), step(1, "a", MIDNIGHT + timedelta(minutes=1)),
        step(2, "q", MIDNIGHT + timedelta(minutes=2)), step(3, "h", MIDNIGHT + timedelta(hours=1)),
    ]  # fmt: skip

    assert found(steps) == [(date(2026, 3, 1), 2, 30), (date(2026, 3, 2), 1, 10)]


def test_what_has_no_time_is_on_no_day() -> None:
    assert found([step(0, "h", None), step(1, "a", None)]) == []
    assert found([]) == []


@pytest.mark.parametrize(
    ("count", "level"), [(0, 0), (1, 1), (5, 1), (20, 2), (60, 3), (200, 4)], ids=lambda value: str(value)
)
def test_heat_is_told_by_quarters_of_the_days_there_are(count: int, level: int) -> None:
    assert level_of(count, [1, 5, 20, 30, 60, 70, 150, 200]) == level


def test_one_single_day_is_neither_hot_nor_missing() -> None:
    assert level_of(7, [7]) == 1


def test_a_month_begins_on_the_weekday_it_begins_on() -> None:
    weeks = weeks_of(2026, 11)

    assert weeks[0] == [None] * 6 + [date(2026, 11, 1)]
    assert weeks[-1][0] == date(2026, 11, 30)
    assert all(len(week) == 7 for week in weeks)


def test_paging_keeps_the_number_of_the_day_where_there_is_one() -> None:
    assert (month_after(2026, 11, 2), month_after(2026, 1, -1), month_after(2026, 2, -12)) == (
        (2027, 1),
        (2025, 12),
        (2025, 2),
    )
    assert (same_day(date(2026, 1, 31), 2026, 2), same_day(date(2024, 2, 29), 2025, 2)) == (
        date(2026, 2, 28),
        date(2025, 2, 28),
    )
