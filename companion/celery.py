"""Celery: one app, JSON only, one queue per host that holds transcripts (spec X4)."""

from celery import Celery
from celery.signals import worker_ready

app = Celery("companion")
app.config_from_object("django.conf:settings", namespace="CELERY")
# By the names of the apps, which Celery asks Django for: INSTALLED_APPS names their configurations.
app.autodiscover_tasks()


@worker_ready.connect
def give_a_sign_of_life(**_: object) -> None:
    """The doctor need not wait for the first sweep."""
    from sessions.actions import health

    health.beat("worker")
