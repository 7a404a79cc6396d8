"""What a stretch of talk is about: the sentence of the person's that names it best, and words to find it by (spec H1).

A word counts for as many messages as have it, the more the rarer it is; nouns count most. Counted in one pass, over a
bounded number of messages; what is quoted does not count.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from sessions.core.handoff_fillers import COMMON, EMPTY_CHARACTERS, EMPTY_WORDS, TIME_CHARACTERS, TIME_WORDS
from sessions.core.handoff_likeness import marks
from sessions.core.handoff_promises import promised_at
from sessions.core.handoff_redlines import forbidden_at
from sessions.core.handoff_words import BRINGING_UP, LEANING, RETRACTED, SUPPOSE
from sessions.core.sentences import Found, Phrase
from sessions.core.words import search_words, writable

# A silence that ends a stretch, and how many messages of the person it has at least, and messages at most.
SILENCE = timedelta(minutes=45)
FEWEST, MOST = 3, 60
MOST_COUNTED = 2_000
CUES = 3
# Messages after which a joke is not taken back any more.
NEAR = 6
# Sentences of the person that are looked back at for it.
MOST_NEAR = 40
# Characters of a message: a longer one is mostly something pasted or told at length.
LONG_MESSAGE = 300
SHORTEST_TOPIC, LONGEST_TOPIC = 5, 60

_HAN = re.compile(r"[\u3400-\u9fff]")
# A Latin word that stands by itself: no piece of a path, an address, a key or a name of code.
_LATIN = re.compile(r"(?<![\w./+=@:#~$%&?-])[^\W\d_]{3,16}(?![\w/+=@:#~$%&-]|\.\w)")
_NOUNS = {"n": 1.0, "nz": 1.0, "ns": 1.0, "nt": 1.0, "nr": 0.5, "vn": 1.0, "j": 0.8, "an": 0.8}
_VERB = 0.4
_LATIN_WORD = 0.7
# A single character may mean much or little; these fill up words of every kind.
_SINGLE = 0.5
_FILLS = frozenset("子头儿家大小老")
_OF_A_WORD = 0.4
# What a word counts that is said in one message only.
_ONCE = 0.15
# What a joke that was taken back is worth as a subject, and the words that only say it was one.
_JOKE = 0.1
_OF_JOKES = frozenset("开玩笑逗")
# And one of the subject as a cue.
_LATELY = 1.5
# A word the dictionary does not have may be a name, or none: it counts where it comes again.
_UNKNOWN = 0.6
# Messages beyond which a word names no subject any more but everything.
MOST_SHARED = 8


class Counted(NamedTuple):
    """The words of a text with what each of them counts, from 0 to 1; `characters` name the noun they are of; `names` are
    those of persons, as far as known."""

    nouns: dict[str, float]
    others: dict[str, float]
    characters: dict[str, str]
    names: set[str]

    @property
    def everything(self) -> set[str]:
        return {*self.nouns, *self.others, *self.characters}


class Told(NamedTuple):
    """A message's own words, without what it quotes."""

    text: str
    is_human: bool


@functools.cache
def _tagger() -> Callable[[str], list[tuple[str, str]]]:
    # A third of a second to load: only where words are wanted.
    import rjieba

    tag: Callable[[str], list[tuple[str, str]]] = rjieba.tag
    return tag


@functools.lru_cache(maxsize=4096)
def _rarity(word: str) -> float:
    """How much a Chinese word tells, by how often the splitter's dictionary has met it: 0.1 everywhere, 1 never. A word it
    does not have stands between."""
    if not is_known(word):
        return _UNKNOWN
    import rjieba

    times: int = rjieba.suggest_freq(word)
    return max(0.1, 1 - math.log10(times + 1) / 6)


def is_known(word: str) -> bool:
    """Is it surely a word, not two that happen to meet?"""
    import rjieba

    return word.isascii() or len(word) == 1 or bool(rjieba.has_word(word))


