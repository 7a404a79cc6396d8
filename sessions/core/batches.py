"""What a reading of a transcript is made of: raw lines, the state carried between them, and the rows they become."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import msgspec

from sessions.core.events import Kind
from sessions.core.usage import Reported

# Progress lines stand inside the chain of older clients; the last ones are remembered, to reach over them.
BRIDGES = 64


class RawLine(NamedTuple):
    """A line of a file: 0-based number, byte offset, its bytes without the newline (None: too long), their count."""

    seq: int
    offset: int
    raw: bytes | None
    length: int


class State(msgspec.Struct):
    """What is known of a transcript so far. Token figures are estimates before calibration unless named otherwise."""

    # The live thread's end, and the uuids a next line may hang on without leaving it.
    leaf: str | None = None
    step: list[str] = []
    step_kinds: str = ""
    step_message: str | None = None
    # Nothing in the file was linked to anything yet: the first link that holds changes all.
    flat: bool = False
    bridges: dict[str, str | None] = {}
    dialogue: int = 0
    humans: int = 0
    # The thread has to be worked out anew: a line came that does not continue it.
    rethread: bool = False
    pinned: str | None = None
    # Since the last compaction boundary: its tokens by the client, our estimate of all, the last reported usage.
    boundary: int = -1
    after_boundary: int = 0
    weight: float = 0.0
    used: int = 0
    used_seq: int = -1
    most_used: int = 0
    compactions: int = 0
    # (line number, tokens left) of every boundary, for when the thread is worked out anew.
    boundaries: list[tuple[int, int]] = []
    # Calibration: reported growth against its estimate, between calls.
    call: str | None = None
    call_used: int = 0
    since_call: float = 0.0
    grown: float = 0.0
    grown_estimate: float = 0.0
    # Metadata; later lines win, except for the first words.
    session_id: str = ""
    cwd: str = ""
    version: str = ""
    model: str = ""
    custom_title: str = ""
    ai_title: str = ""
    first_words: str = ""
    first_at: datetime | None = None
    last_at: datetime | None = None
    has_main: bool = False
    events: int = 0

    def cross_boundary(self, seq: int) -> None:
        """A compaction: what was in the window is gone, but for what the client says is left."""
        self.boundary = seq
        self.after_boundary = dict(self.boundaries).get(seq, 0)
        self.compactions += 1
        self.weight = self.since_call = 0.0
        self.used = self.call_used = 0
        self.used_seq = -1
        self.call = None

    def bridge(self, uuid: str, parent: str | None) -> None:
        """Remembers a line that is no step of its own: what hangs on it hangs on its parent."""
        self.bridges[uuid] = parent
        if len(self.bridges) > BRIDGES:
            del self.bridges[next(iter(self.bridges))]

    @property
    def calibration(self) -> float:
        """Factor from estimate to reported tokens, 0.5-2; 1 until 2,000 tokens of growth were seen."""
        if self.grown_estimate < 2_000:
            return 1.0
        return min(2.0, max(0.5, self.grown / self.grown_estimate))


class Row(msgspec.Struct, gc=False):
    """A chain line as it is stored (`sessions.models.Event`)."""

    seq: int
    offset: int
    length: int
    uuid: str
    parent: str | None
    kind: Kind
    side: bool
    live: bool
    idx: int | None
    at: datetime | None
    message_id: str | None
    preview: str | None
    parts: list[int]
    # The time as the file spells it.
    stamp: str | None


class Point(msgspec.Struct, gc=False):
    """The usage of one message as last reported (`sessions.models.UsagePoint`)."""

    seq: int
    message_id: str
    at: datetime | None
    model: str
    usage: Reported
    live: bool


@dataclass(slots=True)
class Batch:
    """What one batch of lines became."""

    rows: list[Row] = field(default_factory=list)
    points: dict[str, Point] = field(default_factory=dict)
    bad: list[tuple[RawLine, str]] = field(default_factory=list)
    # Where to read on: the byte and the line number behind the batch.
    offset: int = 0
    lines: int = 0
