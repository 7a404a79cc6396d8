"""A session's timeline: pages in both directions, filters and jumps in the URL, permalinks (spec S6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django.views.decorators.http import require_GET

from companion.lib.htmx import page_or_part, wants_part
from companion.lib.refusals import Refusal
from sessions.actions import timeline as pages
from sessions.actions.timeline import Page, Show
from sessions.models import Event, Window
from sessions.views import session as words
from sessions.views.entries import MOST_LINE, Source, items, where_is
from sessions.views.reading import reading
from sessions.views.run_lines import descent
from sessions.views.standing import alarms_of

SHOWS = [
    (Show.ALL, _("All")),
    (Show.HUMAN, pgettext_lazy("filter", "Your words")),
    (Show.TOOLS, _("Tools")),
    (Show.THINKING, _("Thinking")),
]
# What asks for the list of anchors or its export, which lived at this address before.
OF_THE_LIST = {"format", "q", "order", "before", "after"}


class TimelineForm(forms.Form):
    """What part of a timeline: a filter, a place to go to, or where to go on."""

    show = forms.ChoiceField(choices=SHOWS, required=False)
    branches = forms.BooleanField(required=False)
    # A place as a person types it: `to` leads there, `at` is where one is. `line` is a number of the file.
    to = forms.CharField(required=False, max_length=200)
    at = forms.CharField(required=False, max_length=200)
    line = forms.IntegerField(required=False, min_value=0, max_value=MOST_LINE)
    until = forms.IntegerField(required=False, min_value=0, max_value=MOST_LINE)
    since = forms.IntegerField(required=False, min_value=-1, max_value=MOST_LINE)

    def __init__(self, data: Any) -> None:
        super().__init__({key: value.replace("\x00", "") for key, value in data.items()})


@dataclass(frozen=True, slots=True)
class Asked:
    """The checked form; what was refused is as if it had not been asked for."""

    show: Show
    branches: bool
    until: int | None
    since: int | None

    def query(self, **more: object) -> str:
        """This filter with another place, for a link."""
        kept: dict[str, object] = {} if self.show is Show.ALL else {"show": self.show.value}
        if self.branches:
            kept["branches"] = 1
        return f"?{urlencode(kept | more)}"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a jump leads: the line, and whether it stands on a branch that a rewind left behind."""

    seq: int
    uuid: str = ""
    is_branch: bool = False


@require_GET
def timeline(request: HttpRequest, pk: int) -> HttpResponseBase:
    if OF_THE_LIST & request.GET.keys():
        return words.session(request, pk)
    window = get_object_or_404(Window.objects.listed(), pk=pk)
    form = TimelineForm(request.GET)
    form.is_valid()
    try:
        place = place_asked(window, form)
    except Refusal as refusal:
        return refused(request, window, form, refusal)
    if place is not None and form.cleaned_data.get("to"):
        return leads_to(request, window, asked_of(form), place)
    return shown(request, window, form, place)


def place_asked(window: Window, form: TimelineForm) -> Place | None:
    """Raises Refusal."""
    asked = form.cleaned_data
    if asked.get("line") is not None:
        seq = int(asked["line"])
    elif where := asked.get("to") or asked.get("at"):
        seq = pages.place_of(window, where)
    else:
        return None
    row = Event.objects.filter(transcript_id=window.transcript_id, seq=seq).first()
    return Place(seq) if row is None else Place(seq, row.uuid, is_branch=not row.live and not row.side)


def asked_of(form: TimelineForm) -> Asked:
    asked = form.cleaned_data
    return Asked(
        Show(asked.get("show") or Show.ALL), bool(asked.get("branches")), asked.get("until"), asked.get("since")
    )


def refused(request: HttpRequest, window: Window, form: TimelineForm, refusal: Refusal) -> HttpResponse:
    """The jump form with the reason; the page as it was where no part was asked for."""
    if wants_part(request):
        parts = {"window": window, "form": form, "refusal": refusal, "asked": asked_of(form)}
        return render(request, "sessions/_jump.html", parts, status=422)
    return shown(request, window, form, None, refusal)


def leads_to(request: HttpRequest, window: Window, asked: Asked, place: Place) -> HttpResponse:
    """To the lasting address of a place. htmx cannot follow into a fragment, so it is told to go there."""
    url = f"{reverse('session', args=[window.pk])}{asked.query(**where_is(place.uuid, place.seq))}#e{place.seq}"
    if wants_part(request):
        return HttpResponse(headers={"HX-Redirect": url})
    return HttpResponseRedirect(url)


def shown(
    request: HttpRequest, window: Window, form: TimelineForm, place: Place | None, refusal: Refusal | None = None
) -> HttpResponse:
    asked = asked_of(form)
    if place is not None and place.is_branch:
        asked = Asked(asked.show, True, asked.until, asked.since)
    status = 422 if refusal is not None or form.errors else 200
    page = page_of(window, asked, place)
    part = {"window": window, "asked": asked, **page_context(window, asked, page, place)}
    if wants_part(request):
        way = "up" if asked.until is not None else "down"
        return render(request, "sessions/_timeline_page.html", {**part, "way": way}, status=status)
    whole = {"form": form, "refusal": refusal, "shows": SHOWS, **head_context(window)}
    return page_or_part(request, "sessions/session.html", "sessions/session.html", {**whole, **part}, status=status)


def page_of(window: Window, asked: Asked, place: Place | None) -> Page:
    transcript, show, branches = window.transcript, asked.show, asked.branches
    if place is not None:
        return pages.around(transcript, place.seq, show, branches=branches)
    if asked.since is not None:
        return pages.after(transcript, asked.since, show, branches=branches)
    return pages.before(transcript, asked.until, show, branches=branches)


def page_context(window: Window, asked: Asked, page: Page, place: Place | None) -> dict[str, object]:
    earlier, later = around_ends(window, page)
    source = Source(window, window.transcript)
    found = items(source, page.entries, chosen=place.seq if place else None, asides=asides(source, page))
    return {
        "source": source,
        "page": page,
        "items": found,
        "last_day": found[-1].day if found else None,
        "earlier": earlier,
        "later": later,
        "up": asked.query(until=page.first) if page.has_before else "",
        "down": asked.query(since=page.last) if page.has_after else "",
        "place": place,
    }


def around_ends(window: Window, page: Page) -> tuple[Window | None, Window | None]:
    """The windows before and after this one, asked for only where the page shows an end."""
    if page.has_before and page.has_after:
        return None, None
    earlier, later = pages.neighbours(window)
    return (None if page.has_before else earlier), (None if page.has_after else later)


def asides(source: Source, page: Page) -> list[int]:
    """Asked for only where a call of a subagent does not name its file."""
    calls = [call for entry in page.entries for call in entry.calls if call.is_agent]
    if not any(call.result is None or not call.result.agent for call in calls):
        return []
    return pages.aside_lines(source.transcript, page.first or 0, (page.last or 0) + 1)


def head_context(window: Window) -> dict[str, object]:
    """What every page of one session shows above its tabs."""
    return {
        "window": window,
        "reading": reading(window),
        "alarms": alarms_of(window),
        "descent": descent(window),
        "newest_seq": pages.newest_seq(window.transcript_id),
        "live": [f"{look}-{window.pk}" for look in ("window", "numbers", "newest", "window-runs")],
    }
