"""The last check of a new file: every way in which one could be broken is named, with its line (spec W7)."""

from __future__ import annotations

import copy as copies
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from sessions.core.invariants import MOST_FAULTS, Checker, is_marked
from sessions.core.records import write_record
from sessions.core.surgery import stamp
from sessions.tests.surgeries import HANDOFF, NOW, TARGET, copy, talk
from sessions.tests.transcripts import (
    Record,
    assistant,
    image,
    queued,
    thinking,
    tool_result,
    tool_use,
    user,
)

# Lines as a good file has them, 1-based: 1 hand-off, 2 message, 3-5 one message with two calls, 6-7 results,
# 8 queued, 9 answer, 10 message, 11 answer, 12 title.
GOOD = copy(
    talk(
        user("how is the mint?"),
        assistant([thinking()], message="m1", used=9_000),
        assistant([tool_use("t1")], message="m1", used=9_000),
        assistant([tool_use("t2")], message="m1", used=9_000),
        tool_result("t1"),
        tool_result("t2"),
        queued("and the basil?"),
        assistant("both are well", message="m2", used=9_100),
        user([image()]),
        assistant("a fine pot", message="m3"),
    ),
    handoff=HANDOFF,
    title="mint",
).records
Break = Callable[[list[Record]], object]


def faults(records: Iterable[Record]) -> list[str]:
    return Checker(TARGET).faults(write_record(record) for record in records)


def broken(change: Break, *, linked: bool = True) -> list[Record]:
    """The good file with one thing changed; `linked` links the lines anew, so that nothing else is wrong."""
    records = copies.deepcopy(GOOD)
    change(records)
    parent = None
    for record in records if linked else ():
        if "parentUuid" in record:
            record["parentUuid"], parent = parent, record["uuid"]
    return records


def put(line: int, **fields: Any) -> Break:
    """Sets fields of a line."""
    return lambda records: records[line - 1].update(fields)


def put_in_message(line: int, **fields: Any) -> Break:
    return lambda records: records[line - 1]["message"].update(fields)


def drop(line: int, *fields: str) -> Break:
    """Takes fields out of a line, or the whole line."""

    def change(records: list[Record]) -> None:
        for field in fields:
            del records[line - 1][field]
        if not fields:
            del records[line - 1]

    return change


def insert(line: int, record: Record) -> Break:
    """Puts another record there, with all that a line needs."""
    own = {
        "parentUuid": None, "uuid": f"u-{line}", "timestamp": "2026-03-01T08:00:00.000Z", "isSidechain": False,
        "sessionId": TARGET,
    }  # fmt: skip
    return lambda records: records.insert(line - 1, own | record)


def move(line: int, to: int) -> Break:
    return lambda records: records.insert(to - 1, records.pop(line - 1))


def both(*changes: Break) -> Break:
    def change(records: list[Record]) -> None:
        for one in changes:
            one(records)

    return change


def test_a_good_file_has_no_fault() -> None:
    checker = Checker(TARGET)

    assert checker.faults(write_record(record) for record in GOOD) == []
    assert checker.uuids == [record["uuid"] for record in GOOD if "uuid" in record]


