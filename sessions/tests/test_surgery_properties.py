"""Whatever a file holds and whatever is chosen of it: the new file is whole, says what was said and nothing else (spec W7).

The new file is judged by the product's own checker and, here, by another one that shares nothing with it.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from sessions.core.batches import RawLine
from sessions.core.invariants import Checker
from sessions.core.ranges import BadSelection
from sessions.core.records import TooDeep
from sessions.core.selection import Mode, Selection
from sessions.core.turns import Turn
from sessions.tests.hostile_talks import talks
from sessions.tests.surgeries import (
    HANDOFF,
    SHANGHAI,
    TARGET,
    Copied,
    Source,
    copy,
    end,
    kept,
    picked,
    source,
    source_of,
    start,
    talk,
)
from sessions.tests.transcripts import Record, Talk, assistant, raw_lines, tool_result, tool_use, user

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
MARKS = ("left out here; it is whole in session", "characters in all, cut here; whole in session")


@st.composite
def choices(draw: Any) -> Any:
    """A way to choose, once the file is known."""
    way = draw(st.sampled_from(["all", "tail", "tail", "range", "range", "days"]))
    first, last = draw(st.integers(0, 60)), draw(st.integers(0, 60))
    figures = {"retain": draw(st.integers(0, 2_000)), "revive": draw(st.booleans())}
    cap = draw(st.sampled_from([0, 300, 100_000]))

    def selection(source: Source) -> Selection:
        if way == "tail":
            return Selection(Mode.TAIL, **figures)
        if way == "days":
            there = sorted({day for turn in source.turns if (day := turn.day(SHANGHAI))})
            return Selection(Mode.DAYS, days=tuple(there[first % 3 :: 2]), cap=cap)
        if way == "range" and source.steps:
            ends = sorted((first % len(source.steps), last % len(source.steps)))
            return picked(start("idx", str(ends[0])), end("idx", str(ends[1])), cap=cap)
        return picked(cap=10**9)

    return selection


ORDERS = st.fixed_dictionaries(
    {
        "cap": st.sampled_from([0, 1, 150, 2_000]),
        "drop_thinking": st.booleans(),
        "handoff": st.sampled_from(["", HANDOFF]),
        "title": st.sampled_from(["", "薄荷"]),
        "sides": st.sampled_from([frozenset[str](), frozenset({"tool-results/b1.txt"})]),
    }
)
thorough = settings(max_examples=250, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


@thorough
@given(talks(), choices(), ORDERS)
def test_whatever_is_chosen_of_whatever_file_the_new_one_is_whole(
    lines: list[RawLine], choice: Any, order: dict[str, Any]
) -> None:
    old = source_of(lines)
    try:
        turns = kept(old, choice(old))
    except BadSelection as refused:
        event(f"refused: {refused.code}")
        return

    new = copy(old, turns, **order)

    event("copied")
    assert new.faults == []
    assert list(faults(new.lines)) == []
    assert list(additions(old, turns, new, order)) == []
    assert list(losses(old, turns, new, order)) == []
    assert list(disorder(old, turns, new, order)) == []
    assert list(surprises(old, turns, new, order)) == []
    assert copy(source_of(lines), turns, **order).lines == new.lines


@settings(thorough, max_examples=80)
@given(talks())
def test_a_copy_of_a_copy_says_the_same(lines: list[RawLine]) -> None:
    old = source_of(lines)
    if not old.turns:
        return
    once = copy(old, handoff=HANDOFF, title="mint", cap=150)

    twice = copy(source(*once.lines), handoff=HANDOFF, title="mint", cap=150)

    assert twice.records == once.records


# --- another judge ---------------------------------------------------------------------------------------------------


def faults(lines: Sequence[bytes]) -> Iterator[str]:
    """What the clients or the API could not take of a file."""
    if not all(line.count(b"\n") == 1 and line.endswith(b"\n") for line in lines):
        yield "a line that is not one line"
    if any(re.search(rb"\\ud[89a-f]", line, re.IGNORECASE) for line in lines):
        yield "half a pair of surrogates"
    records = [json.loads(line.decode("utf-8")) for line in lines]
    if any(record["sessionId"] != TARGET for record in records):
        yield "another session"
    chain = [record for record in records if record["type"] != "custom-title"]
    if chain != records[: len(chain)] or len(records) - len(chain) > 1:
        yield "a title in between"
    yield from chain_faults(chain)
    yield from talk_faults(chain)


def chain_faults(chain: list[Record]) -> Iterator[str]:
    if [record["parentUuid"] for record in chain] != [None, *(record["uuid"] for record in chain[:-1])]:
        yield "not one chain"
    if len({record["uuid"] for record in chain}) < len(chain):
        yield "a uuid twice"
    if not all(TIME.fullmatch(record["timestamp"]) for record in chain):
        yield "an odd time"
    times = [datetime.fromisoformat(record["timestamp"]) for record in chain]
    if times and max(times[:-1], default=datetime.fromisoformat("0001-01-01T00:00:00Z")) >= times[-1]:
        yield "an end that is not the newest"
    if any(record["isSidechain"] is not False or "toolUseResult" in record for record in chain):
        yield "a field of the old chain"


def talk_faults(chain: list[Record]) -> Iterator[str]:
    """The chain as the API would see it: neighbours of one role are one message."""
    answers = [(record["message"]["id"], record) for record in chain if record["type"] == "assistant"]
    for _name, lines in itertools.groupby(answers, key=lambda it: it[0]):
        if not any(is_word(block) for _id, line in lines for block in line["message"]["content"]):
            yield "an answer of thinking"
    names = [
        name
        for name, _lines in itertools.groupby(chain, key=lambda it: it["type"] == "assistant" and it["message"]["id"])
    ]
    if len(set(filter(None, names))) < len(list(filter(None, names))):
        yield "a message in two places"
    runs = [(role, list(run)) for role, run in itertools.groupby(chain, key=lambda it: it["type"] == "assistant")]
    if not runs or runs[0][0] or not runs[-1][0]:
        yield "not from a message of the person to an answer"
    open_calls: list[str] = []
    every: set[str] = set()
    for is_answer, run in runs:
        blocks = [block for record in run for block in blocks_of(record)]
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls) or (calls and not is_answer) or every & set(calls):
            yield f"calls {open_calls} and results {results}"
        if any(
            block["type"] == "text" and not (block["text"] if is_answer else block["text"].strip()) for block in blocks
        ):
            yield "an empty text"
        if not blocks:
            yield "an empty message"
        every |= set(calls)
        open_calls = calls


def is_word(block: Record) -> bool:
    is_blank = block["type"] == "text" and not block["text"].strip()
    return not is_blank and block["type"] not in {"thinking", "redacted_thinking"}


def blocks_of(record: Record) -> list[Record]:
    body = record["attachment"]["prompt"] if record["type"] == "attachment" else record["message"]["content"]
    return body if isinstance(body, list) else [{"type": "text", "text": body}]


# --- beside the old file ---------------------------------------------------------------------------------------------


def old_blocks(record: Record) -> list[Any]:
    """What a line of the old file says, block by block, whatever its shape."""
    body = record.get("attachment" if record["type"] == "attachment" else "message")
    content = body.get("prompt" if record["type"] == "attachment" else "content") if isinstance(body, dict) else None
    blocks = content if isinstance(content, list) else [content] if isinstance(content, str) else []
    return [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]


def dialogue(new: Copied, order: dict[str, Any]) -> list[Record]:
    """The lines of the new chain that stood in the old one."""
    chain = [record for record in new.records if "uuid" in record]
    chain = chain[1:] if order["handoff"] else chain
    return chain[: new.tally.events]


def additions(old: Source, turns: Sequence[Turn], new: Copied, order: dict[str, Any]) -> Iterator[str]:
    """What the new file says that the old one did not."""
    said = {record["uuid"]: record for record in old.records(turns)}
    chain = [record for record in new.records if "uuid" in record]
    made = len(chain) - new.tally.events - bool(order["handoff"])
    if made not in {0, 1} or (made and blocks_of(chain[-1]) != [{"type": "text", "text": "…"}]):
        yield "lines that nobody said"
    for record in dialogue(new, order):
        if record["uuid"] not in said:
            yield f"a line from elsewhere: {record['uuid']}"
            continue
        there = old_blocks(said[record["uuid"]])
        for block in blocks_of(record):
            if block not in there and not is_reduced(block, there):
                yield f"a block from nowhere: {block}"


def is_reduced(block: Record, there: list[Any]) -> bool:
    """A mark; a result that lost something or points to another folder; a call whose id another one had before it."""
    if block["type"] == "text":
        return any(mark in block["text"] for mark in MARKS)
    same = [one for one in there if isinstance(one, dict) and one.get("type") == block["type"]]
    is_renamed = str(block.get("id") or block.get("tool_use_id")).startswith("toolu_")
    if block["type"] == "tool_use":
        return is_renamed and any(one | {"id": block["id"]} == block for one in same)
    return block["type"] == "tool_result" and any(
        is_renamed or one.get("tool_use_id") == block["tool_use_id"] for one in same
    )


def losses(old: Source, turns: Sequence[Turn], new: Copied, order: dict[str, Any]) -> Iterator[str]:
    """What somebody said in the turns that stay, and that is not in the new file."""
    left = {record["uuid"]: blocks_of(record) for record in dialogue(new, order)}
    for record in old.records(turns):
        words = [block for block in old_blocks(record) if is_said(block)]
        kept_words = [block for block in left.get(record["uuid"], []) if block in words]
        if words != kept_words:
            yield f"words that are gone: {words}"


def is_said(block: Any) -> bool:
    is_text = isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    return is_text and bool(block["text"].strip())


def disorder(old: Source, turns: Sequence[Turn], new: Copied, order: dict[str, Any]) -> Iterator[str]:
    """Lines of one kind that changed places; those of an answer move to where its first line stood, which may be thinking
    that was left out."""
    places = {record["uuid"]: number for number, record in enumerate(old.records(turns))}
    chain = [record for record in new.records if record.get("uuid") in places]
    spoken = [record for record in chain if record["type"] != "assistant" and not is_result(record)]
    answers = {
        record["message"]["id"]: places[record["uuid"]] for record in reversed(chain) if record["type"] == "assistant"
    }
    said = [] if order["drop_thinking"] else list(reversed(answers.values()))
    for numbers in ([places[record["uuid"]] for record in spoken], said):
        if numbers != sorted(numbers):
            yield f"out of order: {numbers}"


def is_result(record: Record) -> bool:
    return any(block["type"] == "tool_result" for block in blocks_of(record))


def surprises(old: Source, turns: Sequence[Turn], new: Copied, order: dict[str, Any]) -> Iterator[str]:
    """What the index would see in the new file, and not expect."""
    again = source(*new.lines)
    chain = [record["uuid"] for record in new.records if "uuid" in record]
    live = [row.uuid for row in again.reading.rows.values() if row.live]
    if live != chain or again.reading.bad or again.reading.state.used:
        yield "lines that are not live, cannot be read or report usage"
    if len(again.turns) != len(turns):
        yield f"{len(again.turns)} turns instead of {len(turns)}"
    queued = [step.uuid for turn in turns for step in old.steps[turn.first : turn.last + 1] if step.kind == "q"]
    if [step.uuid for step in again.steps if step.kind == "q"] != [uuid for uuid in queued if uuid in set(chain)]:
        yield "queued messages that were none, or no longer are"
    if len(again.steps) != new.tally.events + (len(chain) - new.tally.events - bool(order["handoff"])):
        yield "another number of events than was counted"


# --- ugly lines ------------------------------------------------------------------------------------------------------


def test_a_result_of_twenty_megabytes_is_cut_in_a_moment() -> None:
    whole = talk(user("one"), assistant([tool_use("t1")]), tool_result("t1", "薄荷" * 3_400_000), assistant("two"))
    began = time.process_time()

    new = copy(whole)

    assert time.process_time() - began < 5
    assert len(new.lines[2]) < 10_000
    assert new.faults == []


def test_twenty_megabytes_of_a_persons_words_are_kept_whole() -> None:
    words = "薄荷" * 3_400_000

    new = copy(talk(user(words), assistant("two")))

    assert new.records[0]["message"]["content"] == words
    assert new.faults == []


@pytest.mark.parametrize("field", ["input", "toolUseResult"])
def test_a_line_nested_two_thousand_deep_is_refused_by_name(field: str) -> None:
    lines = Talk().link(user("one"), assistant([tool_use("t1", deep="DEEP")]), tool_result("t1", toolUseResult="DEEP"))
    wanted = 1 if field == "input" else 2
    deep = [json.dumps(line).encode() for line in lines]
    deep[wanted] = deep[wanted].replace(b'"DEEP"', b"[" * 2_000 + b"]" * 2_000)
    whole = source_of(raw_lines(*deep))

    assert len(whole.steps) == 3
    with pytest.raises(TooDeep):
        whole.records()


def test_a_field_that_stands_twice_counts_as_the_client_counts_it() -> None:
    one, two = Talk().link(user("one"), assistant("two"))
    raw = json.dumps(one).encode().replace(b'"message":', b'"message":{"role":"user","content":"not this"},"message":')

    new = copy(source(raw, two))

    assert new.words() == ["one", "two"]


def test_numbers_beyond_any_size_do_not_break_a_line() -> None:
    one, two = (json.dumps(line).encode() for line in Talk().link(user("one"), assistant("two")))

    new = copy(source(one[:-1] + b',"a":1e400,"b":' + b"9" * 30 + b',"c":-1e999}', two))

    assert (new.records[0]["a"], new.records[0]["b"], new.records[0]["c"]) == (None, 1e30, None)
    assert new.faults == []


def as_lines(records: Iterable[Record]) -> list[bytes]:
    return [json.dumps(record).encode() + b"\n" for record in records]


@pytest.mark.parametrize("spoil", ["drop", "double", "swap"])
def test_both_judges_see_a_line_that_is_missing_doubled_or_elsewhere(spoil: str) -> None:
    records = copy(talk(user("one"), assistant([tool_use("t1")]), tool_result("t1"), assistant("two"))).records
    if spoil == "drop":
        del records[1]
    elif spoil == "double":
        records.insert(2, records[2])
    else:
        records[1], records[2] = records[2], records[1]

    assert Checker(TARGET).faults(as_lines(records))
    assert list(faults(as_lines(records)))
