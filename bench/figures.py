"""What a measurement says: a figure beside the peer or limit it was taken against, as a table and as JSON."""

from __future__ import annotations

import json
import statistics
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

COLUMNS = ("figure", "value", "spread", "against", "goal")


@dataclass(frozen=True, slots=True)
class Figure:
    """One row. `low` and `high` are the smallest and largest of the runs; `goal` is the most that is wanted, if any."""

    bench: str
    name: str
    value: float
    low: float
    high: float
    unit: str
    against: str
    goal: float | None = None

    @property
    def is_met(self) -> bool:
        return self.goal is None or self.value <= self.goal


def ratio(bench: str, name: str, runs: Sequence[float], against: str, goal: float | None = None) -> Figure:
    """The median of several runs, each already divided by its peer of the same run."""
    return Figure(bench, name, statistics.median(runs), min(runs), max(runs), "×", against, goal)


def milliseconds(
    bench: str, name: str, seconds: Sequence[float], share: int, against: str, goal: float | None
) -> Figure:
    """The percentile `share` (50, 95) over single events, beside a limit in milliseconds."""
    found = [second * 1000 for second in seconds]
    return Figure(bench, f"{name}, p{share}", percentile(found, share), min(found), max(found), "ms", against, goal)


def percentile(values: Sequence[float], share: int) -> float:
    """The smallest value that `share` percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]


def table(figures: Iterable[Figure]) -> str:
    rows = [COLUMNS, *(row_of(figure) for figure in figures)]
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def row_of(figure: Figure) -> tuple[str, ...]:
    unit = "" if figure.unit == "×" else " "
    goal = "" if figure.goal is None else f"≤ {figure.goal:g} {'met' if figure.is_met else 'MISSED'}"
    return (
        f"{figure.bench}: {figure.name}",
        f"{short(figure.value)}{unit}{figure.unit}",
        f"{short(figure.low)}–{short(figure.high)}",
        figure.against,
        goal,
    )


def short(value: float) -> str:
    """Three digits are as much as a measurement is worth."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def width_of(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def write_json(path: Path, figures: Iterable[Figure], machine: dict[str, object]) -> None:
    rows = [{**asdict(figure), "met": figure.is_met} for figure in figures]
    path.write_text(json.dumps({"machine": machine, "figures": rows}, ensure_ascii=False, indent=1) + "\n")
