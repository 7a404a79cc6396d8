"""`manage.py record [--companion C] [--number N] [--limit N]`: the person's own messages in order, with their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from companion.lib.console import ConsoleCommand, Document, items
from companion.lib.visible import visible
from sessions.actions.find import companion_named, window_for
from sessions.actions.index import catch_up
from sessions.actions.record import message, record, said_document
from sessions.actions.utterances import catch_up_before_reading
from sessions.management.commands.anchors import positive


class Command(ConsoleCommand):
    help = "List what the person said to a companion, over all its windows; the numbers stay."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("--companion", help="name, project folder or number; may be left out if there is only one")
        parser.add_argument("--number", type=positive, help="only the message of this number")
        parser.add_argument("--limit", type=positive, help="only the newest N")

    def answer(self, **options: Any) -> Document:
        catch_up()
        catch_up_before_reading()
        name = options["companion"]
        companion = companion_named(name) if name else window_for(None).companion
        found = (
            [message(companion, options["number"])] if options["number"] else record(companion, limit=options["limit"])
        )
        return items(map(said_document, found))

    def lines(self, document: Document) -> Iterable[str]:
        for row in document["items"]:
            yield f"#{row['number']:<6} {row['local_time'] or '-':19}  {row['session_id'][:8]}  {visible(row['text'])}"
