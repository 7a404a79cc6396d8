"""The runbook as live checks (spec O3); each says what it saw and what to do. Later capabilities add their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from sessions.actions import backups, health, runs
from sessions.gateways.new_file import aside_files
from sessions.gateways.transcripts import Trouble, discover
from sessions.models import Transcript, Window

PASS, WARN, FAIL = "pass", "warn", "fail"
LEAST_FREE = 500 * 1024 * 1024
NAMED = 3


@dataclass(frozen=True, slots=True)
class Check:
    """One finding: `status` is pass, warn or fail; `fix` is empty where nothing is to be done."""

    check: str
    status: str
    detail: str
    fix: str = ""


def run_checks() -> list[Check]:
    """Every check, in the order of the runbook. One that breaks is a failed check, not an error."""
    found: list[Check] = []
    for check in CHECKS:
        try:
            found += check()
        except Exception as fault:  # noqa: BLE001 - the doctor has to finish its round
            found.append(Check(check.__name__, FAIL, f"{type(fault).__name__}: {fault}"))
    return found


def database() -> Iterator[Check]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_setting('server_version'), extversion FROM pg_extension WHERE extname = 'vector'"
        )
        row = cursor.fetchone()
    if row is None:
        yield Check("database", FAIL, _("pgvector is missing."), _("Install pgvector for this server, then `migrate`."))
    else:
        yield Check("database", PASS, f"PostgreSQL {row[0]}, pgvector {row[1]}")


def broker() -> Iterator[Check]:
    if health.is_alive("watcher") is None:
        yield Check("broker", FAIL, _("Valkey does not answer."), _("Start the console, or check REDIS_URL."))
    else:
        yield Check("broker", PASS, _("Valkey answers."))


def processes() -> Iterator[Check]:
    for name in ("watcher", "worker"):
        alive = health.is_alive(name)
        if alive:
            yield Check(name, PASS, _("Gave a sign of life just now."))
        else:
            yield Check(name, WARN, _("No sign of life lately."), _("Start the console with `make run`; see its logs."))


def roots() -> Iterator[Check]:
    for root in settings.ENV.roots:
        if not root.exists():
            yield Check(
                "projects-root", WARN, _("%(root)s does not exist.") % {"root": root},
                _("Talk to Claude Code once, or set COMPANION_PROJECTS_ROOT."),
            )  # fmt: skip
        elif not os.access(root, os.R_OK | os.X_OK):
            yield Check(
                "projects-root", FAIL, _("%(root)s cannot be read.") % {"root": root},
                _("Check who owns the folder and its mode."),
            )  # fmt: skip
        else:
            yield Check("projects-root", PASS, str(root))


def folders() -> Iterator[Check]:
    """What a look into the roots cannot see."""
    blind = [
        f"{item.path}: {item.reason}"
        for root in settings.ENV.roots
        if root.exists()
        for item in discover(root)
        if isinstance(item, Trouble)
    ]
    if blind:
        names = ", ".join(blind[:NAMED]) + (" …" if len(blind) > NAMED else "")
        yield Check("unreadable-folders", FAIL, names, _("Check owner and mode of these folders."))
    else:
        yield Check("unreadable-folders", PASS, _("None."))


def transcripts() -> Iterator[Check]:
    here = Transcript.objects.filter(host=settings.ENV.host_name)
    yield from _named(
        "unreadable-transcripts", here.exclude(trouble=""), FAIL, _("Check owner and mode of these files.")
    )
    gone = here.filter(kind=Transcript.Kind.MAIN).exclude(missing_since=None)
    yield from _named(
        "missing-transcripts", gone, WARN, _("The client deletes sessions after 30 days; see cleanupPeriodDays.")
    )


def _named(check: str, found: QuerySet[Transcript], status: str, fix: str) -> Iterator[Check]:
    paths = list(found.order_by("pk").values_list("path", flat=True)[: NAMED + 1])
    if not paths:
        yield Check(check, PASS, _("None."))
        return
    names = ", ".join(Path(path).name for path in paths[:NAMED])
    yield Check(check, status, names + (" …" if len(paths) > NAMED else ""), fix)


def bad_lines() -> Iterator[Check]:
    bad = Window.objects.filter(bad_lines__gt=0)
    count = bad.count()
    if not count:
        yield Check("bad-lines", PASS, _("None."))
        return
    detail = ngettext(
        "%(count)d session has lines that nobody can read.",
        "%(count)d sessions have lines that nobody can read.",
        count,
    )
    yield Check(
        "bad-lines",
        WARN,
        detail % {"count": count},
        _("They are skipped and shown on the session's page; nothing else is lost."),
    )


def data_folder() -> Iterator[Check]:
    folder = settings.ENV.data
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        yield Check(
            "disk",
            FAIL,
            _("%(free)d MB free below %(folder)s.") % {"free": free >> 20, "folder": folder},
            _("Free some space."),
        )
    else:
        yield Check("disk", PASS, _("%(free)d MB free below %(folder)s.") % {"free": free >> 20, "folder": folder})
    if folder.stat().st_mode & 0o077:
        yield Check(
            "data-folder", WARN, _("Others can look into %(folder)s.") % {"folder": folder}, f"chmod 700 {folder}"
        )  # fmt: skip
    else:
        yield Check("data-folder", PASS, str(folder))


def unfinished_runs() -> Iterator[Check]:
    """Runs that nobody works on though they are not over."""
    left = runs.heal()
    if not left:
        yield Check("unfinished-runs", PASS, _("None."))
        return
    names = ", ".join(str(run.pk)[:8] for run in left[:NAMED]) + (" …" if len(left) > NAMED else "")
    fix = _("A running console takes them up again; `apply` does so without one, `cancel` drops them.")
    yield Check("unfinished-runs", WARN, names, fix)


def set_aside() -> Iterator[Check]:
    """New sessions that were written and must not be resumed."""
    files = aside_files(settings.ENV.data)
    if not files:
        yield Check("set-aside", PASS, _("None."))
        return
    names = ", ".join(path.name for path in files[:NAMED]) + (" …" if len(files) > NAMED else "")
    fix = _("Their old windows are as they were. Look at the runs, then remove the files from %(folder)s.")
    yield Check("set-aside", WARN, names, fix % {"folder": files[0].parent})


def last_backup() -> Iterator[Check]:
    """Is the newest copy still what was written?"""
    backup = backups.here().order_by("-created_at", "-pk").first()
    if backup is None:
        yield Check("last-backup", PASS, _("None yet."))
    elif backups.verify(backup):
        yield Check("last-backup", PASS, backup.path)
    else:
        fix = _("Check the disk. `backups --verify` reads all of them.")
        yield Check("last-backup", FAIL, f"{backup.path}: {backup.trouble}", fix)


CHECKS: tuple[Callable[[], Iterator[Check]], ...] = (
    database, broker, processes, roots, folders, transcripts, bad_lines, data_folder, unfinished_runs, set_aside,
    last_backup,
)  # fmt: skip
