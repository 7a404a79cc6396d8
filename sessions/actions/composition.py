"""What fills a window, event by event: the heaviest ones, what each of them is, and where it stands (spec S7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sessions.actions import timeline
from sessions.actions.usage import weighed
from sessions.core.pieces import PART_NAMES
from sessions.core.timeline import Call, Cut, Entry
from sessions.models import Event, Window

# Events listed, and those looked through for the heaviest of each part.
LISTED = 50
LOOKED_AT = 400
# Of each part: as many tiles, none smaller than this share of the window.
TILES = 12
SMALLEST_TILE = 0.008


@dataclass(frozen=True, slots=True)
class Subject:
    """What an event is: a tool with its target, or words; `characters` where its text was read."""

    tool: str = ""
    target: str = ""
    words: str = ""
    characters: int = 0


@dataclass(frozen=True, slots=True)
class Heavy:
    """One event with its estimated tokens: `tokens` in all, `parts` by part."""

    seq: int
    idx: int | None
    uuid: str
    kind: str
    at: datetime | None
    tokens: int
    parts: dict[str, int]
    # Bytes of its line.
    length: int
    subject: Subject = field(default_factory=Subject)

    @property
    def part(self) -> str:
        """The part that most of it belongs to."""
        return max(PART_NAMES, key=lambda name: self.parts[name])


@dataclass(frozen=True, slots=True)
class Composition:
    """Tokens by part, which sum up to what is used, and the heaviest events: overall, and of each part."""

    used: int
    parts: dict[str, int]
    heaviest: list[Heavy]
    by_part: dict[str, list[Heavy]]


def composition(window: Window) -> Composition:
    """The window as it is now, with its heaviest events, each read from the file where that can be had."""
    parts, factor = weighed(window)
    rows = list(timeline.fattest(window, LOOKED_AT))
    heavy = {row.seq: _heavy(row, factor) for row in rows}
    listed = [row.seq for row in rows[:LISTED]]
    tiles = {name: _tiles(heavy.values(), name, sum(parts.values())) for name in PART_NAMES}
    wanted = {*listed, *(seq for seqs in tiles.values() for seq in seqs)}
    subjects = _subjects(window, [row for row in rows if row.seq in wanted])
    known = {seq: _with_subject(heavy[seq], subjects.get(seq)) for seq in wanted}
    return Composition(
        used=sum(parts.values()),
        parts=parts,
        heaviest=[known[seq] for seq in listed if known[seq].tokens],
        by_part={name: [known[seq] for seq in seqs] for name, seqs in tiles.items()},
    )


def _heavy(row: Event, factor: float) -> Heavy:
    parts = {name: round(getattr(row, name) * factor) for name in PART_NAMES}
    words = Subject(words=row.preview or "")
    return Heavy(row.seq, row.idx, row.uuid, row.kind, row.at, sum(parts.values()), parts, row.length, words)


def _with_subject(heavy: Heavy, subject: Subject | None) -> Heavy:
    if subject is None:
        return heavy
    return Heavy(
        heavy.seq, heavy.idx, heavy.uuid, heavy.kind, heavy.at, heavy.tokens, heavy.parts, heavy.length, subject
    )


def _tiles(heavy: Iterable[Heavy], name: str, used: int) -> list[int]:
    """Line numbers of the heaviest of a part, heaviest first."""
    large = [it for it in heavy if it.parts[name] >= max(1, used * SMALLEST_TILE)]
    return [it.seq for it in sorted(large, key=lambda it: -it.parts[name])[:TILES]]


def _subjects(window: Window, rows: Sequence[Event]) -> dict[int, Subject]:
    """What each line is, by its number; a line that cannot be read is left out."""
    around = {row.seq: row for row in [*rows, *_calls_of(window, rows)]}
    entries, _ = timeline.read(window.transcript, [around[seq] for seq in sorted(around)])
    found: dict[int, Subject] = {}
    for entry in entries:
        found |= _of_results(entry)
        found |= _of_calls(entry.calls)
        found |= _of_words(entry)
    return found


def _calls_of(window: Window, rows: Sequence[Event]) -> list[Event]:
    """The lines that hold the calls of these answers: a client writes an answer below its call."""
    parents = {row.parent_uuid for row in rows if row.tool_results and row.parent_uuid}
    return list(Event.objects.filter(transcript_id=window.transcript_id, uuid__in=parents)) if parents else []


def _of_results(entry: Entry) -> dict[int, Subject]:
    answered = {call.result.seq: call for call in entry.calls if call.result is not None}
    named = {
        seq: Subject(call.name, call.target, characters=call.result.text.characters)
        for seq, call in answered.items()
        if call.result is not None
    }
    loose = {it.seq: Subject(words=it.text.text[:200], characters=it.text.characters) for it in entry.results}
    return loose | named


def _of_calls(calls: Iterable[Call]) -> dict[int, Subject]:
    return {call.seq: Subject(call.name, call.target, characters=call.input.characters) for call in calls}


def _of_words(entry: Entry) -> dict[int, Subject]:
    """Thoughts first, so that words of the same line have the last say."""
    found: dict[int, Subject] = {}
    for texts in (entry.thoughts, entry.words):
        for seq, text in _by_line(texts).items():
            found[seq] = Subject(words=text.text[:200], characters=text.characters)
    return found


def _by_line(texts: Iterable[Cut]) -> dict[int, Cut]:
    """The longest text of each line."""
    found: dict[int, Cut] = {}
    for text in texts:
        if text.seq not in found or text.characters > found[text.seq].characters:
            found[text.seq] = text
    return found
