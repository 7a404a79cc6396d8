"""Load and remove the demo companion (spec X6): files written anew, indexed as any others, rows marked; and away again.

Both may be done twice, and after a half-done one: what is missing is made, what is left over is cleared. Other
companions are never touched, whatever they are called.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.live import announce
from companion.lib.refusals import Refusal
from sessions.actions.index import index_all
from sessions.core.demo import words
from sessions.core.demo.files import PROJECT, files
from sessions.core.demo.script import FOLDER
from sessions.gateways import demo_files
from sessions.models import Companion, Event, Transcript, UsagePoint, Utterance, Window, WordsCursor

# One loader or remover at a time, whichever process it runs in.
LOCK = 0x64656D6F


@dataclass(frozen=True, slots=True)
class Demo:
    """How the demo stands: its name, windows and human messages. `changed`: did the call find or leave anything?"""

    companion: str
    sessions: int
    human_messages: int
    loaded: bool
    changed: bool = False


def load_demo(now: datetime | None = None) -> Demo:
    """Writes the demo as of `now` and indexes it. Raises Refusal: the folder's name is taken, or cannot be written."""
    wanted = files(now or timezone.now(), settings.ENV.zone)
    with _alone():
        companion = _companion()
        _forget_what_is_gone()
        with _refusing(_("The demo's files cannot be written.")):
            demo_files.write(settings.ENV.data, wanted)
        index_all([demo_files.projects_root(settings.ENV.data)], full=True)
    announce("companion", companion.pk)
    return status(changed=True)


def remove_demo() -> Demo:
    """Takes the demo's rows and its folder away; nothing else. Raises Refusal where its folder cannot be removed."""
    with _alone():
        had_rows = _forget()
        with _refusing(_("The demo's files cannot be removed.")):
            had_files = demo_files.remove(settings.ENV.data)
    return status(changed=had_rows or had_files)


def status(*, changed: bool = False) -> Demo:
    companion = _demos().first()
    windows = Window.objects.filter(companion__in=_demos())
    said = windows.aggregate(said=Sum("human_messages"))["said"] or 0
    name = companion.name if companion else words.COMPANION
    return Demo(name, windows.count(), said, companion is not None, changed)


def _demos() -> QuerySet[Companion]:
    return Companion.objects.filter(host=settings.ENV.host_name, is_demo=True)


@transaction.atomic
def _companion() -> Companion:
    """The demo's own row, marked before anything is indexed: what is half-done can be told from what is the operator's."""
    here = Companion.objects.filter(host=settings.ENV.host_name, project=PROJECT)
    if here.filter(is_demo=False).exists():
        raise Refusal(
            "folder-taken",
            _("A companion of yours already has the project folder %(folder)s.") % {"folder": PROJECT},
            _("Nothing was changed. The demo needs that name for itself."),
        )
    values = {"name": words.COMPANION, "cwd": FOLDER, "is_demo": True}
    return Companion.objects.update_or_create(host=settings.ENV.host_name, project=PROJECT, defaults=values)[0]


def _transcripts() -> QuerySet[Transcript]:
    root = demo_files.projects_root(settings.ENV.data)
    here = Transcript.objects.filter(host=settings.ENV.host_name)
    return here.filter(Q(root=str(root)) | Q(window__companion__in=_demos()))


@transaction.atomic
def _forget_what_is_gone() -> None:
    """Rows of demo files that are no longer there: a removal that was cut short, or a folder emptied by hand."""
    gone = [row.pk for row in _transcripts().only("path") if not Path(row.path).exists()]
    _delete(Transcript.objects.filter(pk__in=gone))


@transaction.atomic
def _forget() -> bool:
    companions = list(_demos())
    windows = list(Window.objects.filter(companion__in=companions).values_list("pk", flat=True))
    deleted = _delete(_transcripts())
    _demos().delete()
    announce("window", *windows)
    announce("companion", *(companion.pk for companion in companions))
    return deleted or bool(companions)


def _delete(transcripts: QuerySet[Transcript]) -> bool:
    """Transcripts with what was read of them: events, usage, words, windows."""
    keys = list(transcripts.values_list("pk", flat=True))
    # Whoever is reading one of these has to end first, or what it writes would be left without a file.
    list(Transcript.objects.select_for_update().filter(pk__in=keys).order_by("pk"))
    list(WordsCursor.objects.select_for_update().filter(pk__in=keys).order_by("pk"))
    Event.objects.filter(transcript_id__in=keys).delete()
    UsagePoint.objects.filter(transcript_id__in=keys).delete()
    Utterance.objects.filter(transcript_id__in=keys).delete()
    Window.objects.filter(transcript_id__in=keys).delete()
    Transcript.objects.filter(pk__in=keys).delete()
    return bool(keys)


@contextmanager
def _alone() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])


@contextmanager
def _refusing(message: str) -> Iterator[None]:
    """A file that cannot be had, in words for the operator."""
    try:
        yield
    except OSError as fault:
        hint = _("Check who owns the data folder and whether the disk is full, then try again.")
        raise Refusal("demo-files", f"{message} ({fault})", hint) from fault
