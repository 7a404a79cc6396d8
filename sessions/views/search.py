"""Search: what was said in any window, with filters in the URL, page after page, JSON and CSV (spec S8, S9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from companion.lib.htmx import page_or_part, wants_part
from companion.lib.refusals import Refusal
from sessions.actions.behind import sessions_behind
from sessions.actions.search import MOST_AT_ONCE, Found, Hit, hit_document
from sessions.actions.search import search as find
from sessions.core.words import LONGEST_QUERY
from sessions.models import Companion, Window
from sessions.views.entries import where_is
from sessions.views.export import Row, as_csv, as_json, refused

FIELDS = (
    "session_id", "companion", "who", "timestamp", "local_time", "idx", "uuid", "preview", "dropped", "branch", "url",
)  # fmt: skip
NO_NUL = str.maketrans({"\x00": None})


class SearchForm(forms.Form):
    """What is looked for, and where."""

    q = forms.CharField(
        required=False,
        max_length=LONGEST_QUERY,
        label=_("Find"),
        error_messages={"max_length": _("At most 200 characters can be looked for.")},
    )
    companion = forms.ModelChoiceField(
        Companion.objects.none(),
        required=False,
        label=_("Companion"),
        error_messages={"invalid_choice": _("There is no such companion.")},
    )
    session = forms.ModelChoiceField(
        Window.objects.none(),
        required=False,
        label=_("Session"),
        error_messages={"invalid_choice": _("There is no such session.")},
    )
    live = forms.BooleanField(required=False, label=_("without what was taken back"))
    after = forms.CharField(required=False, max_length=400)

    def __init__(self, data: Any) -> None:
        super().__init__({key: value.translate(NO_NUL) for key, value in data.items()})
        self.fields["companion"].queryset = Companion.objects.order_by("name", "pk")  # type: ignore[attr-defined]
        self.fields["session"].queryset = Window.objects.listed()  # type: ignore[attr-defined]

    @property
    def window(self) -> Window | None:
        return self.cleaned_data.get("session")

    @property
    def query(self) -> str:
        """The filters without the place in the list, for links that keep them."""
        asked = self.cleaned_data
        kept = {"q": asked.get("q"), "live": 1 if asked.get("live") else ""}
        ids = {name: asked[name].pk for name in ("companion", "session") if asked.get(name)}
        return urlencode({name: value for name, value in {**kept, **ids}.items() if value})

    def found(self, *, limit: int | None = None, after: str | None = None) -> Found:
        """Raises Refusal for a place that is none."""
        asked = self.cleaned_data
        bound = {"limit": limit} if limit else {}
        return find(
            asked.get("q") or "",
            window=asked.get("session"),
            companion=asked.get("companion"),
            live_only=bool(asked.get("live")),
            after=after or None,
            **bound,
        )


@dataclass(frozen=True, slots=True)
class HitRow:
    """A hit with its window, whose title is shown, and the address of the message."""

    hit: Hit
    window: Window | None
    link: str

    @property
    def is_person(self) -> bool:
        return self.hit.who != "companion"


@require_GET
def search(request: HttpRequest) -> HttpResponseBase:
    form = SearchForm(request.GET)
    is_valid = form.is_valid()
    if not is_valid and "format" in request.GET:
        return refused(form)
    try:
        if request.GET.get("format") == "json":
            return as_json(exported(form))
        if request.GET.get("format") == "csv":
            return as_csv("search", FIELDS, exported(form))
        found = form.found(after=form.cleaned_data.get("after")) if is_valid else Found([])
    except Refusal as refusal:
        return answered(request, form, Found([]), refusal)
    return answered(request, form, found, None, status=200 if is_valid else 422)


def answered(
    request: HttpRequest, form: SearchForm, found: Found, refusal: Refusal | None, status: int = 200
) -> HttpResponseBase:
    whole = context(form, found) | {"refusal": refusal}
    if refusal is not None:
        status = 422
    if wants_part(request) and form.cleaned_data.get("after") and refusal is None:
        return render(request, "sessions/_more_hits.html", whole)
    return page_or_part(request, "sessions/search.html", "sessions/_hits.html", whole, status=status)


def context(form: SearchForm, found: Found) -> dict[str, Any]:
    asked = form.cleaned_data
    words = asked.get("q") or ""
    return {
        "form": form,
        "words": words,
        "window": form.window,
        "found": found,
        "rows": hit_rows(found.hits),
        "query": form.query,
        "more": f"?{form.query}&{urlencode({'after': found.after})}" if found.after else "",
        "is_continued": bool(asked.get("after")),
        "behind": sessions_behind() if words and not found.hits else 0,
        "where": where(form),
    }


def where(form: SearchForm) -> str:
    """What was looked through, in words."""
    asked = form.cleaned_data
    if asked.get("session"):
        return gettext("in this session")
    if asked.get("companion"):
        return gettext("in all windows of %(name)s") % {"name": asked["companion"].name}
    return gettext("in all windows")


def hit_rows(hits: list[Hit]) -> list[HitRow]:
    windows = Window.objects.in_bulk({hit.window for hit in hits})
    return [HitRow(hit, windows.get(hit.window), permalink(hit)) for hit in hits]


def permalink(hit: Hit) -> str:
    return f"{reverse('session', args=[hit.window])}?{urlencode(where_is(hit.uuid, hit.seq))}#e{hit.seq}"


def exported(form: SearchForm) -> Iterator[Row]:
    """Every hit, a large page at a time; the first one is asked for at once, so that a refusal still has a status."""
    first = form.found(limit=MOST_AT_ONCE, after=form.cleaned_data.get("after"))
    return rows_from(form, first)


def rows_from(form: SearchForm, found: Found) -> Iterator[Row]:
    while True:
        yield from (hit_document(hit) | {"url": permalink(hit)} for hit in found.hits)
        if not found.after:
            return
        found = form.found(limit=MOST_AT_ONCE, after=found.after)
