"""The ends of a range: idx, uuid, time, in every form people type them (spec W4)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sessions.core.ranges import NAMED_CANDIDATES, BadSelection, By, End, Side, resolve
from sessions.core.turns import Step
from sessions.tests.surgeries import SHANGHAI, end, start, step, steps_at

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def local(clock: str) -> datetime:
    """A time of the first of March in Shanghai."""
    return datetime.fromisoformat(f"2026-03-01T{clock}+08:00")


# One every five minutes from four in the afternoon: idx 0 to 5.
STEPS = steps_at("hahaha", *(local(f"16:{minute:02}:00") for minute in range(0, 30, 5)))


def found(end: End, steps: list[Step] = STEPS) -> int:
    return resolve(end, steps, zone=SHANGHAI, now=NOW).idx


def refusal(end: End, steps: list[Step] = STEPS) -> BadSelection:
    with pytest.raises(BadSelection) as refused:
        resolve(end, steps, zone=SHANGHAI, now=NOW)
    assert refused.value.values["side"] == end.side
    return refused.value


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        pytest.param("2026-03-01 15:00", 0, 0, id="before everything"),
        pytest.param("2026-03-01 16:00", 0, 0, id="exactly the first"),
        pytest.param("2026-03-01 16:00:01", 0, 1, id="just behind the first"),
        pytest.param("2026-03-01 16:12", 2, 3, id="between two"),
        pytest.param("2026-03-01 16:15", 3, 3, id="exactly one"),
        pytest.param("2026-03-01 16:24:59.999", 4, 5, id="just before the last"),
        pytest.param("2026-03-01 18:00", 5, 5, id="after everything"),
    ],
)
def test_from_takes_the_last_event_at_or_before_a_time_and_to_the_first_at_or_after(
    text: str, first: int, last: int
) -> None:
    assert found(start(By.TIME, text)) == first
    assert found(end(By.TIME, text)) == last


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-03-01 16:10", id="no zone: Shanghai"),
        pytest.param("2026-03-01T16:10:00", id="ISO without a zone: Shanghai"),
        pytest.param("2026/03/01  16:10", id="slashes and spaces"),
        pytest.param("2026-03-01T16:10:00+08:00", id="ISO in Shanghai"),
        pytest.param("2026-03-01T08:10:00Z", id="ISO in UTC"),
        pytest.param("2026-03-01T08:10:00.000Z", id="as the file has it"),
        pytest.param("2026-03-01T03:10:00-05:00", id="ISO far in the west"),
        pytest.param("1772352600", id="Unix seconds"),
        pytest.param("1772352600000", id="Unix milliseconds"),
        pytest.param("16:10", id="a clock time is today's"),
        pytest.param("16:10:00", id="a clock time with seconds"),
        pytest.param("16：10", id="a full-width colon"),
        pytest.param("  16:10 ", id="white space around"),
    ],
)
@pytest.mark.parametrize("side", [start, end], ids=["from", "to"])
def test_a_time_can_be_written_in_every_usual_way(text: str, side: object) -> None:
    assert callable(side)
    assert found(side(By.TIME, text)) == 2


def test_a_day_alone_is_its_midnight_in_shanghai() -> None:
    steps = steps_at("hh", datetime(2026, 2, 28, 15, 59, 59, tzinfo=UTC), datetime(2026, 2, 28, 16, 0, tzinfo=UTC))

    assert found(end(By.TIME, "2026-03-01"), steps) == 1
    assert found(start(By.TIME, "2026-02-28 23:59:59"), steps) == 0


@pytest.mark.parametrize("text", ["yesterday", "25:00", "2026-13-01", "2026-03-01T16:10+99:00", "", "123", "9" * 15])
def test_what_is_no_time_is_refused(text: str) -> None:
    refused = refusal(start(By.TIME, text))

    assert (refused.code, refused.values["text"]) == ("bad-time", text)


def test_with_a_clock_that_jumped_back_the_nearest_event_of_the_thread_is_taken() -> None:
    steps = steps_at("haha", local("16:00"), local("16:20"), local("16:05"), local("16:25"))

    assert found(start(By.TIME, "16:10"), steps) == 2
    assert found(end(By.TIME, "16:10"), steps) == 1


def test_events_without_a_time_are_passed_over() -> None:
    steps = steps_at("hahaha", None, local("16:10"), None, None, local("16:20"), None)

    assert found(start(By.TIME, "16:15"), steps) == 1
    assert found(end(By.TIME, "16:15"), steps) == 4


def test_where_no_event_has_a_time_the_ends_are_those_of_the_session() -> None:
    steps = steps_at("hahaha")

    assert found(start(By.TIME, "16:15"), steps) == 0
    assert found(end(By.TIME, "16:15"), steps) == 5


@pytest.mark.parametrize(("text", "idx"), [("0", 0), ("5", 5), ("#3", 3), (" 04 ", 4)])
def test_an_idx_is_the_event_with_that_number(text: str, idx: int) -> None:
    assert found(start(By.IDX, text)) == idx
    assert found(end(By.IDX, text)) == idx


@pytest.mark.parametrize("text", ["", "-1", "+1", "1.0", "1e3", "x", "１", "1 2", "#", "9999999999"])
def test_what_is_no_number_is_refused(text: str) -> None:
    assert refusal(start(By.IDX, text)).code == "bad-idx"


def test_an_idx_behind_the_last_event_is_refused_and_the_last_is_named() -> None:
    refused = refusal(end(By.IDX, "6"))

    assert (refused.code, refused.values["idx"], refused.values["last"]) == ("no-such-idx", 6, 5)


UUIDS = ["aabbccdd-1111", "aabbccee-2222", "ABBA-3333", "abba-3333-long"]
NAMED = [step(idx, uuid=uuid) for idx, uuid in enumerate(UUIDS)]


@pytest.mark.parametrize(
    ("text", "idx"),
    [
        pytest.param("aabbccd", 0, id="a prefix"),
        pytest.param("AABBCCEE", 1, id="in capitals"),
        pytest.param(" aabbccee-2222 ", 1, id="the whole one"),
        pytest.param("abba-3333", 2, id="the whole one, though another begins with it"),
        pytest.param("abba-3333-", 3, id="one character more"),
    ],
)
def test_a_uuid_is_known_by_its_beginning(text: str, idx: int) -> None:
    assert found(start(By.UUID, text), NAMED) == idx


def test_a_beginning_that_fits_more_than_one_is_refused_and_names_them() -> None:
    refused = refusal(end(By.UUID, "aabb"), NAMED)

    assert refused.code == "ambiguous-uuid"
    assert [step.idx for step in refused.values["candidates"]] == [0, 1]  # type: ignore[attr-defined]


def test_no_more_than_a_few_candidates_are_named() -> None:
    steps = [step(idx, uuid=f"aaaa-{idx}") for idx in range(50)]

    refused = refusal(start(By.UUID, "aaaa"), steps)

    assert len(refused.values["candidates"]) == NAMED_CANDIDATES  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "code"), [("aab", "short-prefix"), ("", "short-prefix"), ("dddd", "no-such-uuid")])
def test_a_beginning_that_says_too_little_or_fits_none_is_refused(text: str, code: str) -> None:
    assert refusal(start(By.UUID, text), NAMED).code == code


def test_what_a_refusal_repeats_is_bounded() -> None:
    ends = [start(By.UUID, "f" * 5_000), start(By.TIME, "x" * 5_000), start(By.IDX, "x" * 5_000)]

    assert all(len(str(refusal(end).values["text"])) <= 40 for end in ends)


def test_the_sides_have_the_names_of_the_command_line() -> None:
    assert [Side.FROM, Side.TO] == ["from", "to"]
