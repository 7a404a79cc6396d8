"""Do two sentences speak of the same thing? By the Chinese characters and the Latin words that carry it (spec H1)."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from sessions.core.handoff_fillers import EMPTY_CHARACTERS, EMPTY_WORDS, IRREGULAR, TIME_CHARACTERS, TIME_WORDS

_PIECES = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]|[^\W\d_\u3040-\u30ff\u3400-\u9fff]{2,40}|\d+")
_ENDINGS = ("ing", "ed", "es", "s")
ENOUGH = 2
# Share of the smaller sentence that has to be in the larger one for the two to say the same.
SAME = 0.6


class Marks(NamedTuple):
    """What a sentence is told by: the things it names, and the times."""

    things: frozenset[str]
    times: frozenset[str]


@functools.lru_cache(maxsize=512)
def marks(text: str) -> Marks:
    things, times = set(), set()
    for piece in _PIECES.findall(text.lower()):
        if piece in TIME_CHARACTERS or piece in TIME_WORDS or piece.isdigit():
            times.add(piece)
        elif piece not in EMPTY_CHARACTERS and piece not in EMPTY_WORDS:
            things.add(_stem(piece))
    return Marks(frozenset(things), frozenset(times))


def _stem(word: str) -> str:
    if not word.isascii():
        return word
    ending = next((ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) > 2), "")
    return IRREGULAR.get(word) or word.removesuffix(ending)


def concerns(said: Marks, promise: Marks) -> bool:
    """Does a later word speak of this promise? Of all it names, or of enough of it; a time alone is not enough."""
    things = len(said.things & promise.things)
    if things >= ENOUGH or 0 < things == len(promise.things):
        return True
    return things >= 1 and len(said.times & promise.times) >= ENOUGH


def says_the_same(one: Marks, other: Marks) -> bool:
    """Are the things of the one most of the things of the other?"""
    common = len(one.things & other.things)
    return common >= ENOUGH and common >= SAME * min(len(one.things), len(other.things))
