"""A window: one Claude Code session with how full it is (spec S1, S3, S9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import F

if TYPE_CHECKING:
    from sessions.models.companion import Companion
    from sessions.models.transcript import Transcript


class WindowQuerySet(models.QuerySet["Window"]):
    def listed(self) -> WindowQuerySet:
        return self.select_related("companion", "transcript")

    def by_prefix(self, prefix: str) -> WindowQuerySet:
        """Windows whose session id starts so; one id may exist in two folders."""
        return self.filter(session_id__startswith=prefix).order_by("session_id", "pk")

    def latest_first(self) -> WindowQuerySet:
        return self.order_by(F("last_activity").desc(nulls_last=True), "-pk")


class Window(models.Model):
    companion_id: int
    companion: models.ForeignKey[Companion, Companion] = models.ForeignKey(
        "agent_sessions.Companion", on_delete=models.CASCADE, related_name="windows"
    )
    transcript: models.OneToOneField[Transcript, Transcript] = models.OneToOneField(
        "agent_sessions.Transcript", on_delete=models.CASCADE, related_name="window"
    )
    session_id = models.CharField(max_length=200, db_index=True)
    cwd = models.TextField(blank=True, default="")

    # Titles: the operator's own, then the client's custom title, its own guess, the first words (transcripts.md 1.2).
    own_title = models.CharField(max_length=200, blank=True, default="")
    file_title = models.CharField(max_length=400, blank=True, default="")
    guessed_title = models.CharField(max_length=400, blank=True, default="")
    first_words = models.CharField(max_length=400, blank=True, default="")
    # The title shown, kept beside its sources so that a list can sort and search it.
    title = models.CharField(max_length=400, blank=True, default="")
    is_pinned = models.BooleanField(default=False)
    is_archived = models.BooleanField(default=False)

    model = models.CharField(max_length=120, blank=True, default="")
    client_version = models.CharField(max_length=60, blank=True, default="")
    # Tokens. `window_override` is the operator's word; `window_tokens` what is reckoned with.
    window_override = models.IntegerField(null=True, blank=True)
    window_tokens = models.IntegerField(default=200_000)
    compacts_at = models.IntegerField(default=0)
    used_tokens = models.IntegerField(default=0)
    # Percent of the window, 0-100 and above, one decimal.
    used_percent = models.FloatField(default=0.0)
    is_estimated = models.BooleanField(default=True)
    most_used = models.IntegerField(default=0)
    # The session's own factor between estimate and reported usage; 1 until enough was seen.
    calibration = models.FloatField(default=1.0)

    events = models.IntegerField(default=0)
    dialogue_events = models.IntegerField(default=0)
    human_messages = models.IntegerField(default=0)
    bad_lines = models.IntegerField(default=0)
    compactions = models.IntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    last_activity = models.DateTimeField(null=True, blank=True)

    objects = WindowQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(F("last_activity").desc(nulls_last=True), F("id").desc(), name="window_latest"),
            # The order of the list as it opens: pinned first, then the latest.
            models.Index(
                F("is_pinned").desc(), F("last_activity").desc(nulls_last=True), F("id").desc(), name="window_in_list"
            ),
            models.Index(fields=["companion", "-last_activity"], name="window_of_companion"),
            models.Index(fields=["-used_percent"], name="window_fullest"),
        ]

    def __str__(self) -> str:
        return self.title or self.session_id

    @property
    def short_id(self) -> str:
        return self.session_id[:8]