BLOCK = {"type": "text", "text": "x"}
RULES: dict[str, tuple[Break, str]] = {
    "another session's id": (put(5, sessionId="other"), "line 5: another session's id"),
    "no session's id": (drop(5, "sessionId"), "line 5: another session's id"),
    "another session's title": (put(12, sessionId="other"), "line 12: another session's id"),
    "a uuid twice": (lambda it: it[8].update(uuid=it[1]["uuid"]), "line 9: no uuid of its own"),
    "no uuid": (put(9, uuid=None), "line 9: no uuid of its own"),
    "an empty uuid": (put(9, uuid=""), "line 9: no uuid of its own"),
    "an odd uuid": (put(9, uuid=7), "line 9: no uuid of its own"),
    "no time": (drop(4, "timestamp"), "line 4: no time that every client reads"),
    "an odd time": (put(4, timestamp=1_772_352_000), "line 4: no time that every client reads"),
    "a time old clients do not read": (put(4, timestamp="20260301T080000Z"), "line 4: no time that every client reads"),
    "a time without a zone": (put(4, timestamp="2026-03-01T08:00:00"), "line 4: no time that every client reads"),
    "a day that never was": (put(4, timestamp="2026-02-30T08:00:00Z"), "line 4: no time that every client reads"),
    "a line newer than the last": (put(2, timestamp="2035-01-01T00:00:00Z"), "line 13: the last message is not the newest"),
    "a line as new as the last": (put(2, timestamp=stamp(NOW)), "line 13: the last message is not the newest"),
    "an old end": (put(11, timestamp="2020-01-01T00:00:00Z"), "line 13: the last message is not the newest"),
    "a side chain": (put(9, isSidechain=True), "line 9: a side chain"),
    "not known whether a side chain": (drop(9, "isSidechain"), "line 9: a side chain"),
    "what the client's screens use": (put(6, toolUseResult={}), "line 6: a field that must not be copied"),
    "where it hung over a compaction": (put(6, logicalParentUuid=None), "line 6: a field that must not be copied"),
    "a summary": (insert(10, user("so far", isCompactSummary=True)), "line 10: not a part of the dialogue"),
    "a boundary": (insert(10, {"type": "system", "subtype": "compact_boundary"}), "line 10: a record of type system"),
    "an attachment": (insert(10, {"type": "attachment", "attachment": {"type": "file"}}), "line 10: not a part of the dialogue"),
    "what a hook added": (
        insert(10, {"type": "attachment", "attachment": {"type": "hook_additional_context"}}),
        "line 10: not a part of the dialogue",
    ),
    "what ends a session": (insert(10, {"type": "ended-by-model"}), "line 10: a record of type ended-by-model"),
    "a pinned leaf": (insert(13, {"type": "last-prompt"}), "line 13: a record of type last-prompt"),
    "a snapshot": (insert(1, {"type": "prompt_snapshot"}), "line 1: a record of type prompt_snapshot"),
    "no type": (drop(9, "type"), "line 9: a record of type None"),
    "an odd type": (put(9, type=["user"]), "line 9: a record of type ['user']"),
    "a second hand-off": (
        insert(10, user("again", isMeta=True, origin={"kind": "companion-console"})),
        "line 10: a hand-off that is not at the beginning",
    ),
    "an answer first": (drop(2), "line 2: stands before the first message of the person"),
    "a result first": (both(*[drop(2)] * 4), "line 2: stands before the first message of the person"),
    "a command first": (put_in_message(2, content="<command-name>/x"), "line 2: stands before the first message of the person"),
    "a queued message first": (both(move(8, 2)), "line 2: stands before the first message of the person"),
    "a note first": (put(2, isMeta=True), "line 2: stands before the first message of the person"),
    "no message of the person": (
        both(put(2, isMeta=True), put(10, isMeta=True)), "line 13: no message of the person"
    ),
    "the usage of the old window": (
        put_in_message(9, usage={"input_tokens": 1, "output_tokens": 0}), "line 9: usage of the old window"
    ),
    "a little usage": (put_in_message(9, usage={"output_tokens": 0.5}), "line 9: usage of the old window"),
    "a call without its result": (drop(7), "line 7: something between a call and its result"),
    "a call without its result at the end": (
        put_in_message(11, content=[tool_use("t9")]), "line 13: a call without its result at the end"
    ),
    "a result without its call": (drop(4), "line 5: a result without its call"),
    "a result twice": (insert(8, tool_result("t2")), "line 8: a result without its call"),
    "a result before its call": (move(6, 3), "line 3: a result without its call"),
    "a call twice": (
        both(insert(11, assistant([tool_use("t1")], message="m9")), insert(12, tool_result("t1"))), "line 11: a call twice"
    ),
    "a call in a line of the person": (
        put_in_message(10, content=[BLOCK, tool_use("t9")]), "line 10: half of a call in the wrong type of line"
    ),
    "a result in an answer": (
        put_in_message(11, content=[BLOCK, {"type": "tool_result", "tool_use_id": "t1"}]),
        "line 11: half of a call in the wrong type of line",
    ),
    "a queued message between call and result": (move(8, 6), "line 6: something between a call and its result"),
    "an answer between call and result": (move(9, 6), "line 6: an answer before the results of the calls"),
    "a message torn by its results": (move(5, 7), "line 7: a message torn in parts"),
    "a message torn by a turn": (put_in_message(11, id="m1"), "line 11: a message torn in parts"),
    "an answer without an id": (lambda it: it[8]["message"].pop("id"), "line 9: an answer without an id of its message"),
    "an odd id": (put_in_message(9, id=7), "line 9: an answer without an id of its message"),
    "an answer of thinking": (put_in_message(9, content=[thinking()]), "line 10: an answer without words before it"),
    "an answer of white space": (
        put_in_message(9, content=[{"type": "text", "text": " \n"}]), "line 10: an answer without words before it"
    ),
    "an answer of thinking at the end": (
        put_in_message(11, content=[thinking(), {"type": "redacted_thinking", "data": "x"}]),
        "line 13: an answer without words",
    ),
    "an answer that is a bare text": (put_in_message(9, content="well"), "line 9: no content that can be sent"),
    "an answer of nothing": (put_in_message(9, content=[]), "line 9: no content that can be sent"),
    "an answer without content": (lambda it: it[8]["message"].pop("content"), "line 9: no content that can be sent"),
    "an answer without a message": (drop(9, "message"), "line 9: no content that can be sent"),
    "a line without a message": (drop(10, "message"), "line 10: no content that can be sent"),
    "a line of nothing": (put_in_message(10, content=[]), "line 10: no content that can be sent"),
    "an empty line": (put_in_message(10, content=""), "line 10: an empty text"),
    "a blank line": (put_in_message(10, content=" \n"), "line 10: an empty text"),
    "an empty text": (put_in_message(10, content=[image(), {"type": "text", "text": ""}]), "line 10: an empty text"),
    "a text without text": (put_in_message(10, content=[image(), {"type": "text"}]), "line 10: an empty text"),
    "a bare text among blocks": (
        put_in_message(10, content=[BLOCK, "x"]), "line 10: something in the content that is no block"
    ),
    "no block": (put_in_message(10, content=[BLOCK, None]), "line 10: something in the content that is no block"),
    "a block without a type": (
        put_in_message(10, content=[BLOCK, {"type": []}]), "line 10: something in the content that is no block"
    ),
    "a result of another shape": (
        lambda it: it[5]["message"]["content"][0].update(content={"a": 1}), "line 6: a result that cannot be sent"
    ),
    "a result of nothing": (
        lambda it: it[5]["message"]["content"][0].update(content=None), "line 6: a result that cannot be sent"
    ),
    "a result with no block in it": (
        lambda it: it[5]["message"]["content"][0].update(content=[BLOCK, "x"]), "line 6: a result that cannot be sent"
    ),
    "a result with an empty text in it": (
        lambda it: it[5]["message"]["content"][0].update(content=[{"type": "text", "text": ""}]),
        "line 6: a result that cannot be sent",
    ),
    "an empty message that was queued": (
        lambda it: it[7]["attachment"].update(prompt=""), "line 8: an empty text"
    ),
    "a user line at the end": (drop(11), "line 12: does not end in an answer"),
    "a message behind the title": (move(12, 11), "line 12: a message behind the title"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "fault"), RULES.values(), ids=RULES.keys())
