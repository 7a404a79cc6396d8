"""The texts of the interface as they stand in code and templates, found without gettext's own tools.

Python is read with `ast`, templates through Django's `templatize`, so a machine needs neither xgettext nor msgfmt.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from django.utils.translation.template import templatize

# Function name → positions of (context, singular, plural) among its arguments; -1 for none.
CALLS = {
    "_": (-1, 0, -1),
    "gettext": (-1, 0, -1),
    "gettext_lazy": (-1, 0, -1),
    "gettext_noop": (-1, 0, -1),
    "ngettext": (-1, 0, 1),
    "ngettext_lazy": (-1, 0, 1),
    "pgettext": (0, 1, -1),
    "pgettext_lazy": (0, 1, -1),
    "npgettext": (0, 1, 2),
    "npgettext_lazy": (0, 1, 2),
}
CALL_START = re.compile(r"\b(?:gettext|ngettext|pgettext|npgettext|_)\(")
NOT_SHOWN = {"tests", "migrations", "node_modules", "__pycache__"}


class Message(NamedTuple):
    """One text to translate: what gettext looks it up by."""

    context: str
    text: str
    plural: str

    def __str__(self) -> str:
        return f"{self.context}: {self.text}" if self.context else self.text


def messages_below(folders: Iterable[Path]) -> dict[Message, str]:
    """Every text below the folders with one place where it stands."""
    found: dict[Message, str] = {}
    for path in sorted(files_below(folders)):
        source = path.read_text(encoding="utf-8")
        texts = in_python(source) if path.suffix == ".py" else in_template(source)
        for message in texts:
            found.setdefault(message, str(path))
    return found


def files_below(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in folder.rglob("*"):
            if path.suffix in {".py", ".html", ".txt"} and not NOT_SHOWN & set(path.parts):
                yield path


def in_python(source: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and (message := of_call(node)):
            yield message


def of_call(node: ast.Call) -> Message | None:
    """The message of a gettext call whose texts are written out; None for any other call."""
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name not in CALLS:
        return None
    texts = [literal(node.args, place) for place in CALLS[name]]
    return Message(*texts) if texts[1] else None


def literal(arguments: list[ast.expr], place: int) -> str:
    if not 0 <= place < len(arguments):
        return ""
    node = arguments[place]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def in_template(source: str) -> Iterator[Message]:
    """`templatize` leaves gettext calls in a sea of letters; each is cut out and parsed."""
    text = templatize(source)
    for start in CALL_START.finditer(text):
        if call := call_at(text, start.start()):
            yield from in_python(call)


def call_at(text: str, start: int) -> str:
    """The call that begins at `start`, up to the first bracket that makes it whole."""
    end = start
    while (end := text.find(")", end) + 1) > 0:
        try:
            ast.parse(text[start:end])
        except SyntaxError:
            continue
        return text[start:end]
    return ""
