"""`manage.py rollback RUN`: back to the old window (spec W8)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from companion.lib.console import Document
from sessions.actions import run_documents
from sessions.actions.find_runs import run_for
from sessions.actions.rollback import rollback
from sessions.management.run_command import RunCommand


class Command(RunCommand):
    help = "Go back to the window a run came from; its transcript is as it was."
    well = frozenset({"rolled_back"})

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="id of the run, or a unique prefix of it")

    def answer(self, **options: Any) -> Document:
        return run_documents.run(rollback(run_for(options["run"])))
