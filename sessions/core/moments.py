"""Times as people type them: wall clock in the operator's zone, ISO, Unix seconds or milliseconds (spec W4)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, tzinfo

_CLOCK = re.compile(r"(\d{1,2})[:：](\d{2})(?:[:：](\d{2}))?\Z")
_UNIX = re.compile(r"\d{9,14}\Z")
SECONDS_END = 10**11


class BadMoment(ValueError):
    """The text is no time in any of the accepted forms."""


def moment_of(text: str, *, zone: tzinfo, now: datetime) -> datetime:
    """The moment meant, in UTC. Without a zone it is wall-clock time in `zone`; a bare clock time is today's.

    Raises BadMoment.
    """
    text = " ".join(text.replace("/", "-").split())
    if clock := _CLOCK.match(text):
        return _clock(clock, zone, now)
    if _UNIX.match(text):
        return _unix(int(text))
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo is not None else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadMoment(text) from None


def _clock(match: re.Match[str], zone: tzinfo, now: datetime) -> datetime:
    hour, minute, second = (int(part or 0) for part in match.groups())
    try:
        at = time(hour, minute, second)
    except ValueError:
        raise BadMoment(match.group()) from None
    return datetime.combine(now.astimezone(zone).date(), at, tzinfo=zone).astimezone(UTC)


def _unix(number: int) -> datetime:
    try:
        return datetime.fromtimestamp(number / 1000 if number >= SECONDS_END else number, tz=UTC)
    except (ValueError, OverflowError, OSError):
        raise BadMoment(str(number)) from None
