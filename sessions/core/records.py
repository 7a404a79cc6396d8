"""A line of a transcript as a whole record, for copying: everything in it, in its order (transcripts.md 1.3, fact 12).

What the client reads, this reads: a byte order mark, bad UTF-8 and lone surrogates (both become U+FFFD), numbers beyond
any size. What it writes is compact UTF-8 that every client version takes.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

import orjson

from sessions.core.lines import BOM, BadLine

Record = dict[str, Any]
_SURROGATES = re.compile("[\ud800-\udfff]")


class TooDeep(ValueError):
    """Brackets in brackets beyond what can be copied here, though the client reads it."""


def read_record(raw: bytes) -> Record:
    """The record in a line. Raises BadLine for what the client cannot read either, TooDeep for what only we cannot."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        value = _read_patiently(raw)
    if not isinstance(value, dict):
        raise BadLine("not a JSON object")
    return value


def write_record(record: Record) -> bytes:
    """The line of a record, with its newline. Raises TooDeep."""
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        # Nested deeper than the quick writer goes.
        return _write_patiently(record)


def _read_patiently(raw: bytes) -> Any:
    text = raw.removeprefix(BOM).decode("utf-8", errors="replace").strip(" \t\r\n")
    try:
        return _clean(json.loads(text, parse_constant=_refuse, parse_int=_number, parse_float=_finite))
    except RecursionError:
        raise TooDeep("nested too deeply") from None
    except ValueError as fault:
        raise BadLine(f"not JSON: {fault}"[:200]) from None


def _write_patiently(record: Record) -> bytes:
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except RecursionError:
        raise TooDeep("nested too deeply") from None
    return _SURROGATES.sub("\ufffd", text).encode("utf-8") + b"\n"


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _number(digits: str) -> int | float | None:
    return int(digits) if len(digits) < 19 else _finite(digits)


def _finite(text: str) -> float | None:
    """A number as the client keeps it; an infinite one is written as null."""
    value = float(text)
    return value if math.isfinite(value) else None


def _clean(value: Any) -> Any:
    """Texts without lone surrogates: old clients send them on, and the API refuses the conversation for ever."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_clean(each) for each in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(each) for key, each in value.items()}
    return value
