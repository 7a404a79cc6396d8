"""One answer for a page and for its parts: htmx asks for a fragment of the very template that draws the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme


def wants_part(request: HttpRequest) -> bool:
    """True when htmx asked for a fragment; a page restored from the history is drawn whole."""
    headers = request.headers
    return headers.get("HX-Request") == "true" and headers.get("HX-History-Restore-Request") != "true"


def page_or_part(
    request: HttpRequest, page: str, part: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """`page` whole, or `part` (a template or a `page#partial`) when htmx asked for it."""
    answer = render(request, part if wants_part(request) else page, dict(context), status=status)
    patch_vary_headers(answer, ["HX-Request"])
    return answer


def back(request: HttpRequest, otherwise: str) -> HttpResponse:
    """To where the form was sent from, if that is a path of this console."""
    wanted = request.POST.get("next", "")
    safe = wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, allowed_hosts=None)
    return seen_elsewhere(wanted if safe else otherwise)


def seen_elsewhere(url: str) -> HttpResponse:
    """The answer to a form that was taken: what came of it stands there."""
    answer = HttpResponseRedirect(url)
    answer.status_code = 303
    return answer
