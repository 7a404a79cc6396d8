"""Usage over the turns of a window, thinned so that a chart stays a chart (spec O2, S3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

MOST_POINTS = 1_500


@dataclass(frozen=True, slots=True)
class Reading:
    """What one message reported, in tokens: `context` filled the window, of which `created` was newly cached and `read`
    came from the cache. `number` counts the messages of the thread from 1."""

    seq: int
    at: datetime | None
    context: int
    created: int
    read: int
    number: int = 0

    @property
    def fresh(self) -> int:
        """Read without the cache."""
        return self.context - self.created - self.read


def thinned(readings: Sequence[Reading], most: int = MOST_POINTS) -> list[Reading]:
    """At most `most` readings: of each stretch the fullest and the last, so that no peak and no drop is lost."""
    if len(readings) <= most:
        return list(readings)
    kept: list[Reading] = []
    stretches = most // 2
    for number in range(stretches):
        part = readings[len(readings) * number // stretches : len(readings) * (number + 1) // stretches]
        fullest = max(part, key=lambda reading: reading.context)
        kept += [fullest] if fullest is part[-1] else [fullest, part[-1]]
    return kept
