"""Usage of one session: a chart of the context per reply, the same figures as a table, JSON and CSV (spec O2, S3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET

from companion.lib import plots as plotly
from companion.lib.htmx import page_or_part
from sessions import plots
from sessions.actions import usage as figures
from sessions.actions.documents import local, utc
from sessions.core.series import Reading
from sessions.core.usage import percent
from sessions.models import Window
from sessions.views.entries import MOST_LINE
from sessions.views.export import Row, as_csv, as_json, refused
from sessions.views.standing import follow
from sessions.views.timeline import head_context

FIELDS = (
    "number", "timestamp", "local_time", "line", "context_tokens", "used_pct", "cache_read", "cache_created", "uncached",
)  # fmt: skip
AT_ONCE = 100
# Replies over which the share from the cache is told.
RECENT = 20


class UsageForm(forms.Form):
    """Where the table goes on: before this line of the file."""

    before = forms.IntegerField(required=False, min_value=0, max_value=MOST_LINE)


def window_of(pk: int) -> Window:
    return get_object_or_404(Window.objects.listed(), pk=pk)


@require_GET
def usage(request: HttpRequest, pk: int) -> HttpResponseBase:
    window = window_of(pk)
    form = UsageForm(request.GET)
    if not form.is_valid() and "format" in request.GET:
        return refused(form)
    if request.GET.get("format") == "json":
        return as_json(row(it, window) for it in figures.readings(window))
    if request.GET.get("format") == "csv":
        return as_csv(f"usage-{window.short_id}", FIELDS, (row(it, window) for it in figures.readings(window)))
    status = 200 if form.is_valid() else 422
    whole = context(window, form.cleaned_data.get("before"))
    return page_or_part(request, "sessions/usage.html", "sessions/_usage_table.html", whole, status=status)


@require_GET
def chart(request: HttpRequest, pk: int) -> JsonResponse:
    """The figure for `static/js/charts.js`, with the addresses it leads to."""
    return JsonResponse(plots.usage(window_of(pk)))


def context(window: Window, before: int | None) -> dict[str, Any]:
    found = figures.latest_readings(window, before=before, limit=AT_ONCE + 1)
    shown = found[:AT_ONCE]
    return {
        **head_context(window),
        "live": [f"{look}-{window.pk}" for look in ("window", "numbers", "window-runs")],
        "rows": [(it, percent(it.context, window.window_tokens)) for it in shown],
        "more": f"?before={shown[-1].seq}" if len(found) > AT_ONCE else "",
        "is_continued": before is not None,
        "sentence": sentence(window, found) if before is None else "",
        "plotly": plotly.script(),
        "plotly_rules": plotly.own_rules(),
    }


def row(it: Reading, window: Window) -> Row:
    values = (
        it.number, utc(it.at), local(it.at), it.seq + 1, it.context, percent(it.context, window.window_tokens), it.read,
        it.created, it.fresh,
    )  # fmt: skip
    return dict(zip(FIELDS, values, strict=True))


def sentence(window: Window, newest: Sequence[Reading]) -> str:
    """How many replies, the fullest, and how much of the latest came from the cache. `newest` comes newest first."""
    if not newest:
        return ""
    number = newest[0].number
    so_far = ngettext(
        "%(n)s reply so far, at most %(most)s%% of the window.",
        "%(n)s replies so far, at most %(most)s%% of the window.",
        number,
    )
    first = so_far % {"n": f"{number:,}", "most": percent(window.most_used, window.window_tokens)}
    recent = newest[:RECENT]
    total = sum(it.context for it in recent)
    if len(recent) < RECENT or not total:
        return first
    share = int(100 * sum(it.read for it in recent) / total)
    cached = gettext("Of the last %(n)d replies’ context, %(share)d%% came from the cache.")
    return follow(first, cached % {"n": RECENT, "share": share})
