"""Sentences of what was said: where they begin and end, what of them is somebody's own words, where a cut is not seen.

Everything given back is a piece of the text as it stands (spec H1); positions are characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

# Characters of one message that are looked through, and of one sentence that is judged.
LONGEST_READ = 8_000
LONGEST_JUDGED = 600
MARK = "…"
# A cut may go back so far for a border that a reader does not stumble over.
BACK = 40
# Stands for words that are quoted: it matches no list of words.
FILLER = "\u25a1"

_ENDS = re.compile(
    "[。！？!?；;…]+[”’」』）)\"']*"
    r"|\.+(?=[\s\"')]|\Z)[\"')]*"
    "|[\n\r\x0b\x0c\x85\u2028\u2029]+"
)
_LEADS = re.compile(r"(?:\s|[-*•>#]+\s|\d{1,3}[.)、]\s?|[。！？!?；;…]|[”’」』）)])+")
_WORD = re.compile(r"[^\W_]")
# Text the client or a hook puts beside a person's words in one message.
_BLOCKS = re.compile(
    r"<(system-reminder|task-notification|command-[a-z]{1,20}|local-command-[a-z]{1,20}|bash-[a-z]{1,20})\b.*?(?:</\1\s*>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_QUOTED = re.compile(
    r"“[^“”]{0,3000}”|「[^「」]{0,3000}」|『[^『』]{0,3000}』|《[^《》\n]{0,120}》"
    r"|```.*?(?:```|\Z)|`[^`\n]{1,300}`|\"[^\"\n]{1,600}\"|^[ \t]{0,8}>[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_PARTING = "，,；;：:"
_CLAUSE_ENDS = "，,、；;：: 。！？!?"


class Phrase(NamedTuple):
    """A sentence: the number of its message, the words, and the same words with what they quote filled up."""

    place: int
    is_human: bool
    text: str
    judged: str

    @property
    def is_question(self) -> bool:
        """By its sign or its last word; a sentence that only talks of asking is none."""
        return _QUESTION.search(self.judged) is not None


class Found(NamedTuple):
    """A sentence and where in it stands what it was found by."""

    phrase: Phrase
    at: int


_QUESTION = re.compile(
    r"[?？][”」』）)\"'~～\s]*\Z|(?:吗|么|呢|不成)[呀啊~～。…！!\s]*\Z|是不是|会不会|要不要|能不能|有没有|该不该|跟不跟|还是说"
)


def own_words(text: str) -> str:
    """The text, as long as before, with line ends in place of the blocks that a machine put there."""
    return _BLOCKS.sub(lambda found: "\n" * len(found[0]), text) if "<" in text else text


def parts(text: str) -> list[str]:
    """The stretches of a message between such blocks, without the white space around them."""
    found, start = [], 0
    for block in _BLOCKS.finditer(text) if "<" in text else ():
        found.append(text[start : block.start()].strip())
        start = block.end()
    return [part for part in (*found, text[start:].strip()) if part]


def phrases(texts: Iterable[tuple[str, bool]]) -> Iterator[Phrase]:
    """The sentences of messages, given as (text, is a person's), in order. Takes time in proportion to their length."""
    for place, (text, is_human) in enumerate(texts):
        own = own_words(text[:LONGEST_READ])
        judged = _QUOTED.sub(lambda found: FILLER * len(found[0]), own)
        for start, end in spans(judged):
            yield Phrase(place, is_human, own[start:end], judged[start : min(end, start + LONGEST_JUDGED)])


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text are, each with its closing sign and without a list's; those without a word left out."""
    start = 0
    for end in (*(found.end() for found in _ENDS.finditer(text)), len(text)):
        lead = _LEADS.match(text, start, end)
        first = lead.end() if lead else start
        last = first + len(text[first:end].rstrip())
        if first < last and _WORD.search(text, first, last):
            yield first, last
        start = end


def clause_at(sentence: str, start: int, end: int) -> str:
    """The part between commas that holds what stands from `start` to `end`."""
    first = max(sentence.rfind(sign, 0, start) for sign in _PARTING) + 1
    ends = [place for sign in _PARTING if (place := sentence.find(sign, end)) >= 0]
    return sentence[first : min(ends, default=len(sentence))]


def cut(text: str, most: int) -> str:
    """The beginning of a text, at most `most` characters with its mark, up to a sentence, a clause or at least a
    character that a reader sees as one."""
    text = text.strip()
    if len(text) <= most:
        return text
    end = _border(text, most - 1, max(1, most * 3 // 5))
    return text[:end].rstrip() + MARK


def around(text: str, at: int, most: int) -> str:
    """The part of a sentence that holds what stands at `at`, at most `most` characters with its marks."""
    if len(text) <= most or at < most // 2:
        return cut(text, most)
    start = _clause_start(text, at, max(0, at - most // 2))
    return MARK + cut(text[start:], most - 1)


def _border(text: str, end: int, lowest: int) -> int:
    """The last border of a sentence in reach, else of a clause, else of a character."""
    for signs in ("。！？!?\n", _CLAUSE_ENDS):
        place = max(text.rfind(sign, lowest, end) for sign in signs)
        if place >= 0:
            return place + 1
    return _whole(text, end)


def _clause_start(text: str, at: int, lowest: int) -> int:
    place = max(text.rfind(sign, lowest, at) for sign in _CLAUSE_ENDS)
    return place + 1 if place >= 0 else _whole(text, lowest)


def _whole(text: str, at: int) -> int:
    """The nearest place at or before `at` that cuts through nothing a reader sees as one character."""
    place = at
    while place > max(1, at - BACK) and _sticks(text, place):
        place -= 1
    return place


def _sticks(text: str, at: int) -> bool:
    """Does the character at `at` belong to the one before it?"""
    char = text[at]
    return (
        "\u200d" in {char, text[at - 1]}
        or "\ufe00" <= char <= "\ufe0f"
        or "\U0001f3fb" <= char <= "\U0001f3ff"
        or "\U000e0020" <= char <= "\U000e007f"
        or unicodedata.category(char) in {"Mn", "Me", "Mc"}
        or (_is_flag_letter(char) and _flag_letters_before(text, at) % 2 == 1)
        or (char.isascii() and char.isalnum() and text[at - 1].isascii() and text[at - 1].isalnum())
    )


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_letters_before(text: str, at: int) -> int:
    start = at
    while start > max(0, at - BACK) and _is_flag_letter(text[start - 1]):
        start -= 1
    return at - start