def counted(text: str) -> Counted:
    """The words of a text that carry it. No stop words, no numbers."""
    found = Counted({}, {}, {}, set())
    text = writable(text)
    for word, tag in _tagger()(text) if _HAN.search(text) else ():
        if not _HAN.match(word) or not _is_telling(word):
            continue
        _count(found, word, tag)
    for word in map(str.lower, _LATIN.findall(text)):
        if _is_telling(word) and not _HAN.search(word):
            found.nouns[word] = _LATIN_WORD
    return found


def _count(found: Counted, word: str, tag: str) -> None:
    if tag == "nr":
        found.names.add(word)
    if tag in _NOUNS and len(word) > 1:
        found.nouns[word] = _NOUNS[tag] * _rarity(word)
        found.characters.update((char, word) for char in word if char not in _FILLS and _is_telling(char))
    elif tag in _NOUNS:
        found.others[word] = _SINGLE
    elif tag == "v" or (tag == "m" and len(word) > 2):
        found.others[word] = _VERB * (_rarity(word) if len(word) > 1 else _SINGLE)


def _is_telling(word: str) -> bool:
    if word in COMMON or word in EMPTY_WORDS or word in TIME_WORDS:
        return False
    return any(char not in EMPTY_CHARACTERS and char not in TIME_CHARACTERS for char in word)


def told(phrases: Sequence[Phrase], count: int) -> list[Told]:
    """Of each of `count` messages what its speaker says, sentence by sentence, without quotations."""
    texts: list[list[str]] = [[] for _ in range(count)]
    are_human = [False] * count
    for phrase in phrases:
        texts[phrase.place].append(phrase.judged)
        are_human[phrase.place] = phrase.is_human
    return [Told("\n".join(text), is_human) for text, is_human in zip(texts, are_human, strict=True)]


def last_stretch(ats: Sequence[datetime | None], are_human: Sequence[bool]) -> int:
    """The number of the first message of what was talked about last."""
    start = humans = 0
    for start in range(len(ats) - 1, -1, -1):
        humans += are_human[start]
        before = ats[start - 1] if start else None
        at = ats[start]
        is_silent = at is not None and before is not None and at - before > SILENCE
        if (is_silent and humans >= FEWEST) or len(ats) - start >= MOST:
            break
    return start


def topic(phrases: Sequence[Phrase], messages: Sequence[Told], start: int) -> Found | None:
    """The sentence of the person's that shares most with what was said from message `start` on, the later ones first."""
    late = [phrase for phrase in phrases if phrase.place >= start and phrase.is_human]
    seen: Counter[str] = Counter()
    for message in messages[start:]:
        seen.update(counted(message.text).everything)
    jokes = _taken_back(late)
    worth = [
        (_worth(phrase, seen, messages, start) * (_JOKE if number in jokes else 1.0), number)
        for number, phrase in enumerate(late)
    ]
    return Found(late[max(worth)[1]], 0) if worth else None


def _taken_back(mine: Sequence[Phrase]) -> set[int]:
    """The numbers of sentences that were only a joke: those just before a retraction that name what it names, or else the
    last one before it; and the retraction itself."""
    jokes = set()
    for number, phrase in enumerate(mine):
        if RETRACTED.search(phrase.judged):
            named = marks(phrase.judged).things - _OF_JOKES
            near = [old for old in range(max(0, number - MOST_NEAR), number) if phrase.place - mine[old].place <= NEAR]
            jokes |= {number, *([old for old in near if named & marks(mine[old].judged).things] or near[-1:])}
    return jokes


