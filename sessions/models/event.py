"""Chain lines of a transcript and the usage they carry. Texts stay in the file; a row says where to read them."""

from __future__ import annotations

from django.db import models

ANCHORED = models.Q(kind__in=["h", "q"], idx__isnull=False)


class EventQuerySet(models.QuerySet["Event"]):
    def anchors(self) -> EventQuerySet:
        """What a person typed on the live thread (spec S5)."""
        return self.filter(ANCHORED)


class Event(models.Model):
    """One chain line (it has a uuid). `seq` is its 0-based line number in the file."""

    pk = models.CompositePrimaryKey("transcript_id", "seq")
    # No constraint in the database: it would cost more than the row itself, half a million times.
    transcript = models.ForeignKey(
        "agent_sessions.Transcript", on_delete=models.CASCADE, db_index=False, db_constraint=False
    )
    seq = models.IntegerField()
    offset = models.BigIntegerField()
    length = models.IntegerField()
    uuid = models.TextField()
    parent_uuid = models.TextField(null=True)
    # One letter, see `sessions.core.events.Kind`.
    kind = models.CharField(max_length=1)
    # A subagent's line inside the main file, or in a file of its own.
    side = models.BooleanField(default=False)
    # On the live thread; what is not, a rewind left behind.
    live = models.BooleanField(default=False)
    # Position among the dialogue events of the live thread; null for everything else.
    idx = models.IntegerField(null=True)
    at = models.DateTimeField(null=True)
    message_id = models.TextField(null=True)
    preview = models.TextField(null=True)
    # Estimated tokens by part (transcripts.md, section 2), before the session's calibration.
    dialogue = models.IntegerField(default=0)
    thinking = models.IntegerField(default=0)
    tool_use = models.IntegerField(default=0)
    tool_results = models.IntegerField(default=0)
    images = models.IntegerField(default=0)
    injected = models.IntegerField(default=0)
    other = models.IntegerField(default=0)

    objects = EventQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["transcript", "uuid"], name="event_uuid"),
            models.Index(fields=["transcript", "idx"], name="event_anchor", condition=ANCHORED),
            models.Index(fields=["transcript", "at"], name="event_anchor_time", condition=ANCHORED),
        ]

    def __str__(self) -> str:
        return f"{self.transcript_id}:{self.seq}"


class UsagePoint(models.Model):
    """The usage one API message reported, in tokens. One row per message of a file: its last line wins."""

    pk = models.CompositePrimaryKey("transcript_id", "message_id")
    transcript = models.ForeignKey(
        "agent_sessions.Transcript", on_delete=models.CASCADE, db_index=False, db_constraint=False
    )
    message_id = models.TextField()
    seq = models.IntegerField()
    at = models.DateTimeField(null=True)
    model = models.CharField(max_length=120)
    input = models.IntegerField()
    cache_creation = models.IntegerField()
    cache_read = models.IntegerField()
    output = models.IntegerField()
    # False for side chains, synthetic and error answers, and what a rewind left behind.
    is_live = models.BooleanField(default=True)

    class Meta:
        indexes = [models.Index(fields=["transcript", "seq"], name="usage_in_order")]

    def __str__(self) -> str:
        return f"{self.message_id}: {self.context}"

    @property
    def context(self) -> int:
        """Tokens that filled the window when this message was asked for; output excluded (spec S3)."""
        return self.input + self.cache_creation + self.cache_read
