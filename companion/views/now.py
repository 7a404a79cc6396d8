"""Now: is she all right. One card for each companion, the one with the latest word first."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from companion.context import MOST_IN_STRIP
from sessions.live import headline_context
from sessions.models import Companion
from sessions.views.standing import Standing, with_day, with_newest, with_runs

# Further companions are one line each: whoever has many projects has few of them open.
MOST_CARDS = 5


@require_GET
def now(request: HttpRequest) -> HttpResponse:
    standings = with_newest(Companion.objects.in_reading_order())
    cards, others = with_runs(with_day(standings[:MOST_CARDS])), standings[MOST_CARDS:]
    return render(
        request,
        "now.html",
        {
            **headline_context(standings),
            "who": standings[:MOST_IN_STRIP],
            "cards": cards,
            "others": others,
            "now": timezone.now(),
            "live": [*live_looks(cards), "headline-0", f"arrivals-{len(standings)}"],
            "roots": settings.ENV.roots,
        },
    )


def live_looks(cards: list[Standing]) -> list[str]:
    """A card is drawn anew with its companion, whichever window is its newest by then; its runs by themselves."""
    return [f"{look}-{it.companion.pk}" for look in ("companion", "last-runs") for it in cards]
