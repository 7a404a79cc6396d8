"""Doors from the queue: one id in, one call, no logic."""

from celery import shared_task

from sessions.actions import health, index


@shared_task(ignore_result=True)
def index_all() -> None:
    """The sweep: whatever the watcher missed."""
    health.beat("worker")
    index.index_all()
