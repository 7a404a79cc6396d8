"""The ends of a range picked by hand: by idx, by the beginning of a uuid, or by time (spec W4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from enum import StrEnum

from sessions.core.moments import BadMoment, moment_of
from sessions.core.turns import Step

NAMED_CANDIDATES = 5
LEAST_PREFIX = 4


class By(StrEnum):
    """How an end is named."""

    IDX = "idx"
    UUID = "uuid"
    TIME = "ts"


class Side(StrEnum):
    FROM = "from"
    TO = "to"


@dataclass(frozen=True, slots=True)
class End:
    """One end of a range as it was typed."""

    side: Side
    by: By
    text: str


class BadSelection(ValueError):
    """What was chosen cannot be taken; `code` says why, `values` are for the sentence that tells a person."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code)
        self.code = code
        self.values = values


def resolve(end: End, steps: Sequence[Step], *, zone: tzinfo, now: datetime) -> Step:
    """The event an end means. Raises BadSelection: `bad-idx`, `no-such-idx`, `short-prefix`, `no-such-uuid`,
    `ambiguous-uuid` (with `candidates`), `bad-time`."""
    if end.by is By.IDX:
        return _by_idx(end, steps)
    if end.by is By.UUID:
        return _by_uuid(end, steps)
    return _by_time(end, steps, zone, now)


def _by_idx(end: End, steps: Sequence[Step]) -> Step:
    text = end.text.strip().removeprefix("#")
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise BadSelection("bad-idx", text=end.text[:40], side=end.side)
    if int(text) >= len(steps):
        raise BadSelection("no-such-idx", idx=int(text), last=len(steps) - 1, side=end.side)
    return steps[int(text)]


def _by_uuid(end: End, steps: Sequence[Step]) -> Step:
    prefix = end.text.strip().lower()
    if len(prefix) < LEAST_PREFIX:
        raise BadSelection("short-prefix", text=prefix, least=LEAST_PREFIX, side=end.side)
    found = [step for step in steps if step.uuid.lower().startswith(prefix)]
    exact = [step for step in found if step.uuid.lower() == prefix]
    if not found:
        raise BadSelection("no-such-uuid", text=prefix[:40], side=end.side)
    if len(exact or found) > 1:
        raise BadSelection("ambiguous-uuid", text=prefix[:40], side=end.side, candidates=found[:NAMED_CANDIDATES])
    return (exact or found)[0]


def _by_time(end: End, steps: Sequence[Step], zone: tzinfo, now: datetime) -> Step:
    """`from`: the last event at or before the time, else the first. `to`: the first at or after it, else the last."""
    try:
        at = moment_of(end.text, zone=zone, now=now)
    except BadMoment:
        raise BadSelection("bad-time", text=end.text[:40], side=end.side) from None
    if end.side is Side.FROM:
        return next((step for step in reversed(steps) if step.at is not None and step.at <= at), steps[0])
    return next((step for step in steps if step.at is not None and step.at >= at), steps[-1])
