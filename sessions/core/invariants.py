"""What must hold for a new transcript before anybody is sent into it (spec W7). Reads the written bytes, not the plan.

Each fault is one sentence that names the line; an empty list means that every client version takes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from sessions.core.events import HANDOFF_ORIGIN, Kind, kind_of
from sessions.core.lines import BadLine, read_line
from sessions.core.reading import time_of
from sessions.core.surgery import TOKEN_FIELDS

Record = dict[str, Any]
COPIED = frozenset({"user", "assistant", "attachment"})
MOST_FAULTS = 20


class Checker:
    """Goes over the lines of a new file in order; holds one turn's calls and the ids seen."""

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.uuids: list[str] = []
        self._faults: list[str] = []
        self._seen: set[str] = set()
        self._messages: set[str] = set()
        self._parent: str | None = None
        self._message = ""
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
        if self._last_type != "assistant":
            self._fault("does not end in an answer")
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
        elif record.get("type") in COPIED:
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
        if not isinstance(uuid, str) or uuid in self._seen:
            yield "no uuid of its own"
        if record.get("parentUuid") != self._parent or next(iter(record)) != "parentUuid":
            yield "not linked to the line before it"
        if time_of(record.get("timestamp") if isinstance(record.get("timestamp"), str) else None) is None:
            yield "no time that can be read"
        if record.get("isSidechain") is not False:
            yield "a side chain"
        if "toolUseResult" in record or "logicalParentUuid" in record:
            yield "a field that must not be copied"
        if kind in {Kind.SUMMARY, Kind.BOUNDARY, Kind.ATTACHMENT, Kind.INJECTED, None}:
            yield "not a part of the dialogue"
        if kind is Kind.HANDOFF and self._parent is not None:
            yield "a hand-off that is not at the beginning"
        yield from self._speech(record, kind)
        yield from self._pairs(record)
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

    def _pairs(self, record: Record) -> Iterator[str]:
        message = record.get("message") if record["type"] != "attachment" else None
        content = message.get("content") if isinstance(message, dict) else None
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        results = [str(block.get("tool_use_id")) for block in blocks if block.get("type") == "tool_result"]
        found = message.get("id") if record["type"] == "assistant" and isinstance(message, dict) else None
        own = found if isinstance(found, str) else ""
        if record["type"] == "assistant":
            if self._open and own != self._message:
                yield "an answer before the results of the calls"
            if own and own != self._message and own in self._messages:
                yield "a message torn in parts"
            self._messages.add(own)
        elif not results and self._open:
            yield "something between a call and its result"
        self._message = own if record["type"] == "assistant" else self._message if self._open else ""
        for call in (str(block.get("id")) for block in blocks if block.get("type") == "tool_use"):
            if f"call:{call}" in self._seen:
                yield "a call twice"
            self._seen.add(f"call:{call}")
            self._open.add(call)
        for result in results:
            if result not in self._open:
                yield "a result without its call"
            self._open.discard(result)


def read_strictly(line: bytes) -> Any:
    """JSON as the strictest reader takes it: half a surrogate pair and bad UTF-8 are refused. Raises ValueError."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        text = line.decode("utf-8")
        value = json.loads(text)
        # Deeper than the quick reader goes, or half a pair: only the second cannot be written again.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except RecursionError:
        raise ValueError("nested too deeply") from None


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
