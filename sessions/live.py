"""How sessions look while they change: each look draws the very fragment that the page was built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.template.loader import render_to_string

from companion.lib.live import register
from sessions.actions.timeline import newest_seq
from sessions.models import Companion, Run, Window
from sessions.views.reading import reading
from sessions.views.run_lines import descent, last_of_companions
from sessions.views.run_words import kind_name, status_name
from sessions.views.standing import Standing, alarms_of_roots, headline, with_day, with_newest, with_runs
from sessions.views.steps import progress


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
        for it in with_runs(with_day(with_newest(Companion.objects.filter(pk__in=pks))))
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


def runs_of_windows(pks: Sequence[int]) -> Mapping[int, str]:
    """The last runs of a window, beside its timeline."""
    windows = Window.objects.listed().in_bulk(pks)
    return {
        pk: render_to_string("sessions/_window_runs.html", {"window": window, "descent": descent(window)})
        for pk, window in windows.items()
    }


def runs_of_companions(pks: Sequence[int]) -> Mapping[int, str]:
    """The last runs on a companion's card. A run speaks of its window, so that any of them may be a companion's."""
    lines = last_of_companions(pks)
    return {
        pk: render_to_string("sessions/_last_runs.html", {"companion_id": pk, "lines": lines.get(pk, [])}) for pk in pks
    }


def nudges(pks: Sequence[int]) -> Mapping[int, str]:
    """A word to the page of a run that something happened to its window's runs: the page then asks for its own part,
    with the buttons and tokens that a push cannot carry."""
    runs = Run.objects.filter(window__in=pks).order_by("window", "-created_at").distinct("window")
    latest = {run.window_id: run for run in runs}
    return {
        pk: render_to_string("sessions/_run_nudge.html", {"window_id": pk, "words": words_of(latest.get(pk))})
        for pk in pks
    }


def words_of(run: Run | None) -> str:
    """A run's state as it is spoken."""
    if run is None:
        return ""
    state = progress(run).sentence if run.status == Run.Status.RUNNING else status_name(run.status)
    return f"{kind_name(run.kind)} {state}"


def list_nudge(pks: Sequence[int]) -> Mapping[int, str]:
    """The same for the list of runs."""
    return dict.fromkeys(pks, render_to_string("sessions/_runs_nudge.html"))


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
    register("window-runs", runs_of_windows, event="run")
    register("last-runs", runs_of_companions, event="run", is_of_all=True)
    register("run", nudges)
    register("runs", list_nudge, event="run", is_of_all=True)
    register("newcomers", newcomers, event="window", is_of_all=True)
