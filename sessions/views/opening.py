"""What a timeline only shows the beginning of, opened: texts in steps, calls, subagents, lines of any size."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from companion.lib.htmx import page_or_part
from companion.lib.refusals import Refusal
from sessions.actions import opening, timeline
from sessions.models import Window
from sessions.views.entries import AGENT, MOST_LINE, Source, items

NUMBER = re.compile(r"\d{1,10}\Z", re.ASCII)
ANSWER = re.compile(r"(\d{1,9})\.(\d{1,6})\Z", re.ASCII)
Opener = Callable[..., tuple[str, dict[str, Any]]]


def source_of(pk: int, agent: str = "") -> Source:
    """The file of a window, or of a subagent of it; nothing else can be opened here. Raises Refusal for a subagent whose
    file is not there."""
    window = get_object_or_404(Window.objects.listed(), pk=pk)
    if not agent:
        return Source(window, window.transcript)
    if not AGENT.match(agent):
        raise Http404
    transcript = timeline.subagent_of(window, agent)
    if transcript is None:
        raise Refusal("no-such-file", gettext("The subagent’s own file is not among the transcripts."))
    return Source(window, transcript, agent)


def opened(open_it: Opener) -> Callable[..., HttpResponse]:
    """A view of what `open_it` answers (a template and its context), as a part or as a page of its own."""

    @require_GET
    @wraps(open_it)
    def view(request: HttpRequest, pk: int, seq: int = 0, agent: str = "", **more: Any) -> HttpResponse:
        source = source_of(pk)
        if seq > MOST_LINE:
            raise Http404
        try:
            source = source_of(pk, agent) if agent else source
            part, context = open_it(request, source, seq, **more)
            status = 200
        except Refusal as refusal:
            part, context, status = "sessions/_refused.html", {"refusal": refusal}, 422
        whole = {"window": source.window, "source": source, "seq": seq, "part": part, "back": back_to(source, seq)}
        return page_or_part(request, "sessions/opened.html", part, {**whole, **context}, status=status)

    return view


def back_to(source: Source, seq: int) -> str:
    session = reverse("session", args=[source.window.pk])
    return session if source.agent else f"{session}?line={seq}#e{seq}"


def start_of(request: HttpRequest, name: str = "from") -> int:
    """Where to go on; the beginning for anything that is no number."""
    value = request.GET.get(name, "")
    return int(value) if NUMBER.match(value) else 0


@opened
def text(request: HttpRequest, source: Source, seq: int, block: int) -> tuple[str, dict[str, Any]]:
    return "sessions/_text.html", {"step": opening.step_of(source.transcript, seq, block, start_of(request))}


@opened
def call(request: HttpRequest, source: Source, seq: int, block: int) -> tuple[str, dict[str, Any]]:
    """A tool call: what it was asked, and the answer that the page found for it."""
    answer = ANSWER.match(request.GET.get("answer", ""))
    result = opening.step_of(source.transcript, *map(int, answer.groups())) if answer else None
    return "sessions/_call.html", {"input": opening.step_of(source.transcript, seq, block), "result": result}


@opened
def line(request: HttpRequest, source: Source, seq: int) -> tuple[str, dict[str, Any]]:
    """Everything in one line; one that is too large for that in parts."""
    try:
        return "sessions/_line.html", {"steps": opening.steps_of(source.transcript, seq)}
    except Refusal as refusal:
        if refusal.code not in {"too-large", "changed"}:
            raise
    return raw_part(request, source, seq)


@opened
def raw(request: HttpRequest, source: Source, seq: int) -> tuple[str, dict[str, Any]]:
    return raw_part(request, source, seq)


def raw_part(request: HttpRequest, source: Source, seq: int) -> tuple[str, dict[str, Any]]:
    return "sessions/_raw.html", {"raw": opening.part_of(source.transcript, seq, start_of(request))}


@opened
def subagent(request: HttpRequest, source: Source, seq: int) -> tuple[str, dict[str, Any]]:
    """What a subagent did, in its own file, page by page."""
    page = timeline.after(source.transcript, start_of(request, "since") - 1)
    found = items(source, page.entries)
    down = f"{source.base}?since={(page.last or 0) + 1}" if page.has_after else ""
    return "sessions/_subagent.html", {"page": page, "items": found, "down": down}


@opened
def aside(request: HttpRequest, source: Source, seq: int, end: int) -> tuple[str, dict[str, Any]]:
    """What an older client wrote of a subagent into the session's own file, between two lines of it."""
    end = min(end, MOST_LINE)
    found = items(source, timeline.aside(source.window, seq, end))
    more = timeline.aside_lines(source.transcript, found[-1].entry.last, end) if found else []
    down = f"{source.base}aside/{found[-1].entry.last}/{end}/" if more else ""
    return "sessions/_subagent.html", {"items": found, "down": down, "is_aside": True}
