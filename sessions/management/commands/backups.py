"""`manage.py backups [--prune] [--verify]`: the copies of transcripts made before runs (spec W8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from companion.lib.console import ConsoleCommand, Document, items
from companion.lib.visible import visible
from sessions.actions import backups, run_documents
from sessions.actions.sentences import size
from sessions.models import Backup


class Command(ConsoleCommand):
    help = "List the backups of transcripts, the latest first; read them again, or remove those nobody needs."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--prune", action="store_true", help=f"remove all but the newest {backups.KEEP} of a session"
        )
        parser.add_argument("--verify", action="store_true", help="read every copy through")

    def answer(self, **options: Any) -> Document:
        removed = backups.prune() if options["prune"] else []
        found = list(Backup.objects.order_by("-created_at", "-pk"))
        if options["verify"]:
            for backup in found:
                backups.verify(backup)
        return items(map(run_documents.backup, found)) | {"removed": [row.path for row in removed]}

    def succeeded(self, document: Document) -> bool:
        return not any(row["trouble"] for row in document["items"])

    def lines(self, document: Document) -> Iterable[str]:
        for row in document["items"]:
            state = (
                _("not whole: %(trouble)s") % {"trouble": row["trouble"]}
                if row["trouble"]
                else pgettext("backup", "whole")
            )
            place = f"{row['session_id'][:8]}  {size(row['size']):>9}  {state}"
            yield f"{row['local_time']}  {visible(place)}  {visible(row['path'])}"
        for path in document["removed"]:
            yield _("removed: %(path)s") % {"path": visible(path)}
        if not document["items"]:
            yield _("There are no backups.")
