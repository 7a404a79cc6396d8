"""`manage.py anchors SESSION [--limit N] [--query TEXT]`: what the person said, oldest first."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser

from companion.lib.console import ConsoleCommand, Document, items
from companion.lib.visible import visible
from sessions.actions import documents
from sessions.actions.anchors import newest_anchors
from sessions.actions.find import window_for
from sessions.actions.index import catch_up


def positive(value: str) -> int:
    if not value.isascii() or not value.isdigit() or not 0 < int(value) <= 10_000_000:
        raise argparse.ArgumentTypeError(f"{value!r} is not usable: give a whole number above 0")
    return int(value)


class Command(ConsoleCommand):
    help = "List the human messages of a session with their idx, oldest first."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("session", nargs="?", help="id, unique prefix, or path")
        parser.add_argument("--companion", help="of which companion, where no session is given")
        parser.add_argument("--limit", type=positive, help="only the newest N")
        parser.add_argument("--query", default="", help="only those that contain this text")

    def answer(self, **options: Any) -> Document:
        catch_up()
        window = window_for(options["session"], options["companion"])
        return items(map(documents.anchor, newest_anchors(window, limit=options["limit"], query=options["query"])))

    def lines(self, document: Document) -> Iterable[str]:
        for row in document["items"]:
            mark = "+" if row["queued"] else " "
            yield f"#{row['idx']:<6}{mark} {row['local_time'] or '-':19}  {row['uuid'][:8]}  {visible(row['preview'])[:80]}"
