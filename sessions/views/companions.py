"""What the operator says of a companion: its name, and that it is one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from companion.lib.htmx import back, wants_part
from sessions.actions import mark
from sessions.forms import NameForm
from sessions.models import Companion


@require_POST
def rename(request: HttpRequest, pk: int) -> HttpResponse:
    companion = get_object_or_404(Companion, pk=pk)
    form = NameForm(request.POST)
    if not form.is_valid():
        page = "sessions/_companion_head.html" if wants_part(request) else "sessions/name.html"
        return render(request, page, {"companion": companion, "name_form": form}, status=422)
    mark.rename(companion, form.cleaned_data["name"])
    return shown(request, companion)


@require_POST
def confirm(request: HttpRequest, pk: int) -> HttpResponse:
    companion = get_object_or_404(Companion, pk=pk)
    mark.confirm(companion, on=request.POST.get("on") == "1")
    return shown(request, companion)


def shown(request: HttpRequest, companion: Companion) -> HttpResponse:
    if wants_part(request):
        return render(request, "sessions/_companion_head.html", {"companion": companion})
    return back(request, reverse("now"))
