"""The hand-off: what is carried from one window into the next, in fixed fields, each with its evidence (spec H1, H2).

Drafted without any model and without inventing a word: whatever stands in a field is a piece of what somebody said, cut
where no reader stumbles, with `…` where something is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from sessions.core.handoff_fields import Handoff, Item, Language, Said, fields
from sessions.core.handoff_frame import LONGEST, LONGEST_BOARD, TooLong, fenced, harmless, reading_faults
from sessions.core.handoff_moods import moods
from sessions.core.handoff_page import markdown
from sessions.core.handoff_promises import open_promises
from sessions.core.handoff_redlines import apart_from_bans, red_lines
from sessions.core.handoff_subject import cues, last_stretch, told, topic, without_jokes
from sessions.core.sentences import Found, around, cut, parts, phrases

__all__ = [
    "LONGEST", "LONGEST_BOARD", "Handoff", "Item", "Language", "Said", "TooLong", "draft", "fenced", "fields", "harmless",
    "language_of", "markdown", "reading_faults",
]  # fmt: skip

# Characters of one entry, and how many entries a field has at most.
TOPIC = 60
ENTRY = 110
EXCERPT = 150
MOST_STATES = 3
MOST_PROMISES = 8
MOST_NEVER = 6
# A person's message and its answer, so many times.
EXCHANGES = 3
# Characters of one summary that are kept; the page shows fewer.
SUMMARY = 50_000
# Of a hundred letters that a person writes, so many Chinese ones make it Chinese: each says more than a Latin one.
CHINESE_FROM = 20
# Characters that are looked at for it, the newest.
LOOKED_AT = 200_000

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LETTER = re.compile(r"[^\W\d_]")


def draft(said: Sequence[Said], *, summaries: Sequence[str] = ()) -> Handoff:
    """The fields as the messages give them; in time proportional to their length. `said` in the order of the thread."""
    spoken = list(phrases((one.text, one.speaker == "human") for one in said))
    bans = red_lines(spoken)
    never = _Taking(said, ENTRY).take(bans, MOST_NEVER)
    open_ones = apart_from_bans(open_promises(spoken, _days(said)), bans)
    promised = _Taking(said, ENTRY, apart_from=never).take(open_ones, MOST_PROMISES)
    state = _Taking(said, ENTRY, apart_from=[*never, *promised]).take(moods(spoken), MOST_STATES)
    messages = told(spoken, len(said))
    subject = topic(spoken, messages, last_stretch([one.at for one in said], [one.speaker == "human" for one in said]))
    return Handoff(
        topic=_topic(said, subject),
        state=state,
        promises=promised,
        never=never,
        cues=cues(
            without_jokes(messages, spoken), [one.text for one in said], subject.phrase.judged if subject else ""
        ),
        excerpts=_excerpts(said),
        summaries=[summary[:SUMMARY] for summary in summaries if summary.strip()],
    )


def _days(said: Sequence[Said]) -> list[date | None]:
    return [one.at.date() if one.at is not None else None for one in said]


class _Taking:
    """Makes entries of what was found, each sentence once."""

    def __init__(self, said: Sequence[Said], most: int, apart_from: Iterable[Item] = ()) -> None:
        self._said, self._most = said, most
        self._taken = {(item.idx, item.text) for item in apart_from}

    def take(self, found: Iterable[Found], count: int) -> list[Item]:
        taken: list[Item] = []
        for phrase, at in found:
            item = _item(self._said[phrase.place], around(phrase.text, at, self._most))
            if (item.idx, item.text) not in self._taken and len(taken) < count:
                self._taken.add((item.idx, item.text))
                taken.append(item)
        return taken


def _topic(said: Sequence[Said], subject: Found | None) -> Item | None:
    """One line: Latin letters say less, so more of them fit."""
    if subject is None:
        return None
    text = subject.phrase.text
    return _item(said[subject.phrase.place], cut(text, TOPIC if _HAN.search(text) else TOPIC * 2))


def _item(said: Said, text: str) -> Item:
    return Item(text, said.uuid, said.idx, said.at, said.speaker)


def _excerpts(said: Sequence[Said]) -> list[Item]:
    """The last exchanges, oldest first: of each the person's last message and the last answer to it."""
    found: list[Item] = []
    humans = 0
    last: str = ""
    for one in reversed(said):
        spoken = parts(one.text)
        if not spoken or one.speaker == last:
            continue
        humans += one.speaker == "human"
        last = one.speaker
        found.append(_item(one, cut(spoken[-1], EXCERPT)))
        if humans == EXCHANGES:
            break
    return found[::-1]


def language_of(said: Sequence[Said]) -> Language:
    """The language a person writes, by the share of Chinese letters among theirs; without any, by what was answered."""
    letters = han = 0
    for text in _newest(said, "human") or _newest(said, "companion"):
        han += len(_HAN.findall(text))
        letters += len(_LETTER.findall(text))
    return "en" if letters and han * 100 < CHINESE_FROM * letters else "zh"


def _newest(said: Sequence[Said], speaker: str) -> list[str]:
    return list(_bounded(one.text for one in reversed(said) if one.speaker == speaker and _LETTER.search(one.text)))


def _bounded(texts: Iterable[str]) -> Iterator[str]:
    left = LOOKED_AT
    for text in texts:
        if left <= 0:
            return
        yield text[:left]
        left -= len(text)
