"""Coming in and going out: a link that works once, or the operator's password from elsewhere (security row 4)."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from companion.lib.htmx import back
from companion.middleware import open_to_all
from companion.models import SignInLink
from companion.session import is_signed_in, sign_in, sign_out

# So many wrong passwords from anywhere, then nobody may try for a while. Links go on working.
MOST_TRIES = 5
LOCKED_FOR = timedelta(minutes=5)
TRIES = "signin.tries"


@open_to_all
@require_GET
def explain(request: HttpRequest) -> HttpResponse:
    """How to get a link, and a password field where there is a password."""
    if is_signed_in(request.session):
        return redirect("now")
    return sign_in_page(request)


def sign_in_page(request: HttpRequest, wrong: str = "", status: int = 200) -> HttpResponse:
    wanted = request.GET.get("next") or request.POST.get("next") or ""
    has_password = password_is_set()
    return render(
        request, "sign_in.html", {"has_password": has_password, "wrong": wrong, "next": wanted}, status=status
    )


def password_is_set() -> bool:
    return bool(settings.ENV.password and settings.ENV.public_url)


@open_to_all
@require_http_methods(["GET", "POST"])
def with_link(request: HttpRequest, token: str) -> HttpResponse:
    """The link's page has a button; only its POST uses the link up, so that a preview of the link costs nothing."""
    if request.method == "GET":
        return render(request, "sign_in_link.html")
    if not SignInLink.use_up(token, timezone.now()):
        return sign_in_page(request, gettext("This link has been used or is older than 15 minutes."), 410)
    sign_in(request)
    return redirect("now")


@open_to_all
@require_POST
def with_password(request: HttpRequest) -> HttpResponse:
    if not password_is_set():
        return sign_in_page(request, gettext("There is no password to sign in with."), 404)
    if tries() > MOST_TRIES:
        return sign_in_page(request, gettext("Too many wrong passwords. Wait five minutes, or use a link."), 429)
    given = request.POST.get("password", "")
    if not secrets.compare_digest(given.encode(errors="replace"), settings.ENV.password.encode(errors="replace")):
        return sign_in_page(request, gettext("That is not the password. Nothing was changed."), 422)
    cache.delete(TRIES)
    sign_in(request)
    return back(request, "/")


def tries() -> int:
    """Counts this try before it is looked at, so that many at once do not slip through together."""
    cache.add(TRIES, 0, LOCKED_FOR.total_seconds())
    try:
        return int(cache.incr(TRIES))
    except ValueError:
        # It ran out between the two calls.
        return 1


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    sign_out(request)
    return redirect("sign-in")
