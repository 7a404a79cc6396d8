"""`manage.py search TEXT [--companion C] [--session S] [--limit N]`: what was said, wherever it stands now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.core.management.base import CommandParser
from django.utils.translation import gettext as _

from companion.lib.console import ConsoleCommand, Document, items
from companion.lib.visible import visible
from sessions.actions.find import companion_named, window_for
from sessions.actions.index import catch_up
from sessions.actions.search import MOST_AT_ONCE, PAGE, hit_document, search
from sessions.actions.utterances import catch_up_before_reading
from sessions.management.commands.anchors import positive


class Command(ConsoleCommand):
    help = "Find what was said, in all windows or in one; words left behind are found too and marked."

    def add_options(self, parser: CommandParser) -> None:
        parser.add_argument("text", help="words to look for; all of them have to be there")
        parser.add_argument("--companion", help="only in the windows of this companion")
        parser.add_argument("--session", help="only in this session: id, unique prefix, or path")
        parser.add_argument("--limit", type=positive, default=PAGE, help=f"at most N hits, up to {MOST_AT_ONCE}")
        parser.add_argument("--live", action="store_true", help="not on branches that a rewind left behind")

    def answer(self, **options: Any) -> Document:
        catch_up()
        companion = companion_named(options["companion"]) if options["companion"] else None
        window = window_for(options["session"], options["companion"]) if options["session"] else None
        catch_up_before_reading()
        found = search(
            options["text"], window=window, companion=companion, live_only=options["live"], limit=options["limit"]
        )
        return items(map(hit_document, found.hits)) | {"total": found.count, "more_than_total": found.is_capped}

    def lines(self, document: Document) -> Iterable[str]:
        for row in document["items"]:
            mark = _("dropped") if row["dropped"] else ""
            idx = f"#{row['idx']}" if row["idx"] is not None else "#-"
            yield f"{row['session_id'][:8]} {idx:<7} {row['local_time'] or '-':19} {mark} {visible(row['preview'])}"
        if document["total"] > document["count"]:
            yield _("%(count)d of %(total)s hits shown.") % {
                "count": document["count"],
                "total": f"{document['total']:,}" + ("+" if document["more_than_total"] else ""),
            }
