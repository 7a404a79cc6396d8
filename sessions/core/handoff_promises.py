"""Promises and to-dos that are still open: found as they are said, struck off when they are kept, called off or moved.

Whoever promised, either side may keep it; the person may take back anything, the companion only its own (spec H1, M2).
A promise whose day is over is not open any more; one that comes again each week is, until somebody ends it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date

from sessions.core import handoff_words as words
from sessions.core.handoff_likeness import Marks, concerns, marks, says_the_same
from sessions.core.handoff_redlines import forbidden_at
from sessions.core.handoff_times import due, is_recurring, sorts
from sessions.core.sentences import Found, Phrase, clause_at

# Open promises that are kept in mind, and how many messages later a bare "never mind" still means the last one.
MOST_WATCHED = 80
NEAR = 4


@dataclass(frozen=True, slots=True, eq=False)
class _Open:
    phrase: Phrase
    at: int
    said_on: date | None
    marks: Marks
    recurs: bool
    # What was asked, where the promise is only a yes to it.
    about: Phrase | None = None

    def is_over(self, today: date | None) -> bool:
        if self.recurs or self.said_on is None or today is None:
            return False
        until = due(self.phrase.judged, self.said_on)
        return until is not None and until < today

    def may_be_ended_by(self, phrase: Phrase) -> bool:
        return phrase.is_human or not self.phrase.is_human


def open_promises(phrases: Iterable[Phrase], days: Sequence[date | None]) -> list[Found]:
    """The promises and to-dos still open at the end, newest first. `days`: the day of each message, in the operator's
    zone."""
    ledger = _Ledger()
    for phrase in phrases:
        ledger.read(phrase, days[phrase.place])
    today = max((day for day in days if day is not None), default=None)
    found: list[Found] = []
    for old in reversed(ledger.open):
        if not old.is_over(today):
            found.append(Found(old.phrase, old.at))
            found += [Found(old.about, 0)] if old.about is not None else []
    return found


@dataclass(slots=True)
class _Ledger:
    open: list[_Open] = field(default_factory=list)
    # The last thing asked, so that a short answer is understood.
    asked: Phrase | None = None

    def read(self, phrase: Phrase, said_on: date | None) -> None:
        if phrase.is_question:
            self.asked = phrase
        elif words.OFF.search(phrase.judged):
            self._strike(phrase, self._ended_by(phrase, with_recurring=True))
            return
        elif words.MOVED.search(phrase.judged):
            self._strike(phrase, self._moved_by(phrase))
        elif words.DONE.search(phrase.judged) or self._answers(phrase):
            self._strike(phrase, self._ended_by(phrase, with_recurring=False))
        if (at := promised_at(phrase)) is not None:
            self._add(self._opened(phrase, at, said_on))

    def _opened(self, phrase: Phrase, at: int, said_on: date | None) -> _Open:
        """The promise, together with what was asked right before it where it names nothing itself."""
        said, asked, recurs = marks(phrase.judged), self.asked, _recurs(phrase.judged)
        if said.things or asked is None or asked.is_human == phrase.is_human or phrase.place - asked.place != 1:
            return _Open(phrase, at, said_on, said, recurs)
        return _Open(phrase, at, said_on, _together(said, marks(asked.judged)), recurs, asked)

    def _strike(self, phrase: Phrase, gone: list[_Open]) -> None:
        if gone:
            self.open = [old for old in self.open if old not in gone]

    def _ended_by(self, phrase: Phrase, *, with_recurring: bool) -> list[_Open]:
        """What is called off or done. Doing a thing once does not end what comes again."""
        if not self.open:
            return []
        said = self._meant(phrase)
        mine = [
            old
            for old in self.open
            if (with_recurring and old.may_be_ended_by(phrase)) or (not with_recurring and not old.recurs)
        ]
        named = self._called_off(phrase) if with_recurring else frozenset()
        gone = [old for old in mine if concerns(said, old.marks) or (named and named <= old.marks.things)]
        if gone or len(said.things) > 1:
            return gone
        return [old for old in mine[-1:] if phrase.place - old.phrase.place <= NEAR and old.may_be_ended_by(phrase)]

    def _called_off(self, phrase: Phrase) -> frozenset[str]:
        """The things named in the very clause that calls something off: they may be fewer than a promise's."""
        found = words.OFF.search(phrase.judged)
        return marks(clause_at(phrase.judged, found.start(), found.end())).things if found else frozenset()

    def _meant(self, phrase: Phrase) -> Marks:
        """What a sentence speaks of; a short answer speaks of what was asked."""
        said = marks(phrase.judged)
        if self.asked is None or not self._answers(phrase):
            return said
        return _together(said, marks(self.asked.judged))

    def _answers(self, phrase: Phrase) -> bool:
        asked = self.asked
        if asked is None or asked.is_human == phrase.is_human or not 0 < phrase.place - asked.place <= 2:
            return False
        return words.ANSWER.match(phrase.judged) is not None

    def _moved_by(self, phrase: Phrase) -> list[_Open]:
        """The one that gets another time: of the same things, or where only a time is named, of the same kind of time."""
        new, kinds = marks(phrase.judged), sorts(phrase.judged)
        mine = [old for old in reversed(self.open) if old.may_be_ended_by(phrase)]
        meant = [old for old in mine if concerns(new, old.marks)]
        if not meant and len(new.things) <= 1:
            meant = [old for old in mine if kinds & sorts(old.phrase.judged)]
        return [old for old in meant[:1] if not _is_exception(phrase, old)]

    def _add(self, new: _Open) -> None:
        twin = next((old for old in reversed(self.open) if _is_twin(new, old)), None)
        if twin is not None and _is_echo(new, twin):
            return
        if twin is not None and not _stands_beside(new, twin):
            self.open.remove(twin)
        self.open.append(new)
        del self.open[:-MOST_WATCHED]


