"""How this browser wants the console: its language and its light. Kept in cookies, not in the database."""

from __future__ import annotations

from collections.abc import Container

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.views.decorators.http import require_POST

from companion.lib.htmx import back
from companion.middleware import open_to_all

THEME_COOKIE = "companion_theme"
THEMES = ("auto", "light", "dark")
ONE_YEAR = 60 * 60 * 24 * 365


@open_to_all
@require_POST
def language(request: HttpRequest) -> HttpResponse:
    return chosen(request, settings.LANGUAGE_COOKIE_NAME, request.POST.get("language", ""), dict(settings.LANGUAGES))


@open_to_all
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    return chosen(request, THEME_COOKIE, request.POST.get("theme", ""), THEMES)


def chosen(request: HttpRequest, cookie: str, value: str, known: Container[str]) -> HttpResponse:
    if value not in known:
        return HttpResponseBadRequest()
    answer = back(request, "/")
    answer.set_cookie(
        cookie, value, max_age=ONE_YEAR, secure=settings.SESSION_COOKIE_SECURE, httponly=True, samesite="Strict"
    )
    return answer


def theme_of(request: HttpRequest) -> str:
    value = request.COOKIES.get(THEME_COOKIE, "")
    return value if value in THEMES else "auto"
