"""Figures of sessions as Plotly draws them: data only. Colours are names of design tokens (`companion.lib.plots`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext, pgettext

from companion.templatetags.console import day_name
from sessions.actions.usage import compactions, series
from sessions.core.series import Reading
from sessions.models import Window
from sessions.views.reading import reading as reading_of

Figure = dict[str, Any]
# Ticks offered; the page takes as many of them as it has room for.
TICKS = 9
MOST_MARKED = 200


def usage(window: Window) -> Figure:
    """Context tokens of every reply, what of them came from the cache, the marks, and where the client compacted."""
    readings = series(window)
    return {
        "data": [*areas(readings), line(readings, window), *estimate(readings, window), *compacted(readings, window)],
        "layout": layout(readings, window),
        "ticks": ticks(readings),
    }


def areas(readings: Sequence[Reading]) -> list[Figure]:
    """From the cache, newly cached, not cached: one upon the other."""
    common = {
        "type": "scatter",
        "mode": "lines",
        "stackgroup": "context",
        "hoverinfo": "skip",
        "line": {"width": 0, "shape": "hvh"},
    }
    numbers = [it.number for it in readings]
    parts = [
        ([it.read for it in readings], "--dai-fill/0.3"),
        ([it.created for it in readings], "--lamp-fill/0.85"),
        ([it.fresh for it in readings], "--cinnabar/0.7"),
    ]
    return [{**common, "x": numbers, "y": values, "fillcolor": colour} for values, colour in parts]


def line(readings: Sequence[Reading], window: Window) -> Figure:
    """The whole context; what hovers tells the parts."""
    told = pgettext("chart", "reply %(number)s, %(when)s") % {"number": "%{x:,}", "when": "%{customdata[1]}"}
    shares = gettext("%(total)s tokens, %(share)s") % {"total": "%{y:,}", "share": "%{customdata[2]}"}
    cached = gettext("from the cache %(read)s, newly cached %(made)s, not cached %(fresh)s") % {
        "read": "%{customdata[3]:,}",
        "made": "%{customdata[4]:,}",
        "fresh": "%{customdata[5]:,}",
    }
    size = max(window.window_tokens, 1)
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(readings) < 60 else "lines",
        "x": [it.number for it in readings],
        "y": [it.context for it in readings],
        "customdata": [
            [it.seq, when(it.at), f"{100 * it.context / size:.1f}%", it.read, it.created, it.fresh] for it in readings
        ],
        "hovertemplate": f"{told}<br>{shares}<br>{cached}<extra></extra>",
        "line": {"color": "--dai", "width": 2, "shape": "hvh"},
        "marker": {"size": 5, "color": "--dai"},
    }


def estimate(readings: Sequence[Reading], window: Window) -> list[Figure]:
    """From the last report to what is reckoned for now, broken and hollow: nobody has reported it."""
    if not window.is_estimated or not readings:
        return []
    last = readings[-1]
    said = gettext("now, about %(tokens)s tokens, an estimate") % {"tokens": f"{window.used_tokens:,}"}
    return [
        {
            "type": "scatter",
            "mode": "lines+markers+text",
            "x": [last.number, last.number + 1],
            "y": [last.context, window.used_tokens],
            "text": ["", "≈"],
            "textposition": "top center",
            "textfont": {"color": "--ink-2"},
            "hovertext": ["", said],
            "hoverinfo": "text",
            "line": {"color": "--ink-2", "width": 2, "dash": "dot"},
            "marker": {"size": [0.1, 9], "symbol": "circle-open", "color": "--ink-2"},
        }
    ]


def compacted(readings: Sequence[Reading], window: Window) -> list[Figure]:
    """A mark at the last reply before each compaction."""
    places = boundaries(readings, window)
    if not places:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": [x for x, _ in places],
            "y": [y for _, y in places],
            "hovertext": [gettext("the client compacted the talk by itself")] * len(places),
            "hoverinfo": "text",
            "marker": {
                "size": 11,
                "symbol": "triangle-down",
                "color": "--card",
                "line": {"width": 1.5, "color": "--cinnabar"},
            },
        }
    ]


def boundaries(readings: Sequence[Reading], window: Window) -> list[tuple[float, int]]:
    """Between which replies, and how full it was before."""
    if not readings or not window.compactions:
        return []
    seqs = [it.seq for it in readings]
    found: list[tuple[float, int]] = []
    for seq in compactions(window)[-MOST_MARKED:]:
        after = bisect_left(seqs, seq)
        before = readings[max(0, after - 1)]
        found.append((before.number + (0.5 if after else -0.5), before.context))
    return found


def layout(readings: Sequence[Reading], window: Window) -> Figure:
    top = max([window.window_tokens, window.used_tokens, *(it.context for it in readings)])
    last = (readings[-1].number if readings else 1) + (1 if window.is_estimated else 0)
    marks = limits(window)
    return {
        "margin": {"l": 44, "r": 92, "t": 12, "b": 32},
        "showlegend": False,
        "hovermode": "closest",
        "hoverdistance": 40,
        "dragmode": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "--sans", "size": 12, "color": "--ink-3"},
        "hoverlabel": {"bgcolor": "--card", "bordercolor": "--edge", "align": "left", "font": {"color": "--ink"}},
        "xaxis": {
            "range": [min(0.5, last - 1), last + 0.5],
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "ticks": "outside",
            "tickangle": 0,
            "ticklen": 4,
            "tickcolor": "--edge",
            "linecolor": "--edge",
        },
        "yaxis": {
            "range": [0, top * 1.03],
            "fixedrange": True,
            "gridcolor": "--line",
            "zerolinecolor": "--edge",
            "tickformat": "~s",
            "nticks": 6,
        },
        "shapes": [limit_line(at, dash) for at, dash, _ in marks],
        "annotations": [limit_name(at, text) for at, _, text in marks],
    }


def limits(window: Window) -> list[tuple[int, str, str]]:
    """(tokens, dash, words) of each mark, the lowest first."""
    it = reading_of(window)
    marks = [
        (it.diet, "dot", pgettext("mark", "diet")),
        (it.forge, "dot", pgettext("mark", "forge")),
        (it.system, "dot", pgettext("mark", "system")),
    ]
    found = [(round(window.window_tokens * share / 100), dash, f"{share} {name}") for share, dash, name in marks]
    if window.compacts_at:
        found.append((window.compacts_at, "solid", f"{it.compacts:.1f} {pgettext('mark', 'client compacts')}"))
    return sorted(found)


def limit_line(at: int, dash: str) -> Figure:
    place = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at, "layer": "above"}
    return {**place, "line": {"color": "--ink-3", "width": 1, "dash": dash}}


def limit_name(at: int, text: str) -> Figure:
    place = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 4, "y": at, "yanchor": "middle"}
    return {**place, "text": text, "showarrow": False, "align": "left", "font": {"color": "--ink-2"}}


def ticks(readings: Sequence[Reading]) -> list[tuple[int, str]]:
    """(reply, words): where days begin; hours where it is one day or two."""
    dated = [it for it in readings if it.at is not None]
    starts = [it for before, it in zip([None, *dated], dated, strict=False) if opens_day(before, it)]
    if len(starts) > 2:
        return [(it.number, day_of(it.at)) for it in spread(starts)]
    found: list[tuple[int, str]] = []
    before: Reading | None = None
    for it in spread(dated):
        hour = timezone.localtime(it.at).strftime("%H:%M") if it.at else ""
        found.append((it.number, f"{day_of(it.at)}<br>{hour}" if opens_day(before, it) else hour))
        before = it
    return found


def spread(readings: Sequence[Reading]) -> list[Reading]:
    """At most TICKS of them, evenly."""
    step = max(1, -(-len(readings) // TICKS))
    return list(readings[::step])


def opens_day(before: Reading | None, it: Reading) -> bool:
    return before is None or day_of(before.at) != day_of(it.at)


def day_of(at: datetime | None) -> str:
    return day_name(timezone.localtime(at).date(), timezone.localdate()) if at else ""


def when(at: datetime | None) -> str:
    return f"{day_of(at)} {timezone.localtime(at):%H:%M}" if at else "–"
