"""`manage.py check_translations`: every text has its Chinese, and the compiled file is the one of the texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polib
from django.conf import settings
from django.core.management import BaseCommand, CommandError, CommandParser

from companion.lib.messages import Message, messages_below

FOLDERS = ("companion", "sessions", "memory", "templates")
CATALOGUE = Path("companion/locale/zh_Hans/LC_MESSAGES/django.po")
PLACE = re.compile(r"%(?:\(\w+\))?[sdf]|\{\w+\}")


class Command(BaseCommand):
    help = "Fails when a text of the interface has no translation, or the compiled catalogue is another one."
    # Reads files only.
    needs_database = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--update", action="store_true", help="add new texts, drop old ones, compile")

    def handle(self, *args: Any, update: bool, **options: Any) -> None:
        catalogue = settings.BASE_DIR / CATALOGUE
        wanted = messages_below(settings.BASE_DIR / folder for folder in FOLDERS)
        po = polib.pofile(str(catalogue), wrapwidth=100)
        if update:
            bring_up_to_date(po, wanted)
            po.save(str(catalogue))
            po.save_as_mofile(str(catalogue.with_suffix(".mo")))
        wrong = list(faults(po, wanted, catalogue.with_suffix(".mo")))
        if wrong:
            raise CommandError("\n".join(wrong), returncode=1)
        self.stdout.write(f"{len(po)} texts, all translated.")


def key_of(entry: polib.POEntry) -> Message:
    return Message(entry.msgctxt or "", entry.msgid, entry.msgid_plural or "")


def bring_up_to_date(po: polib.POFile, wanted: dict[Message, str]) -> None:
    for entry in [entry for entry in po if key_of(entry) not in wanted]:
        po.remove(entry)
    known = {key_of(entry) for entry in po}
    for message in wanted.keys() - known:
        entry = polib.POEntry(msgid=message.text, msgctxt=message.context or None, msgid_plural=message.plural)
        if message.plural:
            entry.msgstr_plural = {0: ""}
        po.append(entry)
    po.sort(key=lambda entry: (entry.msgid, entry.msgctxt or ""))


def faults(po: polib.POFile, wanted: dict[Message, str], compiled: Path) -> Iterator[str]:
    known = {key_of(entry): entry for entry in po if not entry.obsolete}
    for message in sorted(wanted.keys() - known.keys()):
        yield f"missing: {message!s} ({wanted[message]})"
    for message in sorted(known.keys() - wanted.keys()):
        yield f"no longer used: {message!s}"
    for message, entry in known.items():
        if not entry.translated():
            yield f"{'fuzzy' if entry.fuzzy else 'not translated'}: {message!s}"
        elif fault := misplaced(entry):
            yield fault
    if not compiled.exists() or content(polib.mofile(str(compiled))) != content(po):
        yield f"{compiled.name} is not compiled from {compiled.stem}.po: run `manage.py check_translations --update`."


def misplaced(entry: polib.POEntry) -> str:
    """A placeholder that only one of the two texts has. A plural's singular may do without its number."""
    given = set(PLACE.findall(entry.msgid_plural or entry.msgid))
    texts = entry.msgstr_plural.values() if entry.msgid_plural else [entry.msgstr]
    bad = any(set(PLACE.findall(text)) != given for text in texts)
    return f"placeholders differ: {entry.msgid}" if bad else ""


def content(catalogue: polib.POFile | polib.MOFile) -> dict[Message, list[str]]:
    """What a reader gets: every text that has a translation."""
    told = {key_of(entry): [entry.msgstr, *entry.msgstr_plural.values()] for entry in catalogue if not entry.obsolete}
    return {message: texts for message, texts in told.items() if any(texts) and message.text}
