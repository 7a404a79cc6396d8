"""Copying turns into a new transcript that `claude --resume` takes (spec W7; transcripts.md, "The dozen things").

Pure: records (parsed lines) of whole turns in, records of the new file out, as one linear chain. Nothing is invented
but the injected hand-off before the first message and, where the file would end in a user line, a closing line.
"""

from __future__ import annotations

import re
import uuid as uuids
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sessions.core.events import ANCHORS, HANDOFF_ORIGIN, SYNTHETIC_MODEL, kind_of
from sessions.core.lines import coerce
from sessions.core.pairing import THINKING, Piece, Record, grouped, paired
from sessions.core.reading import time_of
from sessions.core.squash import Squashed, squash

TOKEN_FIELDS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
# Where a line says when it was said, if its time had to become another one.
KEPT_TIME = "keptTimestamp"
CLOSING_WORDS = "…"
_SIDES = "tool-results/"
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
# The one way to write a time that every client version reads.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
# Models that bind thinking to everything before it: after any cut the block is refused (transcripts.md, fact 3).
_PRESERVED = re.compile(r"claude-((fable|mythos)-5-[12]|(opus|sonnet|haiku)-5-5)(?!\d)")
# Of a record: its place in the old chain, which is written anew, and what only the client's own screens use.
_OWN = frozenset({"parentUuid", "timestamp", "sessionId", "toolUseResult", "logicalParentUuid", "keptTimestamp"})


def preserves_thinking(model: str) -> bool:
    """Is thinking of this model bound to its conversation, so that no copy may carry it?"""
    return _PRESERVED.search(model) is not None


@dataclass(frozen=True, slots=True)
class Order:
    """How a file is to be written. `cap` is characters of a tool result (0: as they are); `sides` names the side files
    (tool results spilled by the client) that are carried along, as they are called in their folder."""

    source: str
    target: str
    now: datetime
    cap: int = 2_000
    drop_thinking: bool = False
    sides: frozenset[str] = frozenset()


@dataclass(slots=True)
class Tally:
    """What became of the events: counted while they are copied. Token figures are the plan's, not counted here."""

    events: int = 0
    thinking: int = 0
    thinking_dropped: int = 0
    # Calls without a result and results without a call, and what was left of their messages.
    unpaired: int = 0
    agents: set[str] = field(default_factory=set)
    squashed: Squashed = field(default_factory=Squashed)

    def add(self, other: Tally) -> None:
        """Counts what another counted."""
        self.events += other.events
        self.thinking += other.thinking
        self.thinking_dropped += other.thinking_dropped
        self.unpaired += other.unpaired
        self.agents |= other.agents
        self.squashed.add(other.squashed)


