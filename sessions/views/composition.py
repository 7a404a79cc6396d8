"""Composition of one session: what fills the window, as a treemap, a table, and its heaviest events (spec S7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext, pgettext
from django.views.decorators.http import require_GET

from companion.lib.secrets_mask import masked
from sessions.actions import composition as weights
from sessions.actions.composition import Composition, Heavy
from sessions.actions.documents import local, utc
from sessions.core.events import Kind
from sessions.core.pieces import PART_NAMES
from sessions.core.treemap import Box, squarified
from sessions.models import Window
from sessions.views.entries import where_is
from sessions.views.export import Row, as_csv
from sessions.views.timeline import head_context

FIELDS = ("part", "tokens", "share_pct", "what", "characters", "uuid", "line", "idx", "timestamp", "local_time")
# The look of each part, see `.p1` to `.p7`.
LOOKS = {
    "dialogue": "p1", "tool_results": "p3", "thinking": "p2", "other": "p7", "images": "p5", "injected": "p6", "tool_use": "p4",
}  # fmt: skip
# Pixels: the drawing's assumed width and its height on a desk and on a phone; the strip with a part's name.
SHAPES = {"wide": (880, 420), "tall": (340, 560)}
STRIP = 22
# Below this a part's own strip would eat it up.
LEAST_SPLIT = 56


@dataclass(frozen=True, slots=True)
class Tile:
    """An event in the drawing, or what is left of its part (no link). Percent of the part across, pixels down."""

    x: float
    y: float
    width: float
    height: float
    name: str
    # The same in less room.
    short: str
    tokens: int
    link: str = ""
    # Too small for words.
    is_mute: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """A part in the drawing, percent across and pixels down, with its tiles."""

    look: str
    name: str
    x: float
    y: float
    width: float
    height: float
    tokens: int
    share: float
    tiles: list[Tile]
    is_mute: bool


@dataclass(frozen=True, slots=True)
class Tree:
    shape: str
    height: int
    areas: list[Area]


@dataclass(frozen=True, slots=True)
class PartRow:
    look: str
    name: str
    tokens: int
    share: float


@dataclass(frozen=True, slots=True)
class HeavyRow:
    """A line of the list: `share` in percent of the heaviest one."""

    heavy: Heavy
    look: str
    part: str
    name: str
    link: str
    share: float

    @property
    def are_own_words(self) -> bool:
        return self.heavy.kind in {Kind.HUMAN, Kind.QUEUED}


def part_name(part: str) -> str:
    names = {
        "dialogue": pgettext("part of a window", "Dialogue"),
        "thinking": pgettext("part of a window", "Thinking"),
        "tool_use": pgettext("part of a window", "Tool calls"),
        "tool_results": pgettext("part of a window", "Tool answers"),
        "images": pgettext("part of a window", "Pictures"),
        "injected": pgettext("part of a window", "Injected cards"),
        "other": pgettext("part of a window", "System and other"),
    }
    return names[part]


@require_GET
def composition(request: HttpRequest, pk: int) -> HttpResponseBase:
    window = get_object_or_404(Window.objects.listed(), pk=pk)
    found = weights.composition(window)
    if request.GET.get("format") == "json":
        return JsonResponse(document(found))
    if request.GET.get("format") == "csv":
        return as_csv(f"composition-{window.short_id}", FIELDS, exported(found))
    return render(request, "sessions/composition.html", context(window, found))


def context(window: Window, found: Composition) -> dict[str, object]:
    parts = part_rows(found)
    return {
        **head_context(window),
        "live": [f"{look}-{window.pk}" for look in ("window", "numbers", "window-runs")],
        "sentence": sentence(parts),
        "parts": parts,
        "trees": [tree(window, found, shape) for shape in SHAPES] if found.used else [],
        "heaviest": heavy_rows(window, found),
    }


def share_of(tokens: int, all_tokens: int) -> float:
    return round(100 * tokens / all_tokens, 1) if all_tokens else 0.0


def part_rows(found: Composition) -> list[PartRow]:
    ordered = sorted(found.parts, key=lambda name: -found.parts[name])
    return [
        PartRow(LOOKS[name], part_name(name), found.parts[name], share_of(found.parts[name], found.used))
        for name in ordered
        if found.parts[name]
    ]


def sentence(parts: Sequence[PartRow]) -> str:
    """The three largest parts in words."""
    told = [gettext("%(part)s about %(share)d%%") % {"part": it.name, "share": round(it.share)} for it in parts[:3]]
    return pgettext("list separator", ", ").join(told)


def heavy_rows(window: Window, found: Composition) -> list[HeavyRow]:
    most = found.heaviest[0].tokens if found.heaviest else 1
    return [
        HeavyRow(it, LOOKS[it.part], part_name(it.part), name_of(it), permalink(window, it), share_of(it.tokens, most))
        for it in found.heaviest
    ]


def name_of(it: Heavy) -> str:
    """What an event is, in one line: the tool with its target, or how the words begin."""
    subject = it.subject
    if subject.tool:
        return f"{subject.tool} {subject.target}".strip()
    return " ".join(subject.words.split())[:200] or part_name(it.part)


def short_name(it: Heavy) -> str:
    """The same with the last part of a path: a tile has little room."""
    tool, target = it.subject.tool, it.subject.target
    if not tool or " " in target or "/" not in target.strip("/"):
        return name_of(it)
    return f"{tool} {target.rstrip('/').rpartition('/')[2]}"


def permalink(window: Window, it: Heavy) -> str:
    return f"{reverse('session', args=[window.pk])}?{urlencode(where_is(it.uuid, it.seq))}#e{it.seq}"


def tree(window: Window, found: Composition, shape: str) -> Tree:
    width, height = SHAPES[shape]
    names = sorted((name for name in PART_NAMES if found.parts[name]), key=lambda name: -found.parts[name])
    boxes = squarified([found.parts[name] for name in names], Box(0, 0, width, height))
    areas = [area(window, found, name, box, width) for name, box in zip(names, boxes, strict=True)]
    return Tree(shape, height, areas)


def area(window: Window, found: Composition, name: str, box: Box, width: int) -> Area:
    is_split = box.height >= LEAST_SPLIT and box.width >= LEAST_SPLIT
    tokens = found.parts[name]
    return Area(
        LOOKS[name],
        part_name(name),
        x=100 * box.x / width,
        y=box.y,
        width=100 * box.width / width,
        height=box.height,
        tokens=tokens,
        share=share_of(tokens, found.used),
        tiles=tiles(window, found.by_part[name], name, tokens, box) if is_split else [],
        is_mute=box.height < STRIP or box.width < LEAST_SPLIT,
    )


def tiles(window: Window, heavy: Sequence[Heavy], name: str, tokens: int, box: Box) -> list[Tile]:
    """The heaviest of a part and, where there is one, the rest; below the strip with the part's name."""
    if not heavy:
        return []
    values = [it.parts[name] for it in heavy]
    rest = max(0, tokens - sum(values))
    drawn = [*values, rest] if rest else values
    inside = Box(0, STRIP, box.width, box.height - STRIP)
    # The rest may be the largest: shapes are best from large to small.
    order = sorted(range(len(drawn)), key=lambda place: -drawn[place])
    boxes = squarified([drawn[place] for place in order], inside)
    return [drawn_tile(window, heavy, drawn, place, it, box) for place, it in zip(order, boxes, strict=True)]


