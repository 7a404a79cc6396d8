"""Today's usage of a companion as a line: one piece per window, drawn in percent of the card's width."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext

MOST_POINTS = 160
# Percent of the width that the day takes; the rest is for the names of the marks.
NOW_AT = 92.0
# The day is drawn from its first word, and never shorter than this.
SHORTEST = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class Point:
    """Percent of its window that was in use at a time; `window` tells the lines apart."""

    window: int
    at: datetime
    percent: float


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    text: str


@dataclass(frozen=True, slots=True)
class DayChart:
    """Polylines in a box of 1000 × 100, ticks and swaps in percent of the width."""

    lines: list[str]
    ticks: list[Tick]
    # Where a new window began: percent of the width, and the height in pixels of the drawing.
    swaps: list[tuple[float, float]]
    diet: int
    forge: int
    # Where now is, in percent of the width: the names of the marks stand right of it.
    now: float
    label: str

    @property
    def diet_y(self) -> float:
        return height(self.diet)

    @property
    def forge_y(self) -> float:
        return height(self.forge)

    @property
    def diet_text_y(self) -> float:
        return max(self.diet_y, self.forge_y + 12) + 4

    @property
    def forge_text_y(self) -> float:
        return self.forge_y + 4


def height(percent: float) -> float:
    """Pixels from the top of the drawing: 100 % at 8, 0 % at 68."""
    return 68 - 0.6 * min(max(percent, 0.0), 100.0)


def day_chart(points: list[Point], now: datetime) -> DayChart | None:
    """None when nothing was said today."""
    if not points:
        return None
    first = timezone.localtime(min(point.at for point in points))
    start = min(first.replace(minute=0, second=0, microsecond=0), now - SHORTEST)
    span = (now - start).total_seconds()
    pieces = [list(group) for _, group in groupby(points, key=lambda point: point.window)]
    pieces.sort(key=lambda piece: piece[0].at)
    return DayChart(
        lines=[line(piece, start, span) for piece in pieces],
        ticks=ticks(timezone.localtime(start), now),
        swaps=[(NOW_AT * place(piece[0].at, start, span), height(piece[0].percent)) for piece in pieces[1:]],
        diet=settings.ENV.diet_percent,
        forge=settings.ENV.forge_percent,
        now=NOW_AT,
        label=label(points),
    )


def place(at: datetime, start: datetime, span: float) -> float:
    return min(max((at - start).total_seconds() / span, 0.0), 1.0)


def line(piece: list[Point], start: datetime, span: float) -> str:
    shown = [(10 * NOW_AT * place(point.at, start, span), 100 - min(point.percent, 100)) for point in thinned(piece)]
    if len(shown) == 1:
        shown.append((min(shown[0][0] + 4, 1000), shown[0][1]))
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in shown)


def thinned(piece: list[Point]) -> Iterable[Point]:
    """Every n-th point and the last one, so that a busy day stays a short line."""
    step = len(piece) // MOST_POINTS + 1
    kept = piece[::step]
    return kept if kept[-1] is piece[-1] else [*kept, piece[-1]]


def ticks(start: datetime, now: datetime) -> list[Tick]:
    """Full hours, at most five, none so near the edge that its text would leave the drawing."""
    span = (now - start).total_seconds()
    step = max(1, round(span / 3600 / 5))
    hour = start.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
    found: list[Tick] = []
    while hour < now:
        x = NOW_AT * (hour - start).total_seconds() / span
        if 4 <= x <= NOW_AT - 2:
            text = str(hour.hour) if found else gettext("%(hour)d:00") % {"hour": hour.hour}
            found.append(Tick(x, text))
        hour += timedelta(hours=step)
    return found


def label(points: list[Point]) -> str:
    first, last = points[0], max(points, key=lambda point: point.at)
    return gettext("Usage today: %(first)s%% at %(start)s, %(last)s%% at %(end)s") % {
        "first": f"{first.percent:.1f}",
        "start": timezone.localtime(first.at).strftime("%H:%M"),
        "last": f"{last.percent:.1f}",
        "end": timezone.localtime(last.at).strftime("%H:%M"),
    }
