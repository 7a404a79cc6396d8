"""`manage.py index [--full]`: bring the index of transcripts up to date."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from companion.lib.console import ConsoleCommand, Document
from sessions.actions import index


class Command(ConsoleCommand):
    help = "Read what is new in every transcript."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("--full", action="store_true", help="read every file again from its start")

    def answer(self, **options: Any) -> Document:
        done = index.index_all(full=options["full"])
        troubles = [{"path": str(trouble.path), "reason": trouble.reason} for trouble in done.troubles]
        return index.totals() | {"new_events": done.new_events, "seconds": done.seconds, "troubles": troubles}

    def lines(self, document: Document) -> Iterable[str]:
        yield (
            _(
                "%(sessions)d sessions, %(events)d events, %(bad_lines)d bad lines, %(bytes)d bytes; "
                "%(new_events)d new events in %(seconds)s s."
            )
            % document
        )
        for trouble in document["troubles"]:
            yield _("%(path)s cannot be read: %(reason)s") % trouble
