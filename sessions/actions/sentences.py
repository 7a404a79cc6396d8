"""What a run has to say, in words: a code with its values becomes one sentence in the reader's language (spec W6, W10).

Rows keep the codes, so that the same run can be read in either language. Values that come out of transcripts are bounded,
masked and made visible here; pages escape them as they escape everything.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from companion.lib.secrets_mask import masked
from companion.lib.visible import cut, visible
from sessions.actions.documents import local
from sessions.actions.sentence_table import SENTENCES
from sessions.core.ranges import BadSelection
from sessions.core.turns import Step

LONGEST_VALUE = 300
LONGEST_PREVIEW = 60
# Numbers that name something are written as they are typed.
NAMES = frozenset({"first", "last", "idx", "line"})


class Figure(int):
    """A number that reads as one: 12,345."""

    def __str__(self) -> str:
        return f"{int(self):,}"


def sentence(coded: Mapping[str, Any]) -> str:
    """One sentence for {"code": …, values…}; where nothing is known of it, its own message or the code itself. Never
    raises."""
    code = str(coded.get("code", ""))
    values = {str(name): _readable(str(name), value) for name, value in coded.items() if name != "code"}
    try:
        return str(SENTENCES[code] % values)
    except (KeyError, TypeError, ValueError):
        return str(values.get("message") or code)


def _readable(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return "-" if value is None else str(value).lower()
    if isinstance(value, int | float):
        return _number(name, round(value))
    if isinstance(value, list | tuple):
        return cut(", ".join(str(_readable(name, each)) for each in value[:20]), LONGEST_VALUE)
    if isinstance(value, Mapping):
        return sentence(value)
    return safe(str(value))


def _number(name: str, value: int) -> Any:
    if name == "bytes":
        return size(value)
    return value if name in NAMES else Figure(value)


def size(count: int) -> str:
    """Bytes as a person reads them: 812 B, 4.2 MB."""
    for unit, name in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count} B"


def safe(text: str, limit: int = LONGEST_VALUE) -> str:
    """A text from a transcript or file, bounded, its secrets covered and what hides in it shown as marks; on one line."""
    return visible(cut(masked(" ".join(text[: limit * 8].split())), limit))


def refusal_of(fault: BadSelection) -> Refusal:
    """Why a selection cannot be taken, with what there is to choose from instead (spec W4)."""
    say = REFUSALS.get(fault.code)
    if say is None:
        return Refusal(fault.code, _("This cannot be chosen: %(code)s.") % {"code": fault.code})
    message, hint = say(fault.values)
    return Refusal(fault.code, message, hint)


def _side(values: Mapping[str, Any]) -> str:
    return _("The beginning of the range") if values.get("side") == "from" else _("The end of the range")


def _bad_idx(values: Mapping[str, Any]) -> tuple[str, str]:
    words = {"side": _side(values), "text": safe(str(values["text"]))}
    return _("%(side)s: %(text)s is no idx.") % words, _("Give a number as `anchors` shows it, such as 42.")


def _no_such_idx(values: Mapping[str, Any]) -> tuple[str, str]:
    words = {"side": _side(values), "idx": values["idx"], "last": values["last"]}
    return (
        _("%(side)s: there is no event #%(idx)d. The last one is #%(last)d.") % words,
        _("`anchors` lists what the person said with its numbers."),
    )


def _short_prefix(values: Mapping[str, Any]) -> tuple[str, str]:
    words = {"side": _side(values), "text": safe(str(values["text"])), "least": values["least"]}
    return (
        _("%(side)s: “%(text)s” is too little of a uuid.") % words,
        _("Give at least its first %(least)d characters.") % words,
    )


def _no_such_uuid(values: Mapping[str, Any]) -> tuple[str, str]:
    words = {"side": _side(values), "text": safe(str(values["text"]))}
    return (
        _("%(side)s: no event of the live thread has a uuid that starts with %(text)s.") % words,
        _("`anchors` lists what the person said with its uuids."),
    )


def _ambiguous_uuid(values: Mapping[str, Any]) -> tuple[str, str]:
    names = "; ".join(event(step) for step in values["candidates"])
    words = {"side": _side(values), "text": safe(str(values["text"])), "names": names}
    return (
        _("%(side)s: more than one event is meant by %(text)s: %(names)s") % words,
        _("Give more of the uuid, or the idx."),
    )


def _bad_time(values: Mapping[str, Any]) -> tuple[str, str]:
    words = {"side": _side(values), "text": safe(str(values["text"])), "zone": str(settings.ENV.zone)}
    return (
        _("%(side)s: “%(text)s” is no time.") % words,
        _(
            "Give 2026-03-01 16:00 or an ISO time (without a zone it is %(zone)s), 16:00 for today, or Unix seconds or "
            "milliseconds."
        )
        % words,
    )


def _no_turn(values: Mapping[str, Any]) -> tuple[str, str]:
    return _("The person has not said anything in this session."), _("There is nothing that could stay.")


def _no_turn_since_compaction(values: Mapping[str, Any]) -> tuple[str, str]:
    return (
        _("The person has not said anything here since the last compaction."),
        _("Choose days or a range, or let the tail reach behind the compaction with --revive."),
    )


def _no_day(values: Mapping[str, Any]) -> tuple[str, str]:
    return _("No day is chosen."), _("Give a day, or an end of the range.")


def _no_such_day(values: Mapping[str, Any]) -> tuple[str, str]:
    return (
        _("The person said nothing here on %(days)s.") % {"days": _days(values["missing"])},
        _("The nearest days with words: %(days)s.") % {"days": _days(values["days"]) or "-"},
    )


def _from_after_to(values: Mapping[str, Any]) -> tuple[str, str]:
    return (
        _("The range begins behind its end: from %(start)s to %(end)s.")
        % {"start": event(values["start"]), "end": event(values["end"])},
        _("Change the two ends over, or give other ones."),
    )


def _empty_range(values: Mapping[str, Any]) -> tuple[str, str]:
    return (
        _("The person says nothing in this range: their first words are #%(first)d.") % {"first": values["first"]},
        _("Let the range end there or later."),
    )


REFUSALS = {
    "bad-idx": _bad_idx,
    "no-such-idx": _no_such_idx,
    "short-prefix": _short_prefix,
    "no-such-uuid": _no_such_uuid,
    "ambiguous-uuid": _ambiguous_uuid,
    "bad-time": _bad_time,
    "no-turn": _no_turn,
    "no-turn-since-compaction": _no_turn_since_compaction,
    "no-day": _no_day,
    "no-such-day": _no_such_day,
    "from-after-to": _from_after_to,
    "empty-range": _empty_range,
}


def event(step: Step) -> str:
    """An event as a person finds it again: idx, uuid, local time, first words."""
    words = {"idx": step.idx, "uuid": safe(step.uuid, 13), "time": local(step.at) or "-"}
    return f"#{words['idx']} ({words['uuid']}, {words['time']}) {safe(step.preview or '', LONGEST_PREVIEW)}".rstrip()


def _days(days: list[date]) -> str:
    return ", ".join(day.isoformat() for day in days)
