"""`manage.py runs [SESSION] [--limit N] [--status S]`: what was planned and done, the latest first (spec W10)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.db.models import Q

from companion.lib.console import ConsoleCommand, Document, items
from sessions.actions import run_documents
from sessions.actions.find import window_for
from sessions.actions.index import catch_up
from sessions.management.commands.anchors import positive
from sessions.management.run_lines import line_of
from sessions.models import Run

PAGE = 50


class Command(ConsoleCommand):
    help = "List the runs, the latest first."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("session", nargs="?", help="only those from or to this session: id, unique prefix, or path")
        parser.add_argument("--limit", type=positive, default=PAGE, help=f"only the latest N ({PAGE})")
        parser.add_argument("--status", choices=run_documents.STATUSES, help="only those in this state")

    def answer(self, **options: Any) -> Document:
        found = Run.objects.select_related("window", "companion").prefetch_related("backups").latest_first()
        if options["session"]:
            catch_up()
            session = window_for(options["session"]).session_id
            found = found.filter(Q(source_session_id=session) | Q(target_session_id=session))
        if options["status"]:
            found = found.filter(status__in=run_documents.states_of(options["status"]))
        return items(map(run_documents.run, found[: options["limit"]]))

    def lines(self, document: Document) -> Iterable[str]:
        return map(line_of, document["items"])