def drawn_tile(window: Window, heavy: Sequence[Heavy], values: Sequence[int], place: int, it: Box, around: Box) -> Tile:
    is_event = place < len(heavy)
    event = heavy[min(place, len(heavy) - 1)]
    return Tile(
        x=100 * it.x / around.width,
        y=it.y,
        width=100 * it.width / around.width,
        height=it.height,
        name=name_of(event) if is_event else gettext("smaller ones"),
        short=short_name(event) if is_event else gettext("smaller ones"),
        tokens=values[place],
        link=permalink(window, event) if is_event else "",
        is_mute=it.height < STRIP or it.width < 36,
    )


def exported(found: Composition) -> Iterator[Row]:
    return (row(it, found.used) for it in found.heaviest)


def row(it: Heavy, used: int) -> Row:
    values = (
        it.part, it.tokens, share_of(it.tokens, used), name_of(it), it.subject.characters, it.uuid, it.seq + 1, it.idx,
        utc(it.at), local(it.at),
    )  # fmt: skip
    return dict(zip(FIELDS, values, strict=True))


def document(found: Composition) -> dict[str, object]:
    items = [{**it, "what": masked(str(it["what"]))} for it in exported(found)]
    return {
        "items": items,
        "count": len(items),
        "used_tokens": found.used,
        "composition": found.parts,
        "composition_estimated": True,
    }
