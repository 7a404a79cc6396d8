"""`manage.py handoff SESSION [--days D,…] [--write] [--dry-run]`: a draft of what the next window should know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from companion.lib.console import ConsoleCommand, Document
from companion.lib.refusals import Refusal
from companion.lib.visible import visible
from sessions.actions import handoff
from sessions.actions.find import window_for
from sessions.actions.index import catch_up


class Command(ConsoleCommand):
    help = "Draft the hand-off of a session: topic, state, promises, red lines, cues, last words, all with evidence."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("session", nargs="?", help="id, unique prefix, or path")
        parser.add_argument("--companion", help="of which companion, where no session is given")
        parser.add_argument(
            "--days", metavar="D,…", help="only these days; else the last one with messages and its eve"
        )
        parser.add_argument("--write", action="store_true", help="write SESSION_HANDOFF.md into the working folder")
        parser.add_argument(
            "--dry-run", action="store_true", help="with --write: write nothing, only say what is wrong"
        )

    def answer(self, **options: Any) -> Document:
        days = handoff.days_from(options["days"]) if options["days"] is not None else []
        catch_up()
        window = window_for(options["session"], options["companion"])
        drafted = handoff.draft_for(window, days=days)
        document = handoff.document(drafted)
        if options["write"] and options["dry_run"]:
            return document | {"warnings": [*document["warnings"], *_hindrances(window)]}
        if options["write"]:
            written = handoff.write(window, drafted.markdown)
            return document | {"written": handoff.written_document(written)}
        return document

    def lines(self, document: Document) -> Iterable[str]:
        yield from map(visible, document["markdown"].splitlines())
        for warning in document["warnings"]:
            yield f"! {visible(warning)}"
        if (written := document["written"]) is not None:
            yield from _of_writing(written)


def _hindrances(window: Any) -> list[str]:
    try:
        handoff.check_writable(window)
    except Refusal as refusal:
        return [refusal.message]
    return []


def _of_writing(written: dict[str, Any]) -> Iterable[str]:
    if written["unchanged"]:
        yield _("%(path)s says so already.") % written
    else:
        yield _("Written: %(path)s") % written
    if written["kept"]:
        yield _("What stood there before: %(kept)s") % written
