"""A treemap: rectangles whose areas are shares, as near to squares as they get (Bruls, Huizing, van Wijk 2000)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; any unit."""

    x: float
    y: float
    width: float
    height: float


def squarified(values: Sequence[float], box: Box) -> list[Box]:
    """One rectangle for each value, in the given order, together filling `box`. Values are positive, the largest first
    for the best shapes."""
    total = sum(values)
    if total <= 0 or box.width <= 0 or box.height <= 0:
        return [Box(box.x, box.y, 0, 0) for _ in values]
    scale = box.width * box.height / total
    areas = [value * scale for value in values]
    placed: list[Box] = []
    left = box
    start = 0
    while start < len(areas):
        end = _row_end(areas, start, min(left.width, left.height))
        row = areas[start:end]
        placed += _row(row, left)
        left = _rest(left, sum(row))
        start = end
    return placed


def _row_end(areas: Sequence[float], start: int, side: float) -> int:
    """Up to where areas stand in one row along `side`: as long as the worst of them becomes no worse."""
    end = start + 1
    while end < len(areas) and _worst(areas[start : end + 1], side) <= _worst(areas[start:end], side):
        end += 1
    return end


def _worst(row: Sequence[float], side: float) -> float:
    """The largest ratio of the sides of a rectangle in this row."""
    total = sum(row)
    if total <= 0 or side <= 0 or min(row) <= 0:
        return float("inf")
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def _row(row: Sequence[float], left: Box) -> list[Box]:
    """The row along the shorter side of what is left."""
    total = sum(row)
    upright = left.width >= left.height
    depth = total / (left.height if upright else left.width)
    found: list[Box] = []
    at = 0.0
    for area in row:
        length = area / depth if depth else 0.0
        if upright:
            found.append(Box(left.x, left.y + at, depth, length))
        else:
            found.append(Box(left.x + at, left.y, length, depth))
        at += length
    return found


def _rest(left: Box, taken: float) -> Box:
    if left.width >= left.height:
        depth = taken / left.height
        return Box(left.x + depth, left.y, max(0.0, left.width - depth), left.height)
    depth = taken / left.width
    return Box(left.x, left.y + depth, left.width, max(0.0, left.height - depth))
