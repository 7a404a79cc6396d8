"""A timeline's entries as the page draws them: who speaks, which look, where a day opens, where each part is opened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, pgettext

from sessions.core.events import Kind
from sessions.core.timeline import Call, Entry, Result
from sessions.models import Transcript, Window

LOOKS = {
    Kind.HUMAN: "person", Kind.QUEUED: "person", Kind.ASSISTANT: "companion", Kind.TOOL_RESULT: "companion", Kind.NOTICE: "notice",
    Kind.COMMAND: "command", Kind.TAGGED: "background", Kind.META: "aside", Kind.SUMMARY: "aside", Kind.INJECTED: "injected",
    Kind.SYSTEM: "system", Kind.BOUNDARY: "mark", Kind.HANDOFF: "handoff",
}  # fmt: skip
# What the client notes about itself after every turn.
CHATTER = frozenset({"", "turn_duration", "stop_hook_summary"})
WHOLE_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
AGENT = re.compile(r"[0-9A-Za-z]{1,64}\Z")
MOST_LINE = 2**31 - 1
TAG = re.compile(r"\[Harness:[^\n]{0,300}\]")
COMMAND = re.compile(r"<(command-name|command-args|bash-input)>(.*?)</\1>", re.DOTALL)
MARKUP = re.compile(r"</?(?:command|local-command|bash)-[a-z-]{1,20}>")
INTERRUPTED = "[Request interrupted"


@dataclass(frozen=True, slots=True)
class Source:
    """The file that entries come from: a window's own, or that of a subagent (`agent`) of it."""

    window: Window
    transcript: Transcript
    agent: str = ""

    @property
    def base(self) -> str:
        """Below it everything of this file is opened."""
        if self.agent:
            return reverse("session-subagent", args=[self.window.pk, self.agent])
        return reverse("session", args=[self.window.pk])


@dataclass(frozen=True, slots=True)
class Slip:
    """A tool call with its answer, or an answer whose call is elsewhere. `opens` is where it is read in full."""

    name: str
    target: str
    result: Result | None
    opens: str
    subagent: str = ""
    # Lines that an older client wrote of a subagent between call and answer, and where they are read.
    aside: int = 0
    aside_url: str = ""

    @property
    def state(self) -> str:
        if self.result is None:
            return "todo"
        return "fail" if self.result.is_error else "ok"


@dataclass(frozen=True, slots=True)
class Item:
    """One entry as it is drawn."""

    entry: Entry
    look: str
    who: str
    link: str = ""
    day: date | None = None
    opens_day: bool = False
    is_chosen: bool = False
    slips: list[Slip] = field(default_factory=list)

    @property
    def is_branch(self) -> bool:
        return not self.entry.place.live and not self.entry.place.side

    @property
    def was_queued(self) -> bool:
        return self.entry.kind == Kind.QUEUED

    @property
    def is_summary(self) -> bool:
        return self.entry.kind == Kind.SUMMARY

    @property
    def is_interruption(self) -> bool:
        return self.words.lstrip().startswith(INTERRUPTED)

    @property
    def words(self) -> str:
        return "\n".join(cut.text for cut in self.entry.words)

    @property
    def command(self) -> str:
        """A slash command or shell line as it was typed; an output without its wrapping."""
        said = [text.strip() for _, text in COMMAND.findall(self.words) if text.strip()]
        return " ".join(said) or MARKUP.sub("", self.words).strip()

    @property
    def tag(self) -> str:
        found = TAG.match(self.words)
        return found.group() if found else ""

    @property
    def untagged(self) -> str:
        return self.words[len(self.tag) :].strip()


def items(
    source: Source, entries: Iterable[Entry], *, chosen: int | None = None, asides: Sequence[int] = ()
) -> list[Item]:
    """Entries as they are drawn; `chosen` is the line that was asked for, `asides` lines of subagents in this file."""
    worth = [entry for entry in entries if is_worth(entry)]
    marked = holding(worth, chosen)
    return list(_items(source, worth, marked, asides))


def is_worth(entry: Entry) -> bool:
    """False for what says nothing to a reader."""
    if entry.kind == Kind.SYSTEM:
        return entry.subtype not in CHATTER
    return (
        not entry.is_whole
        or entry.kind in {Kind.BOUNDARY, Kind.INJECTED}
        or bool(entry.words or entry.thoughts or entry.calls or entry.results or entry.pictures)
    )


def holding(entries: Sequence[Entry], seq: int | None) -> Entry | None:
    """The entry that a line belongs to."""
    if seq is None:
        return None
    before = [entry for entry in entries if entry.place.seq <= seq]
    return next((entry for entry in reversed(before) if seq <= entry.last), None)


def _items(source: Source, entries: Sequence[Entry], chosen: Entry | None, asides: Sequence[int]) -> Iterator[Item]:
    day: date | None = None
    for entry in entries:
        here = timezone.localtime(entry.place.at).date() if entry.place.at else day
        look = LOOKS.get(Kind(entry.kind), "system")
        yield Item(
            entry,
            look,
            speaker(source, look),
            link="" if source.agent else permalink(source.window, entry),
            day=here,
            opens_day=here is not None and here != day,
            is_chosen=entry is chosen,
            slips=[
                *(called(source, call, asides) for call in entry.calls),
                *(loose(source, it) for it in entry.results),
            ],
        )
        day = here


def speaker(source: Source, look: str) -> str:
    if look == "person":
        return gettext("The task") if source.agent else gettext("You")
    if look == "companion":
        return gettext("Subagent") if source.agent else source.window.companion.name
    others = {"background": gettext("Background"), "handoff": pgettext("speaker", "Console")}
    return others.get(look) or gettext("Client")


def permalink(window: Window, entry: Entry) -> str:
    where = where_is(entry.place.uuid, entry.place.seq)
    return f"{reverse('session', args=[window.pk])}?{urlencode(where)}#e{entry.place.seq}"


def where_is(uuid: str, seq: int) -> dict[str, object]:
    """A place for a lasting address: by uuid, which outlives a new reading of the file, else by line."""
    return {"at": uuid} if WHOLE_UUID.match(uuid) else {"line": seq}


def called(source: Source, call: Call, asides: Sequence[int]) -> Slip:
    result = call.result
    opens = f"{source.base}call/{call.seq}/{call.input.block}/"
    if result is not None:
        opens += f"?answer={result.seq}.{result.text.block}"
    agent = result.agent if result is not None and result.agent and AGENT.match(result.agent) else ""
    first, count = beside(call, asides) if not agent else (0, 0)
    end = result.seq if result is not None else MOST_LINE
    url = reverse("session-aside", args=[source.window.pk, first - 1, end]) if count else ""
    return Slip(call.name, call.target, result, opens, agent, count, url)


def beside(call: Call, asides: Sequence[int]) -> tuple[int, int]:
    """The first of the lines between a subagent's call and its answer, and how many there are."""
    if not call.is_agent:
        return 0, 0
    end = call.result.seq if call.result is not None else MOST_LINE
    found = [seq for seq in asides if call.seq < seq < end]
    return (found[0], len(found)) if found else (0, 0)


def loose(source: Source, result: Result) -> Slip:
    return Slip("", "", result, f"{source.base}text/{result.seq}/{result.text.block}/")
