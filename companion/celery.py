"""Celery: one app, JSON only, one queue per host that holds transcripts (spec X4)."""

from celery import Celery
from celery.signals import worker_ready, worker_shutdown

app = Celery("companion")
app.config_from_object("django.conf:settings", namespace="CELERY")
# By the names of the apps, which Celery asks Django for: INSTALLED_APPS names their configurations.
app.autodiscover_tasks()


@worker_ready.connect
def give_a_sign_of_life(**_: object) -> None:
    """The doctor need not wait for the first sweep."""
    from sessions.actions import health

    health.beat("worker")


@worker_ready.connect
def take_up_runs(**_: object) -> None:
    """What a worker before this one has left need not wait for the first sweep."""
    from django.db import connections

    from sessions import tasks

    tasks.nudge_runs(at_once=True)
    # The processes of the pool are forked from this one.
    connections.close_all()


@worker_shutdown.connect
def say_goodbye(**_: object) -> None:
    """Whoever asks next does the work in place instead of waiting for nobody."""
    from sessions.actions import health

    health.gone("worker")
