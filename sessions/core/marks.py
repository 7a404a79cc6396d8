"""What was asked for, marked in a text, and the part of the text around it. Cut where no reader sees a cut."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from sessions.core.words import LATIN, Query, Term


@dataclass(frozen=True, slots=True)
class Snippet:
    """A part of a text in one line, with the places (start, end) to mark; whether something was left out around it."""

    text: str
    spans: tuple[tuple[int, int], ...]
    starts_inside: bool
    ends_inside: bool


def highlight(text: str, query: Query) -> list[tuple[int, int]]:
    """Where a text has what was asked for: (start, end) in characters of `text`, in order, apart from each other."""
    if not query.marks:
        return []
    folded, places = _fold_in_place(text)
    spans: list[tuple[int, int]] = []
    for found in _pattern(query.marks).finditer(folded):
        start, end = found.span()
        if places is not None:
            start, end = places[start], places[end]
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif start < end:
            spans.append((start, end))
    return spans


@functools.lru_cache(maxsize=64)
def _pattern(marks: tuple[Term, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_mark_pattern, marks)))


def _mark_pattern(mark: Term) -> str:
    literal = re.escape(mark.text)
    if not re.match(LATIN, mark.text):
        return literal
    return f"(?<!{LATIN}){literal}" if mark.is_start else f"(?<!{LATIN}){literal}(?!{LATIN})"


def _fold_in_place(text: str) -> tuple[str, list[int] | None]:
    """The folded text, and for each of its characters (and its end) the place in `text`; None where they are the same."""
    if text.isascii():
        return text.lower(), None
    lower = text.lower()
    if len(lower) == len(text) and unicodedata.is_normalized("NFKC", lower):
        return lower, None
    folded: list[str] = []
    places: list[int] = []
    for start, end in _clusters(text):
        piece = unicodedata.normalize("NFKC", text[start:end]).lower()
        folded.append(piece)
        places += [start] * len(piece)
    return "".join(folded), [*places, len(text)]


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Each character with the marks that combine with it."""
    start = 0
    for at in range(1, len(text)):
        if not unicodedata.combining(text[at]):
            yield start, at
            start = at
    if text:
        yield start, len(text)


def snippet(text: str, query: Query, *, before: int = 40, length: int = 160) -> Snippet:
    """The part of a text around the first thing asked for, white space folded; its beginning where nothing is found."""
    shown = " ".join(text.split())
    found = highlight(shown, query)
    first = found[0][0] if found else 0
    start = max(0, min(first - before, len(shown) - length))
    start = _safe_cut(shown, start)
    end = _safe_cut(shown, min(len(shown), start + length))
    end = end if end > start else min(len(shown), start + length)
    spans = tuple(
        (max(left, start) - start, min(right, end) - start) for left, right in found if right > start and left < end
    )
    return Snippet(shown[start:end], spans, start > 0, end < len(shown))


def _safe_cut(text: str, at: int) -> int:
    """The nearest place at or before `at` that does not cut through what a reader sees as one character."""
    lowest = max(0, at - 40)
    place = at
    while place > lowest and place < len(text) and _sticks(text, place):
        place -= 1
    return place


def _sticks(text: str, at: int) -> bool:
    """Does the character at `at` belong to the one before it?"""
    char, last = text[at], text[at - 1]
    return (
        "\u200d" in {char, last}
        or unicodedata.category(char) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or (_is_flag_letter(char) and _flag_letters_before(text, at) % 2 == 1)
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    start = at
    while start > 0 and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start
