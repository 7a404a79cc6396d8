"""`manage.py companions [--confirm NAME]`: who is here, and whom the operator has confirmed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Count
from django.utils.translation import gettext as _

from companion.lib.console import ConsoleCommand, Document, items
from companion.lib.visible import visible
from sessions.actions import documents, mark
from sessions.actions.find import companion_named
from sessions.actions.index import catch_up
from sessions.models import Companion


class Command(ConsoleCommand):
    help = "List the companions; confirm one that the keeper may look after."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("--confirm", metavar="NAME", help="name, project folder or number of a companion")

    def answer(self, **options: Any) -> Document:
        catch_up()
        if options["confirm"]:
            mark.confirm(companion_named(options["confirm"]))
        counted = Companion.objects.in_reading_order().annotate(window_count=Count("windows"))
        return items(map(documents.companion, counted))

    def lines(self, document: Document) -> Iterable[str]:
        for row in document["items"]:
            state = _("confirmed") if row["confirmed"] else _("not confirmed")
            yield f"{visible(row['name'])}  {state}  {row['windows']}  {visible(row['cwd'] or row['project'])}"
