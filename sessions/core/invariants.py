"""What must hold for a new transcript before anybody is sent into it (spec W7). Reads the written bytes, not the plan.

Each fault is one sentence that names the line; an empty list means that every client version takes the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NoReturn

import orjson

from sessions.core.events import HANDOFF_ORIGIN, Kind, kind_of
from sessions.core.lines import BadLine, read_line
from sessions.core.pairing import HALVES, THINKING, is_block, is_result
from sessions.core.reading import time_of
from sessions.core.surgery import TOKEN_FIELDS

Record = dict[str, Any]
COPIED = frozenset({"user", "assistant", "attachment"})
MOST_FAULTS = 20
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class Checker:
    """Goes over the lines of a new file in order; holds one turn's calls and the ids seen."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.uuids: list[str] = []
        self._faults: list[str] = []
        self._seen: set[str] = set()
        self._calls: set[str] = set()
        self._messages: set[str] = set()
        self._parent: str | None = None
        # The message that is being said, and whether it is nothing but thinking so far.
        self._message = ""
        self._is_silent = False
        # The newest time before the last line, and that of the last line.
        self._newest = self._at = _LONG_AGO
        self._open: set[str] = set()
        self._is_spoken = False
        self._last_type = ""
        self._is_over = False
        self._number = 0

    def faults(self, lines: Iterable[bytes]) -> list[str]:
        """Every fault of the file, at most MOST_FAULTS; lines come with their newline."""
        for line in lines:
            self._number += 1
            self._line(line)
            if len(self._faults) >= MOST_FAULTS:
                return self._faults
        self._number += 1
        if not self._is_spoken:
            self._fault("no message of the person")
        if self._is_silent:
            self._fault("an answer without words")
        if self._last_type != "assistant":
            self._fault("does not end in an answer")
        if self._newest >= self._at:
            self._fault("the last message is not the newest")
        if self._open:
            self._fault("a call without its result at the end")
        return self._faults

    def _fault(self, words: str) -> None:
        self._faults.append(f"line {self._number}: {words}")

    def _line(self, line: bytes) -> None:
        if not line.endswith(b"\n"):
            self._fault("no newline at its end")
        try:
            record = read_strictly(line)
        except ValueError as fault:
            self._fault(f"cannot be read ({fault})"[:200])
            return
        if not isinstance(record, dict):
            self._fault("not an object")
        elif record.get("type") == "custom-title":
            self._is_over = True
            self._session(record)
        elif str(record.get("type")) in COPIED:
            kind = Kind.ASSISTANT if record["type"] == "assistant" else _kind_of(line)
            for words in self._chain(record, kind):
                self._fault(words)
        else:
            self._fault(f"a record of type {str(record.get('type'))[:40]}")

    def _session(self, record: Record) -> None:
        if record.get("sessionId") != self.session_id:
            self._fault("another session's id")

    def _chain(self, record: Record, kind: Kind | None) -> Iterator[str]:
        self._session(record)
        uuid = record.get("uuid")
        if self._is_over:
            yield "a message behind the title"
        if not isinstance(uuid, str) or not uuid or uuid in self._seen:
            yield "no uuid of its own"
        if record.get("parentUuid") != self._parent or next(iter(record)) != "parentUuid":
            yield "not linked to the line before it"
        at = _time_of(record.get("timestamp"))
        if at is None:
            yield "no time that every client reads"
        self._newest, self._at = max(self._newest, self._at), at or self._at
        if record.get("isSidechain") is not False:
            yield "a side chain"
        if "toolUseResult" in record or "logicalParentUuid" in record:
            yield "a field that must not be copied"
        if kind in {Kind.SUMMARY, Kind.BOUNDARY, Kind.ATTACHMENT, Kind.INJECTED, None}:
            yield "not a part of the dialogue"
        if kind is Kind.HANDOFF and self._parent is not None:
            yield "a hand-off that is not at the beginning"
        yield from self._speech(record, kind)
        content = _content_of(record)
        yield from _blocks(record, content)
        blocks = [block for block in content if _is_block(block)] if isinstance(content, list) else []
        yield from self._message_of(record, blocks)
        yield from self._pairs(record, blocks)
        self._parent = uuid if isinstance(uuid, str) else None
        self._last_type = str(record["type"])
        self._seen.add(str(uuid))
        self.uuids.append(str(uuid))

    def _speech(self, record: Record, kind: Kind | None) -> Iterator[str]:
        if not self._is_spoken and kind not in {Kind.HANDOFF, Kind.HUMAN}:
            yield "stands before the first message of the person"
        self._is_spoken = self._is_spoken or kind is Kind.HUMAN
        message = record.get("message")
        usage = message.get("usage") if isinstance(message, dict) else None
        if isinstance(usage, dict) and any(usage.get(name) for name in TOKEN_FIELDS):
            yield "usage of the old window"

    def _message_of(self, record: Record, blocks: list[Record]) -> Iterator[str]:
        """The lines of one message stand together, and it says something."""
        message = record.get("message")
        found = message.get("id") if record["type"] == "assistant" and isinstance(message, dict) else ""
        own = found if isinstance(found, str) else ""
        is_answer = record["type"] == "assistant"
        if is_answer and not own:
            yield "an answer without an id of its message"
        if not is_answer or own != self._message:
            if self._is_silent:
                yield "an answer without words before it"
            self._is_silent = is_answer
            if own and own in self._messages:
                yield "a message torn in parts"
            self._messages.add(own)
            if is_answer and self._open:
                yield "an answer before the results of the calls"
        self._message = own
        self._is_silent = self._is_silent and all(_is_silent(block) for block in blocks)

    def _pairs(self, record: Record, blocks: list[Record]) -> Iterator[str]:
        for block in blocks:
            if block.get("type") in HALVES and record["type"] != HALVES[block["type"]]:
                yield "half of a call in the wrong type of line"
        results = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        if record["type"] != "assistant" and not results and self._open:
            yield "something between a call and its result"
        for call in (str(block.get("id")) for block in blocks if block.get("type") == "tool_use"):
            if call in self._calls:
                yield "a call twice"
            self._calls.add(call)
            self._open.add(call)
        for result in results:
            if result not in self._open:
                yield "a result without its call"
            self._open.discard(result)


