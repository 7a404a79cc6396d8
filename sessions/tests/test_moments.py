"""Times as people type them (spec W4)."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from sessions.core.moments import BadMoment, moment_of

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOW = datetime(2026, 11, 26, 14, 47, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        pytest.param("2026-11-25 21:00", "2026-11-25T13:00", id="wall clock in the operator's zone"),
        pytest.param("2026/11/25 21:00", "2026-11-25T13:00", id="with slashes"),
        pytest.param("2026-11-25", "2026-11-24T16:00", id="a day begins at its midnight there"),
        pytest.param("2026-11-25T21:00:05Z", "2026-11-25T21:00:05", id="ISO in UTC"),
        pytest.param("2026-11-25T21:00-05:00", "2026-11-26T02:00", id="ISO with another zone"),
        pytest.param("21:00", "2026-11-26T13:00", id="a clock time is today's"),
        pytest.param("9：05", "2026-11-26T01:05", id="a full-width colon"),
        pytest.param("1764080000", "2025-11-25T14:13:20", id="Unix seconds"),
        pytest.param("1764080000000", "2025-11-25T14:13:20", id="Unix milliseconds"),
    ],
)
def test_a_moment_is_understood(text: str, utc: str) -> None:
    assert moment_of(text, zone=SHANGHAI, now=NOW) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "昨天晚上", "25:00", "2026-13-01", "0001-01-01", "12"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(BadMoment):
        moment_of(text, zone=SHANGHAI, now=NOW)
