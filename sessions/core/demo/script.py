"""A play in words and its parts: who says what, what is looked up, and on which day.

Pure. A scene is written as a play, one speech after another; a line that begins with two blanks goes on with the one
before, `⏎` is a line break inside a message:

    林：words of the person          满：words of the companion       想：what the companion thinks first
    插：sent while a turn is running  * cue cue    calls of one message, or one event of another kind
    + 6m  a pause                     <<< … >>>    a branch that is rewound

`{复查}` is the date of that name, `{复查:周}` its weekday, `<NAME>` the text of that constant of `words`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sessions.core.demo import words

FOLDER = "/home/lin/xiaoman-demo"
WEEKDAYS = "一二三四五六日"
TUESDAY = 1
# Before that Tuesday: the day the diary speaks of a knee.
KNEE_DAYS_AGO = 41
# The newest line stands this long before `now`.
LATELY = timedelta(minutes=4)


@dataclass(frozen=True, slots=True)
class Day:
    """A day counted from today, or from the last Tuesday that is at least five days ago."""

    offset: int
    from_tuesday: bool = False


def tuesday(offset: int) -> Day:
    return Day(offset, from_tuesday=True)


def today(offset: int = 0) -> Day:
    return Day(offset)


@dataclass(frozen=True, slots=True)
class Calendar:
    """The days of the demo. `now` is aware; every clock time of a scene is in `zone`."""

    now: datetime
    zone: ZoneInfo

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    @property
    def tuesday(self) -> date:
        latest = self.today - timedelta(days=5)
        return latest - timedelta(days=(latest.weekday() - TUESDAY) % 7)

    def date_of(self, day: Day) -> date:
        return (self.tuesday if day.from_tuesday else self.today) + timedelta(days=day.offset)

    def moment(self, day: Day, clock: str) -> datetime:
        return datetime.combine(self.date_of(day), time.fromisoformat(clock), tzinfo=self.zone)

    @property
    def named(self) -> dict[str, date]:
        """The dates that are spoken of."""
        again = self.today + timedelta(days=6)
        return {
            "疼": self.tuesday - timedelta(days=KNEE_DAYS_AGO),
            "复查": self.tuesday - timedelta(days=1),
            "复诊": again + timedelta(days=max(0, 7 - again.weekday()) if again.weekday() > 4 else 0),
            "店庆": self.today + timedelta(days=12),
            "生日": self.today + timedelta(days=20),
        }

    def fill(self, text: str) -> str:
        """Puts constants and dates into a text."""
        text = re.sub(r"<([A-Z_]+)>", lambda found: str(getattr(words, found[1])), text)
        return re.sub(r"\{(疼|复查|复诊|店庆|生日)(:周)?\}", self._spelt, text)

    def _spelt(self, found: re.Match[str]) -> str:
        day = self.named[found[1]]
        return weekday(day) if found[2] else spelt(day)


def spelt(day: date) -> str:
    return f"{day.month}月{day.day}日"


def weekday(day: date) -> str:
    return f"周{WEEKDAYS[day.weekday()]}"


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the person; `picture` names one that goes with it."""

    text: str
    picture: str = ""


@dataclass(frozen=True, slots=True)
class Helper:
    """A subagent: its id, its play, and the cues of that play."""

    agent: str
    play: str
    cues: Mapping[str, Cue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call. `result` is a text, or made from the day of the scene; `picture` is returned instead of it."""

    tool: str
    arguments: Mapping[str, str]
    result: str | Callable[[date], str] = ""
    picture: str = ""
    seconds: float = 1.2
    helper: Helper | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """One message of the companion: at most one thought, one text, and calls."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Queued:
    """A message of the person, sent while a turn was running."""

    text: str


@dataclass(frozen=True, slots=True)
class Pause:
    minutes: int


@dataclass(frozen=True, slots=True)
class Branch:
    """Steps that a rewind left behind."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """A message a timer sent: delivered by a machine, whatever it says."""

    task: str
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Slash:
    """A command of the client with what it printed."""

    command: str
    arguments: str
    output: str


@dataclass(frozen=True, slots=True)
class Pasted:
    """A long message of the person, put in from elsewhere."""

    text: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The API did not answer; the client says so."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The client's own compaction with the summary that replaced the talk."""

    summary: str


@dataclass(frozen=True, slots=True)
class Torn:
    """A line cut off in the middle."""


@dataclass(frozen=True, slots=True)
class Cards:
    """Text that a hook put beside the prompt before it."""

    text: str


Event = Task | Slash | Pasted | Failure | Compaction | Torn | Cards
Cue = Call | Event
Step = Said | Answer | Queued | Pause | Branch | Event


@dataclass(frozen=True, slots=True)
class Scene:
    """A stretch of talk. `at` is its clock time; empty: it ends just before now."""

    day: Day
    at: str
    play: str
    cues: Mapping[str, Cue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Talk:
    """One window: its scenes in order and what the client calls it."""

    session: str
    version: str
    guessed_title: str
    scenes: tuple[Scene, ...]
    own_title: str = ""


class NotAPlay(ValueError):
    """A line of a play that nobody can act; the message quotes it."""


def read_play(play: str, cues: Mapping[str, Cue]) -> list[Step]:
    """The steps of a play. Raises NotAPlay."""
    reading = _Reading(cues)
    for line in _whole_lines(play):
        reading.take(line)
    return reading.finish()


def _whole_lines(play: str) -> list[str]:
    lines: list[str] = []
    for line in play.splitlines():
        if line.startswith("  ") and lines:
            lines[-1] += line.strip()
        elif line.strip():
            lines.append(line.strip())
    return [line.replace("⏎", "\n") for line in lines]


class _Reading:
    """Gathers thought, words and calls of one answer until something else begins."""

    def __init__(self, cues: Mapping[str, Cue]) -> None:
        self.cues = cues
        self.levels: list[list[Step]] = [[]]
        self.thinking = self.text = ""

    def take(self, line: str) -> None:
        mark, said = line[:2], line[2:]
        if mark == "想：":
            self._flush()
            self.thinking = said
        elif mark == "满：":
            if self.text:
                self._flush()
            self.text = said
        elif line.startswith("* "):
            self._cue([self.cues[name] for name in line[2:].split()])
        else:
            self._flush()
            self._other(mark, said, line)

    def _other(self, mark: str, said: str, line: str) -> None:
        if mark == "林：":
            picture = re.match(r"\[图:(\w+)\]", said)
            text = said[picture.end() :] if picture else said
            self._add(Said(text, picture[1] if picture else ""))
        elif mark == "插：":
            self._add(Queued(said))
        elif found := re.fullmatch(r"\+ (\d+)m", line):
            self._add(Pause(int(found[1])))
        elif line == "<<<":
            self.levels.append([])
        elif line == ">>>":
            self._add(Branch(tuple(self.levels.pop())))
        else:
            raise NotAPlay(line)

    def _cue(self, cues: Sequence[Cue]) -> None:
        calls = tuple(cue for cue in cues if isinstance(cue, Call))
        self._flush(calls)
        for cue in cues:
            if not isinstance(cue, Call):
                self._add(cue)

    def _flush(self, calls: tuple[Call, ...] = ()) -> None:
        if self.text or self.thinking or calls:
            self._add(Answer(self.text, self.thinking, calls))
        self.thinking = self.text = ""

    def _add(self, step: Step) -> None:
        self.levels[-1].append(step)

    def finish(self) -> list[Step]:
        self._flush()
        if len(self.levels) != 1:
            raise NotAPlay("<<< without >>>")
        return self.levels[0]
