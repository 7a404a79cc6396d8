"""Doctor: the live checks, with what to do about each."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET

from sessions.actions.doctor import Check, run_checks
from sessions.views.export import as_csv

COLUMNS = ("check", "status", "detail", "fix")
STATES = {"pass": "ok", "warn": "warn", "fail": "fail"}


def title_of(check: str) -> str:
    """A check as a person would call it; one that is not known here keeps its own name."""
    known = {
        "database": gettext("Database"),
        "broker": gettext("Messages between the parts"),
        "watcher": gettext("Looks out for new words"),
        "worker": gettext("Does the work behind"),
        "projects-root": gettext("Folder of the conversations"),
        "unreadable-folders": gettext("Folders that cannot be looked into"),
        "unreadable-transcripts": gettext("Conversations that cannot be read"),
        "missing-transcripts": gettext("Conversations that are gone"),
        "bad-lines": gettext("Bad lines"),
        "disk": gettext("Free space"),
        "data-folder": gettext("The console’s own folder"),
    }
    return known.get(check, check)


@require_GET
def doctor(request: HttpRequest) -> HttpResponseBase:
    found = run_checks()
    items = [{name: getattr(it, name) for name in COLUMNS} for it in found]
    if request.GET.get("format") == "json":
        return JsonResponse({"items": items, "count": len(items)})
    if request.GET.get("format") == "csv":
        return as_csv("doctor", COLUMNS, items)
    rows = [
        {**item, "title": title_of(str(item["check"])), "state": STATES.get(str(item["status"]), "todo")}
        for item in items
    ]
    # What needs a person comes first.
    rows.sort(key=lambda row: ["fail", "warn", "todo", "ok"].index(row["state"]))
    return render(request, "doctor.html", {"rows": rows, "headline": headline(found), "now": timezone.now()})


def headline(found: Sequence[Check]) -> str:
    failed = sum(it.status == "fail" for it in found)
    doubtful = sum(it.status == "warn" for it in found)
    if failed:
        return ngettext("%(n)d thing is broken", "%(n)d things are broken", failed) % {"n": failed}
    if doubtful:
        return ngettext("Works, %(n)d thing to look at", "Works, %(n)d things to look at", doubtful) % {"n": doubtful}
    return gettext("Everything is in order")
