"""How large a window is, where the client compacts it by itself, and how full it is (spec S3, transcripts.md, section 2)."""

from __future__ import annotations

import re

from msgspec import Struct

from sessions.core.lines import Usage

SMALL = 200_000
LARGE = 1_000_000
# The seed's mark for the system's compaction; the client's real point is `compacts_at`.
SYSTEM_PERCENT = 83.0

_LARGE_FAMILIES = re.compile(r"claude-(opus-4-[78]|opus-[5-9]|sonnet-[5-9]|haiku-5-5|(fable|mythos)-)")
_SMALL_FAMILIES = re.compile(r"claude-(opus-4|sonnet-4|haiku-4|3|2|instant|haiku-5)")
# The first client version that was measured with windows by family.
_BY_FAMILY_SINCE = (2, 1, 113)


def version_of(text: str) -> tuple[int, ...]:
    """A client version as numbers; unreadable parts end it: '2.1.332' → (2, 1, 332)."""
    numbers = []
    for part in text.split("."):
        digits = re.match(r"\d{1,6}", part)
        if digits is None:
            break
        numbers.append(int(digits.group()))
    return tuple(numbers)


def window_size(
    *, model: str, version: str, configured: str = "", most_used: int = 0, override: int | None = None
) -> int:
    """Tokens of the window of `model` under the client `version`.

    `configured` is the model of the client's settings (it alone tells `[1m]`), `most_used` the largest usage ever reported
    in this session, `override` the operator's word, which wins.
    """
    if override:
        return override
    if most_used > SMALL or "[1m]" in model or ("[1m]" in configured and configured.split("[")[0] in model):
        return LARGE
    known = version_of(version)
    if not model or (known and known < _BY_FAMILY_SINCE) or _is_small(model):
        return SMALL
    return LARGE


def _is_small(model: str) -> bool:
    return _SMALL_FAMILIES.match(model) is not None and _LARGE_FAMILIES.match(model) is None


def compaction_point(*, window: int, version: str) -> int:
    """Tokens at which the client compacts by itself: measured for 2.0.76, 2.1.112 and 2.1.332, and between them as
    observed in real files; for another window the same distance from its end, as a fair guess."""
    known = version_of(version)
    if known and known < (2, 1, 18):
        distance = 45_000
    elif known and known < _BY_FAMILY_SINCE:
        distance = 33_100
    else:
        distance = 37_000 if window >= LARGE else 25_500
    return max(0, window - distance)


class Reported(Struct, frozen=True, gc=False):
    """What the API reported for one message, in tokens; never negative, never absurd."""

    input: int
    cache_creation: int
    cache_read: int
    output: int

    @property
    def context(self) -> int:
        """What filled the window; output excluded."""
        return self.input + self.cache_creation + self.cache_read


MOST_TOKENS = 100_000_000


def reported(usage: Usage | None) -> Reported | None:
    """The usage of a line; None where there is none or all of it is zero (a forged copy, a synthetic answer)."""
    if usage is None:
        return None
    fresh, created = usage.input_tokens or 0, usage.cache_creation_input_tokens or 0
    read, output = usage.cache_read_input_tokens or 0, usage.output_tokens or 0
    if min(fresh, created, read, output) < 0 or max(fresh, created, read, output) > MOST_TOKENS:
        fresh, created, read, output = (min(max(value, 0), MOST_TOKENS) for value in (fresh, created, read, output))
    return Reported(fresh, created, read, output) if fresh or created or read else None


def percent(used: int, window: int) -> float:
    """Share of the window in use, 0-100 and above, one decimal."""
    return round(100.0 * used / window, 1) if window > 0 else 0.0
