"""A stretch of a transcript as a person reads it (spec S6)."""

from __future__ import annotations

from typing import Any

from sessions.core.events import kind_of
from sessions.core.timeline import MOST_CHARACTERS, MOST_RESULT, Entry, Placed, entries, outline
from sessions.tests.transcripts import (
    Record,
    Talk,
    assistant,
    boundary,
    image,
    line_of,
    queued,
    thinking,
    tool_result,
    tool_use,
    user,
)


def read(*records: Record, agents: dict[int, str] | None = None, too_large: int = -1) -> list[Entry]:
    lines: list[Any] = []
    for seq, record in enumerate(Talk().link(*records)):
        line = line_of(record)
        message = line.message.id if line.message else None
        place = Placed(seq, seq, line.uuid or "", str(kind_of(line)), True, False, None, message, 10, 100)
        lines.append((place, None if seq == too_large else line))
    return entries(lines, agents or {})


def test_the_lines_of_one_message_are_one_entry() -> None:
    found = read(
        user("晚上好"),
        assistant([thinking("先接住")], message="m1"),
        assistant("回来啦", message="m1"),
        assistant([tool_use("t1", path="/notes/mint.md")], message="m1"),
    )

    assert [entry.kind for entry in found] == ["h", "a"]
    assert [cut.text for cut in found[1].thoughts] == ["先接住"]
    assert [cut.text for cut in found[1].words] == ["回来啦"]
    assert [call.target for call in found[1].calls] == ["/notes/mint.md"]
    assert found[1].tokens == 30


def test_a_result_hangs_on_its_call_also_when_two_ran_at_once() -> None:
    found = read(
        user("看看"),
        assistant([tool_use("t1")], message="m1"),
        assistant([tool_use("t2")], message="m1"),
        tool_result("t2", "second"),
        tool_result("t1", "first", is_error=True),
    )

    first, second = found[1].calls
    answers = [call.result.text.text for call in (first, second) if call.result is not None]
    assert answers == ["first", "second"]
    assert outline(found) == (0, 4)


def test_a_result_without_its_call_stands_by_itself() -> None:
    found = read(tool_result("gone", "four pots"))

    assert [result.text.text for result in found[0].results] == ["four pots"]


def test_an_error_of_a_tool_is_told_from_an_answer() -> None:
    failing = {"type": "tool_result", "tool_use_id": "t1", "content": "no such file", "is_error": True}

    found = read(assistant([tool_use("t1")], message="m1"), user([failing]))

    assert found[0].calls[0].result is not None
    assert found[0].calls[0].result.is_error


def test_long_texts_are_cut_and_say_by_how_much() -> None:
    found = read(
        user("啊" * (MOST_CHARACTERS + 7)),
        assistant([tool_use("t1")], message="m1"),
        tool_result("t1", "x" * (MOST_RESULT + 5)),
    )

    assert found[0].words[0].more == 7
    assert found[0].words[0].characters == MOST_CHARACTERS + 7
    assert found[1].calls[0].result is not None
    assert found[1].calls[0].result.text.more == 5


def test_pictures_are_counted_over_the_blocks_of_a_line() -> None:
    inside = [{"type": "text", "text": "two"}, image(), image()]

    found = read(
        user([image(), {"type": "text", "text": "看这张"}, image()]),
        assistant([tool_use("t1")], message="m1"),
        tool_result("t1", inside),
    )

    assert [(picture.seq, picture.at) for picture in found[0].pictures] == [(0, 0), (0, 1)]
    assert found[1].calls[0].result is not None
    assert [picture.at for picture in found[1].calls[0].result.pictures] == [0, 1]


def test_a_compaction_says_how_much_there_was_and_is() -> None:
    found = read(user("早"), boundary(after=4_539))

    assert (found[1].kind, found[1].before, found[1].after) == ("b", 166_000, 4_539)


def test_a_message_sent_during_a_turn_is_an_entry_of_its_own() -> None:
    found = read(user("查一下天气"), assistant([tool_use("t1")], message="m1"), queued("算了不用查"))

    assert [(entry.kind, entry.words[0].text if entry.words else "") for entry in found] == [
        ("h", "查一下天气"),
        ("a", ""),
        ("q", "算了不用查"),
    ]


def test_a_line_too_large_to_read_keeps_its_place() -> None:
    found = read(user("一"), user("二"), too_large=1)

    assert [(entry.place.seq, entry.is_whole) for entry in found] == [(0, True), (1, False)]


def test_the_work_of_a_subagent_is_named_on_the_result() -> None:
    found = read(assistant([tool_use("t1")], message="m1"), tool_result("t1", "done"), agents={1: "a3fd91"})

    assert found[0].calls[0].result is not None
    assert found[0].calls[0].result.agent == "a3fd91"


def test_nothing_at_all_is_an_empty_stretch() -> None:
    assert read() == []
    assert outline([]) == (-1, -1)
