"""`manage.py cancel RUN`: drop a plan, or stop a run that has not written yet."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from companion.lib.console import Document
from sessions.actions import run_documents, runs
from sessions.actions.find_runs import run_for
from sessions.management.run_command import RunCommand


class Command(RunCommand):
    help = "Cancel a run: a plan at once, one under way before it writes."
    well = frozenset({"cancelled", "running"})

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="id of the run, or a unique prefix of it")

    def answer(self, **options: Any) -> Document:
        return run_documents.run(runs.cancel(run_for(options["run"])))