@dataclass(slots=True)
class Copyist:
    """Writes one linear chain: feed `handoff`, then every turn, then `closing`. Holds no more than one
    line and the ids of messages and calls."""

    order: Order
    tally: Tally = field(default_factory=Tally)
    _parent: str | None = None
    _stamp: str = ""
    _last: Record | None = None
    # Ids of the messages of earlier turns, and of the calls that have their result.
    _messages: set[str] = field(default_factory=set)
    _answered: set[str] = field(default_factory=set)

    def handoff(self, text: str, *, at: datetime | None = None) -> Iterator[Record]:
        """The injected user line: marked by where it came from, so that nobody takes it for the person's words. `at` is the
        time of what follows: client 2.0 takes the line with the newest time for the end of the talk."""
        yield from self._write(
            {
                "parentUuid": None,
                "isSidechain": False,
                "type": "user",
                "message": {"role": "user", "content": text},
                "isMeta": True,
                "origin": {"kind": HANDOFF_ORIGIN},
                "uuid": str(uuids.uuid5(uuids.NAMESPACE_URL, f"handoff:{self.order.target}")),
                "timestamp": stamp(at or EARLIEST),
            }
        )

    def turn(self, records: Sequence[Record], *, is_last: bool) -> Iterator[Record]:
        """The records of one turn in chain order, paired, grouped, squashed and linked anew. Takes the records over: they
        are changed."""
        for piece in self.pieces(records, is_last=is_last):
            yield from self._write(piece.record)

    def pieces(self, records: Sequence[Record], *, is_last: bool) -> list[Piece]:
        """What stays of a turn, in its order, as it will stand in the new window but for its links; counted."""
        pieces = [Piece(record, place) for place, record in enumerate(records)]
        self._name(pieces)
        self._tell_apart(pieces)
        whole, gone = paired(pieces)
        self.tally.unpaired += gone
        kept = [piece for piece in grouped(whole) if self._settle(piece, is_last)]
        self.tally.events += len(kept)
        return kept

    def _name(self, pieces: Sequence[Piece]) -> None:
        """Gives every answer an id that no earlier turn has: clients join answers by it, and those without one over whole
        turns (measured with 2.0.76 and 2.1.112). Lines without one are one message as long as they stand together."""
        names: dict[str, str] = {}
        for piece in pieces:
            if not piece.is_answer or piece.body is None:
                names.pop("", None)
                continue
            if piece.message not in names:
                is_own = piece.message and piece.message not in self._messages
                names[piece.message] = piece.message if is_own else _id("msg", f"answer:{piece.record.get('uuid')}")
            piece.message = piece.body["id"] = names[piece.message]
        self._messages.update(names.values())

    def _tell_apart(self, pieces: Sequence[Piece]) -> None:
        """A call under the id of one that has its result is another call, though not every gateway gives it another id:
        newer clients put words of their own in its place (measured with 2.1.112 and 2.1.332)."""
        again: dict[str, str] = {}
        called: set[str] = set()
        for piece in pieces:
            for call in piece.calls:
                if again.get(call, call) in self._answered:
                    again[call] = _id("toolu", f"{piece.record.get('uuid')}:{call}")
            if again:
                piece.rename(again)
            called.update(piece.calls)
            self._answered |= called.intersection(piece.results)

    def closing(self, title: str) -> Iterator[Record]:
        """The last line with the time of now, a closing answer if it was a user's, and the title at the very end. When it
        was really said stands beside the time that the clients want."""
        if self._last is None:
            return
        last, self._last = self._last, None
        if last["type"] == "assistant":
            yield self._stamped(last, last["timestamp"])
        else:
            yield last
            self._parent = last["uuid"]
            yield self._stamped(self._placed(self._answer()), last["timestamp"])
        if title:
            yield {"type": "custom-title", "customTitle": title, "sessionId": self.order.target}

    def _stamped(self, record: Record, said: str) -> Record:
        kept = {KEPT_TIME: said} if said != stamp(EARLIEST) else {}
        return record | {"timestamp": stamp(self.order.now)} | kept

    def _write(self, record: Record) -> Iterator[Record]:
        """Holds back one line: only behind it is known whether it is the last."""
        if self._last is not None:
            yield self._last
        self._last = self._placed(record)
        self._parent = self._last["uuid"]

    def _placed(self, record: Record) -> Record:
        """A record in its place of the new chain: parent first, a time that can be read, the new session's id."""
        self._stamp = self._time_of(record.get(KEPT_TIME) or record.get("timestamp")) or self._stamp or stamp(EARLIEST)
        placed: Record = {"parentUuid": self._parent}
        for key, value in record.items():
            if key == "uuid":
                placed[key] = value
                placed["timestamp"] = self._stamp
            elif key not in _OWN:
                placed[key] = value
        placed["isSidechain"] = False
        placed["sessionId"] = self.order.target
        return placed

    def _time_of(self, text: Any) -> str:
        """A line's own time as every client reads it, empty where it has none. Nor does one count that is not before now:
        client 2.0 takes the newest time, the first of two equal ones, for the end of the talk."""
        at = time_of(text) if isinstance(text, str) else None
        now = self.order.now
        if at is None or at >= now.replace(microsecond=now.microsecond // 1000 * 1000):
            return ""
        return text if _TIME.fullmatch(text) else stamp(at)

    def _answer(self) -> Record:
        return {
            "parentUuid": None,
            "isSidechain": False,
            "type": "assistant",
            "message": {
                "id": _id("msg", f"closing:{self.order.target}"),
                "type": "message",
                "role": "assistant",
                "model": SYNTHETIC_MODEL,
                "content": [{"type": "text", "text": CLOSING_WORDS}],
                "stop_reason": "stop_sequence",
                "stop_sequence": "",
                "usage": dict.fromkeys(TOKEN_FIELDS, 0),
            },
            "uuid": str(uuids.uuid5(uuids.NAMESPACE_OID, f"closing:{self.order.target}")),
            "timestamp": stamp(self.order.now),
        }

    def _settle(self, piece: Piece, is_last: bool) -> bool:
        """Brings a piece's record to what the new window has; False where nothing is left of it."""
        if piece.thoughts and not self._thinks(piece):
            return False
        self._note_agent(piece.record)
        if piece.body is None or piece.key not in piece.body:
            return True
        images = self.tally.squashed.images
        content = squash(
            piece.content,
            cap=self.order.cap,
            pictures=bool(self.order.cap) and not is_last,
            source=self.order.source,
            done=self.tally.squashed,
        )
        content = self._relocated(content) if self.order.sides else content
        is_changed = self.tally.squashed.images > images and not piece.results
        was_spoken = is_changed and _is_anchor(piece.record)
        piece.content = piece.body[piece.key] = content
        if is_changed and not was_spoken and _is_anchor(piece.record):
            # A command or a delivery that began with a picture would begin with our words now, and pass for talk.
            piece.record["isMeta"] = True
        if piece.is_answer and isinstance(usage := piece.body.get("usage"), dict):
            # A resumed client measures the window by the last answer's figures (transcripts.md, fact 1).
            usage.update({name: 0 for name in TOKEN_FIELDS if name in usage})
        return True

    def _note_agent(self, record: Record) -> None:
        """Which subagent a call ran stands in what is not copied."""
        noted = record.get("toolUseResult")
        agent = noted.get("agentId") if isinstance(noted, dict) else record.get("keptAgentId")
        if isinstance(agent, str):
            self.tally.agents.add(agent)
            record["keptAgentId"] = agent

    def _thinks(self, piece: Piece) -> bool:
        """Counts the thinking of a piece, or takes it out; False where nothing else was in it."""
        if not self.order.drop_thinking:
            self.tally.thinking += piece.thoughts
            return True
        self.tally.thinking_dropped += piece.thoughts
        piece.read([block for block in piece.content if not _is_thinking(block)])
        return bool(piece.content)

    def _relocated(self, content: Any) -> Any:
        """Paths of side files that are carried along point to the new session's folder."""
        if not isinstance(content, list):
            return content
        return [self._relocated_block(block) for block in content]

    def _relocated_block(self, block: Any) -> Any:
        if not isinstance(block, dict) or block.get("type") != "tool_result":
            return block
        inner = block.get("content")
        if isinstance(inner, str):
            return block | {"content": self._relocated_text(inner)}
        if isinstance(inner, list):
            return block | {"content": [self._relocated_inner(each) for each in inner]}
        return block

    def _relocated_inner(self, block: Any) -> Any:
        is_text = isinstance(block, dict) and isinstance(block.get("text"), str)
        return block | {"text": self._relocated_text(block["text"])} if is_text else block

    def _relocated_text(self, text: str) -> str:
        def renamed(found: re.Match[str]) -> str:
            return f"/{self.order.target}/{found[1]}" if found[1] in self.order.sides else found[0]

        return _side(self.order.source).sub(renamed, text) if _SIDES in text else text


def side_names(text: str, session: str) -> set[str]:
    """The spilled tool results of a session that a text points to: `tool-results/<file>`."""
    return set(_side(session).findall(text)) if _SIDES in text else set()


def _side(session: str) -> re.Pattern[str]:
    """A name ends before the full stop of a sentence."""
    return re.compile(rf"/{re.escape(session)}/({_SIDES}[\w.-]{{0,119}}[\w-])")


def stamp(at: datetime) -> str:
    """A time as the client writes it: ISO, milliseconds, Z. `at` is in UTC."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _id(kind: str, name: str) -> str:
    """The same for the same name, as the API makes them."""
    return f"{kind}_{uuids.uuid5(uuids.NAMESPACE_URL, name).hex[:24]}"


def _is_anchor(record: Record) -> bool:
    return kind_of(coerce(record)) in ANCHORS


def _is_thinking(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in THINKING