def test_a_broken_file_is_named(change: Break, fault: str) -> None:
    assert fault in faults(broken(change))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        pytest.param(put(2, parentUuid=None), "line 2: not linked to the line before it", id="a root in the middle"),
        pytest.param(put(5, parentUuid="gone"), "line 5: not linked to the line before it", id="a parent that is not there"),
        pytest.param(
            lambda it: it[6].update(parentUuid=it[2]["uuid"]), "line 7: not linked to the line before it", id="a branch"
        ),
        pytest.param(put(1, parentUuid="old"), "line 1: not linked to the line before it", id="a beginning that hangs"),
        pytest.param(drop(1, "parentUuid"), "line 1: not linked to the line before it", id="no parent named"),
        pytest.param(
            lambda it: it[3].update(parentUuid=it[3].pop("parentUuid")), "line 4: not linked to the line before it",
            id="not first in its line",
        ),
    ],
)  # fmt: skip
def test_a_chain_that_is_not_one_line_after_the_other_is_named(change: Break, fault: str) -> None:
    assert fault in faults(broken(change, linked=False))


def line_of(number: int) -> bytes:
    return write_record(GOOD[number - 1])


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        pytest.param(b"\n", "cannot be read", id="an empty line"),
        pytest.param(b'{"type":"user\n', "cannot be read", id="half a line"),
        pytest.param(b"[]\n", "not an object", id="a list"),
        pytest.param(line_of(9)[:-1], "no newline at its end", id="no newline"),
        pytest.param(line_of(9)[:-1] + line_of(10), "cannot be read", id="two records in a line"),
        pytest.param(b"\xef\xbb\xbf" + line_of(9), "cannot be read", id="a byte order mark"),
        pytest.param(line_of(9).replace(b"both", b"bo\xff"), "cannot be read", id="no UTF-8"),
        pytest.param(line_of(9).replace(b"both", b"\\ud83d"), "cannot be read", id="half a pair of surrogates"),
        pytest.param(line_of(9).replace(b"both", b"\xed\xa0\xbd"), "cannot be read", id="half a pair in bytes"),
        pytest.param(line_of(9).replace(b'"m2"', b"NaN"), "cannot be read", id="not a number"),
        pytest.param(line_of(9).replace(b'"m2"', b"-Infinity"), "cannot be read", id="infinity"),
        pytest.param(line_of(9).replace(b'"m2"', b"[" * 3_000 + b"]" * 3_000), "cannot be read", id="nested too deeply"),
        pytest.param(line_of(9).replace(b'"m2"', b"[" * 90_000), "cannot be read", id="nested without an end"),
    ],
)  # fmt: skip
def test_a_line_that_some_client_cannot_read_is_named(line: bytes, fault: str) -> None:
    lines = [write_record(record) for record in GOOD]
    lines[8] = line

    found = Checker(TARGET).faults(lines)

    assert any(one.startswith(f"line 9: {fault}") for one in found)


