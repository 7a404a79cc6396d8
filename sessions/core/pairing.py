"""Calls and results of one turn: kept in pairs, in the order every client version takes (transcripts.md 1.4, fact 7),
without what no client or API takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Record = dict[str, Any]
THINKING = frozenset({"thinking", "redacted_thinking"})
# Which half of a call stands in which type of line.
HALVES = {"tool_use": "assistant", "tool_result": "user"}


class Piece:
    """A record of a turn with what is asked of it again and again. `body` holds its content under `key` (None where the
    record has none); `place` is its position in the turn as it was read. `strays` counts halves of calls that can have no
    other half here, `silent` blocks of an answer that are no words: thinking, white space."""

    __slots__ = (
        "body", "calls", "content", "is_answer", "key", "message", "place", "record", "results", "silent", "strays",
        "thoughts",
    )  # fmt: skip

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
        self.read(_sound(self.body.get(self.key), self.is_answer) if self.body is not None else None)

    def read(self, content: Any) -> None:
        """Takes `content` for the piece's own and notes what is in it."""
        self.content = content
        self.calls: list[str] = []
        self.results: list[str] = []
        self.thoughts = self.strays = self.silent = 0
        for block in content if isinstance(content, list) else ():
            kind = block.get("type")
            if kind in HALVES:
                self._half(kind, pair_id(block))
            elif kind in THINKING:
                self.thoughts += 1
                self.silent += 1
            elif kind == "text" and self.is_answer and not block["text"].strip():
                self.silent += 1

    def _half(self, kind: str, pair: str) -> None:
        if not pair or self.record.get("type") != HALVES[kind]:
            self.strays += 1
        elif kind == "tool_use":
            self.calls.append(pair)
        else:
            self.results.append(pair)

    def rename(self, names: Mapping[str, str]) -> None:
        """Other ids for some calls."""
        if names.keys().isdisjoint((*self.calls, *self.results)):
            return
        for block in self.content:
            if block.get("type") in HALVES and pair_id(block) in names:
                block["id" if block["type"] == "tool_use" else "tool_use_id"] = names[pair_id(block)]
        self.read(self.content)

    @property
    def is_silent(self) -> bool:
        return self.is_answer and self.silent == len(self.content)


def _sound(content: Any, is_answer: bool) -> Any:
    """A content as every client sends it; None where there is nothing to send. Clients end on an answer that is a bare
    text and on what is no block; the API refuses empty texts."""
    if isinstance(content, str):
        text = [{"type": "text", "text": content}] if is_answer and content else content
        return text if content.strip() or is_answer else None
    if not isinstance(content, list):
        return None
    if all(_can_be_sent(block, is_answer) for block in content):
        return content
    return [block for block in map(_mended, content) if _can_be_sent(block, is_answer)]


def _can_be_sent(block: Any, is_answer: bool) -> bool:
    """White space between the blocks of an answer is the companion's own."""
    if not is_block(block):
        return False
    if block["type"] == "tool_result":
        return is_result(block)
    return is_answer or block["type"] != "text" or bool(block["text"].strip())


def is_block(block: Any) -> bool:
    """Does it have a type, and if it is a text, is there any?"""
    if not isinstance(block, dict) or not isinstance(block.get("type"), str):
        return False
    return block["type"] != "text" or (isinstance(block.get("text"), str) and block["text"] != "")


def is_result(block: Record) -> bool:
    """Is the content of a tool result a text or blocks, if there is one? Clients end on anything else."""
    content = block.get("content", "")
    return isinstance(content, str) or (isinstance(content, list) and all(map(is_block, content)))


def _mended(block: Any) -> Any:
    """A bare text as the block it stands for; a result with what can be sent of it."""
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if not isinstance(block, dict) or block.get("type") != "tool_result" or is_result(block):
        return block
    parts = block["content"] if isinstance(block["content"], list) else []
    return block | {"content": [part for part in map(_mended, parts) if is_block(part)]}


def pair_id(block: Record) -> str:
    found = block.get("id" if block.get("type") == "tool_use" else "tool_use_id")
    return found if isinstance(found, str) else ""


def paired(pieces: Sequence[Piece]) -> tuple[list[Piece], int]:
    """The pieces that say something, with only such calls and results as have each other, each once, the call first; and
    how many halves had to go, with the lines that had nothing else to say. Answers have their message's name."""
    whole = [piece for piece in pieces if piece.content]
    torn: set[str] = set()
    gone = 0
    if not _is_whole(whole):
        answers = _answers(whole)
        seen: set[str] = set()
        for piece in whole:
            lost = _tear(piece, answers, seen)
            gone += lost
            if lost:
                torn.add(piece.message)
    # A message without words: old clients send it and are refused, new ones put words of their own in its place.
    spoken = {piece.message for piece in whole if not piece.is_silent}
    left = [piece for piece in whole if piece.content]
    kept = [piece for piece in left if not piece.is_answer or piece.message in spoken]
    torn -= spoken
    return kept, gone + sum(piece.is_answer and piece.message in torn for piece in left)


def _is_whole(pieces: Iterable[Piece]) -> bool:
    """The common case: every call once, with its one result behind it; the results of a line all of one message."""
    called: set[str] = set()
    waiting: dict[str, str] = {}
    for piece in pieces:
        if piece.strays or (piece.results and len({waiting.get(result) for result in piece.results}) != 1):
            return False
        for call in piece.calls:
            if call in called:
                return False
            called.add(call)
            waiting[call] = piece.message
        for result in piece.results:
            if waiting.pop(result, None) is None:
                return False
    return not waiting


def _answers(pieces: Iterable[Piece]) -> dict[str, Piece]:
    """The line with the result of each call: the first one behind it. All results of a line are of one message."""
    callers: dict[str, str] = {}
    answers: dict[str, Piece] = {}
    for piece in pieces:
        for call in piece.calls:
            callers.setdefault(call, piece.message)
        found = [result for result in piece.results if result in callers and result not in answers]
        answers |= {result: piece for result in found if callers[result] == callers[found[0]]}
    return answers


def _tear(piece: Piece, answers: Mapping[str, Piece], seen: set[str]) -> int:
    """Takes out of a piece what has no other half or was there before; answers how much that was."""
    if not (piece.calls or piece.results or piece.strays):
        return 0
    kept = [block for block in piece.content if _may_stay(block, piece, answers, seen)]
    lost = len(piece.content) - len(kept)
    if lost and _has_result(piece.content) and not _has_result(kept) and piece.record.get("type") == "user":
        # What stood beside a result is no talk of the person's now.
        piece.record["isMeta"] = True
    if lost:
        piece.read(kept)
    return lost


def _has_result(content: Iterable[Record]) -> bool:
    return any(block.get("type") == "tool_result" for block in content)


def _may_stay(block: Record, piece: Piece, answers: Mapping[str, Piece], seen: set[str]) -> bool:
    """Is this block no call and no result, or one that has its other half and was not there before?"""
    kind, pair = block.get("type"), pair_id(block)
    if kind not in HALVES:
        return True
    if piece.record.get("type") != HALVES[kind] or pair not in answers or f"{kind} {pair}" in seen:
        return False
    if kind == "tool_result" and answers[pair] is not piece:
        return False
    seen.add(f"{kind} {pair}")
    return True


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
