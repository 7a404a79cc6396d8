"""What a turn is, whose day it belongs to, and whether it is over."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from sessions.core.turns import is_mid_turn, turn_at, turns_of
from sessions.tests.surgeries import SHANGHAI, step, steps_at, talk
from sessions.tests.transcripts import (
    assistant,
    attachment,
    boundary,
    progress,
    queued,
    summary,
    tool_result,
    tool_use,
    user,
)


def spans(kinds: str) -> list[tuple[int, int]]:
    return [(turn.first, turn.last) for turn in turns_of(steps_at(kinds))]


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        pytest.param("haha", [(0, 1), (2, 3)], id="from one message of the person to the next"),
        pytest.param("harqra", [(0, 5)], id="what was said while it ran belongs to it"),
        pytest.param("hacctma", [(0, 6)], id="commands, deliveries and interruptions belong to it"),
        pytest.param("mcaha", [(3, 4)], id="what stands before the first message is no turn"),
        pytest.param("hhh", [(0, 0), (1, 1), (2, 2)], id="a message without an answer is a turn"),
        pytest.param("", [], id="nothing at all"),
        pytest.param("mcar", [], id="nothing that a person said"),
        pytest.param("qar", [], id="a queued message begins no turn"),
    ],
)
def test_a_turn_begins_with_a_persons_message_and_ends_before_the_next(
    kinds: str, expected: list[tuple[int, int]]
) -> None:
    assert spans(kinds) == expected


def test_what_only_the_client_uses_is_in_no_turn() -> None:
    source = talk(
        user("how is the mint?"), progress(), attachment("file"), assistant([tool_use("t1")]), tool_result("t1"),
        queued(), assistant(), boundary(), summary(), assistant("on we go"),
    )  # fmt: skip

    assert [step.kind for step in source.steps] == ["h", "a", "r", "q", "a", "a"]
    assert [(turn.first, turn.last) for turn in source.turns] == [(0, 5)]


@pytest.mark.parametrize(
    ("stamp", "day"),
    [
        pytest.param("2026-03-01T15:59:59Z", date(2026, 3, 1), id="a second before midnight"),
        pytest.param("2026-03-01T16:00:00Z", date(2026, 3, 2), id="midnight"),
        pytest.param("2026-02-28T16:00:00Z", date(2026, 3, 1), id="the first second of the day"),
        pytest.param("9999-12-31T23:00:00Z", None, id="beyond the calendar"),
        pytest.param("0001-01-01T00:00:00Z", date(1, 1, 1), id="where the calendar begins"),
    ],
)
def test_the_day_of_a_turn_is_counted_in_shanghai(stamp: str, day: date | None) -> None:
    (turn,) = turns_of([step(0, "h", datetime.fromisoformat(stamp))])

    assert turn.day(SHANGHAI) == day


def test_a_turn_that_runs_over_midnight_belongs_to_the_day_of_its_message() -> None:
    before, after = datetime(2026, 3, 1, 15, 59, tzinfo=UTC), datetime(2026, 3, 1, 17, 30, tzinfo=UTC)

    (turn,) = turns_of(steps_at("hara", before, after, after, after))

    assert turn.day(SHANGHAI) == date(2026, 3, 1)


def test_a_message_without_a_time_borrows_that_of_what_followed_it() -> None:
    later = datetime(2026, 3, 1, 17, 0, tzinfo=UTC)

    turns = turns_of(steps_at("haha", None, later, None, None))

    assert [turn.at for turn in turns] == [later, None]
    assert [turn.day(SHANGHAI) for turn in turns] == [date(2026, 3, 2), None]


@pytest.mark.parametrize(
    ("idx", "number"), [(0, None), (1, None), (2, 0), (4, 0), (5, 1), (6, 2), (7, 2)], ids=lambda it: f"{it}"
)
def test_an_event_is_found_in_its_turn(idx: int, number: int | None) -> None:
    turns = turns_of(steps_at("mcharhha"))

    assert turn_at(turns, idx) == number


def mid(*records: dict[str, object]) -> bool:
    return is_mid_turn(talk(*records).steps)


CALL = assistant([tool_use("t1")], message="m1")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        pytest.param([], False, id="nothing was said"),
        pytest.param([user()], True, id="a message without an answer"),
        pytest.param([user(), assistant()], False, id="an answer"),
        pytest.param([user(), CALL], True, id="a call under way"),
        pytest.param([user(), CALL, tool_result("t1")], True, id="a result without an answer"),
        pytest.param([user(), CALL, tool_result("t1"), assistant()], False, id="a result and its answer"),
        pytest.param([user(), CALL, tool_result("t1"), queued()], True, id="a queued message"),
        pytest.param([user(), assistant("API Error", isApiErrorMessage=True)], False, id="the API refused"),
        pytest.param([user(), user("[Request interrupted by user]")], False, id="an interruption"),
        pytest.param([user(), assistant(), user("<command-name>/clear</command-name>")], False, id="a slash command"),
        pytest.param(
            [user(), assistant(), user("<task-notification>", origin={"kind": "task-notification"})],
            True,
            id="a delivery that is not answered yet",
        ),
        pytest.param([user(), assistant(), attachment("file")], False, id="a file beside the talk"),
    ],
)
def test_whether_the_last_turn_is_still_under_way(records: list[dict[str, object]], expected: bool) -> None:
    assert mid(*records) is expected
