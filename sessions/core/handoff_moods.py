"""How the person is, as far as the person said so: sentences of theirs that speak of their own mood or body (spec H1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions.core import handoff_words as words
from sessions.core.sentences import Found, Phrase, clause_at

# Characters before a word of mood that may deny it, and messages of the person that are looked through.
BEFORE = 12
MOST_FOUND = 40


def moods(phrases: Sequence[Phrase]) -> list[Found]:
    """What the person said of their mood or body, newest first: no questions, no denials, nobody else's, nothing that a
    later sentence says is over."""
    found: list[Found] = []
    denied: set[str] = set()
    is_over = False
    for phrase in reversed(phrases):
        if not phrase.is_human or phrase.is_question:
            continue
        at, felt, gone = _read(phrase.judged)
        passed = words.PASSED.search(phrase.judged)
        if passed is not None and _is_own(phrase.judged, passed.start()):
            found.append(Found(phrase, passed.start()))
            is_over = True
        elif at is not None and not felt <= denied and not (is_over and _is_low(phrase.judged, at)):
            found.append(Found(phrase, at))
        denied |= gone
        if len(found) >= MOST_FOUND:
            break
    return found


def _read(judged: str) -> tuple[int | None, set[str], set[str]]:
    """(where the first mood stands, the moods felt, the moods denied) of a sentence."""
    first: int | None = None
    felt: set[str] = set()
    gone: set[str] = set()
    for match in words.MOOD.finditer(judged):
        is_denied = words.DENIED.search(judged, max(0, match.start() - BEFORE), match.start()) is not None
        if is_denied:
            gone.add(_kind(match[0]))
        if is_denied and not words.RELIEVED.match(judged[match.end() : match.end() + 30]):
            continue
        if _is_report(judged, match):
            felt.add(_kind(match[0]) + ("-" if is_denied else ""))
            first = match.start() if first is None else first
    return first, felt, gone


def _kind(word: str) -> str:
    """One name for what is the same mood: its last character tells it, where it is one of those said of most."""
    return next((kind for kind in "累困疼烦饿怕" if kind in word), "疼" if "痛" in word else word.lower())


def _is_low(judged: str, at: int) -> bool:
    match = words.MOOD.match(judged, at)
    return match is not None and match["low"] is not None


def _is_report(judged: str, match: re.Match[str]) -> bool:
    """Is it said of the person, here and now?"""
    clause = clause_at(judged, match.start(), match.end())
    if words.SUPPOSED.search(clause) or words.THE_TIME_OF.match(judged[match.end() : match.end() + 4]):
        return False
    return not words.ASKING.search(clause) and _is_own(judged, match.start())


def _is_own(judged: str, at: int) -> bool:
    """Is the person the one spoken of? The last one named before it is; where nobody is named, it is the person."""
    own = max((found.start() for found in words.SELF.finditer(judged, 0, at)), default=-1)
    others = max((found.start() for found in words.OTHER.finditer(judged, 0, at)), default=-1)
    return own >= others
