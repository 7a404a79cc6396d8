"""`manage.py rebind RUN|SESSION`: the chat into a window that is written already (spec W8)."""

from __future__ import annotations

import os
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from companion.lib.console import Document
from companion.lib.refusals import Refusal
from sessions.actions import run_documents
from sessions.actions.find import window_for
from sessions.actions.find_runs import run_for, runs_named
from sessions.actions.index import catch_up
from sessions.actions.rebind import rebind_only, rebind_window
from sessions.management.run_command import RunCommand
from sessions.models import Run, Window


class Command(RunCommand):
    help = "Only rebind: for a run whose new session is written, or for any session of a companion."
    well = frozenset({"done", "exported"})

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("subject", help="a run or a session: id, unique prefix, or path of a session")

    def answer(self, **options: Any) -> Document:
        found = meant(options["subject"])
        if isinstance(found, Run):
            return run_documents.run(rebind_only(found))
        done = rebind_window(found)
        return run_documents.run(done) if isinstance(done, Run) else run_documents.rebound(found, done)

    def succeeded(self, document: Document) -> bool:
        if "run_id" in document:
            return super().succeeded(document)
        return document["rebind"]["status"] not in {"unchanged", "needs-hand"}


def meant(text: str) -> Run | Window:
    """The run or the session. Raises Refusal where it could be either, or is neither."""
    is_path = os.sep in text or text.endswith(".jsonl")
    catch_up()
    if is_path or not runs_named(text.strip()):
        return window_for(text)
    if Window.objects.by_prefix(text.strip().lower()).exists():
        raise Refusal(
            "run-or-session",
            _("A run and a session both begin with %(id)s.") % {"id": text[:80]},
            _("Give more characters of the one you mean."),
        )
    return run_for(text)
