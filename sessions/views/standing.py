"""How each companion stands now: its newest window, the reading, what is wrong, and its day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import reduce

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.utils import timezone
from django.utils.translation import gettext, npgettext, pgettext

from sessions.actions import doctor
from sessions.models import Companion, Event, UsagePoint, Window
from sessions.views.day import DayChart, Point, day_chart
from sessions.views.reading import Reading, reading
from sessions.views.run_lines import RunLine, last_of_companions

# A pause that is shorter than this is no pause yet.
STILL_TALKING = timedelta(seconds=180)


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something the operator should act on: what happened, what was kept, what to do."""

    title: str
    detail: str
    # The system's own words, if there are any.
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    companion: Companion
    window: Window | None = None
    reading: Reading | None = None
    alarms: list[Alarm] = field(default_factory=list)
    said_today: int = 0
    chart: DayChart | None = None
    runs: list[RunLine] = field(default_factory=list)

    @property
    def sentence(self) -> str:
        """How full, whether they are talking, and how sure the number is."""
        if self.window is None or self.reading is None:
            return gettext("No window yet.")
        parts = [self.reading.fullness, self.pause]
        if self.reading.is_estimate:
            parts.append(gettext("The number is an estimate until %(name)s replies.") % {"name": self.companion.name})
        return reduce(follow, filter(None, parts))

    @property
    def pause(self) -> str:
        last = self.window.last_activity if self.window else None
        if last is None:
            return ""
        quiet = timezone.now() - last
        return gettext("They are still talking.") if quiet < STILL_TALKING else ""


def follow(first: str, second: str) -> str:
    """Two sentences in a row, as the language sets them."""
    return gettext("%(first)s %(second)s") % {"first": first, "second": second}


def with_newest(companions: QuerySet[Companion]) -> list[Standing]:
    """Each companion with its newest window, in two queries however many there are."""
    newest = Window.objects.filter(companion=OuterRef("pk")).latest_first().values("pk")[:1]
    rows = list(companions.annotate(newest_window=Subquery(newest)))
    windows = Window.objects.listed().in_bulk([row.newest_window for row in rows if row.newest_window])
    return [standing(row, windows.get(row.newest_window)) for row in rows]


def standing(companion: Companion, window: Window | None) -> Standing:
    if window is None:
        return Standing(companion)
    return Standing(companion, window, reading(window), alarms_of(window))


def alarms_of(window: Window) -> list[Alarm]:
    name, transcript = window.companion.name, window.transcript
    if transcript.missing_since:
        return [
            Alarm(
                gettext("%(name)s: the transcript is gone") % {"name": name},
                gettext("Missing since %(when)s. What was read of it is kept here; nothing was deleted.")
                % {"when": timezone.localtime(transcript.missing_since).strftime("%Y-%m-%d %H:%M")},
                transcript.path,
            )
        ]
    if transcript.trouble:
        title = gettext("%(name)s: the transcript cannot be read") % {"name": name}
        detail = gettext("What was read before is kept. It goes on by itself once the file can be read again.")
        return [Alarm(title, detail, transcript.trouble)]
    return []


def alarms_of_roots() -> list[Alarm]:
    """Project folders that are there and cannot be read: nothing of them could ever appear here."""
    title = gettext("A projects folder cannot be read")
    return [Alarm(title, check.fix, check.detail) for check in doctor.roots() if check.status == doctor.FAIL]


def with_day(standings: Sequence[Standing]) -> list[Standing]:
    """The same with today's words and line, in two queries however many there are."""
    now = timezone.localtime()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    said = said_since(standings, midnight)
    points = points_since(standings, midnight)
    return [
        replace(it, said_today=said.get(it.companion.pk, 0), chart=day_chart(points.get(it.companion.pk, []), now))
        for it in standings
    ]


def with_runs(standings: Sequence[Standing]) -> list[Standing]:
    """The same with the last runs of each, in one query however many there are."""
    runs = last_of_companions([it.companion.pk for it in standings])
    return [replace(it, runs=runs.get(it.companion.pk, [])) for it in standings]


def said_since(standings: Iterable[Standing], start: datetime) -> dict[int, int]:
    """Human messages per companion since `start`; one that a run copied into another window counts once."""
    ids = [it.companion.pk for it in standings]
    words = Event.objects.anchors().filter(
        transcript__window__companion__in=ids, transcript__window__last_activity__gte=start, at__gte=start
    )
    counted = words.values_list("transcript__window__companion").annotate(number=Count("uuid", distinct=True))
    return dict(counted.order_by())


def points_since(standings: Iterable[Standing], start: datetime) -> dict[int, list[Point]]:
    """Usage per companion since `start`, window by window."""
    rows = (
        UsagePoint.objects.filter(
            transcript__window__companion__in=[it.companion.pk for it in standings],
            transcript__window__last_activity__gte=start,
            at__gte=start,
            is_live=True,
        )
        .order_by("transcript", "seq")
        .values_list(
            "transcript__window__companion",
            "transcript",
            "at",
            "input",
            "cache_creation",
            "cache_read",
            "transcript__window__window_tokens",
        )
    )
    found: dict[int, list[Point]] = {}
    for companion, transcript, at, given, made, read, size in rows.iterator(chunk_size=2000):
        if at:
            found.setdefault(companion, []).append(Point(transcript, at, 100 * (given + made + read) / max(size, 1)))
    return found


def headline(standings: Sequence[Standing]) -> str:
    """The page's first line: who is well, and whom to look at."""
    if not standings:
        return gettext("Nobody here yet")
    troubled = [it.companion.name for it in standings if it.alarms]
    well = len(standings) - len(troubled)
    if not troubled:
        return all_well(standings)
    names = pgettext("list separator", ", ").join(troubled[:3])
    look = gettext("%(names)s needs a look") if len(troubled) == 1 else gettext("%(names)s need a look")
    if not well:
        return look % {"names": names}
    start = npgettext("companions", "%(n)s is well", "%(n)s are well", well) % {"n": number_word(well)}
    return gettext("%(start)s; %(rest)s") % {"start": start, "rest": look % {"names": names}}


def all_well(standings: Sequence[Standing]) -> str:
    if len(standings) == 1:
        return gettext("%(name)s is well") % {"name": standings[0].companion.name}
    return gettext("All %(n)s are well") % {"n": number_word(len(standings))}


def number_word(number: int) -> str:
    """Small numbers as a person says them."""
    words = {
        1: pgettext("companions", "one"),
        2: pgettext("companions", "two"),
        3: pgettext("companions", "three"),
        4: pgettext("companions", "four"),
        5: pgettext("companions", "five"),
    }
    return words.get(number, str(number))
