"""Hostile text made harmless to read: what cannot be seen, or steers a terminal or the reading order, becomes a mark.

Emoji sequences, variation selectors on a visible character and the joiners of Arabic and Indic scripts stay as they
are: they are writing (security row 8).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# How many combining marks one character may carry before the rest is only counted.
MOST_COMBINING = 6

# fmt: off
CONTROLS = (
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI", "DLE", "DC1", "DC2",
    "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
)
# fmt: on
JOINERS = {"\u200c", "\u200d"}
BLACK_FLAG = "\U0001f3f4"
CANCEL_TAG = "\U000e007f"
FILLERS = {"\u115f", "\u1160", "\u3164", "\uffa0", "\u180e", "\u2028", "\u2029", "\u034f"}
SUBJECTS = {"Cc", "Cf", "Cs"}
# Letters and marks by name that show nothing; everything else that hides is not printable to Python.
UNSEEN_BUT_PRINTABLE = re.compile("[\u034f\u115f\u1160\u3164\uffa0\ufe00-\ufe0f\ufff9-\ufffb\U000e0000-\U000e0fff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of plain text, or `times` same invisible characters of code point `code`."""

    text: str
    code: int = -1
    times: int = 1

    @property
    def is_mark(self) -> bool:
        return self.code >= 0

    @property
    def label(self) -> str:
        """How the mark is written: the control's short name, or the code point."""
        shown = picture(self.code)
        return shown if self.times == 1 else f"{shown}×{self.times}"


def picture(code: int) -> str:
    if code < len(CONTROLS):
        return CONTROLS[code]
    return "DEL" if code == 0x7F else f"U+{code:04X}"


def pieces(text: str, limit: int | None = None) -> Iterator[Piece]:
    """The text as plain runs and marks, in order. `limit` bounds the characters read."""
    shown = text if limit is None else text[:limit]
    if shown and is_plain(shown):
        yield Piece(shown)
        return
    kept = writing(shown)
    plain = 0
    at = 0
    while at < len(shown):
        if at in kept or not is_hidden(shown[at]):
            at += 1
            continue
        if plain < at:
            yield Piece(shown[plain:at])
        end = at + 1
        while end < len(shown) and shown[end] == shown[at] and end not in kept:
            end += 1
        yield Piece("", ord(shown[at]), end - at)
        plain = at = end
    if plain < len(shown):
        yield Piece(shown[plain:])


def is_plain(text: str) -> bool:
    """True when surely nothing in the text is hidden; the quick way for nearly every text."""
    return text.replace("\n", "").replace("\t", "").isprintable() and not UNSEEN_BUT_PRINTABLE.search(text)


def visible(text: str, limit: int | None = None) -> str:
    """The text with its marks in ⟨ ⟩, for exports and logs; the page draws the same pieces as elements."""
    return "".join(f"⟨{piece.label}⟩" if piece.is_mark else piece.text for piece in pieces(text, limit))


def is_hidden(char: str) -> bool:
    """True for a character that shows nothing of itself. Line feed and tab are white space, not hidden."""
    if char in "\n\t":
        return False
    if char < "\u0300":
        return unicodedata.category(char) in SUBJECTS
    return (
        unicodedata.category(char) in SUBJECTS
        or char in FILLERS
        or is_selector(char)
        or "\ufff9" <= char <= "\ufffb"
        or 0xE0000 <= ord(char) <= 0xE0FFF
    )


def is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def is_pictograph(char: str) -> bool:
    """True for what an emoji joiner may stand behind or before; wide on purpose, it only decides about joiners."""
    code = ord(char)
    return 0x1F000 <= code <= 0x1FBFF or 0x2190 <= code <= 0x2BFF or code in (0x00A9, 0x00AE, 0x3030, 0x303D)


def joins_letters(char: str) -> bool:
    """True for scripts whose spelling needs joiners: Arabic to Sinhala, Mongolian."""
    return 0x0600 <= ord(char) <= 0x0DFF or 0x1800 <= ord(char) <= 0x18AF


def writing(text: str) -> set[int]:
    """Positions of invisible characters that belong to the writing around them."""
    kept: set[int] = set()
    for at, char in enumerate(text):
        if char < "\u0300" or at == 0:
            continue
        if (char in JOINERS and joins(text, at, kept)) or (is_selector(char) and takes_selector(text[at - 1])):
            kept.add(at)
        elif char == CANCEL_TAG:
            kept.update(flag_tags(text, at))
    return kept


def joins(text: str, at: int, kept: set[int]) -> bool:
    """True when the joiner at `at` stands between two emoji or two letters of a joining script."""
    if at + 1 >= len(text):
        return False
    before = at - 1
    if before in kept and is_selector(text[before]):
        before -= 1
    left, right = text[before], text[at + 1]
    if text[at] == "\u200d" and is_pictograph(left) and is_pictograph(right):
        return True
    return joins_letters(left) and (joins_letters(right) or right.isspace())


def takes_selector(base: str) -> bool:
    return not is_hidden(base) and not base.isspace() and not unicodedata.combining(base)


def flag_tags(text: str, end: int) -> range:
    """The tag characters of a flag such as Scotland's, which start at a black flag; empty when they do not."""
    start = end
    while start > 0 and end - start < 8 and 0xE0020 <= ord(text[start - 1]) <= 0xE007E:
        start -= 1
    is_flag = start < end and start > 0 and text[start - 1] == BLACK_FLAG
    return range(start, end + 1) if is_flag else range(0)


def calm(text: str) -> str:
    """The text with towers of combining marks cut to a height that stays on its own line."""
    if text.isascii():
        return text
    out: list[str] = []
    height = 0
    for char in text:
        height = height + 1 if unicodedata.category(char) in {"Mn", "Me"} else 0
        if height <= MOST_COMBINING:
            out.append(char)
    return "".join(out)


def cut(text: str, length: int) -> str:
    """At most `length` characters and an ellipsis, never through the middle of one that a reader sees as one."""
    if len(text) <= length:
        return text
    end = length
    while end > max(length - 40, 0) and sticks(text, end):
        end -= 1
    return f"{text[:end].rstrip()}…"


def sticks(text: str, at: int) -> bool:
    """True when the character at `at` belongs to the one before it."""
    char, before = text[at], text[at - 1]
    return (
        char in JOINERS
        or before in JOINERS
        or is_selector(char)
        or unicodedata.category(char) in {"Mn", "Me", "Mc"}
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= CANCEL_TAG
        or (is_region(char) and regions_before(text, at) % 2 == 1)
    )


def is_region(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def regions_before(text: str, at: int) -> int:
    """How many flag letters stand in a row before `at`."""
    start = at
    while start > 0 and is_region(text[start - 1]):
        start -= 1
    return at - start
