"""Squashing: long tool results and old pictures become a line that says what stood there (spec W1).

Works on content blocks as they stand in a record. What a person or the companion said is never touched; neither are the
inputs of tool calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Block = dict[str, Any]
PICTURES = frozenset({"image", "document"})
# Of the characters that stay, how many stand at the beginning; the rest is the end.
HEAD_SHARE = 0.7
# Below this nothing is worth a cut: the mark alone would fill it.
LEAST_CAP = 200


@dataclass(slots=True)
class Squashed:
    """How many tool results and pictures were squashed, and the characters of results that went."""

    results: int = 0
    images: int = 0
    characters: int = 0

    def add(self, other: Squashed) -> None:
        """Counts what another counted."""
        self.results += other.results
        self.images += other.images
        self.characters += other.characters


def squash(content: Any, *, cap: int, pictures: bool, source: str, done: Squashed) -> Any:
    """The content of a message with its tool results cut to `cap` characters (0: left alone) and, where `pictures`, its
    pictures replaced by a mark. `source` is the session that still has them whole. Counts into `done`."""
    if not isinstance(content, list) or not (cap or pictures):
        return content
    return [_squash_block(block, cap, pictures, source, done) for block in content]


def _squash_block(block: Any, cap: int, pictures: bool, source: str, done: Squashed) -> Any:
    if not isinstance(block, dict):
        return block
    if block.get("type") in PICTURES:
        return _picture(block, source, done) if pictures else block
    if block.get("type") == "tool_result":
        return _result(block, cap, pictures, source, done)
    return block


def _picture(block: Block, source: str, done: Squashed) -> Block:
    done.images += 1
    return {"type": "text", "text": f"[{block['type']} left out here; it is whole in session {source}]"}


def _result(block: Block, cap: int, pictures: bool, source: str, done: Squashed) -> Block:
    content = block.get("content")
    if isinstance(content, str):
        cut = _shorten(content, cap, source) if cap else content
        if cut is content:
            return block
        done.results += 1
        done.characters += len(content) - len(cut)
        return block | {"content": cut}
    if not isinstance(content, list):
        return block
    inner = [_picture(each, source, done) if pictures and _is_picture(each) else each for each in content]
    return block | {"content": _shorten_all(inner, cap, source, done) if cap else inner}


def _is_picture(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in PICTURES


def _shorten_all(blocks: list[Any], cap: int, source: str, done: Squashed) -> list[Any]:
    """Texts of one result share its cap: the first ones take what they need, the last one that fits is cut."""
    before = sum(len(block["text"]) for block in blocks if _is_text(block))
    if before <= cap:
        return blocks
    kept: list[Any] = []
    left = cap
    for block in blocks:
        if not _is_text(block):
            kept.append(block)
        elif left >= LEAST_CAP:
            text = _shorten(block["text"], left, source)
            kept.append(block | {"text": text})
            left -= len(text)
    done.results += 1
    done.characters += before - sum(len(block["text"]) for block in kept if _is_text(block))
    return kept


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _shorten(text: str, cap: int, source: str) -> str:
    """Beginning and end of a text of more than `cap` characters, with a mark between that says how many are missing."""
    if len(text) <= cap:
        return text
    mark = f"\n[… {len(text):,} characters in all, cut here; whole in session {source} …]\n"
    room = max(0, cap - len(mark))
    head = int(room * HEAD_SHARE)
    return text[:head] + mark + text[len(text) - (room - head) :]
