"""`manage.py doctor`: is everything as it should be, and what to do where it is not (spec O3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from companion.lib.console import ConsoleCommand, Document, items
from sessions.actions.doctor import run_checks


class Command(ConsoleCommand):
    help = "Check the console, its files and its services; exit 1 where something fails."

    def answer(self, **options: Any) -> Document:
        return items(asdict(check) for check in run_checks())

    def succeeded(self, document: Document) -> bool:
        return all(row["status"] != "fail" for row in document["items"])

    def lines(self, document: Document) -> Iterable[str]:
        marks = {"pass": "✓", "warn": "!", "fail": "✗"}
        for row in document["items"]:
            yield f"{marks[row['status']]} {row['check']}: {row['detail']}"
            if row["fix"]:
                yield f"    {row['fix']}"
