"""The list of runs: filters in its URL, fifty a page, JSON and CSV of all that match (spec W10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from companion.lib.htmx import page_or_part, wants_part
from sessions.actions import run_documents
from sessions.models import Companion, Run, Window
from sessions.models.run import RunQuerySet
from sessions.views.export import Row, as_csv, as_json, refused
from sessions.views.listing import around
from sessions.views.run_lines import lines_of, listed, mark_of
from sessions.views.run_words import kind_name, status_name

PER_PAGE = 50
# What each status of the filter stands for: begun and about to begin are one thing to whoever looks.
STATUSES: dict[str, list[str]] = {
    **{status: [status] for status in Run.Status if status != Run.Status.QUEUED},
    Run.Status.RUNNING: [Run.Status.QUEUED, Run.Status.RUNNING],
}
FIELDS = (
    "run_id", "kind", "status", "companion", "created_at", "finished_at", "source_session_id", "target_session_id",
    "window", "tokens_before", "tokens_after", "pct_before", "pct_after", "events_kept", "events_dropped", "warnings", "error",
)  # fmt: skip


class RunFilter(forms.Form):
    """The filters of the list, as they stand in its URL."""

    status = forms.ChoiceField(choices=[("", "")] + [(status, status) for status in STATUSES], required=False)
    kind = forms.ChoiceField(choices=[("", ""), *Run.Kind.choices], required=False)
    companion = forms.ModelChoiceField(Companion.objects.none(), required=False, label=_("Companion"))
    session = forms.ModelChoiceField(Window.objects.all(), required=False, label=_("Session"))
    page = forms.IntegerField(required=False, min_value=1, max_value=1_000_000)

    def __init__(self, data: Any) -> None:
        super().__init__({key: value.replace("\x00", "") for key, value in data.items()})
        self.fields["companion"].queryset = Companion.objects.order_by("name", "pk")  # type: ignore[attr-defined]

    def rows(self) -> RunQuerySet:
        """The runs that were asked for, the latest first; a filter that was refused is left out."""
        asked = self.cleaned_data
        found = Run.objects.all()
        if asked.get("status"):
            found = found.filter(status__in=STATUSES[asked["status"]])
        if asked.get("kind"):
            found = found.filter(kind=asked["kind"])
        if asked.get("companion"):
            found = found.filter(companion=asked["companion"])
        if asked.get("session"):
            found = found.filter(window=asked["session"])
        return found.latest_first()

    @property
    def is_narrowed(self) -> bool:
        return bool(self.query)

    @property
    def query(self) -> str:
        """These filters without the page, for the links that keep them."""
        kept = ((name, self.cleaned_data.get(name)) for name in ("status", "kind", "companion", "session"))
        return urlencode([(name, getattr(value, "pk", value)) for name, value in kept if value])


@require_GET
def runs(request: HttpRequest) -> HttpResponseBase:
    form = RunFilter(request.GET)
    if not form.is_valid() and "format" in request.GET:
        return refused(form)
    if request.GET.get("format") == "json":
        return as_json(run_documents.run(run) for run in exported(form.rows()))
    if request.GET.get("format") == "csv":
        return as_csv("runs", FIELDS, (cells(run_documents.run(run)) for run in exported(form.rows())))
    status = 200 if form.is_valid() else 422
    whole = context(form)
    if wants_part(request) and request.GET.get("seen") == whole["seen"]:
        return HttpResponse(status=204)
    return page_or_part(request, "sessions/runs.html", "sessions/_runs.html", whole, status=status)


def context(form: RunFilter) -> dict[str, object]:
    page = Paginator(listed(form.rows()), PER_PAGE).get_page(form.cleaned_data.get("page") or 1)
    lines = lines_of(page)
    return {
        "form": form,
        "page": page,
        "lines": lines,
        "seen": mark_of([(line.run.pk, line.run.status, len(line.run.steps)) for line in lines]),
        "live": ["runs-0"],
        "query": form.query,
        "statuses": [(status, status_name(status)) for status in STATUSES],
        "kinds": [(kind, kind_name(kind)) for kind in Run.Kind],
        "session": form.cleaned_data.get("session"),
        **around(page, form.query),
    }


def exported(rows: RunQuerySet) -> Iterator[Run]:
    return listed(rows).prefetch_related("backups").iterator(chunk_size=500)


def cells(document: run_documents.Document) -> Row:
    """A run in one line of a table."""
    used = document["used"]
    values = (
        document["run_id"], document["kind"], document["status"], document["companion"], document["created_at"],
        document["finished_at"], document["source"]["session_id"], document["target"]["session_id"], used["window"],
        used["before"], used["after"], used["before_pct"], used["after_pct"], document["kept"]["events"],
        document["dropped"]["events"], "; ".join(document["warnings"]), (document["error"] or {}).get("message"),
    )  # fmt: skip
    return dict(zip(FIELDS, values, strict=True))
