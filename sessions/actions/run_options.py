"""What is asked of a run, read from a command line or a form into one `Wish` (spec W3, W4; contract, "diet · forge").

Every value comes as text. What can be seen to be wrong without looking at a session is refused here, by the name of the
field; what a session says to it comes later, when the plan is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.actions.handoff import days_from
from sessions.actions.propose import Wish
from sessions.actions.sentences import refusal_of, safe
from sessions.core.moments import BadMoment, moment_of
from sessions.core.ranges import LEAST_PREFIX, BadSelection, By, End, Side
from sessions.core.selection import Mode, Selection
from sessions.models import Run

MOST_NUMBER = 10_000_000
LONGEST_END = 80
# The fields of each way to choose. A form that says `mode` is read by the fields of that mode alone.
FIELDS = {
    Mode.TAIL: ("retain", "revive"),
    Mode.DAYS: ("keep_days", "cap"),
    Mode.RANGE: (*(f"keep_{side}_{by}" for side in Side for by in By), "cap"),
}
OFF = frozenset({"", "0", "off", "false", "no"})

Values = Mapping[str, object]


class BadOptions(Refusal):
    """Something asked for is written wrongly: no session could make it right. `fields` names what is at fault."""

    def __init__(self, code: str, message: str, hint: str, *fields: str) -> None:
        super().__init__(code, message, hint)
        self.fields = fields


def wish_of(values: Values, kind: str) -> Wish:
    """The wish in `values`: texts by field name, blank or missing where nothing was given; switches are true or "on".

    Fields: mode, retain, revive, keep_days, keep_from_idx/_uuid/_ts, keep_to_idx/_uuid/_ts, cap, squash, handoff_days,
    handoff_text, export_only, no_hold, no_backup, force. Raises BadOptions.
    """
    _check_handoff(values, kind)
    text = _text(values, "handoff_text")
    return Wish(
        kind=kind,
        selection=_selection(_of_mode(values)),
        squash=_number(values, "squash", least=0),
        handoff_days=_days(values, "handoff_days"),
        handoff=text or None,
        handoff_origin="edited" if text else "draft",
        export_only=is_on(values, "export_only"),
        with_hold=not is_on(values, "no_hold"),
        with_backup=not is_on(values, "no_backup"),
        force=is_on(values, "force"),
    )


def is_on(values: Values, field: str) -> bool:
    """Is a switch on? A command line says True, a form "on" or "1"."""
    value = values.get(field)
    return value if isinstance(value, bool) else str(value or "").strip().lower() not in OFF


def given(values: Values, *fields: str) -> list[str]:
    """Those of the fields that were given."""
    return [field for field in fields if _text(values, field)]


def _text(values: Values, field: str) -> str:
    value = values.get(field)
    return "" if value is None or value is False else str(value).replace("\x00", "").strip()


def _check_handoff(values: Values, kind: str) -> None:
    asked = given(values, "handoff", "handoff_text", "handoff_days")
    if kind == Run.Kind.DIET and asked:
        raise BadOptions(
            "no-handoff-in-diet",
            _("A diet carries no hand-off: the talk itself stays."),
            _("Leave it out, or forge."),
            *asked,
        )
    if given(values, "handoff") and given(values, "handoff_days"):
        raise BadOptions(
            "two-handoffs",
            _("A hand-off from a file is not drafted from days."),
            _("Give the file or the days."),
            "handoff",
            "handoff_days",
        )


def _of_mode(values: Values) -> Values:
    """The values of one way to choose."""
    name = _text(values, "mode")
    if not name:
        return values
    if name not in set(Mode):
        raise BadOptions(
            "bad-mode",
            _("“%(text)s” is no way to choose.") % {"text": safe(name)},
            _("Give tail, days or range."),
            "mode",
        )
    others = {field for mode in Mode for field in FIELDS[mode]} - set(FIELDS[Mode(name)])
    return {field: value for field, value in values.items() if field not in others} | {"mode": name}


def _selection(values: Values) -> Selection | None:
    """None: the tail as the kind has it."""
    tail, days = given(values, "retain"), given(values, "keep_days")
    ends = given(values, *(field for field in FIELDS[Mode.RANGE] if field != "cap"))
    ways = [way for way in (tail, days, ends) if way]
    if len(ways) > 1:
        raise BadOptions(
            "more-than-one-way",
            _("This chooses in more than one way."),
            _("Give the tokens of a tail, or days, or the ends of a range."),
            *(field for way in ways for field in way),
        )
    if ends:
        return Selection(Mode.RANGE, start=_end(values, Side.FROM), end=_end(values, Side.TO), cap=_cap(values))
    if days:
        return Selection(Mode.DAYS, days=_days(values, "keep_days"), cap=_cap(values))
    return _tail(values)


def _tail(values: Values) -> Selection | None:
    mode = _text(values, "mode")
    if mode in {Mode.DAYS, Mode.RANGE}:
        fields = ("keep_days",) if mode == Mode.DAYS else FIELDS[Mode.RANGE][:-1]
        raise BadOptions(
            "nothing-chosen", _("Nothing is chosen yet."), _("Give a day, or an end of the range."), *fields
        )
    if given(values, "cap"):
        raise BadOptions(
            "cap-of-a-tail",
            _("A cap is for days and ranges."),
            _("A tail has its own bound: the tokens that stay."),
            "cap",
        )
    retain, revive = _number(values, "retain", least=1), is_on(values, "revive")
    return Selection(Mode.TAIL, retain=retain or 0, revive=revive) if retain or revive else None


def _cap(values: Values) -> int:
    return _number(values, "cap", least=1) or Selection(Mode.DAYS).cap


def _number(values: Values, field: str, *, least: int) -> int | None:
    """A whole number of tokens or characters; None where none was given."""
    text = _text(values, field)
    if not text:
        return None
    plain = text.replace(",", "").replace("_", "")
    if not plain.isascii() or not plain.isdigit() or not least <= int(plain[:12]) <= MOST_NUMBER or len(plain) > 12:
        raise BadOptions(
            "bad-number",
            _("“%(text)s” is not usable.") % {"text": safe(text, 40)},
            _("Give a whole number from %(least)s to %(most)s.") % {"least": f"{least:,}", "most": f"{MOST_NUMBER:,}"},
            field,
        )
    return int(plain)


def _days(values: Values, field: str) -> tuple[date, ...]:
    text = _text(values, field)
    try:
        return tuple(days_from(text)) if text else ()
    except Refusal as refusal:
        raise BadOptions(refusal.code, refusal.message, refusal.hint, field) from None


def _end(values: Values, side: Side) -> End | None:
    """One end of a range; None for a missing one, which means the beginning or the end of the session."""
    named = given(values, *(f"keep_{side}_{by}" for by in By))
    if len(named) > 1:
        raise BadOptions(
            "two-selectors",
            _("One end of the range is named more than once: %(names)s.")
            % {"names": ", ".join(f"{field.rsplit('_', 1)[1]} {safe(_text(values, field), 40)}" for field in named)},
            _("Keep one of them: the idx, the uuid or the time."),
            *named,
        )
    if not named:
        return None
    end = End(side, By(named[0].rsplit("_", 1)[1]), _text(values, named[0])[:LONGEST_END])
    _check_end(end, named[0])
    return end


def _check_end(end: End, field: str) -> None:
    """What no session could resolve."""
    fault = _fault_of(end)
    if fault is not None:
        refusal = refusal_of(fault)
        raise BadOptions(refusal.code, refusal.message, refusal.hint, field)


def _fault_of(end: End) -> BadSelection | None:
    idx = end.text.removeprefix("#")
    if end.by is By.IDX and not (idx.isascii() and idx.isdigit()):
        return BadSelection("bad-idx", text=end.text, side=end.side)
    if end.by is By.UUID and len(end.text) < LEAST_PREFIX:
        return BadSelection("short-prefix", text=end.text, least=LEAST_PREFIX, side=end.side)
    if end.by is By.TIME:
        try:
            moment_of(end.text, zone=settings.ENV.zone, now=timezone.now())
        except BadMoment:
            return BadSelection("bad-time", text=end.text, side=end.side)
    return None
