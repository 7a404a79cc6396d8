"""A companion: one persona with its windows (glossary). Made from a project folder, confirmed by the operator."""

from __future__ import annotations

from django.db import models


class CompanionQuerySet(models.QuerySet["Companion"]):
    def in_reading_order(self) -> CompanionQuerySet:
        """Confirmed ones first, then by latest word."""
        return self.order_by("-confirmed", models.F("last_activity").desc(nulls_last=True), "name", "pk")


class Companion(models.Model):
    name = models.CharField(max_length=120)
    # The host and project folder whose windows are this companion's; a binding joins them later.
    host = models.CharField(max_length=80)
    project = models.CharField(max_length=400)
    # The working folder as the transcripts say it; empty until one was read.
    cwd = models.TextField(blank=True, default="")
    confirmed = models.BooleanField(default=False)
    is_demo = models.BooleanField(default=False)
    last_activity = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CompanionQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "project"], name="one_companion_per_project")]

    def __str__(self) -> str:
        return self.name
