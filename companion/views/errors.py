"""Error pages: what happened, what was kept, what to do. They need neither database nor sign-in."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from companion.session import hidden


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "errors/403.html", {"reason": ""}, status=403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's token check said no: mostly a page that was open for too long."""
    why = gettext("The page was open for too long, or its cookie is gone.")
    return render(request, "errors/403.html", {"reason": why}, status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """With the view's own words where it said what was not found."""
    said = exception.args[0] if exception and exception.args and isinstance(exception.args[0], str) else ""
    return render(request, "errors/404.html", {"reason": hidden(said)}, status=404)


def broken(request: HttpRequest) -> HttpResponse:
    return render(request, "errors/500.html", status=500)
