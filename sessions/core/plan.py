"""A plan: what a run will keep and drop, worked out before anything is written and carried out to the letter (spec W6).

Pure. A plan is plain data, so that its row can hold it; token figures are estimates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from sessions.core.selection import Chosen
from sessions.core.turns import Step, Turn

Warning = dict[str, Any]
# A run that leaves this much of the window as it was has won nothing.
NO_GAIN = 0.9
# Of the client's own compaction point, from which on the new window would soon be compacted.
NEAR_COMPACTION = 0.9


class Mark(msgspec.Struct):
    """An event that an end of the selection means; `timestamp` is UTC ISO or null."""

    idx: int
    uuid: str
    timestamp: str | None
    preview: str


class Fat(msgspec.Struct):
    """A line that is squashed: estimated tokens before and after."""

    idx: int
    before: int
    after: int


class Plan(msgspec.Struct):
    """What stays: `spans` are first and last idx of unbroken stretches of turns; `digest` is over the uuids of their lines.
    Tokens are estimates, `thinking` counts blocks."""

    mode: str
    spans: list[tuple[int, int]]
    digest: str
    start: Mark | None
    end: Mark | None
    cut: tuple[int, int]
    turns: int
    kept_events: int
    kept_tokens: int
    dropped_events: int
    dropped_tokens: int
    thinking: int = 0
    thinking_dropped: int = 0
    results_squashed: int = 0
    images_squashed: int = 0
    unpaired: int = 0
    first_preview: str = ""
    last_preview: str = ""
    fattest: list[Fat] = []
    # How it is copied: the squash cap in characters, the idx at which the talk's newest turn begins (it keeps its
    # pictures), and what is left out or carried along.
    squash: int = 0
    newest: int = -1
    drop_thinking: bool = False
    sides: list[str] = []
    agents: list[str] = []
    title: str = ""


def spans_of(turns: Sequence[Turn]) -> list[tuple[int, int]]:
    """Neighbouring turns as one stretch each: (first idx, last idx)."""
    spans: list[tuple[int, int]] = []
    for turn in turns:
        if spans and spans[-1][1] + 1 == turn.first:
            spans[-1] = (spans[-1][0], turn.last)
        else:
            spans.append((turn.first, turn.last))
    return spans


def digest_of(uuids: Iterable[str]) -> str:
    """One digest for the lines of a plan, to see that they are still the ones planned."""
    found = hashlib.blake2b(digest_size=16)
    for uuid in uuids:
        found.update(uuid.encode("utf-8", errors="replace") + b"\n")
    return found.hexdigest()


def warnings_of(
    chosen: Chosen,
    steps: Sequence[Step],
    *,
    floor: int,
    used_before: int,
    used_after: int,
    window: int,
    compacts_at: int,
    thinking_dropped: int,
) -> list[Warning]:
    """What a person should know before they apply: codes with their values, most telling first. Tokens."""
    found: list[Warning] = []
    first, last = chosen.turns[0].first, chosen.turns[-1].last
    if chosen.capped:
        found.append({"code": "cap-cut", "turns": chosen.capped, "tokens": chosen.tokens})
    if (chosen.start and chosen.start.idx != first and not chosen.capped) or (chosen.end and chosen.end.idx != last):
        found.append({"code": "cut-differs", "first": first, "last": last})
    if first < floor:
        crossed = sum(max(0, min(floor, turn.last + 1) - turn.first) for turn in chosen.turns)
        found.append({"code": "compaction-crossed", "events": crossed})
    if last < len(steps) - 1:
        found.append({"code": "newest-dropped", "events": len(steps) - 1 - last})
    if thinking_dropped:
        found.append({"code": "thinking-dropped", "blocks": thinking_dropped})
    if used_after > compacts_at * NEAR_COMPACTION:
        found.append({"code": "near-compaction", "tokens": used_after, "compacts_at": compacts_at})
    elif used_before and used_after > used_before * NO_GAIN:
        found.append({"code": "no-gain", "before": used_before, "after": used_after, "window": window})
    return found
