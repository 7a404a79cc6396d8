"""`manage.py apply RUN`: carry a stored plan out, exactly as it was shown, or say that it is stale (spec W6)."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from companion.lib.console import Document
from sessions.actions import run_documents
from sessions.actions.find_runs import run_for
from sessions.management.carrying import carry_to_its_end
from sessions.management.run_command import RunCommand


class Command(RunCommand):
    help = "Carry out a planned run. One that is over already is shown as it ended."
    well = frozenset({"done", "exported"})

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("run", help="id of the run, or a unique prefix of it")

    def answer(self, **options: Any) -> Document:
        return run_documents.run(carry_to_its_end(run_for(options["run"]), self.say))
