"""JSON and CSV behind every list: streamed row by row, secrets covered, and no cell that a spreadsheet would run."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from django import forms
from django.http import JsonResponse, StreamingHttpResponse
from django.utils.translation import gettext

from companion.lib.secrets_mask import masked
from companion.lib.visible import visible

Row = Mapping[str, object]

AT_ONCE = 500
# A cell that starts so is a formula to a spreadsheet.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


class Echo:
    """The "file" of a csv writer: what is written is handed back."""

    def write(self, text: str) -> str:
        return text


def as_csv(name: str, columns: Sequence[str], rows: Iterable[Row]) -> StreamingHttpResponse:
    return streamed(csv_lines(columns, rows), "text/csv; charset=utf-8", f"{name}.csv")


def as_json(rows: Iterable[Row]) -> StreamingHttpResponse:
    return streamed(json_pieces(rows), "application/json", "")


def refused(form: forms.Form) -> JsonResponse:
    wrong = "; ".join(f"{name}: {errors[0]}" for name, errors in form.errors.items())
    error = {"code": "bad-filter", "message": wrong, "hint": gettext("Correct the filter in the address.")}
    return JsonResponse({"error": error}, status=422)


def csv_lines(columns: Sequence[str], rows: Iterable[Row]) -> Iterator[str]:
    """Lines with a byte order mark in front, without which a spreadsheet garbles Chinese."""
    writer = csv.writer(Echo())
    yield "\ufeff"
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow([cell(row[column]) for column in columns])


def cell(value: object) -> object:
    """A text as a spreadsheet may have it; numbers and blanks as they are."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    text = visible(masked(value))
    return f"'{text}" if text.startswith(FORMULA_STARTS) or text.lstrip().startswith(FORMULA_STARTS) else text


def json_pieces(rows: Iterable[Row]) -> Iterator[str]:
    """`{"items": […], "count": N}` without holding the list."""
    count = 0
    yield '{"items": ['
    for row in rows:
        yield f"{',' if count else ''}\n{json.dumps(covered(row), ensure_ascii=False)}"
        count += 1
    yield f'],\n"count": {count}}}\n'


def covered(row: Row) -> Row:
    return {key: masked(value) if isinstance(value, str) else value for key, value in row.items()}


def streamed(parts: Iterator[str], kind: str, filename: str) -> StreamingHttpResponse:
    answer = StreamingHttpResponse(encoded(parts), content_type=kind)
    if filename:
        answer.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return answer


def encoded(parts: Iterator[str]) -> Iterator[bytes]:
    """The parts in blocks, so that a row does not cost a message. A lone surrogate becomes a question mark."""
    while block := list(islice(parts, AT_ONCE)):
        yield "".join(block).encode(errors="replace")
