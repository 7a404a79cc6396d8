"""Calls and results of one turn: kept in pairs, in the order every client version takes (transcripts.md 1.4, fact 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

Record = dict[str, Any]
THINKING = frozenset({"thinking", "redacted_thinking"})


class Piece:
    """A record of a turn with what is asked of it again and again. `body` holds its content under `key` (None where the
    record has none); `place` is its position in the turn as it was read."""

    __slots__ = ("body", "calls", "content", "is_answer", "key", "message", "place", "record", "results", "thoughts")

    def __init__(self, record: Record, place: int) -> None:
        self.record = record
        self.place = place
        kind = record.get("type")
        self.is_answer = kind == "assistant"
        self.key = "prompt" if kind == "attachment" else "content"
        body = record.get("attachment" if kind == "attachment" else "message")
        self.body: Record | None = body if isinstance(body, dict) else None
        found = self.body.get("id") if self.is_answer and self.body is not None else None
        self.message = found if isinstance(found, str) else ""
        self.read(self.body.get(self.key) if self.body is not None else None)

    def read(self, content: Any) -> None:
        """Takes `content` for the piece's own and notes what is in it."""
        self.content = content
        self.calls: list[str] = []
        self.results: list[str] = []
        self.thoughts = 0
        if not isinstance(content, list):
            return
        for block in content:
            kind = block.get("type") if isinstance(block, dict) else None
            if kind == "tool_use" and self.is_answer:
                self.calls.append(pair_id(block))
            elif kind == "tool_result" and not self.is_answer:
                self.results.append(pair_id(block))
            elif kind in THINKING:
                self.thoughts += 1

    @property
    def is_bare_thinking(self) -> bool:
        return isinstance(self.content, list) and self.thoughts == len(self.content)


def pair_id(block: Record) -> str:
    found = block.get("id" if block.get("type") == "tool_use" else "tool_use_id")
    return found if isinstance(found, str) else ""


def paired(pieces: Sequence[Piece]) -> tuple[list[Piece], int]:
    """The pieces with only such calls and results as have each other, each once, the call first; and how many blocks and
    lines had to go."""
    if _is_whole(pieces):
        return list(pieces), 0
    good = _pairs(pieces)
    whole: list[Piece] = []
    torn: set[str] = set()
    seen: set[tuple[str, str]] = set()
    gone = 0
    for piece in pieces:
        lost = _tear(piece, good, seen)
        gone += lost
        if lost:
            torn.add(piece.message)
        if not lost or piece.content:
            whole.append(piece)
    kept = _without_bare_thinking(whole, torn - {""})
    return kept, gone + len(whole) - len(kept)


def _is_whole(pieces: Iterable[Piece]) -> bool:
    """The common case: every call once, with its one result behind it."""
    called: set[str] = set()
    waiting: set[str] = set()
    for piece in pieces:
        for call in piece.calls:
            if call in called or not call:
                return False
            called.add(call)
            waiting.add(call)
        for result in piece.results:
            if result not in waiting:
                return False
            waiting.discard(result)
    return not waiting


def _pairs(pieces: Iterable[Piece]) -> set[str]:
    """Ids of the calls that have a result behind them."""
    called: set[str] = set()
    answered: set[str] = set()
    for piece in pieces:
        called |= set(piece.calls)
        answered |= {result for result in piece.results if result in called}
    return answered - {""}


def _tear(piece: Piece, good: set[str], seen: set[tuple[str, str]]) -> int:
    """Takes out of a piece what has no other half or was there before; answers how much that was."""
    if not isinstance(piece.content, list):
        return 0
    kept = [block for block in piece.content if _may_stay(block, good, seen)]
    lost = len(piece.content) - len(kept)
    if lost:
        piece.read(kept)
    return lost


def _may_stay(block: Any, good: set[str], seen: set[tuple[str, str]]) -> bool:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in {"tool_use", "tool_result"}:
        return True
    key = (kind, pair_id(block))
    # A result that stands before its call is taken for another's: the first one behind the call is kept.
    is_early = kind == "tool_result" and ("tool_use", key[1]) not in seen
    is_new = key not in seen and not is_early
    if not is_early:
        seen.add(key)
    return is_new and key[1] in good


def _without_bare_thinking(pieces: list[Piece], torn: set[str]) -> list[Piece]:
    """A message that lost its call and has nothing but thinking left cannot be sent."""
    spoken = {piece.message for piece in pieces if not piece.is_bare_thinking}
    return [piece for piece in pieces if piece.message not in torn or piece.message in spoken]


def grouped(pieces: Sequence[Piece]) -> list[Piece]:
    """The lines of one message next to each other, its results right behind them in the order of the calls, then what was
    said meanwhile: parallel calls stand apart in the file, and older clients send them as they stand."""
    if _is_grouped(pieces):
        return list(pieces)
    messages = _places(pieces, lambda piece: [piece.message] if piece.message else [])
    results = _places(pieces, lambda piece: piece.results)
    ordered: list[int] = []
    taken: set[int] = set()
    for place, piece in enumerate(pieces):
        if place in taken:
            continue
        group = messages[piece.message] if piece.message else [place]
        calls = [call for own in group for call in pieces[own].calls]
        group = group + [answer for call in calls for answer in results.get(call, ())]
        ordered += [it for it in dict.fromkeys(group) if it not in taken]
        taken.update(group)
    return [pieces[place] for place in ordered]


def _is_grouped(pieces: Iterable[Piece]) -> bool:
    """The common case: no message is torn apart, and nothing stands between a call and its result."""
    seen: set[str] = set()
    waiting: set[str] = set()
    message = ""
    for piece in pieces:
        if piece.is_answer:
            if piece.message != message or not message:
                if waiting or piece.message in seen:
                    return False
                if piece.message:
                    seen.add(piece.message)
                message = piece.message
            waiting.update(piece.calls)
            continue
        if waiting and not piece.results:
            return False
        message = ""
        waiting.difference_update(piece.results)
    return True


def _places(pieces: Iterable[Piece], keys: Callable[[Piece], list[str]]) -> dict[str, list[int]]:
    """Where in the turn each key stands."""
    found: dict[str, list[int]] = {}
    for place, piece in enumerate(pieces):
        for key in keys(piece):
            found.setdefault(key, []).append(place)
    return found


def regroup(records: Sequence[Record]) -> list[Record]:
    """`grouped`, for records."""
    return [piece.record for piece in grouped([Piece(record, place) for place, record in enumerate(records)])]
