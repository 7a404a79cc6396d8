"""How values are written on the page: text from transcripts, times, tokens, shares."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext, npgettext, pgettext

from companion.lib.secrets_mask import masked
from companion.lib.visible import Piece, calm, cut, pieces
from companion.lib.visible import visible as visible_plain

register = template.Library()

KANA = re.compile(r"[\u3040-\u30ff]")
HANGUL = re.compile(r"[\uac00-\ud7af]")
HAN = re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")


@register.filter
def visible(value: object, limit: int = 4000) -> SafeString:
    """Text that somebody else wrote: secrets covered, cut, and every character shown that would hide or steer."""
    text = cut(calm(masked(str(value))), limit)
    return mark_safe("".join(drawn(piece) for piece in pieces(text)))  # noqa: S308 - every piece is escaped in `drawn`


@register.filter
def visible_text(value: object, limit: int = 4000) -> str:
    """The same without elements, for a title, an attribute or an option."""
    return visible_plain(cut(calm(masked(str(value))), limit))


def drawn(piece: Piece) -> str:
    if not piece.is_mark:
        return escape(piece.text)
    return format_html('<span class="hidden-char" title="{}">{}</span>', kind_of(piece.code), piece.label)


def kind_of(code: int) -> str:
    """What the character would have done, in the reader's language."""
    point = f"U+{code:04X}"
    if code < 0x20 or 0x7F <= code <= 0x9F:
        return gettext("control character %(point)s") % {"point": point}
    if code in {0x061C, 0x200E, 0x200F} or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return gettext("changes the reading direction, %(point)s") % {"point": point}
    if 0xD800 <= code <= 0xDFFF:
        return gettext("half a character, %(point)s") % {"point": point}
    return gettext("invisible character %(point)s") % {"point": point}


@register.filter
def language_of(value: object) -> str:
    """The language of a text for its `lang`: by script, and the page's own where the script says nothing."""
    text = str(value)[:400]
    if KANA.search(text):
        return "ja"
    if HANGUL.search(text):
        return "ko"
    return "zh-CN" if HAN.search(text) else "en"


@register.filter
def thousands(value: int) -> str:
    return f"{value:,}"


@register.filter
def short_tokens(value: int) -> str:
    """122,860 as 122.9k, 200,000 as 200k, 1,000,000 as 1M."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:.1f}".removesuffix(".0") + "M"
    if value >= 1_000:
        return f"{value / 1_000:.1f}".removesuffix(".0") + "k"
    return str(value)


@register.filter
def share(value: float) -> str:
    """A percentage for an SVG attribute: a point for the comma in every language."""
    return f"{value:.1f}%"


@register.filter
def clock(value: datetime) -> str:
    """The hour on the operator's clock."""
    return timezone.localtime(value).strftime("%H:%M")


@register.filter
def exact_clock(value: datetime) -> str:
    """The second on the operator's clock."""
    return timezone.localtime(value).strftime("%H:%M:%S")


@register.filter
def exact(value: datetime) -> str:
    return timezone.localtime(value).strftime("%Y-%m-%d %H:%M:%S")


@register.filter
def moment(value: datetime) -> str:
    """When something was: the hour today, yesterday by name, else the day; the year only when it is another."""
    local, today = timezone.localtime(value), timezone.localdate()
    hour = local.strftime("%H:%M")
    if local.date() == today:
        return hour
    if local.date() == today - timedelta(days=1):
        return gettext("yesterday %(hour)s") % {"hour": hour}
    return gettext("%(day)s, %(hour)s") % {"day": day_name(local.date(), today), "hour": hour}


def day_name(day: date, today: date) -> str:
    # Translators: a day of this year, in Django's date format letters.
    here = pgettext("date format", "j M")
    # Translators: a day of another year, in Django's date format letters.
    elsewhere = pgettext("date format", "j M Y")
    return date_format(day, here if day.year == today.year else elsewhere)


@register.filter
def day_line(value: date) -> str:
    """A day as the heading of a list: with its weekday."""
    day = day_name(value, timezone.localdate())
    return gettext("%(weekday)s %(day)s") % {"weekday": weekday(value), "day": day}


def weekday(day: date) -> str:
    return [
        gettext("Monday"),
        gettext("Tuesday"),
        gettext("Wednesday"),
        gettext("Thursday"),
        gettext("Friday"),
        gettext("Saturday"),
        gettext("Sunday"),
    ][day.weekday()]


@register.filter
def span(value: timedelta | float) -> str:
    """A length of time in its largest fitting unit."""
    seconds = int(value.total_seconds() if isinstance(value, timedelta) else value)
    if seconds < 60:
        return ngettext("%(n)d second", "%(n)d seconds", seconds) % {"n": max(seconds, 0)}
    if seconds < 3600:
        return ngettext("%(n)d minute", "%(n)d minutes", seconds // 60) % {"n": seconds // 60}
    if seconds < 48 * 3600:
        return ngettext("%(n)d hour", "%(n)d hours", seconds // 3600) % {"n": seconds // 3600}
    return npgettext("length of time", "%(n)d day", "%(n)d days", seconds // 86400) % {"n": seconds // 86400}


@register.filter
def ago(value: datetime) -> str:
    passed = (timezone.now() - value).total_seconds()
    if passed < 60:
        return gettext("just now")
    return gettext("%(span)s ago") % {"span": span(passed)}


@register.simple_tag
def today_line() -> str:
    """This day and hour on the operator's clock, as a page's corner says it."""
    now = timezone.localtime()
    return gettext("%(day)s %(hour)s") % {"day": day_line(now.date()), "hour": now.strftime("%H:%M")}