def test_half_a_pair_of_surrogates_in_a_key_is_named() -> None:
    found = Checker(TARGET).faults([b'{"type":"custom-title","\\ud83d":1}\n'])

    assert any(one.startswith("line 1: cannot be read") for one in found)


def test_a_pair_of_surrogates_is_no_fault() -> None:
    lines = [write_record(record) for record in GOOD]
    lines[8] = lines[8].replace(b"both", b"\\ud83c\\udf3f")

    assert Checker(TARGET).faults(lines) == []


@pytest.mark.parametrize(
    "lines", [[], [line_of(12)], [line_of(1)]], ids=["nothing", "a title alone", "a hand-off alone"]
)
def test_a_file_in_which_nobody_talks_is_named(lines: list[bytes]) -> None:
    assert any("no message of the person" in one for one in Checker(TARGET).faults(lines))


def test_the_list_of_faults_is_bounded() -> None:
    found = Checker(TARGET).faults(b"x" * 10_000 + b"\n" for _number in range(10_000))

    assert len(found) == MOST_FAULTS
    assert all(len(one) < 250 for one in found)


def test_a_hand_off_is_known_by_its_mark() -> None:
    assert [is_marked(record) for record in GOOD[:2]] == [True, False]
    assert not is_marked(json.loads('{"origin":"companion-console"}'))
