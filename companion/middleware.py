"""What every request goes through besides Django's own: headers, same-origin writes, and the sign-in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import cast
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import Resolver404, resolve, reverse
from django.utils.translation import gettext

from companion.doors import SAFE_HEADERS, is_own_origin
from companion.lib.htmx import wants_part
from companion.session import is_signed_in

Answer = Callable[[HttpRequest], HttpResponseBase]
View = Callable[..., HttpResponseBase]

BLOCK = 64 * 1024
SAFE_METHODS = {"GET", "HEAD", "OPTIONS", "TRACE"}


def headers(get_response: Answer) -> Answer:
    """Headers for every answer (security row 15). Pages are private: nothing keeps them unless a view says so."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        answer = get_response(request)
        for name, value in SAFE_HEADERS.items():
            answer.headers.setdefault(name, value)
        answer.headers.setdefault("Cache-Control", "no-store")
        return answer

    return middleware


def off_loop(get_response: Answer) -> Answer:
    """Streams (exports, static files) piece by piece from the request's own thread.

    An asynchronous server would otherwise collect a synchronous stream as a whole before it sends the first byte.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        answer = get_response(request)
        if isinstance(request, ASGIRequest) and isinstance(answer, StreamingHttpResponse) and not answer.is_async:
            answer.streaming_content = in_blocks(iter(cast("Iterator[bytes]", answer.streaming_content)))
        return answer

    return middleware


async def in_blocks(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    while block := await sync_to_async(block_of)(parts):
        yield block


def block_of(parts: Iterator[bytes]) -> bytes:
    """The next parts, about as much as is worth a change of thread; empty at the end."""
    block = bytearray()
    while len(block) < BLOCK and (part := next(parts, None)) is not None:
        block += part
    return bytes(block)


def same_origin(get_response: Answer) -> Answer:
    """Writes come from our own pages only (security row 3); Django's token check follows.

    `Sec-Fetch-Site` is set by the browser alone. Under `Referrer-Policy: no-referrer` a form is sent with the Origin
    `null`, which Django cannot tell from a foreign one: where the browser vouches for it, the true one is put back.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method not in SAFE_METHODS and not comes_from_us(request):
            return render(
                request, "errors/403.html", {"reason": gettext("The form came from another site.")}, status=403
            )
        return get_response(request)

    return middleware


def comes_from_us(request: HttpRequest) -> bool:
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if site not in {None, "same-origin"}:
        return False
    if origin == "null" and site == "same-origin":
        request.META["HTTP_ORIGIN"] = f"{request.scheme}://{request.get_host()}"
        return True
    if origin == "null" and settings.ENV.insecure:
        # A browser says nothing of the site over plain HTTP; the form's own token decides.
        del request.META["HTTP_ORIGIN"]
        return True
    return origin is None or is_own_origin(origin, request.get_host(), secure=request.is_secure())


def open_to_all(view: View) -> View:
    """Marks the few views that need no sign-in."""
    view.open_to_all = True  # type: ignore[attr-defined]
    return view


def signed_in_only(get_response: Answer) -> Answer:
    """Everything but the marked views needs a session; an unknown address says no more than a known one."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if is_open(request) or is_signed_in(request.session):
            return get_response(request)
        return turned_away(request)

    return middleware


def is_open(request: HttpRequest) -> bool:
    try:
        view = resolve(request.path_info).func
    except Resolver404:
        return False
    return getattr(view, "open_to_all", False)


def turned_away(request: HttpRequest) -> HttpResponse:
    page = reverse("sign-in")
    if wants_part(request):
        return HttpResponse(status=401, headers={"HX-Redirect": page})
    if request.method not in SAFE_METHODS or "format" in request.GET:
        error = {
            "code": "signed-out",
            "message": gettext("You are not signed in."),
            "hint": gettext("Open a sign-in link."),
        }
        return JsonResponse({"error": error}, status=401)
    here = request.get_full_path()
    answer = HttpResponseRedirect(page if here == "/" else f"{page}?{urlencode({'next': here})}")
    answer.status_code = 303
    return answer
