"""`manage.py usage SESSION`: how full the window is, and of what."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from companion.lib.console import ConsoleCommand, Document
from sessions.actions.find import window_for
from sessions.actions.index import catch_up
from sessions.actions.usage import document


class Command(ConsoleCommand):
    help = "Show how full a session's window is, and of what."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("session", nargs="?", help="id, unique prefix, or path")
        parser.add_argument("--companion", help="of which companion, where no session is given")

    def answer(self, **options: Any) -> Document:
        catch_up()
        return document(window_for(options["session"], options["companion"]))

    def lines(self, document: Document) -> Iterable[str]:
        about = "≈ " if document["estimated"] else ""
        yield _(
            "%(about)s%(used_tokens)d of %(window)d tokens, %(used_pct)s %%; the client compacts at %(compacts_at)d"
        ) % {
            **document,
            "about": about,
        }
        for name, tokens in document["composition"].items():
            yield f"  ≈ {tokens:9d}  {name}"