def _together(one: Marks, other: Marks) -> Marks:
    return Marks(one.things | other.things, one.times | other.times)


def _is_twin(new: _Open, old: _Open) -> bool:
    """Do both promise the same? An answer right after may say it in fewer words."""
    is_answer = old.phrase.is_human and not new.phrase.is_human and new.phrase.place - old.phrase.place <= NEAR
    return says_the_same(new.marks, old.marks) or (is_answer and concerns(new.marks, old.marks))


def _is_echo(new: _Open, old: _Open) -> bool:
    """Does the companion only say after the person what the person said? A promise in so many words is more."""
    if words.PROMISED.search(new.phrase.judged):
        return False
    return old.phrase.is_human and not new.phrase.is_human and new.marks.times <= old.marks.times


def _stands_beside(new: _Open, old: _Open) -> bool:
    """With another time, the companion's words do not replace the person's, nor one day a rule."""
    if new.marks.times <= old.marks.times:
        return False
    return (old.phrase.is_human and not new.phrase.is_human) or (old.recurs and not new.recurs)


def _is_exception(phrase: Phrase, old: _Open) -> bool:
    """One time only: the standing promise stays."""
    if words.EXCEPTION.search(phrase.judged):
        return True
    return old.recurs and not _recurs(phrase.judged) and words.WITHIN.search(phrase.judged) is not None


def _recurs(text: str) -> bool:
    return is_recurring(text) or words.FOR_GOOD.search(text) is not None


def promised_at(phrase: Phrase) -> int | None:
    """Where a sentence promises something or names what is to be done; None where it does not."""
    judged = phrase.judged
    if words.NOT_PROMISED.search(judged) or words.SUPPOSE.match(judged):
        return None
    if phrase.is_human and forbidden_at(judged) is not None:
        return None
    for pattern in _patterns(phrase):
        for found in pattern.finditer(judged):
            if not _is_asked(judged, found):
                return found.start()
    return None


def _patterns(phrase: Phrase) -> tuple[re.Pattern[str], ...]:
    said = (words.PROMISED, words.TO_DO if phrase.is_human else words.TO_DO_BY_COMPANION)
    if words.PAST.search(phrase.judged):
        return said
    meant = (words.INTENDED, words.PLANNED, words.MOVED_TO, words.EXCEPTION)
    return said + (meant if phrase.is_human else meant[:1])


def _is_asked(judged: str, found: re.Match[str]) -> bool:
    """Does the clause only ask? A request that ends in a question is no question."""
    if words.REQUEST_ENDS.search(judged):
        return False
    return words.ASKING.search(clause_at(judged, found.start(), found.end())) is not None
