"""Doors from the queue: one id in, one call, no logic."""

import logging

from celery import shared_task
from django.core.cache import cache
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from sessions.actions import health, index, utterances

log = logging.getLogger(__name__)
WORDS_QUEUED = "words-queued"
# Seconds after which a message that never arrived is forgotten.
FORGOTTEN_AFTER = 30
# Seconds of one pass over words; the rest waits behind what else is queued.
PASS = 2.0


@shared_task(ignore_result=True)
def index_all() -> None:
    """The sweep: whatever the watcher missed."""
    health.beat("worker")
    index.index_all()
    queue_words()


@shared_task(ignore_result=True)
def catch_up_words() -> None:
    cache.delete(WORDS_QUEUED)
    if not utterances.catch_up_words(PASS).is_done:
        queue_words()


def queue_words() -> None:
    """Nudges whoever keeps words, once however many ask. A broker that is down costs a log line: the sweep asks again."""
    try:
        if cache.add(WORDS_QUEUED, 1, timeout=FORGOTTEN_AFTER):
            catch_up_words.delay()
    except (RedisError, OperationalError) as fault:
        log.warning("words wait for the sweep: %s", fault)
