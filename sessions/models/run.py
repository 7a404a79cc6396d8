"""A run: one diet or forge of a window, from its plan to its end (spec W6-W12). The row is the job."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.functions import Cast
from django.utils import timezone

if TYPE_CHECKING:
    from sessions.models.companion import Companion
    from sessions.models.window import Window


class RunQuerySet(models.QuerySet["Run"]):
    def by_prefix(self, prefix: str) -> RunQuerySet:
        return self.annotate(id_text=Cast("id", models.TextField())).filter(id_text__startswith=prefix.lower())

    def unfinished(self) -> RunQuerySet:
        """Queued or under way; whether anybody still works on one, its lock tells."""
        return self.filter(status__in=[Run.Status.QUEUED, Run.Status.RUNNING])

    def latest_first(self) -> RunQuerySet:
        return self.order_by("-created_at", "-pk")


class Run(models.Model):
    class Kind(models.TextChoices):
        DIET = "diet"
        FORGE = "forge"

    class Status(models.TextChoices):
        PLANNED = "planned"
        # Handed to the worker and not begun: shown as running.
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        EXPORTED = "exported"
        FAILED = "failed"
        STALE = "stale"
        CANCELLED = "cancelled"
        ROLLED_BACK = "rolled_back"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=Kind)
    status = models.CharField(max_length=12, choices=Status, default=Status.PLANNED, db_index=True)
    # Plain copies of the names stand beside the keys: a run outlives the rows it was about.
    window_id: int | None
    window: models.ForeignKey[Window | None, Window | None] = models.ForeignKey(
        "agent_sessions.Window", on_delete=models.SET_NULL, null=True, related_name="runs"
    )
    companion_id: int | None
    companion: models.ForeignKey[Companion | None, Companion | None] = models.ForeignKey(
        "agent_sessions.Companion", on_delete=models.SET_NULL, null=True, related_name="runs"
    )
    host = models.CharField(max_length=80)
    source_session_id = models.CharField(max_length=200, db_index=True)
    source_path = models.TextField()
    # Of the whole file as it was planned: hex SHA-256 and bytes.
    source_sha256 = models.CharField(max_length=64)
    source_size = models.BigIntegerField()
    # Named before anything is written.
    target_session_id = models.CharField(max_length=200, db_index=True)
    target_path = models.TextField()
    # Of the file as it was written, before anybody talked in it; empty until then.
    target_sha256 = models.CharField(max_length=64, blank=True, default="")
    target_size = models.BigIntegerField(default=0)

    # What was asked for, as `sessions.actions.propose.Wish` writes it.
    wish = models.JSONField(default=dict)
    # What will be done, as `sessions.core.plan.Plan` writes it.
    plan = models.JSONField(default=dict)
    # The text that is injected, fenced; empty for none. `handoff_origin`: draft, edited, file or summary.
    handoff = models.TextField(blank=True, default="")
    handoff_origin = models.CharField(max_length=10, blank=True, default="")
    # [{"code": …, values…}], see `sessions.actions.sentences`.
    warnings = models.JSONField(default=list)
    is_export_only = models.BooleanField(default=False)
    is_forced = models.BooleanField(default=False)
    with_backup = models.BooleanField(default=True)

    # [{"name", "status": running·ok·warning·failed·skipped, "seconds", "detail": {"code", values…}}] in order.
    steps = models.JSONField(default=list)
    cancel_asked = models.BooleanField(default=False)
    rehearsal = models.JSONField(default=dict)
    hold = models.JSONField(default=dict)
    rebind = models.JSONField(default=dict)
    # {"code", values…} of what ended it badly; empty otherwise.
    error = models.JSONField(default=dict)

    used_before = models.IntegerField(default=0)
    used_after = models.IntegerField(default=0)
    window_tokens = models.IntegerField(default=0)

    created_at = models.DateTimeField(default=timezone.now)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["-created_at"], name="run_latest"),
            models.Index(fields=["companion", "-created_at"], name="run_of_companion"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @property
    def is_over(self) -> bool:
        return self.status not in {self.Status.PLANNED, self.Status.QUEUED, self.Status.RUNNING}

    def move(self, *sources: str, to: str, **values: Any) -> bool:
        """Changes the status if it is one of `sources`; True for the one caller who did it."""
        changed = Run.objects.filter(pk=self.pk, status__in=sources).update(status=to, **values)
        if changed:
            self.status = to
            for name, value in values.items():
                setattr(self, name, value)
        return changed == 1
