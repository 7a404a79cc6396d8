"""One line opened: its texts in steps, its pictures, or its bytes in parts, whatever its size (spec S6, security row 12)."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import msgspec
from django.utils.translation import gettext as _
from msgspec import UNSET

from companion.lib.refusals import Refusal
from companion.lib.secrets_mask import masked
from sessions.actions.timeline import line_of
from sessions.core.events import blocks_of
from sessions.core.lines import Block, Line
from sessions.core.pictures import bytes_of, pictures_of
from sessions.core.timeline import result_text
from sessions.gateways import transcripts
from sessions.models import Event, Transcript

# Bytes: the longest line that is read as one, and a part of a longer one.
LONGEST = 32 * 1024 * 1024
PART = 48 * 1024
# Characters of one step, and how far back a step may end for the sake of a whole paragraph.
STEP = 20_000
BACK = 2_000


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of one text, in characters from `start` of `length`; `block` is its content block, `spoken` the kind of
    its line."""

    kind: str
    spoken: str
    text: str
    start: int
    length: int
    seq: int
    block: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def more(self) -> int:
        return self.length - self.end


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a line's bytes as text, in bytes from `start` of `length`."""

    text: str
    start: int
    end: int
    length: int

    @property
    def before(self) -> int:
        return max(0, self.start - PART)


def row_of(transcript: Transcript, seq: int) -> Event:
    row = Event.objects.filter(transcript=transcript, seq=seq).first()
    if row is None:
        raise Refusal("no-such-place", _("There is no such message."))
    return row


def line_at(transcript: Transcript, seq: int) -> tuple[Event, Line]:
    """One line in full, with its row. Raises Refusal where it is gone, too large, or no longer the one indexed."""
    row = row_of(transcript, seq)
    if row.length > LONGEST:
        raise Refusal("too-large", _("This line is too large to be read as one."), _("It can be read in parts."))
    line = line_of(row, _bytes(transcript, row.offset, row.length))
    if line is None:
        raise Refusal("changed", _("The file has changed; it is being read again."))
    return row, line


def _bytes(transcript: Transcript, offset: int, length: int) -> bytes:
    try:
        with transcripts.opened(Path(transcript.path)) as reader:
            return reader.line(offset, length)
    except OSError as fault:
        reason = transcripts.reason_of(fault)
        raise Refusal("unreadable", _("The file cannot be read: %(reason)s.") % {"reason": reason}) from None


def step_of(transcript: Transcript, seq: int, block: int, start: int = 0) -> Step:
    """A stretch of the text of one block, secrets covered before it is cut. Raises Refusal."""
    row, line = line_at(transcript, seq)
    blocks = blocks_of(line)
    if block >= len(blocks):
        raise Refusal("no-such-place", _("There is no such message."))
    return step(blocks[block], row, block, start)


def steps_of(transcript: Transcript, seq: int) -> list[Step]:
    """The first step of every text of a line. Raises Refusal."""
    row, line = line_at(transcript, seq)
    steps = [step(block, row, number) for number, block in enumerate(blocks_of(line))]
    return [found for found in steps if found.length]


def step(block: Block, row: Event, number: int, start: int = 0) -> Step:
    kind, text = text_of(block)
    text = masked(text)
    start = min(start, len(text))
    return Step(kind, row.kind, text[start : _step_end(text, start)], start, len(text), row.seq, number)


def _step_end(text: str, start: int) -> int:
    end = start + STEP
    if end >= len(text):
        return len(text)
    paragraph = text.rfind("\n", end - BACK, end)
    return end if paragraph < 0 else paragraph + 1


def text_of(block: Block) -> tuple[str, str]:
    """(what it is, the words) of a block: `words`, `thinking`, `input` or `result`."""
    if block.type in {"thinking", "redacted_thinking"}:
        return "thinking", block.thinking or ""
    if block.type == "tool_use":
        return "input", _indented(bytes(block.input) if block.input is not UNSET else b"")
    if block.type == "tool_result":
        return "result", result_text(block)
    return "words", block.text or ""


def _indented(raw: bytes) -> str:
    with contextlib.suppress(msgspec.MsgspecError, RecursionError):
        raw = msgspec.json.format(raw, indent=2)
    return raw.decode("utf-8", errors="replace")


def part_of(transcript: Transcript, seq: int, start: int = 0) -> Part:
    """A part of a line as it stands in the file. Raises Refusal."""
    row = row_of(transcript, seq)
    start = min(start, row.length)
    end = min(start + PART, row.length)
    raw = _bytes(transcript, row.offset + start, end - start)
    return Part(masked(raw.decode("utf-8", errors="replace")), start, end, row.length)


def picture_of(transcript: Transcript, seq: int, at: int) -> tuple[bytes, str] | None:
    """(bytes, media type) of the `at`-th image of a line; None for what no browser shows safely. Raises Refusal."""
    images = pictures_of(line_at(transcript, seq)[1])
    return bytes_of(images[at]) if at < len(images) else None
