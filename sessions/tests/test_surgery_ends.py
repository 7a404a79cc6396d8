"""The ends of a new file and its times: hand-off, closing line, title (spec W7; transcripts.md, facts 5 and 6)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sessions.core.surgery import CLOSING_WORDS, stamp
from sessions.tests.surgeries import (
    HANDOFF,
    NOW,
    TARGET,
    Copied,
    copy,
    source,
    talk,
)
from sessions.tests.transcripts import (
    Record,
    assistant,
    queued,
    thinking,
    tool_result,
    tool_use,
    user,
)


def call(*names: str, message: str = "m1", **more: Any) -> Record:
    return assistant([tool_use(name) for name in names], message=message, **more)


def test_the_hand_off_is_one_marked_line_before_the_first_message() -> None:
    copied = copy(talk(user("one"), assistant("two")), handoff=HANDOFF)

    first = copied.records[0]
    assert (first["message"], first["isMeta"]) == ({"role": "user", "content": HANDOFF}, True)
    assert copied.kinds() == "jha"
    assert copied.faults == []


def test_the_hand_off_of_an_earlier_run_is_not_kept_beside_a_new_one() -> None:
    once = copy(talk(user("one"), assistant("two"), user("three"), assistant("four")), handoff="first")

    twice = copy(source(*once.lines), handoff="second")

    assert twice.kinds() == "jhaha"
    assert [record["message"]["content"] for record in twice.records if record.get("origin")] == ["second"]


@pytest.mark.parametrize(
    "end",
    [
        pytest.param([], id="a message without an answer"),
        pytest.param([call("t1"), tool_result("t1")], id="a result"),
        pytest.param([call("t1"), tool_result("t1"), queued()], id="a queued message"),
        pytest.param([user("[Request interrupted by user]")], id="an interruption"),
        pytest.param([call("t1")], id="a call that goes as it has no result"),
        pytest.param([assistant([thinking()])], id="thinking that goes as it has no words"),
    ],
)
def test_a_closing_line_is_written_where_the_file_would_end_in_a_user_line(end: list[Record]) -> None:
    copied = copy(talk(user("one"), *end))

    assert copied.records[-1]["message"]["content"] == [{"type": "text", "text": CLOSING_WORDS}]
    assert copied.records[-1]["message"]["model"] == "<synthetic>"
    assert copied.records[-1]["timestamp"] == stamp(NOW)
    assert copied.faults == []


@pytest.mark.parametrize("end", [assistant("two"), assistant("API Error: 500", isApiErrorMessage=True)])
def test_no_closing_line_is_written_behind_an_answer(end: Record) -> None:
    copied = copy(talk(user("one"), end))

    assert len(copied.records) == 2
    assert copied.records[-1]["timestamp"] == stamp(NOW)


def test_the_title_is_the_very_last_line() -> None:
    copied = copy(talk(user("one"), assistant("two")), title="薄荷")

    assert copied.records[-1] == {"type": "custom-title", "customTitle": "薄荷", "sessionId": TARGET}
    assert copied.faults == []


def times(copied: Copied) -> list[str]:
    return [record["timestamp"] for record in copied.records]


def test_times_stay_as_the_file_spells_them_but_for_the_last() -> None:
    spelled = [
        "2026-03-01T08:00:00.123Z",
        "2026-03-01T08:00:01Z",
        "2026-03-01T16:00:02.1234567+08:00",
        "2026-03-01T08:00:03Z",
    ]
    records = [user("one"), assistant("two"), user("three"), assistant("four")]

    copied = copy(talk(*(record | {"timestamp": at} for record, at in zip(records, spelled, strict=True))))

    assert times(copied) == [*spelled[:3], stamp(NOW)]


@pytest.mark.parametrize(
    "odd",
    ["20260301T080010Z", "2026-03-01 08:00:10", "2026-03-01T08:00:10", "2026-03-01T08:00:10,000Z", "2026-03-01T08:00:10+00:00:00"],
)  # fmt: skip
def test_a_time_that_only_some_clients_read_is_written_anew(odd: str) -> None:
    copied = copy(talk(user("one", timestamp=odd), assistant("two")))

    assert times(copied)[0] == "2026-03-01T08:00:10.000Z"


@pytest.mark.parametrize("none", [None, "", "soon", 1_772_352_000, "2026-02-30T00:00:00Z", ["2026-03-01T08:00:00Z"]])
def test_a_line_without_a_time_gets_that_of_the_line_before(none: Any) -> None:
    copied = copy(talk(user("one"), assistant("two", timestamp=none), user("three", timestamp=none), assistant("four")))

    assert len(set(times(copied)[:3])) == 1
    assert copied.faults == []


def test_a_first_line_without_a_time_is_older_than_all() -> None:
    copied = copy(talk(user("one", timestamp="?"), assistant("two"), user("three"), assistant("four")), handoff=HANDOFF)

    assert times(copied)[:2] == ["2000-01-01T00:00:00.000Z"] * 2
    assert copied.faults == []


@pytest.mark.parametrize("ahead", [timedelta(0), timedelta(milliseconds=1), timedelta(days=3_000)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_no_line_is_as_new_as_the_last_one(ahead: timedelta, place: int) -> None:
    records = [user("one"), assistant("two"), user("three"), assistant("four")]
    records[place]["timestamp"] = stamp(NOW + ahead)

    copied = copy(talk(*records), handoff=HANDOFF)

    assert max(times(copied)[:-1]) < times(copied)[-1] == stamp(NOW)
    assert copied.faults == []
