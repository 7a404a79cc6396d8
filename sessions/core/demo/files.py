"""The demo companion as files: every window of it, by the path below a projects root."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from sessions.core.demo.lines import Actor, slug
from sessions.core.demo.script import FOLDER, LATELY, Calendar, Scene, Talk, read_play
from sessions.core.demo.talks import exception, family, mint, rain, stocktaking, thursday
from sessions.core.demo.tape import Tape

PROJECT = slug(FOLDER)
TALKS = (mint.TALK, exception.TALK, stocktaking.TALK, family.TALK, thursday.TALK, rain.TALK)


@dataclass(frozen=True, slots=True)
class File:
    """A file of the demo; `path` is relative, with `/` between its parts."""

    path: str
    data: bytes


def files(now: datetime, zone: ZoneInfo) -> list[File]:
    """Every file of the demo as of `now` (aware); clock times are in `zone`. The same for the same moment."""
    calendar = Calendar(now, zone)
    return [file for talk in TALKS for file in files_of(talk, calendar)]


def files_of(talk: Talk, calendar: Calendar) -> Iterator[File]:
    """A window's transcript, then its subagents' with the note that the client keeps beside each."""
    tape = tape_of(talk, calendar)
    yield File(f"{PROJECT}/{talk.session}.jsonl", tape.data)
    for agent, (description, side) in tape.helpers.items():
        start = f"{PROJECT}/{talk.session}/subagents/agent-{agent}"
        note = {"agentType": "general-purpose", "description": description}
        yield File(f"{start}.jsonl", side.data)
        yield File(f"{start}.meta.json", json.dumps(note, ensure_ascii=False).encode())


def tape_of(talk: Talk, calendar: Calendar) -> Tape:
    tape = Tape(talk.session, talk.version, calendar.now)
    for number, scene in enumerate(talk.scenes):
        tape.at = calendar.moment(scene.day, scene.at) if scene.at else _start_of(scene, tape, calendar)
        _act(scene, tape, calendar)
        if number == 0:
            tape.note("ai-title", aiTitle=talk.guessed_title)
    tape.note("last-prompt", lastPrompt=tape.last_words[:200], leafUuid=tape.parent)
    if talk.own_title:
        tape.note("custom-title", customTitle=talk.own_title)
    return tape


def _act(scene: Scene, tape: Tape, calendar: Calendar) -> None:
    Actor(tape, calendar, calendar.date_of(scene.day)).act(read_play(scene.play, scene.cues))


def _start_of(scene: Scene, tape: Tape, calendar: Calendar) -> datetime:
    """When a scene has to begin to end just before now: it is acted once to see how long it takes."""
    trial = copy.deepcopy(tape)
    trial.at = calendar.now
    _act(scene, trial, calendar)
    return calendar.now - LATELY - (trial.at - calendar.now)
