"""Pictures of a transcript: only kinds that a browser shows safely, only from a window's own file (security row 7)."""

from __future__ import annotations

import hashlib

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils.cache import patch_cache_control
from django.utils.http import parse_etags, quote_etag
from django.views.decorators.http import require_GET

from companion.lib.refusals import Refusal
from sessions.actions.opening import picture_of
from sessions.views.entries import MOST_LINE
from sessions.views.opening import source_of

# Whoever opens one by itself opens nothing that runs or asks.
POLICY = "default-src 'none'; style-src 'none'; sandbox; frame-ancestors 'none'"


@require_GET
def picture(request: HttpRequest, pk: int, seq: int, at: int, agent: str = "") -> HttpResponse:
    try:
        found = picture_of(source_of(pk, agent).transcript, seq, at) if seq <= MOST_LINE else None
    except Refusal:
        found = None
    if found is None:
        raise Http404
    data, kind = found
    etag = quote_etag(hashlib.blake2b(data, digest_size=16).hexdigest())
    known = etag in parse_etags(request.headers.get("If-None-Match", ""))
    answer = HttpResponseNotModified() if known else HttpResponse(data, content_type=kind)
    return dressed(answer, etag)


def dressed(answer: HttpResponse, etag: str) -> HttpResponse:
    answer["ETag"] = etag
    answer["Content-Disposition"] = "inline"
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Security-Policy"] = POLICY
    patch_cache_control(answer, private=True, no_cache=True)
    return answer
