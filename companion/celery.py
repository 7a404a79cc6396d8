"""Celery: one app, JSON only, one queue per host that holds transcripts (spec X4)."""

from celery import Celery
from django.conf import settings

app = Celery("companion")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(lambda: settings.INSTALLED_APPS)
