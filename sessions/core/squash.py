"""Squashing: long tool results and old pictures become a line that says what stood there (spec W1).

Works on content blocks as they stand in a record. What a person or the companion said is never touched; neither are the
inputs of tool calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

Block = dict[str, Any]
# Looked for in whatever a file calls a type, so it must not ask for a hash.
PICTURES = ("image", "document")
# Of the characters that stay, how many stand at the beginning; the rest is the end.
HEAD_SHARE = 0.7


LEFT_OUT_WORDS = " left out here; it is whole in session "
_LEFT_OUT = re.compile(r"\[(image|document) left out here; it is whole in session ([0-9A-Za-z-]{4,64})\]\Z")


def left_out(text: str) -> tuple[str, str] | None:
    """(what, session) of the mark that stands for a picture that was left out; None for any other text."""
    found = _LEFT_OUT.match(text)
    return (found[1], found[2]) if found else None


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
    return {"type": "text", "text": f"[{block['type']}{LEFT_OUT_WORDS}{source}]"}


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
    """Texts of one result share its cap: the first ones take what they need, the next one is cut, and the rest goes."""
    before = sum(len(block["text"]) for block in blocks if _is_text(block))
    if before <= cap:
        return blocks
    kept: list[Any] = []
    left = cap
    for block in blocks:
        if not _is_text(block):
            kept.append(block)
        elif left >= 0:
            # From here on it is the mark's to say that there was more.
            is_cut = len(block["text"]) > left
            text = _cut(block["text"], left, source, before) if is_cut else block["text"]
            kept.append(block | {"text": text})
            left = -1 if is_cut else left - len(text)
    after = sum(len(block["text"]) for block in kept if _is_text(block))
    if after >= before:
        return blocks
    done.results += 1
    done.characters += before - after
    return kept


def _is_text(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def _shorten(text: str, cap: int, source: str) -> str:
    """A text of more than `cap` characters cut; left alone where the mark would be longer than what it stands for."""
    cut = _cut(text, cap, source, len(text)) if len(text) > cap else text
    return cut if len(cut) < len(text) else text


def _cut(text: str, cap: int, source: str, whole: int) -> str:
    """Beginning and end of a text, with a mark between that says how long the `whole` result was."""
    mark = f"\n[… {whole:,} characters in all, cut here; whole in session {source} …]\n"
    room = max(0, cap - len(mark))
    head = int(room * HEAD_SHARE)
    return text[:head] + mark + text[len(text) - (room - head) :]
