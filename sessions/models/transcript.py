"""A transcript file and how far it has been read (spec S2). The file is never written here."""

from __future__ import annotations

from django.db import models


class Transcript(models.Model):
    class Kind(models.TextChoices):
        MAIN = "main"
        SUBAGENT = "subagent"
        # Read, but no session: only metadata, only side chains, or no transcript at all.
        OTHER = "other"

    host = models.CharField(max_length=80)
    root = models.TextField()
    path = models.TextField()
    kind = models.CharField(max_length=10, choices=Kind)
    # For a subagent's file: the session it ran for, as its path or its lines say.
    parent_session_id = models.CharField(max_length=200, blank=True, default="", db_index=True)

    device = models.BigIntegerField(default=0)
    inode = models.DecimalField(max_digits=20, decimal_places=0, default=0)
    # Bytes and nanoseconds as last seen; `offset` is the first byte not read yet.
    size = models.BigIntegerField(default=0)
    modified_ns = models.BigIntegerField(default=0)
    offset = models.BigIntegerField(default=0)
    lines = models.BigIntegerField(default=0)
    # Digests of the first bytes and of the last bytes before `offset`: a replaced file shows here.
    head_digest = models.CharField(max_length=32, blank=True, default="")
    tail_digest = models.CharField(max_length=32, blank=True, default="")

    # What the indexer carries from one reading to the next, see `sessions.core.batches.State`.
    state = models.JSONField(default=dict)

    events = models.IntegerField(default=0)
    bad_lines = models.IntegerField(default=0)
    # At most 50 of {"line": 1-based, "offset": bytes, "reason": str}.
    bad_samples = models.JSONField(default=list)
    # Why the file could not be read, in words for the operator; empty when all is well.
    trouble = models.TextField(blank=True, default="")
    missing_since = models.DateTimeField(null=True, blank=True)
    indexed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "path"], name="one_row_per_transcript")]
        indexes = [models.Index(fields=["device", "inode"], name="transcript_inode")]

    def __str__(self) -> str:
        return self.path
