"""Reading as the index does it, without a database: batches, and the thread anew where the reading asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sessions.core.batches import Point, RawLine, Row, State
from sessions.core.reading import follow, read_batch, use
from sessions.core.thread import Link, Thread, live_thread


@dataclass
class Reading:
    """What the rows of one file would be."""

    state: State = field(default_factory=State)
    rows: dict[int, Row] = field(default_factory=dict)
    points: dict[str, Point] = field(default_factory=dict)
    bad: list[tuple[RawLine, str]] = field(default_factory=list)
    # Lines after which the thread was worked out anew.
    rethreads: int = 0

    def read(self, lines: Sequence[RawLine]) -> Reading:
        """One pass over lines that came since the last."""
        batch = read_batch(lines, self.state)
        self.rows |= {row.seq: row for row in batch.rows}
        self.points |= batch.points
        self.bad += batch.bad
        if self.state.rethread or len({row.uuid for row in self.rows.values()}) < len(self.rows):
            self._rethread()
        return self

    def _rethread(self) -> None:
        self.rethreads += 1
        places = follow(self.state, self.thread(), {seq: sum(row.parts) for seq, row in self.rows.items()})
        for seq, row in self.rows.items():
            row.live, row.idx = seq in places, places.get(seq)
        for point in self.points.values():
            point.live = self.rows[point.seq].live
        use(self.state, [(point.seq, point.usage.context) for point in self.points.values() if point.live])

    def thread(self) -> Thread:
        """The live thread over all rows, without what the reading made of it."""
        links = [
            Link(row.seq, row.uuid, row.parent, row.kind, row.side, row.message_id, row.at)
            for row in self.rows.values()
        ]
        return live_thread(links, version=self.state.version, pinned=self.state.pinned)

    @property
    def places(self) -> dict[str, int | None]:
        """uuid → idx of the live lines."""
        return {row.uuid: row.idx for row in self.rows.values() if row.live}


def read(lines: Sequence[RawLine], *, cuts: Sequence[int] = ()) -> Reading:
    """Lines in one pass, or in several that end at `cuts`."""
    reading = Reading()
    edges = sorted({cut for cut in cuts if 0 < cut < len(lines)})
    for start, end in zip([0, *edges], [*edges, len(lines)], strict=True):
        reading.read(lines[start:end])
    return reading
