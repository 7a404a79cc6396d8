"""A copy of a transcript made before a run (spec W8), and the metrics rows a run leaves (spec O1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils import timezone

if TYPE_CHECKING:
    from sessions.models.run import Run


class Backup(models.Model):
    session_id = models.CharField(max_length=200, db_index=True)
    source_path = models.TextField()
    path = models.TextField(unique=True)
    # Of the copy, as it was read back after it was written.
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    run_id: str | None
    run: models.ForeignKey[Run | None, Run | None] = models.ForeignKey(
        "agent_sessions.Run", on_delete=models.SET_NULL, null=True, related_name="backups"
    )
    created_at = models.DateTimeField(default=timezone.now)
    verified_at = models.DateTimeField(null=True, blank=True)
    # Why the copy can no longer be trusted: gone, changed, unreadable; empty when all is well.
    trouble = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        indexes = [models.Index(fields=["session_id", "-created_at"], name="backup_of_session")]

    def __str__(self) -> str:
        return self.path
