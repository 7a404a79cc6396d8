"""`manage.py demo load|remove`: a companion to look around with, and away again (spec X6)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from companion.lib.console import ConsoleCommand, Document
from sessions.actions import demo


class Command(ConsoleCommand):
    help = "Load a demo companion with weeks of invented talk, or remove it again."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("verb", choices=("load", "remove"), help="load it, or remove all of it")

    def answer(self, **options: Any) -> Document:
        done = demo.load_demo() if options["verb"] == "load" else demo.remove_demo()
        return asdict(done)

    def lines(self, document: Document) -> Iterable[str]:
        if document["loaded"]:
            yield (
                _(
                    "%(companion)s is here: %(sessions)d windows, %(human_messages)d human messages. All of it is invented."
                )
                % document
            )
        elif document["changed"]:
            yield _("The demo companion is gone. Nothing else was touched.")
        else:
            yield _("There is no demo companion; nothing to remove.")
