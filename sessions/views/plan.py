"""Plan a run of one window: what to do, how much stays, what is handed on. Nothing changes here but a new plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from companion.lib.htmx import seen_elsewhere
from companion.lib.refusals import Refusal
from sessions.actions.ground import silence
from sessions.actions.handoff import draft_for
from sessions.actions.propose import DIET_SHARE, Wish, propose
from sessions.actions.run_options import BadOptions, wish_of
from sessions.core.handoff import LONGEST
from sessions.models import Run, Window
from sessions.views.reading import reading
from sessions.views.run_lines import descent, mark_of
from sessions.views.run_words import kind_name

FIELDS = ("retain", "squash", "handoff_text", "draft", "export_only", "force")
ON = "1"


@dataclass(frozen=True, slots=True)
class Asked:
    """The form as it stands: texts by field, the kind; what is to be said of the draft, and why there is none."""

    kind: str
    values: Mapping[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    no_draft: Refusal | None = None

    @property
    def is_forge(self) -> bool:
        return self.kind == Run.Kind.FORGE


@require_http_methods(["GET", "HEAD", "POST"])
def plan(request: HttpRequest, pk: int) -> HttpResponse:
    window = get_object_or_404(Window.objects.listed(), pk=pk)
    if request.method != "POST":
        return shown(request, window, opened(request, window))
    asked = sent(request.POST, window)
    try:
        run = propose(window, wish_from(asked))
    except Refusal as refusal:
        return shown(request, window, asked, refusal)
    return seen_elsewhere(reverse("run", args=[run.pk]))


def kind_of(text: str | None, window: Window) -> str:
    """The kind asked for; else a diet between its mark and that of a forge, and a forge everywhere else."""
    if text in set(Run.Kind):
        return str(text)
    is_fat = settings.ENV.diet_percent <= window.used_percent < settings.ENV.forge_percent
    return str(Run.Kind.DIET if is_fat else Run.Kind.FORGE)


def sent(data: Mapping[str, Any], window: Window) -> Asked:
    values = {name: str(data.get(name, "")).replace("\x00", "").replace("\r\n", "\n") for name in FIELDS}
    return Asked(kind_of(data.get("kind"), window), values)


def opened(request: HttpRequest, window: Window) -> Asked:
    """The form as a link opens it: with the values of an earlier run of this window, or with what is usual."""
    earlier = run_from(request.GET.get("from", ""), window)
    if earlier is not None and request.GET.get("kind") in {None, earlier.kind}:
        return again(earlier, window)
    return usual(kind_of(request.GET.get("kind"), window), window)


def run_from(text: str, window: Window) -> Run | None:
    try:
        return Run.objects.filter(pk=UUID(text), window=window).first()
    except ValueError:
        return None


def usual(kind: str, window: Window) -> Asked:
    env = settings.ENV
    if kind == Run.Kind.DIET:
        retain = env.diet_retain or round(window.window_tokens * DIET_SHARE)
        return Asked(kind, {"retain": f"{retain:,}", "squash": f"{env.diet_squash:,}"})
    values = {"retain": f"{env.forge_retain:,}", "squash": f"{env.forge_squash:,}"}
    try:
        drafted = draft_for(window)
    except Refusal as refusal:
        return Asked(kind, values, no_draft=refusal)
    text = drafted.markdown
    return Asked(kind, {**values, "handoff_text": text, "draft": mark_of(text)}, drafted.warnings)


def again(run: Run, window: Window) -> Asked:
    """What was asked for then. A draft is drafted anew: it belongs to the window as it is now."""
    asked, wish = usual(run.kind, window), run.wish
    retain, squash = (wish.get("selection") or {}).get("retain"), wish.get("squash")
    values = {
        "retain": f"{retain:,}" if retain else asked.values["retain"],
        "squash": asked.values["squash"] if squash is None else f"{squash:,}",
        "export_only": ON if run.is_export_only else "",
        "force": ON if run.is_forced else "",
    }
    if wish.get("handoff") is not None and wish.get("handoff_origin") != "draft":
        values["handoff_text"] = str(wish["handoff"])
    return replace(asked, values={**asked.values, **values})


def wish_from(asked: Asked) -> Wish:
    """Raises BadOptions."""
    values = {name: asked.values.get(name, "") for name in ("retain", "squash", "export_only", "force")}
    wish = wish_of(values, asked.kind)
    if not asked.is_forge:
        return wish
    text = asked.values.get("handoff_text", "").strip()
    is_draft = bool(text) and mark_of(asked.values.get("handoff_text", "")) == asked.values.get("draft")
    return replace(wish, handoff=text, handoff_origin="draft" if is_draft else "edited")


def shown(request: HttpRequest, window: Window, asked: Asked, refusal: Refusal | None = None) -> HttpResponse:
    quiet = silence(window, timezone.now())
    whole = {
        "window": window,
        "reading": reading(window),
        "asked": asked,
        "values": asked.values,
        "kinds": [(kind, kind_name(kind)) for kind in Run.Kind],
        "refusal": refusal,
        "wrong": refusal.fields if isinstance(refusal, BadOptions) else (),
        "longest": LONGEST,
        "descent": descent(window),
        "quiet": quiet,
        "idle_seconds": settings.ENV.idle_seconds,
        "is_quiet": quiet is None or quiet >= settings.ENV.idle_seconds,
        "live": [f"window-{window.pk}"],
    }
    return render(request, "sessions/plan.html", whole, status=422 if refusal is not None else 200)
