"""Calls and their results in the lines of a turn: a copy has both halves or none, next to each other (transcripts.md 1.4,
fact 7), and nothing that a client or the API cannot take.

Records are parsed lines and are never changed: what has to differ is a new one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Record = dict[str, Any]
THINKING = frozenset({"thinking", "redacted_thinking"})
# Which half stands in which type of line.
HALVES = {"tool_use": "assistant", "tool_result": "user"}


def sound(record: Record) -> Record | None:
    """The record with its content as every client sends it; None where there is nothing to send.

    Clients end on what is no block and on an answer that is a bare text; the API refuses empty texts.
    """
    content = content_of(record)
    is_answer = record.get("type") == "assistant"
    if isinstance(content, str) and (is_answer or not content.strip()):
        content = [content]
    if isinstance(content, str):
        return record
    if not isinstance(content, list):
        return None
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    kept = [block for block in blocks if isinstance(block, dict) and not _is_empty(block, is_answer)]
    if not kept:
        return None
    is_same = len(kept) == len(content) and all(map(operator.is_, kept, content))
    return record if is_same and content is content_of(record) else with_content(record, kept)


def _is_empty(block: Record, is_answer: bool) -> bool:
    """White space between the blocks of an answer is the companion's own."""
    text = block.get("text")
    return block.get("type") == "text" and not (isinstance(text, str) and (text if is_answer else text.strip()))


def paired(records: Sequence[Record]) -> tuple[list[Record], int]:
    """The records of a turn with only such calls and results as have each other, each once, the call first; and how many
    halves went, with the lines that had nothing else to say."""
    answers = _answers(records)
    seen: set[tuple[str, str]] = set()
    whole: list[Record] = []
    torn: set[str] = set()
    lost = 0
    for place, record in enumerate(records):
        content = content_of(record)
        kept = (
            [it for it in content if _is_whole(it, place, record, answers, seen)]
            if isinstance(content, list)
            else content
        )
        if isinstance(content, list) and len(kept) < len(content):
            lost += len(content) - len(kept)
            torn.add(message_id(record))
            record = _torn(record, kept)
        if kept:
            whole.append(record)
    spoken = {message_id(record) for record in whole if not _is_bare(record)}
    silent = [message_id(record) for record in whole if message_id(record) not in spoken]
    left = [record for record in whole if message_id(record) in spoken]
    return left, lost + sum(message in torn for message in silent)


def _answers(records: Sequence[Record]) -> Mapping[str, int]:
    """Where the result of each call stands: the first one behind it. All results of one line are of one message."""
    callers: dict[str, str] = {}
    places: dict[str, int] = {}
    for place, record in enumerate(records):
        for call in calls(record):
            callers.setdefault(call, message_id(record))
        found = [result for result in results(record) if result in callers and result not in places]
        places |= {result: place for result in found if callers[result] == callers[found[0]]}
    return places


def _is_whole(block: Any, place: int, record: Record, answers: Mapping[str, int], seen: set[tuple[str, str]]) -> bool:
    """Is this block no call and no result, or one that has its other half and was not there before?"""
    half = block.get("type") if isinstance(block, dict) else None
    if half not in HALVES:
        return True
    pair = _pair_id(block)
    if record.get("type") != HALVES[half] or pair not in answers or (half, pair) in seen:
        return False
    if half == "tool_result" and answers[pair] != place:
        return False
    seen.add((half, pair))
    return True


def _torn(record: Record, kept: list[Any]) -> Record:
    """What stood beside a result that went is no talk of the person's now."""
    left = with_content(record, kept)
    return left | {"isMeta": True} if results(record) and not results(left) else left


def _is_bare(record: Record) -> bool:
    """Is this a line of an answer without words? A whole message of them is sent by old clients and refused, and left out
    by new ones, which then put words of their own in its place."""
    if record.get("type") != "assistant":
        return False
    return all(
        it.get("type") in THINKING or (it.get("type") == "text" and not it["text"].strip()) for it in _blocks(record)
    )


def regroup(records: Sequence[Record]) -> list[Record]:
    """The lines of one message next to each other, its results right behind them in the order of the calls, then what
    was said meanwhile: parallel calls stand apart in the file, and older clients send them as they stand."""
    messages = _places(records, lambda record: [message_id(record)])
    answers = _places(records, results)
    ordered: list[int] = []
    taken: set[int] = set()
    for place, record in enumerate(records):
        if place in taken:
            continue
        group = [place]
        if message_id(record):
            group = messages[message_id(record)]
            group = group + [
                answer for own in group for call in calls(records[own]) for answer in answers.get(call, ())
            ]
        ordered += [it for it in dict.fromkeys(group) if it not in taken]
        taken.update(group)
    return [records[place] for place in ordered]


def _places(records: Sequence[Record], keys: Callable[[Record], list[str]]) -> dict[str, list[int]]:
    """Where in the list each key stands."""
    found: dict[str, list[int]] = {}
    for place, record in enumerate(records):
        for key in keys(record):
            found.setdefault(key, []).append(place)
    return found


def calls(record: Record) -> list[str]:
    """The ids of the calls that an answer makes."""
    return _halves(record, "tool_use")


def results(record: Record) -> list[str]:
    """The ids of the calls that a line has results of."""
    return _halves(record, "tool_result")


def _halves(record: Record, half: str) -> list[str]:
    if record.get("type") != HALVES[half]:
        return []
    found = [_pair_id(block) for block in _blocks(record) if block.get("type") == half]
    return [pair for pair in found if pair]


def _pair_id(block: Record) -> str:
    found = block.get("id" if block.get("type") == "tool_use" else "tool_use_id")
    return found if isinstance(found, str) else ""


def _blocks(record: Record) -> list[Record]:
    content = content_of(record)
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def message_id(record: Record) -> str:
    """The id of the message that a line of an answer is a part of; empty for all else."""
    message = record.get("message")
    found = message.get("id") if record.get("type") == "assistant" and isinstance(message, dict) else None
    return found if isinstance(found, str) else ""


def content_of(record: Record) -> Any:
    """The content of a message or of a queued prompt; None where there is none."""
    if record.get("type") == "attachment":
        attachment = record.get("attachment")
        return attachment.get("prompt") if isinstance(attachment, dict) else None
    message = record.get("message")
    return message.get("content") if isinstance(message, dict) else None


def with_content(record: Record, content: Any) -> Record:
    """The record with another content."""
    body, key = ("attachment", "prompt") if record.get("type") == "attachment" else ("message", "content")
    return record | {body: record[body] | {key: content}}
