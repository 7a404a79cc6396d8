"""The sessions list: filters in its URL, fifty a page, JSON and CSV of all that match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET

from companion.lib.htmx import page_or_part
from sessions.actions import documents
from sessions.forms import SORTS, STATES, WindowFilter
from sessions.models import Window
from sessions.models.window import WindowQuerySet
from sessions.views.export import Row, as_csv, as_json, refused
from sessions.views.reading import Reading, reading

PER_PAGE = 50


@dataclass(frozen=True, slots=True)
class WindowRow:
    """One line of the list."""

    window: Window
    reading: Reading


def window_row(window: Window) -> WindowRow:
    return WindowRow(window, reading(window))


@require_GET
def sessions(request: HttpRequest) -> HttpResponseBase:
    form = WindowFilter(request.GET)
    if not form.is_valid() and "format" in request.GET:
        return refused(form)
    if request.GET.get("format") == "json":
        return as_json(exported(form.rows()))
    if request.GET.get("format") == "csv":
        return as_csv("sessions", documents.SESSION_FIELDS, exported(form.rows()))
    status = 200 if form.is_valid() else 422
    return page_or_part(request, "sessions/sessions.html", "sessions/_list.html", context(request, form), status=status)


def context(request: HttpRequest, form: WindowFilter) -> dict[str, object]:
    page = Paginator(form.rows().listed(), PER_PAGE).get_page(form.cleaned_data.get("page") or 1)
    return {
        "form": form,
        "page": page,
        "rows": [window_row(window) for window in page],
        "live": [*(f"row-{window.pk}" for window in page), f"newcomers-{Window.objects.count()}"],
        "query": query_of(request),
        "here": request.get_full_path(),
        "states": STATES,
        "sorts": SORTS,
        "roots": settings.ENV.roots,
        **around(page, query_of(request)),
    }


def around(page: Page[Any], query: str) -> dict[str, str]:
    """The links to the pages before and after; empty at the ends."""
    step = {
        "earlier": page.number + 1 if page.has_next() else 0,
        "later": page.number - 1 if page.has_previous() else 0,
    }
    return {
        name: f"?{'&'.join(filter(None, [query, f'page={number}']))}" if number else "" for name, number in step.items()
    }


def query_of(request: HttpRequest) -> str:
    """The filters of this URL without page and format, for the links that keep them."""
    kept = [(key, value) for key, value in request.GET.items() if value and key not in {"page", "format"}]
    return urlencode(kept)


def exported(rows: WindowQuerySet) -> Iterator[Row]:
    return (documents.session(window) for window in rows.listed().iterator(chunk_size=500))