def _content_of(record: Record) -> Any:
    name, key = ("attachment", "prompt") if record["type"] == "attachment" else ("message", "content")
    body = record.get(name)
    return body.get(key) if isinstance(body, dict) else None


def _blocks(record: Record, content: Any) -> Iterator[str]:
    """Clients end on an answer that is a bare text and on what is no block; the API refuses empty texts."""
    if isinstance(content, str) and record["type"] != "assistant":
        if not content.strip():
            yield "an empty text"
    elif not isinstance(content, list) or not content:
        yield "no content that can be sent"
    elif not all(map(_is_block, content)):
        yield "something in the content that is no block"
    elif not all(map(is_block, content)):
        yield "an empty text"
    elif not all(is_result(block) for block in content if block["type"] == "tool_result"):
        yield "a result that cannot be sent"


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str)


def _is_silent(block: Record) -> bool:
    is_blank = block.get("type") == "text" and not str(block.get("text")).strip()
    return is_blank or block.get("type") in THINKING


def _time_of(text: Any) -> datetime | None:
    return time_of(text) if isinstance(text, str) and _TIME.fullmatch(text) else None


def read_strictly(line: bytes) -> Any:
    """JSON as the strictest reader takes it: half a surrogate pair and bad UTF-8 are refused. Raises ValueError."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        return _read_deeply(line.decode("utf-8"))


def _read_deeply(text: str) -> Any:
    """Deeper than the quick reader goes, or half a pair: only the second cannot be written again."""
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _kind_of(line: bytes) -> Kind | None:
    try:
        found = read_line(line)
    except BadLine:
        return None
    return kind_of(found) if found is not None else None


def is_marked(record: Record) -> bool:
    """Is this the line that surgery injects?"""
    origin = record.get("origin")
    return isinstance(origin, dict) and origin.get("kind") == HANDOFF_ORIGIN
