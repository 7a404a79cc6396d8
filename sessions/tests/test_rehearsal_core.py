"""What a client may do by itself is no difference; everything else is, and is named."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.core.rehearsal import difference, expected, is_main, left_out, problem, sent
from sessions.tests.transcripts import (
    MODEL,
    Record,
    Talk,
    as_bytes,
    assistant,
    custom_title,
    image,
    queued,
    thinking,
    tool_result,
    tool_use,
    user,
)

PROMPT = "This is a rehearsal."
REMINDER = "<system-reminder>\nToday is a day.\n</system-reminder>"


def text(words: str) -> Record:
    return {"type": "text", "text": words}


def result(call: str, content: Any = "four pots", **more: Any) -> Record:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def document(data: str = "JVBERi0=") -> Record:
    return {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}}


def frame(words: str, lead: str = "The user sent a new message while you were working:") -> str:
    return f"<system-reminder>\n{lead}\n{words}\n\nAddress it.\n</system-reminder>"


def notice(words: str = "API Error: 500", **more: Any) -> Record:
    return assistant(words, model="<synthetic>", **more)


def says(*blocks: Record | str) -> Record:
    return {"role": "user", "content": [text(block) if isinstance(block, str) else block for block in blocks]}


def answers(*blocks: Record | str) -> Record:
    return says(*blocks) | {"role": "assistant"}


def found(records: list[Record], messages: list[Record]) -> str:
    """The difference between a file of these records and a request of these messages with the prompt behind them."""
    lines = as_bytes(Talk().link(*records)).splitlines()
    return difference(expected(lines), sent({"messages": messages}), prompt=PROMPT)


CALL = assistant([tool_use("t1")], message="m1")
QUEUED = frame("and the\nbasil")
SAME: dict[str, tuple[list[Record], list[Record]]] = {
    "a plain talk": (
        [user("water"), assistant("done"), custom_title("Mint")],
        [says("water"), answers("done")],
    ),
    "a prompt as a string": (
        [user("water"), assistant("done")],
        [{"role": "user", "content": "water"}, {"role": "assistant", "content": "done"}],
    ),
    "neighbours joined, an edge of white space, a cache mark": (
        [user("hand-off", isMeta=True, origin={"kind": "companion-console"}), user("  water\n"), assistant("done")],
        [says("hand-off\n", text("water") | {"cache_control": {"type": "ephemeral"}}), answers("done")],
    ),
    "lines of one answer merged, over a result too": (
        [
            user("look"),
            assistant([thinking()], message="m1"),
            CALL,
            tool_result("t1"),
            assistant([tool_use("t2")], message="m1"),
            tool_result("t2"),
            assistant("so"),
        ],
        [
            says("look"),
            answers(thinking(), tool_use("t1"), tool_use("t2")),
            says(result("t1"), result("t2")),
            answers("so"),
        ],
    ),
    "words of an answer before its calls, results before words": (
        [
            user("look"),
            CALL,
            assistant("and more", message="m1"),
            user([text("meanwhile"), result("t1")]),
            assistant("so"),
        ],
        [
            says("look"),
            answers("and more", tool_use("t1")),
            says(result("t1"), "meanwhile"),
            answers("so"),
        ],
    ),
    "reminders and messages of the system": (
        [user("water"), assistant("done")],
        [
            says(REMINDER, "water"),
            answers("done"),
            says(REMINDER),
            {"role": "system", "content": "The time has come."},
        ],
    ),
    "a result with a reminder behind it, as a string and as blocks": (
        [user("look"), CALL, tool_result("t1", "four\n"), assistant("so"), user("x"), assistant("y")],
        [
            says("look"),
            answers(tool_use("t1")),
            says(result("t1", [text("four"), text(REMINDER)])),
            answers("so"),
            says("x"),
            answers("y"),
        ],
    ),
    "a queued message inside a result, before the words of its turn": (
        [user("look"), CALL, tool_result("t1"), user("wait"), queued("and the\nbasil"), queued("two"), assistant("so")],
        [
            says("look"),
            answers(tool_use("t1")),
            says(result("t1", f"four pots\n\n{QUEUED}\n\n{frame('  two')}"), "wait"),
            answers("so"),
        ],
    ),
    "a queued message as a block of its own, its image left out": (
        [user("look"), assistant("a"), queued([text("basil"), image()]), assistant("b")],
        [
            says("look"),
            answers("a"),
            says(frame("basil", "The user sent the following message:")),
            answers("b"),
        ],
    ),
    "a queued message without a frame": (
        [user("look"), assistant("a"), queued([text("basil"), image()]), assistant("b")],
        [says("look"), answers("a"), says("basil", image()), answers("b")],
    ),
    "a machine's message in a frame": (
        [user("look"), assistant("a"), user("task 7 is over", origin={"kind": "task-notification"}), assistant("b")],
        [says("look"), answers("a"), says(frame("task 7 is over", "Not from the user.")), answers("b")],
    ),
    "thinking of another model left out": (
        [user("q"), assistant([thinking()], message="m1"), assistant("a", message="m1")],
        [says("q"), answers("a")],
    ),
    "redacted thinking by its data": (
        [user("q"), assistant([{"type": "redacted_thinking", "data": "abc"}, text("a")])],
        [says("q"), answers({"type": "redacted_thinking", "data": "abc"}, "a")],
    ),
    "an answer of nothing but thinking left out": (
        [user("q"), assistant([thinking()]), user("r"), assistant("a")],
        [says("q", "r"), answers("a")],
    ),
    "an answer of nothing but thinking sent": (
        [user("q"), assistant([thinking()]), user("r"), assistant("a")],
        [says("q"), answers(thinking()), says("r"), answers("a")],
    ),
    "empty words and fillers": (
        [user("q"), assistant([text("  "), text("a")]), user(""), assistant([]), user("r"), assistant("b")],
        [
            says("q"),
            answers("a"),
            says(""),
            answers("(no content)"),
            says("r"),
            answers("b"),
            says("Tool loaded."),
        ],
    ),
    "errors of the client stay with it, its other words do not": (
        [
            user("q"),
            notice(isApiErrorMessage=True),
            user("again"),
            notice("No response requested."),
            user("r"),
            notice("…"),
        ],
        [says("q\n", "again"), answers("No response requested."), says("r"), answers("…")],
    ),
    "a tool under its new name, a number as the client writes it, a plan taken out": (
        [
            user("q"),
            assistant([tool_use("t1", n=2.0, big=12345678901234567890) | {"name": "Task"}], message="m1"),
            assistant([tool_use("t2", plan="p", keep=1) | {"name": "ExitPlanMode"}], message="m1"),
            tool_result("t1"),
            tool_result("t2"),
            assistant("a"),
        ],
        [
            says("q"),
            answers(
                tool_use("t1", n=2, big=12345678901234567000) | {"name": "Agent"},
                tool_use("t2", keep=1) | {"name": "ExitPlanMode", "caller": {"type": "direct"}},
            ),
            says(result("t1"), result("t2")),
            answers("a"),
        ],
    ),
    "media by digest, and left out of an error": (
        [user([text("q"), image(), document()]), CALL, tool_result("t1", [text("no"), image()]), assistant("a")],
        [
            says("q", image() | {"cache_control": {"type": "ephemeral"}}, document()),
            answers(tool_use("t1")),
            says(result("t1", [text("no"), image()])),
            answers("a"),
        ],
    ),
    "an error without its image": (
        [user("q"), CALL, user([result("t1", [text("no"), image()], is_error=True)]), assistant("a")],
        [
            says("q"),
            answers(tool_use("t1")),
            says(result("t1", [text("no")], is_error=True)),
            answers("a"),
        ],
    ),
    "the oldest of very many images left out": (
        [user([text("q"), *(image(f"i{number}") for number in range(90))]), assistant("a")],
        [says("q", *(image(f"i{number}") for number in range(10, 90))), answers("a")],
    ),
    "a block that no version need know": (
        [user("q"), assistant([{"type": "fallback", "from": "x"}, text("a")])],
        [says("q"), answers("a")],
    ),
    "a result of references to tools": (
        [user("q"), CALL, tool_result("t1", [{"type": "tool_reference", "tool_name": "x"}]), assistant("a")],
        [
            says("q"),
            answers(tool_use("t1")),
            says(result("t1", [text("[Tool references removed - tool search not enabled]")])),
            answers("a"),
        ],
    ),
    "a reminder in the person's own words": (
        [user(REMINDER), assistant("a"), user(f"see {REMINDER} there"), assistant("b")],
        [says(REMINDER), answers("a"), says(REMINDER, f"see {REMINDER} there"), answers("b")],
    ),
    "a side chain beside it": (
        [user("q"), user("aside", isSidechain=True), assistant("a")],
        [says("q"), answers("a")],
    ),
}


@pytest.mark.parametrize(("records", "messages"), SAME.values(), ids=SAME)
def test_what_clients_do_by_themselves_is_no_difference(records: list[Record], messages: list[Record]) -> None:
    assert found(records, [*messages, says(PROMPT)]) == ""


TALK = [user("water"), CALL, tool_result("t1", [text("four"), image()]), queued("basil"), assistant("done")]
SENT = [
    says("water"),
    answers(tool_use("t1")),
    says(result("t1", [text("four"), image(), text(frame("basil"))])),
    answers("done"),
    says(PROMPT),
]


def changed(place: int, *messages: Record) -> list[Record]:
    return [*SENT[:place], *messages, *SENT[place + 1 :]]


DIFFERENT: dict[str, tuple[list[Record], str, str]] = {
    "words changed": (changed(0, says("Water")), 'user text "water"', 'user text "Water"'),
    "words missing": (changed(0, says(REMINDER)), 'user text "water"', "assistant tool_use"),
    "words too many": (changed(0, says("water", "more")), "assistant tool_use", 'user text "more"'),
    "another role": (changed(0, answers("water")), "user text", "assistant text"),
    "a call missing": (changed(1), "assistant tool_use Look t1", "user tool_result t1"),
    "other arguments": (changed(1, answers(tool_use("t1", where="roof"))), "balcony", "roof"),
    "another id": (changed(1, answers(tool_use("t2"))), "t1", "t2"),
    "a result cut": (changed(2, says(result("t1", "fou"), frame("basil"))), '"four"', '"fou"'),
    "a result with more": (changed(2, says(result("t1", "four and five"), frame("basil"))), '"four"', "and five"),
    "a result without its image": (changed(2, says(result("t1", "four"), frame("basil"))), '"four"', '"four"'),
    "another image": (
        changed(2, says(result("t1", [text("four"), image("b")]), frame("basil"))), '"four"', '"four"',
    ),
    "a result that became an error": (
        changed(2, says(result("t1", [text("four"), image()], is_error=True), frame("basil"))), "t1", "error",
    ),
    "a queued message missing": (changed(2, says(result("t1", [text("four"), image()]))), '"basil"', "assistant text"),
    "a queued message as a part of a line": (
        changed(2, says(result("t1", [text("four"), image()]), frame("basil please"))), '"basil"', "assistant text",
    ),
    "a summary in place of the past": ([says("So far: water."), says(PROMPT)], '"water"', '"So far: water."'),
    "the end cut off": (SENT[:3], '"done"', "nothing"),
    "thinking that was never there": (changed(3, answers(thinking(), "done")), '"done"', "assistant thinking"),
    "an answer that the client put in": (
        changed(4, answers("No response requested."), says(PROMPT)), PROMPT, "No response requested.",
    ),
    "no prompt": (SENT[:4], PROMPT, "nothing"),
    "nothing at all": ([], '"water"', "nothing"),
}  # fmt: skip


@pytest.mark.parametrize(("messages", "planned", "given"), DIFFERENT.values(), ids=DIFFERENT)
def test_a_difference_names_what_was_planned_and_what_would_be_sent(
    messages: list[Record], planned: str, given: str
) -> None:
    sentence = found(TALK, messages)

    before, _, behind = sentence.partition("; would be sent: ")
    assert planned in before
    assert given in behind


def test_the_same_talk_unchanged_is_no_difference() -> None:
    assert found(TALK, SENT) == ""


def test_the_order_of_turns_counts() -> None:
    records = [user("one"), assistant("a"), user("two"), assistant("b")]

    assert found(records, [says("two"), answers("a"), says("one"), answers("b"), says(PROMPT)])
    assert found(records, [says("one"), answers("b"), says("two"), answers("a"), says(PROMPT)])


def test_both_sides_of_a_difference_are_cut() -> None:
    sentence = found([user("水" * 5_000), assistant("a")], [says("x" * 5_000), answers("a"), says(PROMPT)])

    assert len(sentence) < 300
    assert "…" in sentence


def test_blocks_of_thinking_that_are_left_out_are_counted() -> None:
    answer = assistant([thinking(), thinking(signature="other"), text("a")])
    plan = expected(as_bytes(Talk().link(user("q"), answer)).splitlines())

    assert left_out(plan, sent({"messages": [says("q"), answers(thinking(), "a")]})) == 1
    assert left_out(plan, plan) == 0


@pytest.mark.parametrize("line", [b"[]", b"{", b"\xff"], ids=["a list", "half a line", "no text"])
def test_a_line_that_is_no_object_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        expected([line])


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"tools": [{"name": "Bash"}], "messages": [says("q")]}, True),
        ({"messages": [says("q"), answers("a"), says("r")]}, True),
        ({"messages": [says("Warmup")]}, False),
        ({"messages": [says("Is this a new topic?"), answers("{")]}, False),
        ({}, False),
    ],
    ids=["tools", "a talk", "warm-up", "prefilled", "empty"],
)
def test_requests_on_the_side_are_told_from_the_talk(body: dict[str, Any], answer: bool) -> None:
    assert is_main(body) is answer


GOOD = [says("q"), answers("a", tool_use("t1"), tool_use("t2")), says(result("t2"), result("t1"), "x"), answers("b")]
REFUSED: dict[str, tuple[list[Record], str]] = {
    "nothing": ([], "first message"),
    "an answer first": ([answers("a"), says("q")], "first message"),
    "an empty text": ([says("q"), answers("")], "message 1: an empty text"),
    "an empty message": ([says("q"), answers(), says("r")], "message 1: an empty text"),
    "a call without a result": ([*GOOD[:2], says(result("t1"))], "the call t2 has no result"),
    "a call at the end": (GOOD[:2], "has no result"),
    "a result later than the next message": ([*GOOD[:2], says("x"), answers("y"), GOOD[2]], "has no result"),
    "a result without a call": ([says(result("t9"))], "the result t9 has no call"),
    "a call twice": ([says("q"), answers(tool_use("t1"), tool_use("t1")), says(result("t1"))], "twice"),
    "half a character": ([says("q \ud83d")], "surrogate"),
}


@pytest.mark.parametrize(("messages", "words"), REFUSED.values(), ids=REFUSED)
def test_what_the_api_would_refuse_is_named(messages: list[Record], words: str) -> None:
    assert words in problem({"messages": messages})


def test_a_talk_with_calls_and_a_system_message_is_accepted() -> None:
    messages = [{"role": "system", "content": "s"}, *GOOD[:1], {"role": "system", "content": "s"}, *GOOD[1:]]

    assert problem({"model": MODEL, "messages": messages}) == ""
