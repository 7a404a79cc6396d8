"""The demo companion from the browser: what it is, load it, remove it (spec X6)."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_GET, require_POST

from companion.lib.htmx import page_or_part, seen_elsewhere, wants_part
from companion.lib.refusals import Refusal
from sessions import tasks
from sessions.actions import demo as actions
from sessions.core.demo.files import TALKS


@require_GET
def demo(request: HttpRequest) -> HttpResponse:
    """How it stands; while it changes, the part that asks again."""
    doing, refused = tasks.demo_work()
    if wants_part(request) and not doing and not refused:
        return HttpResponse(headers={"HX-Redirect": place_after(request)})
    return page_or_part(request, "sessions/demo.html", "sessions/_demo_work.html", context(request, doing, refused))


@require_POST
def load(request: HttpRequest) -> HttpResponse:
    return changed(request, "load")


@require_POST
def remove(request: HttpRequest) -> HttpResponse:
    return changed(request, "remove")


def changed(request: HttpRequest, verb: str) -> HttpResponse:
    """Queued where a worker lives, else done here. Twice is once."""
    if tasks.queue_demo(verb, get_language() or "en"):
        if wants_part(request):
            return render(request, "sessions/_demo_work.html", context(request, verb, []))
        return seen_elsewhere(f"{reverse('demo')}?next={place_after(request)}")
    try:
        actions.load_demo() if verb == "load" else actions.remove_demo()
    except Refusal as refusal:
        whole = context(request, "", [refusal.message, refusal.hint])
        return page_or_part(request, "sessions/demo.html", "sessions/_demo_work.html", whole, status=422)
    tasks.queue_words()
    if wants_part(request):
        return HttpResponse(headers={"HX-Redirect": place_after(request)})
    return seen_elsewhere(place_after(request))


def context(request: HttpRequest, doing: str, refused: list[str]) -> dict[str, Any]:
    status = actions.status()
    return {
        "doing": doing,
        "refused": refused,
        "demo": status,
        "windows": len(TALKS),
        "share": 100 * min(status.sessions, len(TALKS)) / len(TALKS),
        "next": place_after(request),
    }


def place_after(request: HttpRequest) -> str:
    """Where to go when it is done: only to a page that shows the change."""
    wanted = request.POST.get("next") or request.GET.get("next")
    return reverse("sessions") if wanted == reverse("sessions") else reverse("now")
