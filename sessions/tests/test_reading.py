"""Folding lines into rows and figures."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from sessions.core.batches import RawLine
from sessions.core.reading import PREVIEW, clean, time_of
from sessions.tests.readings import read
from sessions.tests.transcripts import (
    MODEL,
    Record,
    Talk,
    ai_title,
    assistant,
    boundary,
    custom_title,
    last_prompt,
    progress,
    queued,
    raw_lines,
    summary,
    thinking,
    tool_result,
    tool_use,
    usage,
    user,
)  # fmt: skip


def lines(*records: Record | bytes | None) -> list[RawLine]:
    """Records linked one after another; bytes and None stay as they are."""
    talk = Talk()
    return raw_lines(*(talk.link(record)[0] if isinstance(record, dict) else record for record in records))


def answer(uuid: str, message: str, used: int = 0, **more: Any) -> Record:
    return assistant("ok", uuid=uuid, message=message, used=used, **more)


def test_every_dialogue_line_gets_its_place_and_a_helper_gets_none() -> None:
    reading = read(
        lines(user(uuid="u1"), progress(), answer("a1", "m1"), {"type": "system", "uuid": "y1"}, queued(uuid="q1"))
    )

    assert reading.places == {"u1": 0, "a1": 1, "y1": None, "q1": 2}


def test_a_row_says_where_its_line_stands_in_the_file() -> None:
    given = lines(user("盆"), b"", user("mint"))

    rows = read(given).rows

    assert {seq: (row.offset, row.length) for seq, row in rows.items()} == {
        0: (given[0].offset, given[0].length), 2: (given[2].offset, given[2].length)
    }  # fmt: skip


def test_straight_talk_never_asks_for_the_whole_thread() -> None:
    calls = [answer("a1", "m1", 20_000), answer("a2", "m1", 20_000)]
    results = [tool_result("t1", parentUuid="a1", uuid="r1"), tool_result("t2", parentUuid="a2", uuid="r2")]

    reading = read(
        lines(user(), *calls, *results, answer("a3", "m2"), boundary(), summary(), user(), answer("a4", "m3"))
    )

    assert reading.rethreads == 0


@pytest.mark.parametrize(
    "stranger",
    [user(parentUuid=None), user(parentUuid="lost"), user(parentUuid="u1"), last_prompt("u0")],
    ids=["new-root", "lost-parent", "rewind", "pin"],
)
def test_what_does_not_continue_the_thread_asks_for_it_anew(stranger: Record) -> None:
    reading = read(lines(user(uuid="u0"), user(uuid="u1"), user(uuid="u2"), stranger))

    assert reading.rethreads == 1


def test_a_progress_line_is_reached_over_and_stored_nowhere() -> None:
    reading = read(lines(user(uuid="u1"), progress(), progress(), answer("a1", "m1")))

    assert [(row.uuid, row.parent) for row in reading.rows.values()] == [("u1", None), ("a1", "u1")]
    assert reading.rethreads == 0


def test_a_hundred_progress_lines_in_a_row_are_reached_over() -> None:
    reading = read(lines(user(uuid="u1"), *[progress() for _ in range(100)], answer("a1", "m1")))

    assert reading.rows[101].parent == "u1"


def test_of_one_message_on_several_lines_the_last_report_counts_once() -> None:
    first = {**answer("a1", "m1", 20_000)}
    second = answer("a2", "m1") | {
        "message": {"id": "m1", "model": MODEL, "content": [], "usage": usage(20_000, output=90)}
    }

    reading = read(lines(user(), first, second))

    assert list(reading.points) == ["m1"]
    assert (reading.points["m1"].seq, reading.points["m1"].usage.output) == (2, 90)


def test_a_message_without_an_id_counts_by_its_line() -> None:
    nameless = answer("a1", "m1", 20_000)
    del nameless["message"]["id"]

    assert list(read(lines(user(), nameless)).points) == ["a1"]


@pytest.mark.parametrize(
    "silent",
    [
        answer("a2", "m2"),
        answer("a2", "m2") | {"message": {"id": "m2", "content": [], "usage": usage(0)}},
        answer("a2", "m2", 99_000, model="<synthetic>"),
        answer("a2", "m2", 99_000, isApiErrorMessage=True),
        answer("a2", "m2", 99_000, isSidechain=True),
    ],
    ids=["no-usage", "zeroed", "synthetic", "api-error", "side-chain"],
)
def test_a_line_that_reports_nothing_real_leaves_the_usage_alone(silent: Record) -> None:
    reading = read(lines(user(), answer("a1", "m1", 20_000), silent))

    assert (reading.state.used, reading.state.used_seq) == (20_000, 1)


def test_a_side_line_has_a_row_off_the_thread_and_its_usage_is_kept_apart() -> None:
    reading = read(lines(user(), answer("a1", "m1", 20_000), answer("x1", "m2", 99_000, isSidechain=True)))

    assert (reading.rows[2].side, reading.rows[2].live, reading.rows[2].idx) == (True, False, None)
    assert reading.points["m2"].live is False
    assert reading.state.most_used == 20_000


def test_a_compaction_empties_the_window_and_tells_what_is_left() -> None:
    reading = read(lines(user(), answer("a1", "m1", 160_000), boundary(9_000), summary()))

    state = reading.state
    assert (state.used_seq, state.after_boundary, state.compactions, state.boundary) == (-1, 9_000, 1, 2)
    assert state.most_used == 160_000


@pytest.mark.parametrize(
    ("after", "left"),
    [(None, 0), (-5, 0), (12_345.6, 12_345), (10**30, 100_000_000), ("many", 0)],
    ids=["unsaid", "negative", "float", "absurd", "words"],
)
def test_what_a_compaction_left_is_a_sane_number(after: object, left: int) -> None:
    assert read(lines(user(), boundary(after))).state.after_boundary == left


def test_only_what_came_after_the_compaction_weighs() -> None:
    before = read(lines(user("mint " * 500), answer("a1", "m1"))).state.weight

    after = read(lines(user("mint " * 500), answer("a1", "m1"), boundary(), user("mint tea"))).state.weight

    assert before > 400
    assert 0 < after < 5


def test_usage_after_the_compaction_is_reported_again() -> None:
    reading = read(lines(user(), answer("a1", "m1", 160_000), boundary(9_000), summary(), answer("a2", "m2", 31_000)))

    assert (reading.state.used, reading.state.used_seq) == (31_000, 4)


def talk_that_grows(factor: float) -> list[Record | bytes | None]:
    """Calls whose reported growth is `factor` times what the words between them are estimated at."""
    records: list[Record | bytes | None] = []
    for number in range(6):
        records += [user("mint and basil grow on the balcony. " * 100), answer(f"a{number}", f"m{number}")]
    weights = {seq: sum(row.parts) for seq, row in read(lines(*records)).rows.items()}
    used = 20_000.0
    for number in range(6):
        used += factor * (weights[2 * number] + weights.get(2 * number - 1, 0))
        records[2 * number + 1] = answer(f"a{number}", f"m{number}", round(used))
    return records


@pytest.mark.parametrize(
    ("factor", "learnt"),
    [(1.0, 1.0), (1.4, 1.4), (0.7, 0.7), (9.0, 2.0), (0.1, 0.5)],
    ids=["as-estimated", "more", "less", "most", "least"],
)
def test_the_estimate_learns_from_reported_growth_within_bounds(factor: float, learnt: float) -> None:
    assert read(lines(*talk_that_grows(factor))).state.calibration == pytest.approx(learnt, rel=0.01)


def test_too_little_growth_teaches_nothing() -> None:
    reading = read(lines(user("mint"), answer("a1", "m1", 20_000), user("basil"), answer("a2", "m2", 20_900)))

    assert reading.state.calibration == 1.0


@pytest.mark.parametrize(
    "bad", [b"{half", b"[]", b"12", b'{"x":NaN}', None], ids=["half", "array", "number", "nan", "too-long"]
)
def test_a_bad_line_is_counted_and_changes_nothing_else(bad: bytes | None) -> None:
    good = (
        user(uuid="u1", timestamp="2026-03-01T08:00:00Z"),
        answer("a1", "m1", 20_000, timestamp="2026-03-01T08:00:01Z"),
    )

    reading = read(lines(good[0], bad, good[1]))

    without = read(lines(good[0], b"", good[1]))
    assert [raw.seq for raw, _ in reading.bad] == [1]
    assert reading.state.events == without.state.events == 2
    assert reading.places == without.places


def test_the_reason_of_a_bad_line_is_told_in_words() -> None:
    reading = read(lines(b"{half", None))

    reasons = [reason for _, reason in reading.bad]
    assert "not JSON" in reasons[0]
    assert "longer than the console reads" in reasons[1]


def test_a_file_of_bad_and_blank_lines_only_has_no_events() -> None:
    reading = read(lines(b"", b"x", b" "))

    assert (reading.state.events, len(reading.bad), reading.rows) == (0, 1, {})


def test_titles_and_facts_come_from_the_lines() -> None:
    reading = read(
        lines(
            user("first words", cwd="/srv/a", sessionId="s1"), user("second words", cwd="/srv/b"),
            answer("a1", "m1", 9, version="2.1.400"),
            custom_title("old"), ai_title("guess"), custom_title("new"), {"type": "summary", "summary": "of another session"},
        )
    )  # fmt: skip

    state = reading.state
    assert (state.custom_title, state.ai_title, state.first_words) == ("new", "guess", "first words")
    assert (state.cwd, state.session_id, state.version, state.model) == ("/srv/a", "s1", "2.1.400", MODEL)


def test_first_words_are_a_persons() -> None:
    assert (
        read(
            lines(user("<command-name>/init</command-name>"), user("Caveat", isMeta=True), user("hello"))
        ).state.first_words
        == "hello"
    )


def test_human_messages_are_those_of_the_live_thread() -> None:
    reading = read(
        lines(user(uuid="u1"), answer("a1", "m1"), user(uuid="u2"), queued(), user(uuid="u3", parentUuid="a1"))
    )

    assert reading.state.humans == 2


@pytest.mark.parametrize(
    ("record", "preview"),
    [
        (user("two\n\n lines\tof  it"), "two lines of it"),
        (user("a\x00b"), "a\ufffdb"),
        (user("x" * 500), "x" * PREVIEW),
        (user("盆" * 500), "盆" * PREVIEW),
        (assistant([thinking("secret"), {"type": "text", "text": "said"}]), "said"),
        (assistant([tool_use("t1")]), None),
        (tool_result("t1", "long output"), None),
        (user("<command-name>/x</command-name>"), None),
        (user("side", isSidechain=True), None),
    ],
    ids=["folded", "nul", "long", "wide", "no-thinking", "call", "result", "command", "side"],
)
def test_a_preview_is_short_clean_and_only_for_words(record: Record, preview: str | None) -> None:
    assert read(lines(record)).rows[0].preview == preview


def test_a_lone_surrogate_does_not_reach_a_row() -> None:
    raw = rb'{"type":"user","uuid":"u\ud83d","message":{"content":"pot \ud83d here"}}'

    row = read(lines(raw)).rows[0]

    assert row.preview == "pot ? here"
    assert row.uuid.encode()


@pytest.mark.parametrize("text", ["", " \n ", "\x00" * 3, "x" * 10_000, "\ud83d" * 10, "\u2028a\u2029b\u0085c"])
def test_cleaned_text_fits_a_row(text: str) -> None:
    cleaned = clean(text, 20)

    assert len(cleaned) <= 20
    assert cleaned == " ".join(cleaned.split())
    assert "\x00" not in cleaned
    assert cleaned.encode() is not None


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-03-01T08:00:00.123Z", datetime(2026, 3, 1, 8, 0, 0, 123_000, tzinfo=UTC)),
        ("2026-03-01T16:00:00+08:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("2026-03-01T08:00:00", datetime(2026, 3, 1, 8, tzinfo=UTC)),
        ("0001-01-01T00:00:00+14:00", None),
        ("9999-12-31T23:59:59-14:00", None),
        ("[trimmed]", None),
        ("", None),
        (None, None),
    ],
    ids=["client", "zone", "no-zone", "too-early", "too-late", "words", "empty", "none"],
)
def test_a_time_is_read_as_utc_or_not_at_all(text: str | None, at: datetime | None) -> None:
    assert time_of(text) == at


def test_tokens_stand_in_their_parts() -> None:
    reading = read(
        lines(
            user("words"), assistant([thinking("thought")], uuid="a1", message="m1"),
            assistant([tool_use("t1")], uuid="a2", message="m1"), tool_result("t1"),
            user([{"type": "image", "source": {"type": "url"}}]), user("meta", isMeta=True),
        )
    )  # fmt: skip

    filled = [[place for place, tokens in enumerate(row.parts) if tokens] for row in reading.rows.values()]
    assert filled == [[0], [1], [2], [3], [4], [6]]


def test_thinking_that_was_left_out_weighs_what_the_client_reported_or_its_signature() -> None:
    hidden = thinking("", signature="s" * 1200)
    told = assistant([hidden], uuid="a1", message="m1") | {}
    told["message"]["usage"] = usage(9_000) | {"output_tokens_details": {"thinking_tokens": 321}}

    reading = read(lines(told, assistant([hidden], uuid="a2", message="m2")))

    assert [row.parts[1] for row in reading.rows.values()] == [321, 100]


def test_a_call_and_its_result_cost_beside_their_words() -> None:
    reading = read(lines(assistant([{"type": "tool_use", "id": "t1"}], uuid="a1", message="m1"), tool_result("t1", "")))

    assert [sum(row.parts) for row in reading.rows.values()] == [41, 41]