def _worth(phrase: Phrase, seen: Counter[str], messages: Sequence[Told], start: int) -> float:
    words = counted(phrase.judged)
    shared = sum(weight * _sharing(word, seen[word]) for word, weight in (words.others | words.nouns).items())
    # 大盆 and 旧盆 are both of the 盆; what the words share as a whole is counted already.
    shared += sum(_OF_A_WORD * _sharing(char, seen[char] - seen[word] + 1) for char, word in words.characters.items())
    lateness = (phrase.place - start + 1) / (len(messages) - start)
    return (
        _shape(phrase, messages) * (0.9 + 0.2 * lateness) * shared / math.sqrt(len(words.nouns) + len(words.others) + 3)
    )


def _sharing(word: str, times: int) -> float:
    """What a word counts for being said in so many messages: one that joins no two of them hardly counts."""
    if times > 1:
        return min(times, MOST_SHARED) - 1
    return _ONCE if is_known(word) else 0.0


def _shape(phrase: Phrase, messages: Sequence[Told]) -> float:
    """How well a sentence can stand alone, from 0 to 1."""
    length = len(phrase.text)
    shape = 0.2 if length < SHORTEST_TOPIC else 0.6 if length > LONGEST_TOPIC else 1.0
    shape *= 0.7 if phrase.is_question or SUPPOSE.match(phrase.judged) else 1.0
    shape *= 0.5 if LEANING.match(phrase.judged) else 1.3 if BRINGING_UP.search(phrase.judged) else 1.0
    # These have fields of their own.
    shape *= 0.6 if forbidden_at(phrase.judged) is not None else 0.8 if promised_at(phrase) is not None else 1.0
    return shape * (0.5 if len(messages[phrase.place].text) > LONG_MESSAGE else 1.0)


def without_jokes(messages: Sequence[Told], phrases: Sequence[Phrase]) -> list[Told]:
    """The messages with nothing where a joke was made, spun out and taken back."""
    mine = [phrase for phrase in phrases if phrase.is_human]
    left = list(messages)
    for place in _joking(mine):
        left[place] = Told("", left[place].is_human)
    return left


def _joking(mine: Sequence[Phrase]) -> set[int]:
    places = [mine[number].place for number in sorted(_taken_back(mine))]
    between = {place for one, two in itertools.pairwise(places) if two - one <= NEAR for place in range(one, two)}
    return between | set(places)


def cues(messages: Sequence[Told], texts: Sequence[str], subject: str = "") -> list[str]:
    """Two or three words that these messages have more of than others would: nouns, said by the person too, each one
    that a search finds; those of the subject before others."""
    said, theirs = Counter[str](), Counter[str]()
    weights: dict[str, float] = {}
    names: set[str] = set()
    for message in messages[-MOST_COUNTED:]:
        words = counted(message.text)
        weights |= words.nouns
        names |= words.names
        said.update(words.nouns.keys())
        if message.is_human:
            theirs.update(words.nouns.keys())
    # What is talked about now is looked for first.
    weights |= {word: _LATELY * weights[word] for word in counted(subject).nouns if word in weights}
    # What the companion says more than the person is how it calls somebody.
    known = [word for word in theirs if said[word] > 1 or is_known(word)]
    known = [word for word in known if not (word in names and said[word] > 2 * theirs[word])]
    ranked = sorted(known, key=lambda word: (-_rank(word, said, theirs, weights), word))
    return [_as_written(word, texts) for word in _apart(ranked)]


def _rank(word: str, said: Counter[str], theirs: Counter[str], weights: dict[str, float]) -> float:
    length = 1.2 if len(word) > 2 and _HAN.match(word) else 1.0
    return (said[word] + theirs[word] - 1) * weights[word] * length


def _apart(ranked: Sequence[str]) -> list[str]:
    """The first few that are no part of each other."""
    chosen: list[str] = []
    for word in ranked:
        if len(chosen) == CUES:
            break
        if all(word not in other and other not in word for other in chosen) and word in search_words(word).strong:
            chosen.append(word)
    return chosen


def _as_written(word: str, texts: Sequence[str]) -> str:
    if not word.isascii():
        return word
    pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
    return next((found[0] for text in reversed(texts) if (found := pattern.search(text))), word)
