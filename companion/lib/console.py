"""The shape of every command: `--json` prints exactly one document, everything else goes to stderr (contract, "Commands").

A command answers with a document and says how a person reads it; refusals and exit codes are the command line's
(`companion.up.commandline`).
"""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import translation

Document = Mapping[str, Any]
CHINESE = "zh"


class ConsoleCommand(BaseCommand):
    """Subclasses give `help`, `add_options`, `answer` and `lines`."""

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        self.add_options(parser)

    def add_options(self, parser: CommandParser) -> None:
        """The command's own arguments."""

    def answer(self, **options: Any) -> Document:
        """Does the work. Raises Refusal where it cannot be done."""
        raise NotImplementedError

    def lines(self, document: Document) -> Iterable[str]:
        """The document for a person."""
        raise NotImplementedError

    def succeeded(self, document: Document) -> bool:
        """False for a document that is complete and still bad news: exit 1."""
        return True

    def handle(self, *args: Any, **options: Any) -> None:
        with translation.override(_language()):
            document = self.answer(**options)
            if options["json"]:
                self.stdout.write(json.dumps(document, ensure_ascii=False).encode("utf-8", "replace").decode())
            else:
                for line in self.lines(document):
                    self.stdout.write(line.encode("utf-8", "replace").decode())
        if not self.succeeded(document):
            self.stdout.flush()
            sys.exit(1)


def _language() -> str:
    spoken = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh-hans" if spoken.lower().startswith(CHINESE) else "en"


def items(documents: Iterable[Document]) -> dict[str, Any]:
    """A list as the contract wants it."""
    found = list(documents)
    return {"items": found, "count": len(found)}


def padded(text: str, width: int) -> str:
    """The text with blanks behind it up to `width` columns of a terminal, where a Chinese character takes two."""
    taken = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
    return text + " " * (width - taken)
