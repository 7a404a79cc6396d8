"""Which turns stay: tail, days, range; the cap, the last compaction, and what a person is told of it (spec W3-W5, W14)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from sessions.core.plan import digest_of, spans_of, warnings_of
from sessions.core.ranges import BadSelection, By, End
from sessions.core.selection import Chosen, Ground, Mode, Selection, choose
from sessions.core.turns import Turn, turns_of
from sessions.tests.surgeries import end, ground, idx_of, picked, start, step, steps_at

# A lead of two lines, then three turns: 2-4, 5-6, 7-9.
KINDS = "mcharhahaa"
DAY = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
STEPS = steps_at(KINDS, *(DAY + timedelta(minutes=number) for number in range(len(KINDS))))


def tail(retain: int, **more: Any) -> Selection:
    return Selection(Mode.TAIL, retain=retain, **more)


def refusal(selection: Selection, ground: Ground) -> BadSelection:
    with pytest.raises(BadSelection) as refused:
        choose(selection, ground)
    return refused.value


@pytest.mark.parametrize(
    ("retain", "expected"),
    [
        pytest.param(300, [(2, 4), (5, 6), (7, 9)], id="all that fits"),
        pytest.param(299, [(5, 6), (7, 9)], id="one token short"),
        pytest.param(100, [(7, 9)], id="exactly the last"),
        pytest.param(99, [(7, 9)], id="the last always stays"),
        pytest.param(0, [(7, 9)], id="even where nothing may stay"),
        pytest.param(10**9, [(2, 4), (5, 6), (7, 9)], id="more than there is, never the lead"),
    ],
)
def test_a_tail_is_the_newest_turns_that_fit(retain: int, expected: list[tuple[int, int]]) -> None:
    chosen = choose(tail(retain), ground(STEPS))

    assert idx_of(chosen) == expected
    assert chosen.tokens == 100 * len(expected)
    assert (chosen.start, chosen.end) == (STEPS[expected[0][0]], STEPS[9])


def test_a_tail_has_no_holes() -> None:
    weights = {2: 10, 5: 1_000, 7: 10}
    uneven = replace(ground(STEPS), weigh=lambda turn: weights[turn.first])

    assert idx_of(choose(tail(500), uneven)) == [(7, 9)]


def test_a_tail_may_be_measured_by_what_was_said_instead_of_what_is_kept() -> None:
    heavy = [one._replace(tokens=1_000) for one in STEPS]

    chosen = choose(tail(2_999, as_said=True), ground(heavy))

    assert idx_of(chosen) == [(7, 9)]
    assert chosen.tokens == 100


@pytest.mark.parametrize(
    ("floor", "expected"),
    [
        pytest.param(0, [(2, 4), (5, 6), (7, 9)], id="never compacted"),
        pytest.param(5, [(5, 6), (7, 9)], id="compacted between two turns"),
        pytest.param(6, [(7, 9)], id="a turn that was cut through does not come back"),
        pytest.param(7, [(7, 9)], id="compacted before the last turn"),
    ],
)
def test_a_tail_does_not_reach_behind_the_last_compaction(floor: int, expected: list[tuple[int, int]]) -> None:
    assert idx_of(choose(tail(10**9), ground(STEPS, floor=floor))) == expected


@pytest.mark.parametrize("floor", [8, 9, 10])
def test_where_nothing_was_said_since_the_compaction_a_tail_is_refused(floor: int) -> None:
    assert refusal(tail(10**9), ground(STEPS, floor=floor)).code == "no-turn-since-compaction"


@pytest.mark.parametrize("floor", [6, 8, 10])
def test_a_tail_reaches_behind_the_compaction_where_that_is_asked_for(floor: int) -> None:
    chosen = choose(tail(10**9, revive=True), ground(STEPS, floor=floor))

    assert idx_of(chosen) == [(2, 4), (5, 6), (7, 9)]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        pytest.param(start(By.IDX, "5"), end(By.IDX, "6"), [(5, 6)], id="exactly a turn"),
        pytest.param(start(By.IDX, "6"), end(By.IDX, "7"), [(5, 6), (7, 9)], id="from back, to forward"),
        pytest.param(start(By.IDX, "3"), end(By.IDX, "3"), [(2, 4)], id="inside of one turn"),
        pytest.param(start(By.IDX, "0"), end(By.IDX, "3"), [(2, 4)], id="from within the lead"),
        pytest.param(None, end(By.IDX, "5"), [(2, 4), (5, 6)], id="no beginning: the head"),
        pytest.param(start(By.IDX, "6"), None, [(5, 6), (7, 9)], id="no end: the tail"),
        pytest.param(None, None, [(2, 4), (5, 6), (7, 9)], id="no end at all"),
        pytest.param(start(By.UUID, "00000005"), end(By.TIME, "2026-03-01 10:06"), [(5, 6)], id="uuid and time"),
        pytest.param(start(By.TIME, "2026-03-01T02:05:30Z"), end(By.IDX, "9"), [(5, 6), (7, 9)], id="time and idx"),
        pytest.param(start(By.IDX, "2"), end(By.UUID, "00000004"), [(2, 4)], id="idx and uuid"),
    ],
)
def test_a_range_is_cut_at_whole_turns(first: End | None, last: End | None, expected: list[tuple[int, int]]) -> None:
    assert idx_of(choose(picked(first, last), ground(STEPS))) == expected


def test_a_range_tells_the_events_its_ends_meant() -> None:
    chosen = choose(picked(start(By.IDX, "6"), end(By.IDX, "8")), ground(STEPS))

    assert (chosen.start, chosen.end) == (STEPS[6], STEPS[8])


def test_a_range_may_reach_behind_a_compaction() -> None:
    assert idx_of(choose(picked(start(By.IDX, "2")), ground(STEPS, floor=7))) == [(2, 4), (5, 6), (7, 9)]


def test_a_range_that_begins_behind_its_end_is_refused_and_both_are_named() -> None:
    refused = refusal(picked(start(By.IDX, "7"), end(By.IDX, "3")), ground(STEPS))

    assert (refused.code, refused.values) == ("from-after-to", {"start": STEPS[7], "end": STEPS[3]})


def test_one_event_at_both_ends_is_a_range() -> None:
    assert idx_of(choose(picked(start(By.IDX, "5"), end(By.IDX, "5")), ground(STEPS))) == [(5, 6)]


def test_a_range_in_the_lead_is_refused_and_the_first_message_is_named() -> None:
    refused = refusal(picked(None, end(By.IDX, "1")), ground(STEPS))

    assert (refused.code, refused.values) == ("empty-range", {"first": 2})


def test_what_an_end_cannot_mean_is_refused() -> None:
    assert refusal(picked(start(By.IDX, "99")), ground(STEPS)).code == "no-such-idx"


@pytest.mark.parametrize(
    "selection", [tail(100), tail(0, revive=True), Selection(Mode.DAYS, days=(date(2026, 3, 1),)), picked()]
)
@pytest.mark.parametrize("kinds", ["", "mcara"], ids=["an empty session", "nothing that a person said"])
def test_where_the_person_said_nothing_nothing_can_be_chosen(selection: Selection, kinds: str) -> None:
    assert refusal(selection, ground(steps_at(kinds))).code == "no-turn"


# Four turns on three days in Shanghai, the second over midnight; the first has no time.
NIGHT = [
    step(0, "h"), step(1, "a"),
    step(2, "h", datetime(2026, 3, 1, 15, 59, 59, tzinfo=UTC)), step(3, "a", datetime(2026, 3, 1, 16, 30, tzinfo=UTC)),
    step(4, "h", datetime(2026, 3, 1, 16, 0, tzinfo=UTC)), step(5, "a", datetime(2026, 3, 1, 16, 31, tzinfo=UTC)),
    step(6, "h", datetime(2026, 3, 9, 1, 0, tzinfo=UTC)),
]  # fmt: skip


def days(*numbers: int, cap: int = 100_000) -> Selection:
    return Selection(Mode.DAYS, days=tuple(date(2026, 3, number) for number in numbers), cap=cap)


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        pytest.param(days(1), [(2, 3)], id="until midnight, and over it with its turn"),
        pytest.param(days(2), [(4, 5)], id="from midnight on"),
        pytest.param(days(1, 2), [(2, 3), (4, 5)], id="two days"),
        pytest.param(days(9, 1), [(2, 3), (6, 6)], id="with a hole between, in any order"),
        pytest.param(days(1, 1), [(2, 3)], id="a day twice"),
    ],
)
def test_days_keep_the_turns_whose_message_was_on_them(selection: Selection, expected: list[tuple[int, int]]) -> None:
    assert idx_of(choose(selection, ground(NIGHT))) == expected


def test_a_day_without_words_is_refused_and_the_nearest_are_named() -> None:
    refused = refusal(days(1, 4, 5), ground(NIGHT))

    assert refused.code == "no-such-day"
    assert refused.values["missing"] == [date(2026, 3, 4), date(2026, 3, 5)]
    assert refused.values["days"] == [date(2026, 3, 1), date(2026, 3, 2), date(2026, 3, 9)]


def test_a_day_is_refused_where_no_time_is_known_at_all() -> None:
    refused = refusal(days(1), ground(steps_at("haha")))

    assert (refused.code, refused.values["days"]) == ("no-such-day", [])


def test_no_day_at_all_is_refused() -> None:
    assert refusal(Selection(Mode.DAYS), ground(NIGHT)).code == "no-day"


@pytest.mark.parametrize(
    ("cap", "expected", "capped"),
    [
        pytest.param(300, [(2, 4), (5, 6), (7, 9)], 0, id="exactly the cap"),
        pytest.param(299, [(5, 6), (7, 9)], 1, id="the oldest goes"),
        pytest.param(100, [(7, 9)], 2, id="the two oldest go"),
        pytest.param(1, [(7, 9)], 2, id="never the last one"),
    ],
)
def test_what_is_over_the_cap_goes_from_the_oldest_side(cap: int, expected: list[tuple[int, int]], capped: int) -> None:
    chosen = choose(picked(cap=cap), ground(STEPS))

    assert (idx_of(chosen), chosen.capped) == (expected, capped)
    assert chosen.tokens == 100 * len(expected)


def test_days_are_capped_like_a_range_and_the_last_of_them_stays() -> None:
    chosen = choose(days(1, 2, cap=150), ground(NIGHT))

    assert (idx_of(chosen), chosen.capped) == ([(4, 5)], 1)


def test_neighbours_are_one_stretch_and_a_hole_parts_them() -> None:
    turns = turns_of(NIGHT)

    assert spans_of(turns) == [(0, 6)]
    assert spans_of([turns[0], turns[1], turns[3]]) == [(0, 3), (6, 6)]
    assert spans_of([]) == []


def test_the_digest_tells_one_choice_of_lines_from_another() -> None:
    choices = [["a", "b"], ["b", "a"], ["ab"], ["a"], [], ["a", "b", ""]]

    assert len({digest_of(choice) for choice in choices}) == len(choices)
    assert digest_of(["\ud83d"])


def told(chosen: Chosen, *, floor: int = 0, **more: int) -> dict[str, dict[str, Any]]:
    figures = {"used_before": 100_000, "used_after": 10_000, "window": 200_000, "compacts_at": 160_000} | more
    figures.setdefault("thinking_dropped", 0)
    return {one["code"]: one for one in warnings_of(chosen, STEPS, floor=floor, **figures)}


def chosen_of(selection: Selection, weigh: Callable[[Turn], int] = lambda turn: 100) -> Chosen:
    return choose(selection, replace(ground(STEPS), weigh=weigh))


@pytest.mark.parametrize(
    ("selection", "codes"),
    [
        pytest.param(tail(10**6), set(), id="a tail: nothing to tell"),
        pytest.param(picked(start(By.IDX, "5")), set(), id="an end that is a border"),
        pytest.param(picked(start(By.IDX, "6")), {"cut-differs"}, id="a beginning within a turn"),
        pytest.param(picked(start(By.IDX, "0")), {"cut-differs"}, id="a beginning within the lead"),
        pytest.param(picked(None, end(By.IDX, "6")), {"newest-dropped", "cut-differs"}, id="the newest stays behind"),
        pytest.param(picked(cap=150), {"cap-cut"}, id="over the cap"),
    ],
)
def test_a_person_is_told_where_the_cut_is_not_what_was_asked_for(selection: Selection, codes: set[str]) -> None:
    assert set(told(chosen_of(selection))) == codes


def test_a_person_is_told_how_many_events_come_back_from_before_a_compaction() -> None:
    apart = Chosen([turns_of(STEPS)[0], turns_of(STEPS)[2]], 200, STEPS[2], STEPS[9])

    assert told(apart, floor=8)["compaction-crossed"]["events"] == 3 + 1


@pytest.mark.parametrize(
    ("after", "codes"),
    [(144_000, set()), (144_001, {"near-compaction"}), (190_000, {"near-compaction"})],
    ids=["in time", "nine tenths of the way", "beyond it"],
)
def test_a_person_is_told_that_the_new_window_is_nearly_full(after: int, codes: set[str]) -> None:
    assert set(told(chosen_of(tail(10**6)), used_before=195_000, used_after=after)) == codes


@pytest.mark.parametrize(("before", "codes"), [(11_000, {"no-gain"}), (12_000, set()), (0, set())])
def test_a_person_is_told_that_little_is_won(before: int, codes: set[str]) -> None:
    assert set(told(chosen_of(tail(10**6)), used_before=before, used_after=10_000)) == codes


def test_a_person_is_told_that_thinking_is_left_out() -> None:
    assert told(chosen_of(tail(10**6)), thinking_dropped=3)["thinking-dropped"]["blocks"] == 3
