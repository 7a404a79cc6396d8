"""However a file comes in pieces, what is read of it is the same, and idx means the same as on the thread itself."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from sessions.core.batches import RawLine
from sessions.core.events import DIALOGUE
from sessions.tests.readings import Reading, read
from sessions.tests.transcripts import (
    Record,
    Talk,
    assistant,
    attachment,
    boundary,
    custom_title,
    last_prompt,
    progress,
    queued,
    raw_lines,
    summary,
    thinking,
    tool_result,
    tool_use,
    user,
)  # fmt: skip

TURNS = (
    "words",
    "calls",
    "calls",
    "queued",
    "rewind",
    "first-prompt-again",
    "compaction",
    "side",
    "noise",
    "file",
    "pin",
)


class Writer:
    """Writes turns as the client does; `draw` decides what it is free to decide."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.talk = Talk()
        self.lines: list[Record | bytes] = []
        self.ends: list[str] = []
        self.used = 21_000
        self.message = 0
        self.words()

    def put(self, *records: Record) -> list[Record]:
        linked = self.talk.link(*records)
        self.lines += linked
        return linked

    def number(self, most: int) -> int:
        return int(self.draw(st.integers(0, most)))

    def answer(self, content: Any = "so it is", **more: Any) -> Record:
        return self.put(assistant(content, message=f"m{self.message}", used=self.used, **more))[0]

    def next_message(self) -> None:
        self.message += 1
        self.used += self.number(900)

    def words(self) -> None:
        self.put(user("how is the mint? " * (1 + self.number(2))))
        self.close()

    def close(self) -> None:
        """The answer that ends a turn, on one line or two."""
        self.next_message()
        if self.number(1):
            self.answer([thinking()])
        self.ends.append(self.answer()["uuid"])

    def calls(self, *, queue: bool = False) -> None:
        """Parallel calls; each result hangs on its own call, and the talk goes on from the last that came."""
        self.put(user("look"), *[progress() for _ in range(self.number(1))])
        self.next_message()
        calls = [self.answer([tool_use(f"t{number}")])["uuid"] for number in range(1 + self.number(2))]
        for number, call in enumerate(self.draw(st.permutations(calls))):
            self.put(tool_result(f"t{number}", parentUuid=call))
            if queue and number == 0:
                self.put(queued("and the basil"))
        self.close()

    def rewind(self) -> None:
        end = self.ends[self.number(len(self.ends) - 1)]
        self.put(user("no, the other pot", parentUuid=end))
        self.close()

    def compaction(self) -> None:
        self.put(boundary(), summary())
        self.close()

    def noise(self) -> None:
        self.lines += [
            b'{"type":"user',
            b"",
            custom_title(f"title {self.number(9)}"),
            {"type": "moon-phase", "uuid": "x"},
        ]

    def turn(self, name: str) -> None:
        match name:
            case "queued":
                self.calls(queue=True)
            case "first-prompt-again":
                self.put(user("once more from the start", parentUuid=None))
                self.close()
            case "side":
                self.put(user("subtask", isSidechain=True), assistant("found", isSidechain=True, used=900_000))
            case "file":
                self.put(user("see this"), attachment("file"))
                self.close()
            case "pin":
                self.lines.append(last_prompt(self.ends[-1]))
            case _:
                getattr(self, name)()


@st.composite
def transcripts(draw: Any) -> list[RawLine]:
    writer = Writer(draw)
    for name in draw(st.lists(st.sampled_from(TURNS), max_size=6)):
        writer.turn(name)
    return raw_lines(*writer.lines)


CUTS = st.lists(st.integers(1, 40), max_size=8)


@given(transcripts(), CUTS)
def test_in_pieces_or_at_once_the_rows_are_the_same(lines: list[RawLine], cuts: list[int]) -> None:
    whole = read(lines)

    pieces = read(lines, cuts=cuts)

    assert pieces.rows == whole.rows
    assert pieces.points == whole.points
    assert pieces.bad == whole.bad


@given(transcripts(), CUTS)
def test_in_pieces_or_at_once_the_figures_are_the_same(lines: list[RawLine], cuts: list[int]) -> None:
    whole = read(lines)

    pieces = read(lines, cuts=cuts)

    assert figures(pieces) == figures(whole)


@given(transcripts(), CUTS)
def test_an_idx_given_on_the_way_is_the_place_on_the_thread(lines: list[RawLine], cuts: list[int]) -> None:
    reading = read(lines, cuts=cuts)

    dialogue = [link.uuid for link in reading.thread().links if link.kind in DIALOGUE]

    assert [uuid for uuid, idx in reading.places.items() if idx is not None] == dialogue
    assert [idx for idx in reading.places.values() if idx is not None] == list(range(len(dialogue)))


@given(transcripts(), CUTS)
def test_the_usage_is_that_of_the_last_answer_on_the_thread(lines: list[RawLine], cuts: list[int]) -> None:
    reading = read(lines, cuts=cuts)

    after_boundary = [point for point in reading.points.values() if point.live and point.seq > reading.state.boundary]
    newest = max(after_boundary, key=lambda point: point.seq)

    assert (reading.state.used_seq, reading.state.used) == (newest.seq, newest.usage.context)
    assert reading.state.most_used < 900_000


# What only steers the reading on, or is a factor learnt on the way.
_INNER = {"step", "step_message", "bridges", "call", "call_used", "since_call", "grown", "grown_estimate"}


def figures(reading: Reading) -> dict[str, Any]:
    state: dict[str, Any] = msgspec.to_builtins(reading.state)
    return {name: value for name, value in state.items() if name not in _INNER}
