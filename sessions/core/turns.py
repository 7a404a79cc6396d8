"""Turns: what surgery keeps or drops as a whole (contract, "Small print").

A turn begins with a person's message and ends before the next one. Messages sent while it ran, tool calls and their
results, interruptions and whatever a machine delivered in between belong to it. What stands before the first person's
message is the lead: no turn, and never kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, tzinfo
from typing import NamedTuple

from sessions.core.events import Kind


class Step(NamedTuple):
    """A dialogue event of the live thread. `idx` is its position there, `seq`, `offset` and `length` its place in the file
    (line number, bytes); tokens are estimates after the session's calibration."""

    idx: int
    seq: int
    offset: int
    length: int
    uuid: str
    kind: str
    at: datetime | None
    preview: str | None
    tokens: int
    # Of those, what a squash may take away: tool results and images; and by themselves thinking, calls, images.
    squashable: int
    thinking: int
    tool_use: int
    images: int = 0


class Turn(NamedTuple):
    """Steps `first` to `last` (their idx, both included); `at` is the time of the person's message in UTC."""

    first: int
    last: int
    at: datetime | None

    def day(self, zone: tzinfo) -> date | None:
        """The day this turn belongs to: that of its person's message in `zone`; None where no time is known."""
        try:
            return self.at.astimezone(zone).date() if self.at is not None else None
        except OverflowError:
            # The last hours of the year 9999 have no day east of here.
            return None


def turns_of(steps: Sequence[Step]) -> list[Turn]:
    """The turns of a thread, in order. `steps` are complete: the idx of each is its position."""
    starts = [step.idx for step in steps if step.kind == Kind.HUMAN]
    if not starts:
        return []
    ends = [*(start - 1 for start in starts[1:]), len(steps) - 1]
    return [Turn(start, end, _time_of(steps, start, end)) for start, end in zip(starts, ends, strict=True)]


def _time_of(steps: Sequence[Step], start: int, end: int) -> datetime | None:
    """The time of the person's message; a line without one borrows from what followed it."""
    if steps[start].at is not None:
        return steps[start].at
    return next((step.at for step in steps[start : end + 1] if step.at is not None), None)


def turn_at(turns: Sequence[Turn], idx: int) -> int | None:
    """The number of the turn that holds a step; None for the lead."""
    low, high = 0, len(turns)
    while low < high:
        middle = (low + high) // 2
        if turns[middle].first <= idx:
            low = middle + 1
        else:
            high = middle
    return low - 1 if low else None


def is_mid_turn(steps: Sequence[Step]) -> bool:
    """Is the last turn still being answered (spec W12)? A call without its result, or a message without its answer."""
    for step in reversed(steps):
        if step.kind in {Kind.ASSISTANT, Kind.NOTICE}:
            return step.tool_use > 0
        if step.kind in {Kind.HUMAN, Kind.QUEUED, Kind.TAGGED, Kind.TOOL_RESULT}:
            return True
        if step.kind == Kind.COMMAND:
            # A slash command, a shell line or an interruption: whatever ran before it is over.
            return False
    return False
