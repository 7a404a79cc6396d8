"""Words of a text and of a question about it (spec S9; stack.md, "words").

A text gives the words a dictionary finds, every pair of neighbouring Chinese characters, every single one, and Latin words
and numbers. A text that contains what was asked for therefore always has all its words, whatever the dictionary makes of
names; the dictionary only helps to rank a real word above two characters that happen to meet.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

LONGEST_TEXT = 100_000
LONGEST_QUERY = 200
LONGEST_WORD = 64
MOST_TERMS = 32
# A tsvector holds 1,048,575 bytes of words and positions.
MOST_BYTES = 900_000
# From this length on a Latin word also finds longer ones that start so: there is no stemming.
SHORTEST_START = 3
# Chinese of up to this length is asked for as it stands: a name or a word, not a sentence.
LONGEST_NAME = 3

# Han, kana, hangul: written without spaces, or searched by the syllable.
_CJK = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# One character of a word that is written with spaces around it.
LATIN = rf"[^\W_{_CJK}]"
# A picture counts as a word; the modifiers of skin do not.
_PICTURE = "[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f3fa\U0001f400-\U0001faff]"
_pieces = re.compile(rf"([{_CJK}]+)|({LATIN}{{1,{LONGEST_WORD}}})|{_PICTURE}")
_unwritten = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Words:
    """What a text can be found by: `strong` are words, `weak` pairs and single characters that are none by themselves."""

    strong: frozenset[str]
    weak: frozenset[str]

    def __contains__(self, word: str) -> bool:
        return word in self.strong or word in self.weak


@dataclass(frozen=True, slots=True)
class Term:
    """A word asked for; `is_start`: longer words that start so will do."""

    text: str
    is_start: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """What a question asks for: all of `terms` have to be there; each of `ranked` raises the rank; `marks` are shown."""

    terms: tuple[Term, ...] = ()
    ranked: tuple[Term, ...] = ()
    marks: tuple[Term, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms)


@functools.cache
def _cutter() -> Callable[[str], list[str]]:
    # A third of a second to load: only where words are wanted.
    import rjieba

    cut: Callable[[str], list[str]] = rjieba.cut_for_search
    return cut


@functools.cache
def _plain_cutter() -> Callable[[str], list[str]]:
    import rjieba

    cut: Callable[[str], list[str]] = rjieba.cut
    return cut


def writable(text: str, limit: int = LONGEST_TEXT) -> str:
    """Text as a database takes it: at most `limit` characters, no NUL, no lone surrogate."""
    return _unwritten.sub("\ufffd", text[:limit])


def fold(text: str) -> str:
    """One spelling for what reads the same: NFKC, lower case. At most LONGEST_TEXT characters."""
    if text.isascii():
        return text[:LONGEST_TEXT].lower()
    return unicodedata.normalize("NFKC", writable(text)).lower()[:LONGEST_TEXT]


def search_words(text: str) -> Words:
    """What a text can be found by, in at most MOST_BYTES."""
    folded = fold(text)
    singles: set[str] = set()
    pairs: set[str] = set()
    strong: set[str] = set()
    for piece in _pieces.finditer(folded):
        word = piece[0]
        if piece[1] is not None:
            singles.update(word)
            pairs.update(_pairs(word))
        elif piece[2] is not None:
            strong.add(word)
        else:
            singles.add(word)
    if pairs:
        strong.update(_dictionary_words(folded, pairs))
    return _bounded(singles, strong, pairs)


def _pairs(run: str) -> Iterator[str]:
    return map("".join, itertools.pairwise(run))


def _dictionary_words(folded: str, pairs: set[str]) -> Iterator[str]:
    """Chinese words of two characters or more; each begins with a pair of the text."""
    for word in _cutter()(folded):
        if 1 < len(word) <= LONGEST_WORD and word[:2] in pairs:
            yield word


def _bounded(singles: set[str], strong: set[str], pairs: set[str]) -> Words:
    """Everything, or what fits: single characters first, for they alone find nearly everything."""
    weak = singles | (pairs - strong)
    # At most four bytes a character, and eight for a position: only a very long text is counted out.
    if sum(map(len, weak)) * 4 + sum(4 * len(word) + 8 for word in strong) <= MOST_BYTES:
        return Words(frozenset(strong), frozenset(weak))
    room = MOST_BYTES
    kept: list[set[str]] = []
    for words, extra in ((singles, 2), (strong, 8), (pairs - strong, 2)):
        taken = set()
        for word in sorted(words):
            room -= len(word.encode()) + extra
            if room < 0:
                break
            taken.add(word)
        kept.append(taken)
    return Words(frozenset(kept[1]), frozenset(kept[0] | kept[2]))


def query_words(text: str) -> Query:
    """What a question asks for; an empty one (False) where it has no word. Signs of a query language are only signs."""
    terms: list[Term] = []
    ranked: list[Term] = []
    marks: list[Term] = []
    for piece in _pieces.finditer(fold(text[:LONGEST_QUERY])):
        if piece[1] is not None:
            _ask_chinese(piece[0], terms, ranked, marks)
        elif piece[2] is not None:
            _ask_latin(piece[0], terms, ranked, marks)
        else:
            terms.append(Term(piece[0]))
            marks.append(Term(piece[0]))
    if all(len(mark.text) == 1 for mark in marks):
        marks += [term for term in terms if term not in marks]
    return Query(_some(terms), _some(ranked), _some(sorted(marks, key=lambda mark: -len(mark.text))))


def _some(terms: Iterable[Term]) -> tuple[Term, ...]:
    """Each once, in order, not too many."""
    return tuple(dict.fromkeys(terms))[:MOST_TERMS]


def _ask_latin(word: str, terms: list[Term], ranked: list[Term], marks: list[Term]) -> None:
    start = Term(word, is_start=len(word) >= SHORTEST_START)
    terms.append(start)
    ranked.append(Term(word))
    marks.append(start)


def _ask_chinese(run: str, terms: list[Term], ranked: list[Term], marks: list[Term]) -> None:
    """A short run as it stands; a longer one by its words, wherever they are; as it stands it ranks higher."""
    if len(run) == 1:
        terms.append(Term(run))
        return
    parts = [run] if len(run) <= LONGEST_NAME else _parts(run)
    for part in parts:
        terms += [Term(pair) for pair in _pairs(part)] or [Term(part)]
    ranked += [Term(pair) for pair in _pairs(run)]
    ranked += [Term(part) for part in parts if len(part) > 2]
    marks += [Term(run), *(Term(part) for part in parts if len(part) > 1), *(Term(pair) for pair in _pairs(run))]


def _parts(run: str) -> list[str]:
    """The words of a run; single characters in a row are one part, for they may be a name."""
    parts: list[str] = []
    joins = False
    for word in _plain_cutter()(run):
        is_single = len(word) == 1
        if is_single and joins:
            parts[-1] += word
        else:
            parts.append(word)
        joins = is_single
    return parts
