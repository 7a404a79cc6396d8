"""The demo companion at a moment of its own, for tests: its files, and what stands in which window."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from zoneinfo import ZoneInfo

from sessions.core.demo.files import TALKS, files

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
# By window: human messages (queued ones among them), compactions, lines the client cannot read.
WINDOWS = {
    "mint": (41, 0, 0),
    "exception": (39, 0, 1),
    "stocktaking": (33, 1, 0),
    "family": (20, 0, 0),
    "thursday": (31, 0, 0),
    "rain": (49, 0, 0),
}
SESSIONS = {name: talk.session for name, talk in zip(WINDOWS, TALKS, strict=True)}


@cache
def made(now: datetime = NOW) -> dict[str, bytes]:
    return {file.path: file.data for file in files(now, ZONE)}
