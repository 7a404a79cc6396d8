"""Surgery from end to end without a database: the lines of a file, its steps and turns, and the lines of a new one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from sessions.core.batches import RawLine, Row
from sessions.core.events import kind_of
from sessions.core.invariants import Checker
from sessions.core.lines import coerce
from sessions.core.pieces import Part
from sessions.core.ranges import By, End, Side
from sessions.core.records import read_record, write_record
from sessions.core.selection import Chosen, Ground, Mode, Selection, choose
from sessions.core.surgery import Copyist, Order, Tally
from sessions.core.turns import Step, Turn, turns_of
from sessions.tests.readings import Reading, read
from sessions.tests.transcripts import Record, Talk, raw_lines

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 3, 5, 4, 0, tzinfo=UTC)
SOURCE = "0b5a7c1e-0000-4000-8000-000000000001"
TARGET = "0b5a7c1e-0000-4000-8000-000000000002"
HANDOFF = "Kept from before: the mint stands in the shade."


@dataclass(frozen=True, slots=True)
class Source:
    """A transcript as the index sees it: its lines, its dialogue, its turns."""

    lines: Sequence[RawLine]
    reading: Reading
    steps: list[Step]
    turns: list[Turn]

    def raw(self, step: Step) -> bytes:
        raw = self.lines[step.seq].raw
        assert raw is not None
        return raw

    def records(self, turns: Iterable[Turn] | None = None) -> list[Record]:
        """What stands in the file for the steps of some turns (of all of them)."""
        chosen = self.turns if turns is None else turns
        return [read_record(self.raw(step)) for turn in chosen for step in self.steps[turn.first : turn.last + 1]]

    @property
    def floor(self) -> int:
        """The first idx behind the last compaction on the live thread; 0 where there was none."""
        cut = max((row.seq for row in self.reading.rows.values() if row.live and row.kind == "b"), default=-1)
        return next((step.idx for step in self.steps if step.seq > cut), len(self.steps)) if cut >= 0 else 0


def source(*lines: Record | bytes | None) -> Source:
    """Lines as they stand in a file: linked records, bytes, None for one that is too long to be read."""
    return source_of(raw_lines(*lines))


def source_of(lines: Sequence[RawLine]) -> Source:
    reading = read(lines) if lines else Reading()
    rows = sorted((row for row in reading.rows.values() if row.idx is not None), key=lambda row: row.idx or 0)
    steps = [_step(row) for row in rows]
    return Source(lines, reading, steps, turns_of(steps))


def talk(*records: Record, **more: Any) -> Source:
    """A session of records that are linked as they come."""
    return source(*Talk(SOURCE, **more).link(*records))


def _step(row: Row) -> Step:
    squashable = row.parts[Part.TOOL_RESULTS] + row.parts[Part.IMAGES]
    place = (row.idx or 0, row.seq, row.offset, row.length, row.uuid, row.kind, row.at, row.preview)
    own = (row.parts[Part.THINKING], row.parts[Part.TOOL_USE], row.parts[Part.IMAGES])
    return Step._make([*place, sum(row.parts), squashable, *own])


def step(idx: int, kind: str = "h", at: datetime | None = None, *, uuid: str = "", tokens: int = 10) -> Step:
    """A step out of nowhere, for what looks at steps alone."""
    return Step(
        idx, idx, idx * 100, 99, uuid or f"{idx:08x}-0000-4000-8000-00000000{idx:04x}", kind, at, None, tokens, 0, 0, 0
    )


def steps_at(kinds: str, *times: datetime | None) -> list[Step]:
    """One step for each letter of `kinds`, at the times given; beyond them without one."""
    at = [*times, *[None] * len(kinds)]
    return [step(idx, kind, at[idx]) for idx, kind in enumerate(kinds)]


def ground(steps: Sequence[Step], *, floor: int = 0, weight: int = 100, now: datetime = NOW) -> Ground:
    """What is chosen from, where every turn weighs the same."""
    return Ground(steps, turns_of(steps), floor, SHANGHAI, now, lambda turn: weight)


def start(by: By | str, text: str) -> End:
    return End(Side.FROM, By(by), text)


def end(by: By | str, text: str) -> End:
    return End(Side.TO, By(by), text)


def picked(first: End | None = None, last: End | None = None, *, cap: int = 100_000) -> Selection:
    return Selection(Mode.RANGE, start=first, end=last, cap=cap)


def idx_of(chosen: Chosen) -> list[tuple[int, int]]:
    """First and last idx of the turns that stay."""
    return [(turn.first, turn.last) for turn in chosen.turns]


@dataclass(slots=True)
class Copied:
    """A new file: its lines with their newlines, the same as records, what was counted."""

    lines: list[bytes]
    tally: Tally

    @property
    def records(self) -> list[Record]:
        return [json.loads(line) for line in self.lines]

    @property
    def dialogue(self) -> list[Record]:
        """The lines of the chain without the injected and the closing one."""
        return [record for record in self.records if "uuid" in record and not _is_made(record)]

    @property
    def faults(self) -> list[str]:
        return Checker(TARGET).faults(self.lines)

    def words(self) -> list[str]:
        return [words(record) for record in self.dialogue]

    def kinds(self) -> str:
        """The kind of every line of the chain, one letter each."""
        return "".join(str(kind_of(coerce(record))) for record in self.records if "uuid" in record)


def _is_made(record: Record) -> bool:
    return record.get("origin") == {"kind": "companion-console"} or (
        record["type"] == "assistant" and record["message"].get("content") == [{"type": "text", "text": "…"}]
    )


def words(record: Record) -> str:
    """What a line says, short: its texts; calls as `>id`, results as `<id`, thinking as `~`."""
    body = record["attachment"]["prompt"] if record["type"] == "attachment" else record["message"]["content"]
    if isinstance(body, str):
        return body
    signs = {
        "tool_use": ">{id}",
        "tool_result": "<{tool_use_id}",
        "text": "{text}",
        "thinking": "~",
        "image": "[image]",
    }
    return " ".join(signs.get(block["type"], block["type"]).format(**block) for block in body)


@dataclass(slots=True)
class Surgery:
    """How a file is copied; the order is that of a forge unless something else is asked for."""

    handoff: str = ""
    title: str = ""
    order: dict[str, Any] = field(default_factory=dict)

    def of(self, source: Source, turns: Sequence[Turn] | None = None) -> Copied:
        """The new file of some turns (of all of them) of a source."""
        copyist = Copyist(Order(source=SOURCE, target=TARGET, now=NOW, **self.order))
        records = list(copyist.handoff(self.handoff)) if self.handoff else []
        for turn in source.turns if turns is None else turns:
            records += copyist.turn(source.records([turn]), is_last=turn == source.turns[-1])
        records += copyist.closing(self.title)
        return Copied([write_record(record) for record in records], copyist.tally)


def copy(
    source: Source, turns: Sequence[Turn] | None = None, *, handoff: str = "", title: str = "", **order: Any
) -> Copied:
    """The new file of some turns (of all of them): `order` as in `surgery.Order`."""
    return Surgery(handoff, title, order).of(source, turns)


def tail_of(source: Source, number: int) -> list[Turn]:
    """The newest turns."""
    return source.turns[-number:]


def kept(source: Source, selection: Selection) -> list[Turn]:
    """The turns a selection keeps, weighed by what the steps say."""

    def weigh(turn: Turn) -> int:
        return sum(step.tokens for step in source.steps[turn.first : turn.last + 1])

    return choose(selection, Ground(source.steps, source.turns, source.floor, SHANGHAI, NOW, weigh)).turns
