"""A stretch of a transcript as a person reads it: who spoke, what was thought, which tools answered what (spec S6).

Lines of one API message become one entry; a tool's result hangs on its call. Everything is bounded: what was cut says
how much, and can be opened by its line number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec import UNSET

from sessions.core.events import Kind, blocks_of
from sessions.core.lines import Block, Line, first_texts

MOST_CHARACTERS = 6_000
MOST_INPUT = 600
MOST_RESULT = 2_000
AGENT_TOOLS = frozenset({"Task", "Agent"})
# What a call is about, by the usual names of the tools' arguments, the first one found.
TARGETS = ("file_path", "path", "command", "url", "query", "pattern", "description", "skill", "prompt")


@dataclass(frozen=True, slots=True)
class Placed:
    """A line's place, from its row. `tokens` is its estimated weight, `length` its bytes."""

    seq: int
    idx: int | None
    uuid: str
    kind: str
    live: bool
    side: bool
    at: datetime | None
    message_id: str | None
    tokens: int
    length: int


@dataclass(frozen=True, slots=True)
class Cut:
    """A text that may have been cut: `more` characters are left out. The whole of it is the `block`-th content block of
    line `seq`, -1 where there is no such line."""

    text: str
    more: int = 0
    seq: int = -1
    block: int = 0

    @property
    def characters(self) -> int:
        return len(self.text) + self.more


@dataclass(frozen=True, slots=True)
class Picture:
    """The `at`-th image of a line."""

    seq: int
    at: int


@dataclass(slots=True)
class Result:
    """What a tool answered. `agent` is the id of the subagent whose work it reports, where the line says so."""

    seq: int
    text: Cut
    is_error: bool
    tokens: int
    pictures: list[Picture] = field(default_factory=list)
    agent: str | None = None


@dataclass(slots=True)
class Call:
    """A tool call, the `input.block`-th content block of its line; no result means that it never came, or comes later
    in the file."""

    seq: int
    name: str
    target: str
    input: Cut
    result: Result | None = None

    @property
    def is_agent(self) -> bool:
        return self.name in AGENT_TOOLS


@dataclass(slots=True)
class Entry:
    """One thing in the timeline. `place` is its first line's, `last` the number of its last one, results included;
    `is_whole` is False for a line too large to be read here."""

    place: Placed
    last: int = -1
    words: list[Cut] = field(default_factory=list)
    thoughts: list[Cut] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tokens: int = 0
    is_whole: bool = True
    # For a compaction: tokens before and after, where the client says so.
    before: int | None = None
    after: int | None = None
    subtype: str = ""
    model: str = ""

    @property
    def kind(self) -> str:
        return self.place.kind

    @property
    def is_waiting(self) -> bool:
        """True while a call of it has no answer yet."""
        return any(call.result is None for call in self.calls)


# The calls of a stretch by their id, each with the entry it stands in.
Calls = dict[str, tuple[Entry, Call]]


def cut(text: str, most: int = MOST_CHARACTERS, *, seq: int = -1, block: int = 0) -> Cut:
    return Cut(text[:most], max(0, len(text) - most), seq, block)


def entries(lines: Iterable[tuple[Placed, Line | None]], agents: dict[int, str]) -> list[Entry]:
    """Entries in file order. A line of None was too large to be read; `agents` maps the line number of a result to the
    subagent it speaks of."""
    found: list[Entry] = []
    calls: Calls = {}
    for place, line in lines:
        if line is None:
            found.append(Entry(place, last=place.seq, tokens=place.tokens, is_whole=False))
        elif place.kind == Kind.TOOL_RESULT:
            _take_results(place, line, calls, found, agents)
        else:
            _take_line(place, line, calls, found)
    return found


def _take_line(place: Placed, line: Line, calls: Calls, found: list[Entry]) -> None:
    last = found[-1] if found else None
    if last is not None and _is_same_message(last, place):
        entry = last
    else:
        model = (line.message.model if line.message is not None else "") or ""
        entry = Entry(place, subtype=line.subtype or "", model=model)
        found.append(entry)
    entry.last = place.seq
    entry.tokens += place.tokens
    if place.kind == Kind.BOUNDARY and line.compactMetadata is not None:
        entry.before, entry.after = _whole(line.compactMetadata.preTokens), _whole(line.compactMetadata.postTokens)
    pictures = 0
    for number, block in enumerate(blocks_of(line)):
        pictures += _take_block(place, number, block, pictures, entry, calls)


def _is_same_message(entry: Entry, place: Placed) -> bool:
    return (
        place.kind == Kind.ASSISTANT
        and entry.kind == Kind.ASSISTANT
        and place.message_id is not None
        and place.message_id == entry.place.message_id
        and place.live == entry.place.live
    )


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None else None


def _take_block(place: Placed, number: int, block: Block, pictures: int, entry: Entry, calls: Calls) -> int:
    """Answers how many images the block was."""
    if block.type in {"thinking", "redacted_thinking"}:
        entry.thoughts.append(cut(block.thinking or "", seq=place.seq, block=number))
    elif block.type == "tool_use":
        call = _call(place, number, block)
        entry.calls.append(call)
        if block.id:
            calls[block.id] = (entry, call)
    elif block.type == "image":
        entry.pictures.append(Picture(place.seq, pictures))
        return 1
    elif block.text:
        entry.words.append(cut(block.text, seq=place.seq, block=number))
    return 0


def _call(place: Placed, number: int, block: Block) -> Call:
    raw = bytes(block.input) if block.input is not UNSET else b""
    texts = first_texts(raw)
    target = next((texts[name] for name in TARGETS if texts.get(name)), "")
    shown = cut(raw.decode("utf-8", errors="replace"), MOST_INPUT, seq=place.seq, block=number)
    return Call(place.seq, block.name or "?", target[:MOST_INPUT], shown)


def _take_results(place: Placed, line: Line, calls: Calls, found: list[Entry], agents: dict[int, str]) -> None:
    """Each result goes to its call; one whose call is not on this page stands by itself."""
    loose: list[Result] = []
    pictures = 0
    for number, block in enumerate(blocks_of(line)):
        if block.type == "tool_result":
            result, images = _result(place, number, block, pictures)
            result.agent = agents.get(place.seq)
            pictures += images
            entry, call = calls.get(block.tool_use_id or "", (None, None))
            if entry is not None and call is not None and call.result is None:
                call.result = result
                entry.last = max(entry.last, place.seq)
            else:
                loose.append(result)
        elif block.type == "image":
            pictures += 1
    if loose:
        found.append(Entry(place, last=place.seq, results=loose, tokens=place.tokens))


def _result(place: Placed, number: int, block: Block, pictures: int) -> tuple[Result, int]:
    images = block.content if isinstance(block.content, list) else []
    count = sum(inner.type == "image" for inner in images)
    text = cut(result_text(block), MOST_RESULT, seq=place.seq, block=number)
    shown = [Picture(place.seq, pictures + image) for image in range(count)]
    return Result(place.seq, text, bool(block.is_error), place.tokens, shown), count


def result_text(block: Block) -> str:
    """What a tool answered in words; its images are no words."""
    if isinstance(block.content, list):
        return "\n".join(inner.text for inner in block.content if inner.text)
    return block.content or ""


def outline(found: Sequence[Entry]) -> tuple[int, int]:
    """(first, last) line number of a stretch; (-1, -1) for an empty one."""
    if not found:
        return -1, -1
    return found[0].place.seq, max(entry.last for entry in found)
