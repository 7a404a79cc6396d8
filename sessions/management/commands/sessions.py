"""`manage.py sessions`: every window, the latest first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from companion.lib.console import ConsoleCommand, Document, items
from companion.lib.visible import visible
from sessions.actions import documents
from sessions.actions.index import catch_up
from sessions.models import Window


class Command(ConsoleCommand):
    help = "List the sessions, the latest first."

    def answer(self, **options: Any) -> Document:
        catch_up()
        return items(documents.session(window) for window in Window.objects.listed().latest_first().iterator(500))

    def lines(self, document: Document) -> Iterable[str]:
        for row in document["items"]:
            mark = "≈" if row["estimated"] else " "
            names = f"{visible(row['companion'])}  {visible(row['title'])[:60]}"
            yield f"{row['session_id'][:8]}  {mark}{row['used_pct']:5.1f} %  {row['human_messages']:5d}  {names}"
