"""The operator's own marks on a session: title, pin, put away. Never a deletion."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from companion.lib.htmx import back, wants_part
from sessions.actions import mark
from sessions.forms import SizeForm, TitleForm
from sessions.models import Window
from sessions.views.listing import window_row


def window_of(pk: int) -> Window:
    return get_object_or_404(Window.objects.listed(), pk=pk)


@require_POST
def pin(request: HttpRequest, pk: int) -> HttpResponse:
    """Sets or takes the pin; the same however often it is sent."""
    window = window_of(pk)
    mark.pin(window, on=request.POST.get("on") == "1")
    return shown(request, window)


@require_POST
def archive(request: HttpRequest, pk: int) -> HttpResponse:
    window = window_of(pk)
    mark.archive(window, on=request.POST.get("on") == "1")
    return shown(request, window)


@require_POST
def title(request: HttpRequest, pk: int) -> HttpResponse:
    window = window_of(pk)
    form = TitleForm(request.POST)
    if not form.is_valid():
        part = {"window": window, "title_form": form, "here": request.POST.get("next", "")}
        page = "sessions/_title.html" if wants_part(request) else "sessions/title.html"
        return render(request, page, part, status=422)
    mark.retitle(window, form.cleaned_data["title"])
    return shown(request, window)


@require_POST
def size(request: HttpRequest, pk: int) -> HttpResponse:
    """How large the window is, where the operator knows better than model and client."""
    window = window_of(pk)
    form = SizeForm(request.POST)
    if not form.is_valid():
        return render(request, "sessions/size.html", {"window": window, "size_form": form}, status=422)
    mark.resize(window, form.cleaned_data["tokens"])
    return back(request, reverse("session", args=[window.pk]))


def shown(request: HttpRequest, window: Window) -> HttpResponse:
    """The changed part for htmx, else back to where the form was."""
    place = reverse("session", args=[window.pk])
    if not wants_part(request):
        return back(request, place)
    if request.POST.get("part") == "title":
        return render(request, "sessions/_title.html", {"window": window, "here": place})
    return render(request, "sessions/_row.html", {"row": window_row(window), "here": request.POST.get("next", "")})
