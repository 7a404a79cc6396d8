"""How sessions look while they change: each look draws the very fragment that the page was built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.template.loader import render_to_string

from companion.lib.live import register
from sessions.actions.timeline import newest_seq
from sessions.models import Companion, Window
from sessions.views.reading import reading
from sessions.views.standing import Standing, alarms_of_roots, headline, with_day, with_newest


def readings(pks: Sequence[int]) -> Mapping[int, str]:
    """The gauge of a window, on its own page and on its companion's card."""
    windows = Window.objects.listed().in_bulk(pks)
    return {
        pk: render_to_string("sessions/_reading.html", {"window": window, "reading": reading(window)})
        for pk, window in windows.items()
    }


def rows(pks: Sequence[int]) -> Mapping[int, str]:
    """What changes in a line of the sessions list; its buttons stay where the finger is."""
    windows = Window.objects.listed().in_bulk(pks)
    return {
        pk: render_to_string("sessions/_row_reading.html", {"window": window, "reading": reading(window)})
        for pk, window in windows.items()
    }


def heads(pks: Sequence[int]) -> Mapping[int, str]:
    """The numbers below a session's gauge."""
    windows = Window.objects.listed().in_bulk(pks)
    return {pk: render_to_string("sessions/_numbers.html", {"window": window}) for pk, window in windows.items()}


def ends(pks: Sequence[int]) -> Mapping[int, str]:
    """Where a window's timeline ends now, for the page that shows it to fetch what is missing."""
    windows = Window.objects.in_bulk(pks)
    return {
        pk: render_to_string(
            "sessions/_newest.html", {"window": window, "newest_seq": newest_seq(window.transcript_id)}
        )
        for pk, window in windows.items()
    }


def cards(pks: Sequence[int]) -> Mapping[int, str]:
    """What stands on a companion's card."""
    return {
        it.companion.pk: render_to_string("sessions/_companion.html", {"it": it})
        for it in with_day(with_newest(Companion.objects.filter(pk__in=pks)))
    }


def strips(pks: Sequence[int]) -> Mapping[int, str]:
    """A companion in the strip at the top of every page."""
    return {
        it.companion.pk: render_to_string("components/_who.html", {"it": it})
        for it in with_newest(Companion.objects.filter(pk__in=pks))
    }


def headlines(pks: Sequence[int]) -> Mapping[int, str]:
    """The first line of the Now page with its alarms; it speaks of all companions, so one fragment stands for any."""
    return {
        0: render_to_string(
            "sessions/_headline.html", headline_context(with_newest(Companion.objects.in_reading_order()))
        )
    }


def arrivals(known: Sequence[int]) -> Mapping[int, str]:
    """A companion more than the `known` ones of a Now page: the empty page fills itself, a full one offers a link."""
    number = Companion.objects.count()
    return {
        count: render_to_string("sessions/_arrivals.html", {"was_empty": count == 0})
        for count in known
        if count != number
    }


def newcomers(known: Sequence[int]) -> Mapping[int, str]:
    """Sessions more than the `known` ones of a list; the list itself stays where the reader is."""
    number = Window.objects.count()
    return {
        count: render_to_string("sessions/_newcomers.html", {"new": number - count})
        for count in known
        if count < number
    }


def headline_context(standings: Sequence[Standing]) -> dict[str, object]:
    alarms = [*alarms_of_roots(), *(alarm for it in standings for alarm in it.alarms)]
    return {"headline": headline(standings), "alarms": alarms[:5], "further_alarms": len(alarms[5:])}


def register_looks() -> None:
    register("window", readings)
    register("numbers", heads, event="window")
    register("row", rows, event="window")
    register("newest", ends, event="window")
    register("companion", cards)
    register("who", strips, event="companion")
    register("headline", headlines, event="companion", is_of_all=True)
    register("arrivals", arrivals, event="companion", is_of_all=True)
    register("newcomers", newcomers, event="window", is_of_all=True)
