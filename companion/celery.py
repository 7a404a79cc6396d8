"""Celery: one app, JSON only, one queue per host that holds transcripts (spec X4)."""

from celery import Celery

app = Celery("companion")
app.config_from_object("django.conf:settings", namespace="CELERY")
# By the names of the apps, which Celery asks Django for: INSTALLED_APPS names their configurations.
app.autodiscover_tasks()
