"""How full a window is, as the page shows it: the gauge's geometry and the sentences beside it.

Pure: a window's numbers and the marks go in, text and percent attributes come out. The words may never say more than
the numbers do (mock/DESIGN.md, principle 2).
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext, pgettext

from sessions.core.usage import percent as percent_of
from sessions.models import Run, Window

# The seed's own mark for "the system would compact about here"; the client's real point is drawn beside it.
SYSTEM_PERCENT = 83


@dataclass(frozen=True, slots=True)
class Fill:
    """A coloured run of the gauge, in percent of its width."""

    kind: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Reading:
    """One window's fullness. Tokens for `used` and `window`, percent of the window for the rest."""

    used: int
    window: int
    percent: float
    is_estimate: bool
    diet: int
    forge: int
    # The client's own compaction point; 0 when it is not known.
    compacts: float = 0.0
    # Where it stood before a run; None where this is no outlook.
    was: float | None = None

    @property
    def needle(self) -> float:
        return min(max(self.percent, 0.0), 100.0)

    @property
    def was_needle(self) -> float:
        return min(max(self.was or 0.0, 0.0), 100.0)

    @property
    def fills(self) -> list[Fill]:
        """The bar in its zones: up to the diet mark, up to the forge mark, beyond."""
        edges = [(0.0, float(self.diet), "fill"), (self.diet, self.forge, "over"), (self.forge, 100.0, "beyond")]
        return [
            Fill(kind, start, min(self.needle, end) - start) for start, end, kind in edges if self.needle > start < end
        ]

    @property
    def hatch(self) -> float:
        """Width of the part that the client will not let fill up."""
        return 100.0 - self.compacts if 0 < self.compacts < 100 else 0.0

    @property
    def system(self) -> int:
        return SYSTEM_PERCENT

    @property
    def figure(self) -> str:
        """The dial's number: one decimal, never rounded over a mark that is not crossed."""
        return f"{self.percent:.1f}"

    @property
    def rounded(self) -> str:
        """The number for small places: whole percent, cut, with the estimate's mark."""
        return f"{'≈ ' if self.is_estimate else ''}{int(self.percent)}%"

    @property
    def fullness(self) -> str:
        return fullness(self)

    @property
    def label(self) -> str:
        return label(self)


def reading(window: Window) -> Reading:
    size = max(window.window_tokens, 1)
    return Reading(
        used=window.used_tokens,
        window=window.window_tokens,
        percent=window.used_percent,
        is_estimate=window.is_estimated,
        diet=settings.ENV.diet_percent,
        forge=settings.ENV.forge_percent,
        compacts=round(100 * window.compacts_at / size, 1),
    )


def outlook(run: Run, compacts_at: int) -> Reading:
    """The window that a run makes, estimated, with where the old one stood."""
    return Reading(
        used=run.used_after,
        window=run.window_tokens,
        percent=percent_of(run.used_after, run.window_tokens),
        is_estimate=True,
        diet=settings.ENV.diet_percent,
        forge=settings.ENV.forge_percent,
        compacts=percent_of(compacts_at, run.window_tokens),
        was=percent_of(run.used_before, run.window_tokens),
    )


def tenths(percent: float) -> str:
    """A share in tenths, cut and never rounded up."""
    words = [
        pgettext("tenths", "hardly any"),
        pgettext("tenths", "one tenth"),
        pgettext("tenths", "two tenths"),
        pgettext("tenths", "three tenths"),
        pgettext("tenths", "four tenths"),
        pgettext("tenths", "half"),
        pgettext("tenths", "six tenths"),
        pgettext("tenths", "seven tenths"),
        pgettext("tenths", "eight tenths"),
        pgettext("tenths", "nine tenths"),
    ]
    whole = int(percent // 10)
    if whole == 0 or percent % 10 < 3:
        return words[whole]
    return gettext("over %(tenths)s") % {"tenths": words[whole]}


def fullness(it: Reading) -> str:
    """The head sentence of a window: how full, and which mark comes next or was crossed last."""
    if it.percent >= 100:
        return gettext("The window is full.")
    if it.compacts and it.percent >= it.compacts:
        return gettext("The window is past the point where the client compacts by itself.")
    start = gettext("The window is %(tenths)s full") % {"tenths": tenths(it.percent)}
    return gettext("%(start)s, %(place)s.") % {"start": start, "place": place(it)}


def place(it: Reading) -> str:
    if it.percent >= it.forge:
        return gettext("past the forge mark")
    if it.percent >= it.diet:
        just = it.percent < it.diet + 10
        return gettext("just past the diet mark") if just else gettext("past the diet mark")
    if it.percent >= it.diet - 5:
        return gettext("close to the diet mark")
    return gettext("well below the diet mark")


def label(it: Reading) -> str:
    """The gauge in one sentence for those who cannot see it: all its marks."""
    share = {"percent": it.figure}
    start = (
        gettext("Window about %(percent)s%% full, an estimate")
        if it.is_estimate
        else gettext("Window %(percent)s%% full")
    )
    parts = [start % share, marks(it)]
    if it.compacts:
        parts.append(gettext("the client compacts at %(percent)s%%") % {"percent": f"{it.compacts:.1f}"})
    if it.was is not None:
        parts.append(gettext("%(percent)s%% before") % {"percent": f"{it.was:.1f}"})
    return pgettext("list separator", ", ").join(parts)


def marks(it: Reading) -> str:
    """Where the needle stands between the diet and the forge mark, in points."""
    if it.percent >= it.forge:
        return gettext("past the %(forge)d%% forge mark") % {"forge": it.forge}
    if it.percent >= it.diet:
        return gettext("past the %(diet)d%% diet mark, %(points)s points below the %(forge)d%% forge mark") % {
            "diet": it.diet,
            "forge": it.forge,
            "points": f"{it.forge - it.percent:.1f}",
        }
    return gettext("%(points)s points below the %(diet)d%% diet mark") % {
        "diet": it.diet,
        "points": f"{it.diet - it.percent:.1f}",
    }
