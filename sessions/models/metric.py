"""What the pipeline did, one row for each decision or end (spec O1); the same lines stand in `metrics.jsonl`."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class Metric(models.Model):
    class Event(models.TextChoices):
        SKIP = "skip"
        TRIGGER = "trigger"
        OK = "ok"
        FAIL = "fail"

    at = models.DateTimeField(default=timezone.now)
    event = models.CharField(max_length=10, choices=Event)
    # diet or forge.
    kind = models.CharField(max_length=10)
    companion_id: int | None
    companion = models.ForeignKey(
        "agent_sessions.Companion", on_delete=models.SET_NULL, null=True, related_name="metrics"
    )
    run = models.ForeignKey("agent_sessions.Run", on_delete=models.SET_NULL, null=True, related_name="metrics")
    session_id = models.CharField(max_length=200, blank=True, default="")
    target_session_id = models.CharField(max_length=200, blank=True, default="")
    # Percent of the window before it, one decimal; tokens before and after.
    used_pct = models.FloatField(default=0.0)
    used_before = models.IntegerField(default=0)
    used_after = models.IntegerField(default=0)
    retain = models.IntegerField(null=True)
    hold = models.CharField(max_length=20, blank=True, default="")
    rebind = models.CharField(max_length=20, blank=True, default="")
    seconds = models.FloatField(default=0.0)
    # The status it ended with and the code of the reason, for `fail` and `skip`.
    status = models.CharField(max_length=12, blank=True, default="")
    reason = models.CharField(max_length=80, blank=True, default="")

    class Meta:
        indexes = [
            models.Index(fields=["companion", "-at"], name="metric_of_companion"),
            models.Index(fields=["-at"], name="metric_latest"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.kind} {self.event}"
