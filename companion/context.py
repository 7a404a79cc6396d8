"""What the frame around every page needs. The companions are asked for only by a page that shows them."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import get_language, gettext, pgettext

from companion.views.choices import THEMES, theme_of
from sessions.models import Companion
from sessions.views.standing import Standing, with_newest

# As many as fit beside the brand, and in one line on a phone.
MOST_IN_STRIP = 4


@dataclass(frozen=True, slots=True)
class PageLink:
    url: str
    name: str
    is_current: bool
    is_within: bool


def console(request: HttpRequest) -> dict[str, object]:
    return {
        "version": settings.VERSION,
        "zone": settings.TIME_ZONE,
        "address": request.META.get("HTTP_HOST", ""),
        "is_local": not settings.ENV.public_url,
        "theme": theme_of(request),
        "themes": THEMES,
        "languages": settings.LANGUAGES,
        "html_language": "zh-CN" if get_language() == "zh-hans" else "en",
        "pages": pages(request.path),
        "who": SimpleLazyObject(strip),
        "debug_assets": settings.DEBUG,
    }


def strip() -> list[Standing]:
    return with_newest(Companion.objects.in_reading_order()[:MOST_IN_STRIP])


def pages(path: str) -> list[PageLink]:
    """Only pages that exist."""
    known = [
        ("now", gettext("Now")),
        ("sessions", gettext("Sessions")),
        ("runs", pgettext("page", "Runs")),
        ("doctor", gettext("Doctor")),
    ]
    return [page_link(reverse(name), title, path) for name, title in known]


def page_link(url: str, title: str, path: str) -> PageLink:
    within = path.startswith(url) if url != "/" else path == url
    return PageLink(url, title, path == url, within)
