"""Days that a promise names: when it is due, and whether it comes again. Read without a clock, from the day it was said."""

from __future__ import annotations

import re
from datetime import date, timedelta

from sessions.core.handoff_words import RECURRING

_DAYS = "一二三四五六日"
_TODAY = re.compile(r"今[天晚早儿]|待会|等会|一会儿|\b(?:today|tonight|later)\b", re.IGNORECASE)
_TOMORROW = re.compile(r"明[天早晚儿]|\btomorrow\b", re.IGNORECASE)
_AFTER = re.compile(r"(大?)后天")
_WEEKDAY = re.compile(r"(下个?|这个?|本)?(?:周|星期|礼拜)([一二三四五六日天末])")
_ENGLISH = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ENGLISH_DAY = re.compile(rf"\b(next )?({'|'.join(_ENGLISH)})\b", re.IGNORECASE)
_DATE = re.compile(r"(\d{1,2}|[一二三四五六七八九十]{1,2})月(\d{1,2}|[一二三四五六七八九十]{1,3})[日号]")
_DAY = re.compile(r"(?<![月\d一二三四五六七八九十])(\d{1,2}|[一二三四五六七八九十]{1,3})[日号](?!线|店|楼|院)")
_CLOCK = re.compile(r"(\d{1,2}|[一二三四五六七八九十]{1,3})点|\bat \d{1,2}\b", re.IGNORECASE)
# A date so long past is meant for next year.
LONG_PAST = timedelta(days=90)


def is_recurring(text: str) -> bool:
    """Does it hold again and again? Then no day ends it."""
    return RECURRING.search(text) is not None


def due(text: str, said_on: date) -> date | None:
    """The last day that a sentence of that day names; None where it names none. Both in the operator's zone."""
    try:
        return max([*_near_days(text, said_on), *_week_days(text, said_on), *_dates(text, said_on)], default=None)
    except OverflowError:
        # Behind the last day of the calendar.
        return None


def sorts(text: str) -> frozenset[str]:
    """What kinds of time a sentence names: `weekday`, `date`, `clock`."""
    found = {"weekday": _WEEKDAY.search(text) or _ENGLISH_DAY.search(text), "clock": _CLOCK.search(text)}
    found["date"] = _DATE.search(text) or _DAY.search(text)
    return frozenset(name for name, match in found.items() if match)


def _near_days(text: str, said_on: date) -> list[date]:
    days = [said_on] if _TODAY.search(text) else []
    if _TOMORROW.search(text):
        days.append(said_on + timedelta(days=1))
    return days + [said_on + timedelta(days=3 if found[1] else 2) for found in _AFTER.finditer(text)]


def _week_days(text: str, said_on: date) -> list[date]:
    found = [_of_week(match[2], match[1] or "", said_on) for match in _WEEKDAY.finditer(text)]
    for match in _ENGLISH_DAY.finditer(text):
        ahead = (_ENGLISH.index(match[2].lower()) - said_on.weekday()) % 7
        found.append(said_on + timedelta(days=ahead + (7 if match[1] and ahead < 7 else 0)))
    return found


def _of_week(day: str, which: str, said_on: date) -> date:
    """The day of this week or of the next one where it says so, else the first to come. A weekend ends on Sunday."""
    number = 6 if day in "天末" else _DAYS.index(day)
    if which.startswith("下"):
        return said_on + timedelta(days=7 - said_on.weekday() + number)
    return said_on + timedelta(days=(number - said_on.weekday()) % 7)


def _dates(text: str, said_on: date) -> list[date]:
    found = [_in_year(number(match[1]), number(match[2]), said_on) for match in _DATE.finditer(text)]
    found += [_in_year(said_on.month, number(match[1]), said_on, by_month=True) for match in _DAY.finditer(text)]
    return [day for day in found if day is not None]


def _in_year(month: int, day: int, said_on: date, *, by_month: bool = False) -> date | None:
    try:
        named = date(said_on.year, month, day)
        if by_month and named < said_on:
            return date(said_on.year + month // 12, month % 12 + 1, day)
        return named if said_on - named < LONG_PAST else date(said_on.year + 1, month, day)
    except ValueError:
        return None


def number(digits: str) -> int:
    """A number below a hundred, in digits or in Chinese: 十二, 二十, 二十四."""
    if digits.isdigit():
        return int(digits)
    tens, sign, ones = digits.rpartition("十")
    if not sign:
        return _one(digits[-1:])
    return (_one(tens) if tens else 1) * 10 + _one(ones)


def _one(digit: str) -> int:
    return "零一二三四五六七八九".find(digit[-1]) if digit else 0
