"""The lines of one session as they are written down: links, times, and how full the window is at each call.

A `Tape` knows how records hang together, not what they say (`lines`). Tokens are the console's own estimate of what was
written so far, a little stretched as real sessions are, on top of system prompt and tools.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from sessions.core.demo import ids
from sessions.core.demo.script import FOLDER
from sessions.core.events import kind_of
from sessions.core.lines import read_line
from sessions.core.pieces import Weigher
from sessions.core.tokens import generation_of
from sessions.core.usage import version_of

Record = dict[str, Any]
MODEL = "claude-opus-4-6"
HELPER_MODEL = "claude-haiku-4-5-20251001"
# Tokens: system prompt, tools and CLAUDE.md; the part of it that outlives a compaction in the cache.
OVERHEAD = 23_400
ALWAYS_CACHED = 18_200
STRETCH = 1.04
# What the client wrote for the cache is gone after this.
FORGOTTEN = timedelta(minutes=60)
NEWER = (2, 1, 300)


class Tape:
    """One file of a session; with `agent` a subagent's."""

    def __init__(self, session: str, version: str, at: datetime, agent: str = "") -> None:
        self.session, self.version, self.agent = session, version, agent
        self.model = HELPER_MODEL if agent else MODEL
        self.at = at
        self.lines: list[bytes] = []
        # Files of subagents: id → (its description, its tape).
        self.helpers: dict[str, tuple[str, Tape]] = {}
        self.parent: str | None = None
        self.last_words = ""
        # Estimated tokens in the window; what the last call reported, and when.
        self.weight = 0.0
        self.context = 0
        self.called: datetime | None = None
        self._count = 0

    @property
    def is_newer(self) -> bool:
        return version_of(self.version) >= NEWER

    @property
    def next_context(self) -> int:
        """Tokens that a call made now would report."""
        return round(OVERHEAD + STRETCH * self.weight)

    def place(self, *what: object) -> tuple[object, ...]:
        """Names the next thing on this tape, for ids and chance."""
        self._count += 1
        return (self.session, self.agent, self._count, *what)

    def wait(self, low: float, high: float) -> None:
        """Seconds pass."""
        self.at += timedelta(milliseconds=round(1000 * ids.between(low, high, *self.place("wait"))))

    @property
    def stamp(self) -> str:
        return stamp(self.at)

    def note(self, kind: str, **fields: Any) -> None:
        """A record beside the chain."""
        self._write({"type": kind, **fields, "sessionId": self.session})

    def tear(self, text: str) -> None:
        """A line that never got whole."""
        self.lines.append(text.encode())

    def link(self, body: Mapping[str, Any], after: Mapping[str, Any] | None = None, parent: str | None = "") -> str:
        """Hangs a record on the last one (or on `parent`); answers its uuid."""
        own = ids.uuid_of(*self.place("line"))
        record: Record = {"parentUuid": self.parent if parent == "" else parent}
        if record["parentUuid"] is None and self.parent:
            record["logicalParentUuid"] = self.parent
        record |= {"isSidechain": bool(self.agent)}
        record |= {"agentId": self.agent} if self.agent else {}
        record |= {**body, "uuid": own, "timestamp": self.stamp, **(after or {})}
        record |= {"userType": "external", "entrypoint": "cli", "cwd": FOLDER, "sessionId": self.session}
        record |= {"version": self.version, "gitBranch": "HEAD"}
        self._write(record)
        self.weight += self.weigh(record)
        self.parent = own
        return own

    def weigh(self, record: Record) -> int:
        """Estimated tokens of a record in the window."""
        line = read_line(encoded(record))
        kind = kind_of(line) if line else None
        if line is None or kind is None:
            return 0
        weigher = Weigher(generation_of(self.model))
        weigher.add(line, kind)
        return sum(weigher.weigh()[0])

    def usage(self, output: int, thinking: int) -> Record:
        """What the API reports for a call made now; remembers it for the next one."""
        context = self.next_context
        fresh = self.called is not None and self.at - self.called < FORGOTTEN
        read = min(self.context, context - 3) if fresh else 0
        made = context - 3 - read
        self.context, self.called = context, self.at
        report: Record = {
            "input_tokens": 3,
            "cache_creation_input_tokens": made,
            "cache_read_input_tokens": read,
            "output_tokens": output,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": made, "ephemeral_5m_input_tokens": 0},
            "inference_geo": "",
            "iterations": [],
            "speed": "standard",
        }
        return report | ({"output_tokens_details": {"thinking_tokens": thinking}} if self.is_newer else {})

    def compact(self) -> None:
        """The window is emptied; the system prompt stays in the cache."""
        self.weight = 0.0
        self.context = ALWAYS_CACHED

    @property
    def data(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def _write(self, record: Record) -> None:
        self.lines.append(encoded(record))


def encoded(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def stamp(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
