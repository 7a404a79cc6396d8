"""Backups of transcripts: made before a run, read back, kept by a policy (spec W8)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from sessions.gateways import backup_files
from sessions.gateways.disk import Sum
from sessions.models import Backup, Run

# How many copies of a session stay, and for how many days.
KEEP, DAYS = 5, 30


def back_up(run: Run, path: Path) -> Backup:
    """A copy of the run's source as it was planned; an earlier one of the same content is as good, if it still is whole.

    Raises `backup_files.Differs` where the source has changed, NotWritten, OSError.
    """
    now = timezone.now()
    earlier = backup_of(run)
    if earlier is not None:
        return earlier
    place = backup_files.place_of(settings.ENV.data, run.source_session_id, now, run.source_sha256)
    found = backup_files.copy(path, place, _expected(run))
    values = {
        "session_id": run.source_session_id,
        "source_path": run.source_path,
        "sha256": found.sha256,
        "size": found.size,
        "run": run,
        "created_at": now,
        "verified_at": now,
        "trouble": "",
    }
    return Backup.objects.update_or_create(path=str(place), defaults=values)[0]


def backup_of(run: Run) -> Backup | None:
    """The newest copy of exactly what this run was planned on, read through just now; None where there is none."""
    same = here().filter(session_id=run.source_session_id, sha256=run.source_sha256, size=run.source_size, trouble="")
    return next((backup for backup in same.order_by("-created_at", "-pk") if verify(backup)), None)


def here() -> QuerySet[Backup]:
    """The copies that lie on this host."""
    return Backup.objects.filter(Q(run=None) | Q(run__host=settings.ENV.host_name))


def _expected(run: Run) -> Sum:
    return Sum(run.source_sha256, run.source_size)


def verify(backup: Backup, *, thorough: bool = True) -> bool:
    """Is the copy still what was written? Its row remembers the answer. Not thorough: by its size, and by what was known."""
    trouble = backup_files.trouble_with(Path(backup.path), Sum(backup.sha256, backup.size), thorough=thorough)
    if thorough or trouble:
        backup.trouble = trouble[:200]
        backup.verified_at = backup.verified_at if trouble else timezone.now()
        Backup.objects.filter(pk=backup.pk).update(trouble=backup.trouble, verified_at=backup.verified_at)
    return not backup.trouble


def prune(keep: int = KEEP, days: int = DAYS) -> list[Backup]:
    """Removes copies beyond the newest `keep` of a session or older than `days`; answers those removed.

    What always stays: the newest good copy of every session (read through before others of it go), and one that stands
    for a file that is gone while a run of it could still be rolled back. Raises NotWritten.
    """
    oldest = timezone.now() - timedelta(days=days)
    gone: list[Backup] = []
    for session in here().order_by("session_id").values_list("session_id", flat=True).distinct():
        for backup in _dispensable(_copies(session), keep, oldest):
            backup_files.remove(Path(backup.path))
            Backup.objects.filter(pk=backup.pk).delete()
            gone.append(backup)
    return gone


def _copies(session: str) -> QuerySet[Backup]:
    return here().filter(session_id=session).order_by("-created_at", "-pk")


def _dispensable(copies: Iterable[Backup], keep: int, oldest: datetime) -> list[Backup]:
    """What may go of one session's copies, newest first."""
    good: list[Backup] = []
    bad: list[Backup] = []
    for backup in copies:
        (good if verify(backup, thorough=False) else bad).append(backup)
    surplus = [backup for place, backup in enumerate(good) if place >= keep or backup.created_at < oldest]
    if not surplus and not bad:
        return []
    last = next((backup for backup in good if verify(backup)), None)
    if last is None:
        return []
    needed = _needed(last.session_id)
    broken = [backup for backup in bad if backup.created_at < oldest or backup.trouble == "gone"]
    return [backup for backup in [*surplus, *broken] if backup.pk != last.pk and backup.sha256 not in needed]


def _needed(session: str) -> set[str]:
    """Digests of the copies that stand for a file that is gone while a run of it could still be rolled back."""
    open_to_it = [Run.Status.DONE, Run.Status.EXPORTED, Run.Status.QUEUED, Run.Status.RUNNING]
    runs = Run.objects.filter(source_session_id=session, status__in=open_to_it).values_list(
        "source_path", "source_sha256"
    )
    return {sha256 for path, sha256 in runs if not Path(path).exists()}
