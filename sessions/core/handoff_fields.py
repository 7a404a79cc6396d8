"""The fields of a hand-off, each entry with its evidence (spec H1), and how they are given to a script."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

Speaker = Literal["human", "companion"]
Language = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the live thread. `at` in the operator's zone: relative days are read from it."""

    idx: int
    uuid: str
    at: datetime | None
    speaker: Speaker
    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """Words of a message, with where they stand."""

    text: str
    uuid: str
    idx: int
    at: datetime | None
    speaker: Speaker


@dataclass(frozen=True, slots=True)
class Handoff:
    """What was not found is empty. `state`, `promises` and `never` newest first, `excerpts` oldest first; `summaries` are
    the client's own, the oldest first."""

    topic: Item | None = None
    state: list[Item] = field(default_factory=list)
    promises: list[Item] = field(default_factory=list)
    never: list[Item] = field(default_factory=list)
    cues: list[str] = field(default_factory=list)
    excerpts: list[Item] = field(default_factory=list)
    summaries: list[str] = field(default_factory=list)


def fields(handoff: Handoff) -> dict[str, Any]:
    """`topic` and `state` as text ("" where nothing was found; several sentences on lines of their own), the lists as
    entries of `text` and `evidence{idx, uuid, timestamp (UTC ISO), speaker}`; `evidence` holds the entries that topic
    and state are made of."""
    topic = [handoff.topic] if handoff.topic is not None else []
    return {
        "topic": "".join(item.text for item in topic),
        "state": "\n".join(item.text for item in handoff.state),
        "promises": _entries(handoff.promises),
        "never": _entries(handoff.never),
        "cues": list(handoff.cues),
        "excerpts": _entries(handoff.excerpts),
        "evidence": {"topic": _entries(topic), "state": _entries(handoff.state)},
    }


def _entries(items: list[Item]) -> list[dict[str, Any]]:
    return [{"text": item.text, "evidence": _evidence(item)} for item in items]


def _evidence(item: Item) -> dict[str, Any]:
    at = item.at.astimezone(UTC).isoformat().replace("+00:00", "Z") if item.at is not None else None
    return {"idx": item.idx, "uuid": item.uuid, "timestamp": at, "speaker": item.speaker}
