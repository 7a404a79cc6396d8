"""What a line puts into the window, by part (spec S7): the texts to weigh and what is known without weighing."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from msgspec import UNSET

from sessions.core import tokens
from sessions.core.events import Kind, blocks_of
from sessions.core.lines import Block, Image, Inner, Line


class Part(IntEnum):
    """Parts of a window, in the order of `Event`'s token columns."""

    DIALOGUE = 0
    THINKING = 1
    TOOL_USE = 2
    TOOL_RESULTS = 3
    IMAGES = 4
    INJECTED = 5
    OTHER = 6


PART_NAMES = tuple(part.name.lower() for part in Part)
# Written beside the chain for the client's own use: never sent to the model.
_NOT_SENT = frozenset({"prompt_snapshot", "hook_success", "session_context"})
_WORDS_PART = {
    Kind.META: Part.OTHER,
    Kind.COMMAND: Part.OTHER,
    Kind.TAGGED: Part.OTHER,
    Kind.SUMMARY: Part.OTHER,
    Kind.HANDOFF: Part.INJECTED,
}
_SILENT = frozenset({Kind.BOUNDARY, Kind.SYSTEM, Kind.PROGRESS})
_ATTACHED = frozenset({Kind.ATTACHMENT, Kind.INJECTED})


# Tokens of one part of one line; whatever a file claims, no line holds more.
MOST_PART = 100_000_000
MOST_THINKING = 1_000_000


class Weigher:
    """Collects texts of a batch of lines and weighs them in one go.

    Lines are added in order; `weigh` answers the whole tokens of each by `Part`, in the same order.
    """

    def __init__(self, generation: tokens.Generation) -> None:
        self.generation = generation
        # Where the line being added begins in the flat table of parts.
        self._at = -len(Part)
        self._texts: list[str] = []
        self._slots: list[int] = []
        self._known: list[float] = []
        self._known_slots: list[int] = []

    def add(self, line: Line, kind: Kind) -> None:
        self._at += len(Part)
        if kind in _ATTACHED:
            self._attachment(line, kind)
        elif kind not in _SILENT:
            words = _WORDS_PART.get(kind, Part.DIALOGUE)
            for block in blocks_of(line):
                self._block(block, words, line)

    def add_nothing(self) -> None:
        """A line that weighs nothing in this window, such as a subagent's."""
        self._at += len(Part)

    def weigh(self) -> list[list[int]]:
        size = self._at + len(Part)
        values = tokens.estimate(self._texts, self.generation)
        sums = np.bincount(self._slots + self._known_slots, [*values, *self._known], minlength=size)
        table: list[list[int]] = np.rint(np.clip(sums, 0, MOST_PART)).astype(np.int64).reshape(-1, len(Part)).tolist()
        return table

    def _text(self, part: int, text: str) -> None:
        self._texts.append(text)
        self._slots.append(self._at + part)

    def _count(self, part: int, amount: float) -> None:
        self._known.append(amount)
        self._known_slots.append(self._at + part)

    def _block(self, block: Block, words: Part, line: Line) -> None:
        kind = block.type
        if kind == "text":
            self._text(words, block.text or "")
        elif kind == "tool_use":
            self._tool_use(block)
        elif kind == "tool_result":
            self._tool_result(block)
        elif kind in {"thinking", "redacted_thinking"}:
            self._thinking(block, line)
        elif kind == "image":
            self._image(block.source)
        elif block.text:
            self._text(Part.OTHER, block.text)

    def _tool_use(self, block: Block) -> None:
        self._count(Part.TOOL_USE, tokens.TOKENS_PER_TOOL_BLOCK)
        if block.input is not UNSET:
            self._text(Part.TOOL_USE, bytes(block.input).decode("utf-8", errors="replace"))

    def _tool_result(self, block: Block) -> None:
        self._count(Part.TOOL_RESULTS, tokens.TOKENS_PER_TOOL_BLOCK)
        if isinstance(block.content, str):
            self._text(Part.TOOL_RESULTS, block.content)
            return
        for inner in block.content or ():
            self._inner(inner)

    def _inner(self, inner: Inner) -> None:
        if inner.type == "image":
            self._image(inner.source)
        elif inner.text:
            self._text(Part.TOOL_RESULTS, inner.text)

    def _thinking(self, block: Block, line: Line) -> None:
        if block.thinking:
            self._text(Part.THINKING, block.thinking)
            return
        usage = line.message.usage if line.message else None
        details = usage.output_tokens_details if usage else None
        hidden = len(block.signature or block.data or "") / tokens.CHARACTERS_PER_SIGNATURE_TOKEN
        claimed = min(max((details.thinking_tokens if details else None) or 0, 0), MOST_THINKING)
        self._count(Part.THINKING, claimed or hidden)

    def _image(self, source: Image | None) -> None:
        encoded = b""
        if source is not None and source.data is not UNSET:
            encoded = bytes(memoryview(source.data)[1:65537])
        self._count(Part.IMAGES, tokens.image_tokens(source.type if source else None, encoded))

    def _attachment(self, line: Line, kind: Kind) -> None:
        """Attachments reach the model as reminders; newer clients keep the exact text in `rendered`."""
        part = Part.INJECTED if kind is Kind.INJECTED else Part.OTHER
        attachment = line.attachment
        raw = line.rendered
        if raw is UNSET and attachment is not None and attachment.type not in _NOT_SENT:
            raw = attachment.content
        if raw is not UNSET:
            self._text(part, bytes(raw).decode("utf-8", errors="replace"))
