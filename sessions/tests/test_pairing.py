"""Calls and results of a turn: both halves or none, in the order every client takes (spec W7)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from sessions.core.surgery import Copyist, Order
from sessions.tests.surgeries import (
    NOW,
    SOURCE,
    TARGET,
    copy,
    source,
    talk,
)
from sessions.tests.transcripts import (
    Record,
    Talk,
    assistant,
    image,
    queued,
    thinking,
    tool_result,
    tool_use,
    user,
)


def call(*names: str, message: str = "m1", **more: Any) -> Record:
    return assistant([tool_use(name) for name in names], message=message, **more)


def result(name: str) -> list[Record]:
    """The block of a result."""
    return list(tool_result(name)["message"]["content"])


def said(*records: Record, **order: Any) -> list[str]:
    """What the new file of one talk says; it must be one that every client takes."""
    copied = copy(talk(*records), **order)
    assert copied.faults == []
    return copied.words()


def test_thinking_stays_letter_for_letter_with_its_signature() -> None:
    blocks = [
        thinking("mint\u2028likes \u200bshade\x00", signature="c2ln+/=="),
        {"type": "redacted_thinking", "data": "ZGF0YQ=="},
    ]

    copied = copy(talk(user("one"), assistant(blocks, message="m1"), assistant("two", message="m1")))

    assert copied.records[1]["message"]["content"] == blocks
    assert copied.tally.thinking == 2


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([call("t1"), call("t2"), tool_result("t1"), tool_result("t2")], id="calls, then results"),
        pytest.param([call("t1"), tool_result("t1"), call("t2"), tool_result("t2")], id="each with its result"),
        pytest.param([call("t1"), call("t2"), tool_result("t2"), tool_result("t1")], id="results as they came"),
        pytest.param([call("t1"), tool_result("t1"), tool_result("t2"), call("t2"), tool_result("t2")], id="one too early"),
    ],
)  # fmt: skip
def test_parallel_calls_stand_together_with_their_results_behind_them(records: list[Record]) -> None:
    found = said(user("one"), *records, assistant("two"))

    assert found[:3] == ["one", ">t1", ">t2"]
    assert sorted(found[3:5]) == ["<t1", "<t2"]
    assert found[5:] == ["two"]


@pytest.mark.parametrize("links", ["each on its own call", "all on the last call"])
def test_parallel_calls_are_regrouped_however_their_results_hang(links: str) -> None:
    one = Talk(SOURCE)
    lines = one.link(user("one"), call("t1"), call("t2"), call("t3"))
    parents = [line["uuid"] for line in lines[1:]] if links == "each on its own call" else [lines[-1]["uuid"]] * 3
    lines += one.link(*(tool_result(f"t{number + 1}", parentUuid=parents[number]) for number in (2, 0, 1)))
    lines += one.link(assistant("two"))

    copied = copy(source(*lines))

    assert sorted(copied.words()) == sorted(["one", ">t1", ">t2", ">t3", "<t1", "<t2", "<t3", "two"])
    assert copied.words()[:4] == ["one", ">t1", ">t2", ">t3"]
    assert copied.faults == []


def test_what_was_said_while_calls_ran_comes_behind_their_results() -> None:
    records = [
        call("t1"),
        queued("hurry"),
        call("t2"),
        user("[note]", isMeta=True),
        tool_result("t1"),
        tool_result("t2"),
    ]

    assert said(user("one"), *records, assistant("two")) == [
        "one",
        ">t1",
        ">t2",
        "<t1",
        "<t2",
        "hurry",
        "[note]",
        "two",
    ]


def test_the_lines_of_one_message_that_stand_apart_are_put_together() -> None:
    records = [call("t1"), tool_result("t1"), assistant("and so", message="m1"), assistant("two", message="m2")]

    assert said(user("one"), *records) == ["one", ">t1", "and so", "<t1", "two"]


@pytest.mark.parametrize(
    ("records", "expected", "unpaired"),
    [
        pytest.param([call("t1")], [], 1, id="a call without a result"),
        pytest.param([tool_result("t1")], [], 1, id="a result without a call"),
        pytest.param([call("t1"), call("t2"), tool_result("t2")], [">t2", "<t2"], 1, id="one of two parallel calls"),
        pytest.param([call("t1", "t2"), tool_result("t1")], [">t1", "<t1"], 1, id="one of two in a line"),
        pytest.param([tool_result("t1"), call("t1")], [], 2, id="a result before its call"),
        pytest.param([call("t1"), tool_result("t1"), tool_result("t1")], [">t1", "<t1"], 1, id="a result twice"),
        pytest.param([call("t1"), call("t1"), tool_result("t1")], [">t1", "<t1"], 1, id="a call twice"),
        pytest.param([call("t1", "t1"), tool_result("t1")], [">t1", "<t1"], 1, id="a call twice in a line"),
        pytest.param(
            [assistant([thinking(), tool_use("t1")], message="m1")], [], 2, id="thinking and a call in one line"
        ),
        pytest.param(
            [assistant([thinking()], message="m1"), call("t1")], [], 2, id="thinking whose call has no result"
        ),
        pytest.param(
            [assistant([thinking()], message="m1"), assistant("well", message="m1"), call("t1")],
            ["~", "well"],
            1,
            id="thinking and words whose call has no result",
        ),
        pytest.param(
            [assistant([tool_use("")], message="m1"), tool_result("")], [], 2, id="a call and a result without an id"
        ),
        pytest.param([assistant([{"type": "tool_use"}]), user([{"type": "tool_result"}])], [], 2, id="no id at all"),
        pytest.param(
            [assistant([{"type": "tool_use", "id": 7}]), user([{"type": "tool_result", "tool_use_id": 7}])], [], 2,
            id="an id that is no text",
        ),
        pytest.param(
            [call("t1"), tool_result("t1"), user([tool_use("t9"), {"type": "text", "text": "hm"}], isMeta=True)],
            [">t1", "<t1", "hm"], 1, id="a call in a line of the person",
        ),
        pytest.param(
            [call("t1"), assistant([{"type": "tool_result", "tool_use_id": "t1"}], message="m2"), tool_result("t1")],
            [">t1", "<t1"], 1, id="a result in an answer",
        ),
        pytest.param(
            [call("t1"), call("t2", message="m2"), user([*result("t1"), *result("t2")])],
            [">t1", "<t1"], 2, id="results of two messages in one line",
        ),
    ],
)  # fmt: skip
def test_half_a_call_goes_with_all_that_cannot_stand_without_it(
    records: list[Record], expected: list[str], unpaired: int
) -> None:
    copied = copy(talk(user("one"), *records, assistant("two", message="end")))

    assert copied.words() == ["one", *expected, "two"]
    assert copied.tally.unpaired == unpaired
    assert copied.faults == []


def test_a_call_whose_result_stands_in_another_turn_goes_with_it() -> None:
    copied = copy(talk(user("one"), call("t1"), user("two"), tool_result("t1"), assistant("three")))

    assert copied.words() == ["one", "two", "three"]
    assert copied.tally.unpaired == 2


@pytest.mark.parametrize(
    "remains",
    [
        pytest.param([{"type": "text", "text": "not typed by anybody"}], id="words"),
        pytest.param([image()], id="a picture"),
    ],
)
def test_what_stood_beside_a_result_that_went_is_not_taken_for_the_persons_words(remains: list[Record]) -> None:
    lone = user([*result("t1"), *remains])

    copied = copy(talk(user("one"), lone, assistant("two"), user("three"), assistant("four")))

    assert copied.faults == []
    assert copied.kinds() == "hmaha"


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(assistant([thinking()], message="m1"), id="thinking alone"),
        pytest.param(assistant("\n\n", message="m1"), id="white space"),
        pytest.param(assistant([thinking(), {"type": "text", "text": " "}], message="m1"), id="both"),
        pytest.param(assistant([], message="m1"), id="nothing"),
        pytest.param(assistant([{"type": "text", "text": ""}], message="m1"), id="an empty text"),
        pytest.param(assistant([None, 7, {"text": "x"}, {"type": ["text"]}], message="m1"), id="no blocks"),
        pytest.param({"type": "assistant", "message": {"id": "m1", "content": None}}, id="no content"),
        pytest.param({"type": "assistant"}, id="no message"),
        pytest.param(user(""), id="an empty line"),
        pytest.param(user("  \n"), id="a blank line"),
        pytest.param(user([]), id="a line of nothing"),
        pytest.param({"type": "user", "isMeta": True}, id="a line without a message"),
        pytest.param(queued([]), id="an empty message that was queued"),
    ],
)
@pytest.mark.parametrize("place", [1, 2, 4], ids=["instead of an answer", "behind an answer", "at the end"])
def test_what_says_nothing_is_left_out_as_the_api_refuses_it(answer: Record, place: int) -> None:
    records = [user("one"), assistant("two"), user("three"), assistant("four")]
    records[place:place] = [answer]

    copied = copy(talk(*records))

    assert copied.words() == ["one", "two", "three", "four"]
    assert copied.tally.unpaired == 0
    assert copied.faults == []


def test_white_space_between_the_blocks_of_an_answer_stays() -> None:
    blocks = [assistant([thinking()], message="m1"), assistant("\n\n", message="m1"), assistant("two", message="m1")]

    assert said(user("one"), *blocks) == ["one", "~", "\n\n", "two"]


def test_a_bare_text_becomes_the_block_that_every_client_reads() -> None:
    plain = assistant("", message="m1")
    plain["message"]["content"] = "plain"

    copied = copy(talk(user(["one", None, {"type": "text", "text": "more"}]), plain))

    assert copied.records[0]["message"]["content"] == [
        {"type": "text", "text": "one"},
        {"type": "text", "text": "more"},
    ]
    assert copied.records[1]["message"]["content"] == [{"type": "text", "text": "plain"}]


@pytest.mark.parametrize(
    ("content", "left"),
    [
        pytest.param("four", "four", id="a text"),
        pytest.param("", "", id="an empty one"),
        pytest.param([], [], id="no blocks"),
        pytest.param(
            ["four", None, 7, {"a": 1}], [{"type": "text", "text": "four"}], id="bare texts and what is no block"
        ),
        pytest.param([{"type": "text", "text": ""}, image()], [image()], id="an empty text"),
        pytest.param([{"type": "text", "text": "\n"}], [{"type": "text", "text": "\n"}], id="white space"),
        pytest.param([{"type": ["image"]}], [], id="a type that is none"),
        pytest.param(None, [], id="nothing"),
        pytest.param({"a": 1}, [], id="another shape"),
    ],
)
def test_a_result_has_a_content_that_every_client_reads(content: Any, left: Any) -> None:
    copied = copy(talk(user("one"), call("t1"), tool_result("t1", content), assistant("two")))

    (block,) = copied.records[2]["message"]["content"]
    assert block == {"type": "tool_result", "tool_use_id": "t1", "content": left}
    assert copied.faults == []


def nameless(content: Any) -> Record:
    record = assistant(content)
    del record["message"]["id"]
    return record


def test_answers_without_an_id_get_one_as_clients_would_join_them_all() -> None:
    copied = copy(
        talk(user("one"), nameless([thinking()]), nameless([tool_use("t1")]), nameless([tool_use("t2")]), queued("hey"),
             tool_result("t1"), tool_result("t2"), nameless("two"), user("three"), nameless("four"))
    )  # fmt: skip
    ids = [record["message"]["id"] for record in copied.records if record["type"] == "assistant"]

    assert copied.words() == ["one", "~", ">t1", ">t2", "<t1", "<t2", "hey", "two", "three", "four"]
    assert [ids.index(one) for one in ids] == [0, 0, 0, 3, 4]
    assert copied.faults == []


def test_answers_of_different_turns_never_have_one_id() -> None:
    records = [line for number in range(3) for line in (user(f"{number}"), assistant("yes", message="same"))]

    copied = copy(talk(*records))

    assert copied.faults == []
    assert len({record["message"]["id"] for record in copied.records if record["type"] == "assistant"}) == 3


@pytest.mark.parametrize("between", [[], [user("more?")]], ids=["in one turn", "in two turns"])
def test_a_call_under_the_id_of_one_that_has_its_result_is_another_call(between: list[Record]) -> None:
    first = [call("c0"), tool_result("c0", "four pots"), assistant("four", message="m2")]
    second = [call("c0", message="m3"), tool_result("c0", "five pots"), assistant("five", message="m4")]

    copied = copy(talk(user("one"), *first, *between, *second))

    blocks = [block for record in copied.records for block in record["message"]["content"] if isinstance(block, dict)]
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    assert calls[0] == "c0" != calls[1]
    assert [(block["tool_use_id"], block["content"]) for block in blocks if block["type"] == "tool_result"] == [
        (calls[0], "four pots"), (calls[1], "five pots"),
    ]  # fmt: skip
    assert copied.tally.unpaired == 0
    assert copied.faults == []


def test_a_long_turn_is_put_in_order_in_a_moment() -> None:
    records = [user("one")]
    for number in range(5_000):
        records += [call(f"a{number}", message=f"m{number}"), call(f"b{number}", message=f"m{number}")]
        records += [
            tool_result(f"b{number}"),
            queued("hey") if number % 2 else tool_result(f"c{number}"),
            tool_result(f"a{number}"),
        ]
    whole = talk(*records, assistant("two"))
    read = whole.records()
    copyist = Copyist(Order(SOURCE, TARGET, NOW))
    began = time.process_time()

    written = list(copyist.turn(read, is_last=True))

    assert time.process_time() - began < 4
    assert len(read) > 20_000
    assert len(written) == len(read) - 2_500 - 1
    assert copyist.tally.unpaired == 2_500
