"""One session: its head with the gauge, and its anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from companion.lib.htmx import page_or_part
from sessions.actions import documents
from sessions.core.events import Kind
from sessions.forms import AnchorFilter
from sessions.models import Event, Window
from sessions.views.export import Row, as_csv, as_json, refused
from sessions.views.reading import reading
from sessions.views.run_lines import descent
from sessions.views.standing import alarms_of

AT_ONCE = 100
MOST_CANDIDATES = 20
ID_PREFIX = re.compile(r"[0-9A-Za-z-]{4,64}")


@dataclass(frozen=True, slots=True)
class Anchor:
    """A person's message that can be pointed at. `opens_day` where the list comes to another day."""

    event: Event
    opens_day: date | None

    @property
    def was_queued(self) -> bool:
        """True for what was sent while the companion was still answering."""
        return self.event.kind == Kind.QUEUED


@require_GET
def session(request: HttpRequest, pk: int) -> HttpResponseBase:
    window = get_object_or_404(Window.objects.listed(), pk=pk)
    form = AnchorFilter(request.GET)
    if not form.is_valid() and "format" in request.GET:
        return refused(form)
    if request.GET.get("format") == "json":
        return as_json(exported(window, form))
    if request.GET.get("format") == "csv":
        return as_csv(f"anchors-{window.short_id}", documents.ANCHOR_FIELDS, exported(window, form))
    status = 200 if form.is_valid() else 422
    return page_or_part(request, "sessions/words.html", "sessions/_anchors.html", context(window, form), status=status)


def context(window: Window, form: AnchorFilter) -> dict[str, object]:
    asked = form.cleaned_data
    oldest_first = asked.get("order") == "oldest"
    found = list(after(events(window, asked.get("q") or ""), asked, oldest_first)[: AT_ONCE + 1])
    shown = found[:AT_ONCE]
    return {
        "window": window,
        "reading": reading(window),
        "alarms": alarms_of(window),
        "anchors": list(by_day(shown)),
        "form": form,
        "oldest_first": oldest_first,
        "is_continued": asked.get("before") is not None or asked.get("after") is not None,
        "more": onward(form, shown[-1]) if len(found) > AT_ONCE else "",
        "query": urlencode({key: asked[key] for key in ("q", "order") if asked.get(key)}),
        "descent": descent(window),
        "live": [f"{look}-{window.pk}" for look in ("window", "numbers", "window-runs")],
    }


def events(window: Window, words: str = "") -> QuerySet[Event]:
    """The anchors of a window's live thread, in the order of the partial index made for them."""
    found = Event.objects.filter(transcript=window.transcript_id).anchors()
    return found.filter(preview__icontains=words) if words else found


def after(found: QuerySet[Event], asked: dict[str, object], oldest_first: bool) -> QuerySet[Event]:
    """Where the reader left off: by idx, so that new words at the other end move nothing."""
    if oldest_first:
        start = asked.get("after")
        return (found if start is None else found.filter(idx__gt=start)).order_by("idx")
    start = asked.get("before")
    return (found if start is None else found.filter(idx__lt=start)).order_by("-idx")


def onward(form: AnchorFilter, last: Event) -> str:
    kept = {key: value for key in ("q", "order") if (value := form.cleaned_data.get(key))}
    step = "after" if kept.get("order") == "oldest" else "before"
    return f"?{urlencode({**kept, step: last.idx})}"


def by_day(found: list[Event]) -> Iterator[Anchor]:
    day: date | None = None
    for event in found:
        here = timezone.localtime(event.at).date() if event.at else day
        yield Anchor(event, here if here != day else None)
        day = here


def exported(window: Window, form: AnchorFilter) -> Iterator[Row]:
    rows = after(events(window, form.cleaned_data.get("q") or ""), form.cleaned_data, oldest_first=True)
    return (documents.anchor(event) for event in rows.iterator(chunk_size=500))


@require_GET
def by_id(request: HttpRequest, prefix: str) -> HttpResponseBase:
    """To the session whose id starts so. Two of them are named, not guessed between."""
    if not ID_PREFIX.fullmatch(prefix):
        raise Http404(gettext("A session id has letters, digits and dashes, at least four of them."))
    found = list(Window.objects.by_prefix(prefix.lower()).listed()[: MOST_CANDIDATES + 1])
    if not found:
        raise Http404(gettext("No session has an id that starts with %(prefix)s.") % {"prefix": prefix})
    if len(found) == 1:
        return HttpResponseRedirect(f"/sessions/{found[0].pk}/")
    rows = {"prefix": prefix, "windows": found[:MOST_CANDIDATES], "more": len(found) > MOST_CANDIDATES}
    return render(request, "sessions/candidates.html", rows, status=300)
