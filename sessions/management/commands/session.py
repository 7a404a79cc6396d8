"""`manage.py session SESSION [--title T] [--pin] [--archive]`: one window, and what the operator notes about it."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from companion.lib.console import ConsoleCommand, Document
from companion.lib.visible import visible
from sessions.actions import documents, mark
from sessions.actions.find import window_for
from sessions.actions.index import catch_up


class Command(ConsoleCommand):
    help = "Show one session; give it a title, pin it, archive it."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("session", nargs="?", help="id, unique prefix, or path")
        parser.add_argument("--companion", help="of which companion, where no session is given")
        parser.add_argument("--title", help="your own title; an empty one gives the file's title back")
        parser.add_argument(
            "--window", type=int, metavar="TOKENS", help="how large the window is; 0 asks the model again"
        )
        parser.add_argument("--pin", action=argparse.BooleanOptionalAction, default=None, help="keep it on top")
        parser.add_argument("--archive", action=argparse.BooleanOptionalAction, default=None, help="out of the list")

    def answer(self, **options: Any) -> Document:
        catch_up()
        window = window_for(options["session"], options["companion"])
        if options["title"] is not None:
            mark.retitle(window, options["title"])
        if options["window"] is not None:
            mark.resize(window, options["window"] or None)
        if options["pin"] is not None:
            mark.pin(window, options["pin"])
        if options["archive"] is not None:
            mark.archive(window, options["archive"])
        return documents.session_in_full(window)

    def lines(self, document: Document) -> Iterable[str]:
        for name, value in document.items():
            yield f"{name}: {visible(str(value))}"
