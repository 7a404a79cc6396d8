"""The lines of a new window, read from the old file and copied one turn after another (spec W7). Writes nothing itself.

Planning goes over the same lines to count, carrying out to write: so the plan shown is the plan run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from sessions.actions.ground import places_of
from sessions.core.events import Kind, bounded_id
from sessions.core.lines import BadLine
from sessions.core.pairing import Record
from sessions.core.plan import Plan, digest_of
from sessions.core.reading import time_of
from sessions.core.records import TooDeep, read_record, write_record
from sessions.core.surgery import Copyist, Order, Tally, side_names
from sessions.core.turns import Step
from sessions.gateways.transcripts import Reader
from sessions.models import Run


class Changed(Exception):
    """The rows or the file are not the ones that were planned."""


class Uncopyable(Exception):
    """A line that has to stay and that cannot be copied; `line` is its 1-based number."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line}")
        self.line = line


def order_of(run: Run, plan: Plan, now: datetime) -> Order:
    return Order(
        source=run.source_session_id,
        target=run.target_session_id,
        now=now,
        cap=plan.squash,
        drop_thinking=plan.drop_thinking,
        sides=frozenset(plan.sides),
    )


def record_at(reader: Reader, step: Step, session: str = "", pointed: set[str] | None = None) -> Record:
    """The record of a step. Side files of `session` that it points to are added to `pointed`. Raises Changed where it is
    another one than its row says, Uncopyable."""
    raw = reader.line(step.offset, step.length)
    try:
        record = read_record(raw)
    except BadLine:
        raise Changed from None
    except TooDeep:
        raise Uncopyable(step.seq + 1) from None
    uuid = record.get("uuid")
    if not isinstance(uuid, str) or (uuid != step.uuid and bounded_id(uuid) != step.uuid):
        raise Changed
    if pointed is not None and b"/tool-results/" in raw:
        pointed |= side_names(raw.decode("utf-8", errors="replace"), session)
    return record


@dataclass(slots=True)
class Copying:
    """Iterate once: the bytes of every line of the new file, each with its newline. Afterwards `tally` and `uuids` (of
    every message line in order, the injected and the closing one included) say what was written."""

    reader: Reader
    order: Order
    steps: Sequence[Step]
    handoff: str
    title: str
    newest: int
    tally: Tally = field(default_factory=Tally)
    uuids: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[bytes]:
        """Raises Changed where a line is another one than its row says, Uncopyable."""
        copyist = Copyist(self.order, self.tally)
        for record in copyist.handoff(self.handoff, at=self._begins_at()) if self.handoff else ():
            yield self._line(record)
        for turn in self._turns():
            records = [record_at(self.reader, step) for step in turn]
            for record in copyist.turn(records, is_last=turn[0].idx == self.newest):
                yield self._line(record)
        for record in copyist.closing(self.title):
            yield self._line(record)

    def _begins_at(self) -> datetime | None:
        """The time of the first line that stays, from the line itself."""
        stamp = record_at(self.reader, self.steps[0]).get("timestamp") if self.steps else None
        return time_of(stamp if isinstance(stamp, str) else None)

    def _turns(self) -> list[list[Step]]:
        turns: list[list[Step]] = []
        for step in self.steps:
            if step.kind == Kind.HUMAN or not turns:
                turns.append([])
            turns[-1].append(step)
        return turns

    def _line(self, record: Record) -> bytes:
        if "uuid" in record:
            self.uuids.append(record["uuid"])
        try:
            return write_record(record)
        except TooDeep:
            raise Uncopyable(0) from None


def copied(run: Run, reader: Reader, *, now: datetime) -> Copying:
    """The lines of a planned run's new file. `now` is stamped onto its last line. Raises Changed."""
    plan = msgspec.convert(run.plan, Plan)
    if run.window is None:
        raise Changed
    steps = [step for first, last in plan.spans for step in places_of(run.window, first, last)]
    if digest_of(step.uuid for step in steps) != plan.digest:
        raise Changed
    return Copying(reader, order_of(run, plan, now), steps, run.handoff, plan.title, plan.newest)
