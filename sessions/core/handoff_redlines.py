"""Red lines: what the person asked never to do, and has not allowed again (spec H1)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions.core import handoff_words as words
from sessions.core.handoff_likeness import Marks, concerns, marks, says_the_same
from sessions.core.sentences import Found, Phrase

MOST_FOUND = 40
# Characters between somebody else and a ban that make it theirs.
NEAR = 6
# Things that a ban may name and still be lifted by one of them.
SHORT = 3


def red_lines(phrases: Sequence[Phrase]) -> list[Found]:
    """The person's bans that stand, newest first; of two that say the same the newer one."""
    found: list[Found] = []
    settled: list[Marks] = []
    allowed: list[Marks] = []
    for phrase in reversed(phrases):
        if not phrase.is_human or phrase.is_question:
            continue
        at = forbidden_at(phrase.judged)
        if at is None:
            if _is_allowance(phrase.judged):
                allowed.append(marks(phrase.judged))
            continue
        said = marks(phrase.judged)
        if not any(says_the_same(said, old) for old in settled) and not any(_lifts(new, said) for new in allowed):
            found.append(Found(phrase, at))
            settled.append(said)
        if len(found) >= MOST_FOUND:
            break
    return found


def apart_from_bans(promises: Sequence[Found], bans: Sequence[Found]) -> list[Found]:
    """Promises without those in which the companion only says that it will keep to a ban."""
    kept = [marks(ban.phrase.judged) for ban in bans]
    return [
        found
        for found in promises
        if found.phrase.is_human or not any(concerns(marks(found.phrase.judged), ban) for ban in kept)
    ]


def forbidden_at(judged: str) -> int | None:
    """Where a sentence forbids something for good; None where it does not, or only for now."""
    for match in words.NEVER.finditer(judged):
        if not _is_told_of(judged, match):
            return match.start()
    by_rule = words.NEVER_BY_RULE.search(judged)
    if by_rule is not None and words.A_RULE.search(judged) and not _is_told_of(judged, by_rule):
        return by_rule.start()
    return None


def _is_told_of(judged: str, match: re.Match[str]) -> bool:
    """Is it somebody else who forbids, or is forbidden?"""
    before = judged[max(0, match.start() - NEAR) : match.start()]
    return words.THIRD.search(before) is not None and "时" not in before and "面前" not in before


def _lifts(allowance: Marks, ban: Marks) -> bool:
    """Does it allow what was forbidden? A short ban is named by one thing of it."""
    return concerns(allowance, ban) or (len(ban.things) <= SHORT and bool(allowance.things & ban.things))


def _is_allowance(judged: str) -> bool:
    return words.LIFTED.search(judged) is not None and words.EXCEPTION.search(judged) is None
