"""Invented transcripts for tests: records as the client writes them, linked as it links them, and files of them."""

from __future__ import annotations

import itertools
import json
import uuid as uuids
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sessions.core.batches import RawLine
from sessions.core.events import bounded_id, kind_of, parent_of
from sessions.core.lines import Line, coerce
from sessions.core.reading import time_of
from sessions.core.thread import Link

Record = dict[str, Any]
START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
MODEL = "claude-opus-4-7"
VERSION = "2.1.332"
CHAIN = {"user", "assistant", "attachment", "system", "progress"}
_numbers = itertools.count(1)


def user(content: Any = "water the mint, please", **more: Any) -> Record:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(
    content: Any = "done, it drank it all", *, message: str = "", used: int = 0, model: str = MODEL, **more: Any
) -> Record:
    """One line of an answer. `used` is the reported context; 0 leaves the usage out."""
    body: Record = {"role": "assistant", "model": model, "content": blocks(content)}
    body["id"] = message or f"msg_{next(_numbers):06d}"
    if used:
        body["usage"] = usage(used)
    return {"type": "assistant", "message": body, **more}


def usage(context: int, output: int = 7) -> Record:
    """A report whose three input figures sum up to `context`."""
    fresh = min(context, 3)
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": (context - fresh) // 10,
        "cache_read_input_tokens": context - fresh - (context - fresh) // 10,
        "output_tokens": output,
    }


def blocks(content: Any) -> Any:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def thinking(text: str = "mint likes shade", **more: Any) -> Record:
    return {"type": "thinking", "thinking": text, "signature": "c2ln", **more}


def tool_use(call: str, **arguments: Any) -> Record:
    """A block of an answer: one call."""
    return {"type": "tool_use", "id": call, "name": "Look", "input": arguments or {"where": "balcony"}}


def tool_result(call: str, content: Any = "four pots", **more: Any) -> Record:
    return user([{"type": "tool_result", "tool_use_id": call, "content": content}], **more)


def image(data: str = "iVBORw0KGgo=") -> Record:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def queued(prompt: Any = "and the basil", **more: Any) -> Record:
    """A message sent while a turn was running."""
    return {
        "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"},
        **more,
    }


def attachment(kind: str, **more: Any) -> Record:
    return {"type": "attachment", "attachment": {"type": kind, "content": "a note beside the talk"}, **more}


def boundary(after: Any = None, **more: Any) -> Record:
    """A compaction; it hangs on the line before it by `logicalParentUuid` only."""
    metadata = {"trigger": "auto", "preTokens": 166_000} | ({} if after is None else {"postTokens": after})
    return {"type": "system", "subtype": "compact_boundary", "compactMetadata": metadata, **more}


def summary(text: str = "so far: pots were watered", **more: Any) -> Record:
    return user(text, isCompactSummary=True, isVisibleInTranscriptOnly=True, **more)


def progress(**more: Any) -> Record:
    return {"type": "progress", "data": {"type": "bash_progress", "output": "…"}, **more}


def custom_title(title: str) -> Record:
    return {"type": "custom-title", "customTitle": title}


def ai_title(title: str) -> Record:
    return {"type": "ai-title", "aiTitle": title}


def last_prompt(leaf: str) -> Record:
    return {"type": "last-prompt", "lastPrompt": "water", "leafUuid": leaf}


class Talk:
    """Links records as they come: uuid, parentUuid, timestamp and the rest, unless a record names its own."""

    def __init__(
        self, session: str = "", *, version: str = VERSION, cwd: str = "/srv/balcony", start: datetime = START
    ) -> None:
        self.session = session or str(uuids.uuid4())
        self.fixed: Record = {"isSidechain": False, "sessionId": self.session, "version": version, "cwd": cwd}
        self.at = start
        self.last: str | None = None

    def link(self, *records: Record) -> list[Record]:
        return [self._linked(record) if record["type"] in CHAIN else record for record in records]

    def _linked(self, record: Record) -> Record:
        self.at += timedelta(seconds=10)
        own: Record = {"parentUuid": self.last, "uuid": str(uuids.uuid4()), "timestamp": stamp(self.at)}
        if record.get("subtype") == "compact_boundary":
            own |= {"parentUuid": None, "logicalParentUuid": self.last}
        linked = own | self.fixed | record
        if not linked["isSidechain"]:
            self.last = linked["uuid"]
        return linked


class TranscriptFile:
    """A transcript on disk that grows as the client's does."""

    def __init__(self, root: Path, project: str = "-srv-balcony", session: str = "", **talk: Any) -> None:
        self.talk = Talk(session, **talk)
        self.session = self.talk.session
        self.path = root / project / f"{self.session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()

    def add(self, *records: Record) -> list[Record]:
        linked = self.talk.link(*records)
        self.add_bytes(as_bytes(linked))
        return linked

    def add_bytes(self, data: bytes) -> None:
        with self.path.open("ab") as stream:
            stream.write(data)


def agent_file(
    root: Path, session: str, *records: Record, project: str = "-srv-balcony", agent: str = "agent-a1b2c3d"
) -> Path:
    """A subagent's transcript in the side folder of its session."""
    path = root / project / session / "subagents" / f"{agent}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_bytes(Talk(session).link(*({**record, "isSidechain": True} for record in records))))
    return path


def stamp(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def encoded(record: Record) -> bytes:
    """One line without its newline, as JSON.stringify writes it: compact, everything but controls and surrogates raw."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8") if text.isprintable() or not _has_surrogate(text) else json.dumps(record).encode()


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)


def as_bytes(records: Iterable[Record]) -> bytes:
    return b"".join(encoded(record) + b"\n" for record in records)


def raw_lines(*lines: Record | bytes | None) -> list[RawLine]:
    """Lines of a file, numbered and placed. Bytes stay as they are; None is a line that was too long."""
    numbered, offset = [], 0
    for seq, line in enumerate(lines):
        raw = encoded(line) if isinstance(line, dict) else line
        length = 100 if raw is None else len(raw)
        numbered.append(RawLine(seq, offset, raw, length))
        offset += length + 1
    return numbered


def line_of(record: Record) -> Line:
    """A record typed, without its way over bytes."""
    return coerce(record)


def links_of(records: Iterable[Record]) -> list[Link]:
    """The chain lines of a file as its thread sees them."""
    links = []
    for seq, record in enumerate(records):
        line = line_of(record)
        kind = kind_of(line)
        if kind is not None:
            parent = parent_of(line)
            message = line.message.id if line.type == "assistant" and line.message else None
            uuid = bounded_id(line.uuid or "")
            links.append(Link(seq, uuid, parent, kind, bool(line.isSidechain), message, time_of(line.timestamp)))
    return links
