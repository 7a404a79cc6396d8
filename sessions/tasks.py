"""Doors from the queue: one id in, one call, no logic."""

import logging

from celery import shared_task
from django.core.cache import cache
from django.utils import translation
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from companion.lib.refusals import Refusal
from sessions.actions import demo, health, index, runs, utterances
from sessions.actions.carry_out import carry_out
from sessions.models import Run

log = logging.getLogger(__name__)
WORDS_QUEUED = "words-queued"
# Seconds after which a message that never arrived is forgotten.
FORGOTTEN_AFTER = 30
# What the demo is being brought to, and why that was refused; forgotten after as many seconds.
DEMO, DEMO_REFUSED = "demo-work", "demo-refused"
DEMO_FORGOTTEN_AFTER = 120
# Seconds of one pass over words; the rest waits behind what else is queued.
PASS = 2.0
# Seconds after which a run is ended from inside, and from outside; and between two nudges of one that waits.
RUN_SECONDS, RUN_SECONDS_AT_MOST = 1_500, 1_700
NUDGED_EVERY = 120


@shared_task(ignore_result=True)
def index_all() -> None:
    """The sweep: whatever the watcher missed."""
    health.beat("worker")
    index.index_all()
    queue_words()
    nudge_runs()


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


@shared_task(ignore_result=True)
def change_demo(verb: str, language: str) -> None:
    """Loads or removes the demo; a refusal waits for whoever asked, in their language."""
    with translation.override(language):
        try:
            demo.load_demo() if verb == "load" else demo.remove_demo()
        except Refusal as refusal:
            cache.set(DEMO_REFUSED, [refusal.message, refusal.hint], timeout=DEMO_FORGOTTEN_AFTER)
        finally:
            cache.delete(DEMO)
    queue_words()


def queue_demo(verb: str, language: str) -> bool:
    """Hands a change of the demo to the worker; False where none lives, for the asker to do it in place."""
    if not health.is_alive("worker"):
        return False
    try:
        cache.delete(DEMO_REFUSED)
        if cache.add(DEMO, verb, timeout=DEMO_FORGOTTEN_AFTER):
            change_demo.delay(verb, language)
    except (RedisError, OperationalError) as fault:
        log.warning("the demo is changed in place: %s", fault)
        return False
    return True


def demo_work() -> tuple[str, list[str]]:
    """What the demo is being brought to ("" for nothing), and message and hint of the last refusal."""
    try:
        return cache.get(DEMO) or "", cache.get(DEMO_REFUSED) or []
    except RedisError:
        return "", []


@shared_task(ignore_result=True, acks_late=True, soft_time_limit=RUN_SECONDS, time_limit=RUN_SECONDS_AT_MOST)
def carry_out_run(run_id: str) -> None:
    """The row is the job: a message too many finds it over, or its session's lock held."""
    try:
        carry_out(run_id)
    except Refusal as refusal:
        log.info("run %s waits: %s", run_id, refusal.message)


def queue_run(run: Run) -> bool:
    """Hands a planned run to the worker; False where none lives, for the asker to carry it out in place. Twice is once."""
    if not health.is_alive("worker"):
        return False
    if not run.move(Run.Status.PLANNED, to=Run.Status.QUEUED):
        run.refresh_from_db(fields=["status"])
        return not run.is_over
    try:
        carry_out_run.delay(str(run.pk))
    except (RedisError, OperationalError) as fault:
        log.warning("the run is carried out in place: %s", fault)
        run.move(Run.Status.QUEUED, to=Run.Status.PLANNED)
        return False
    return True


def nudge_runs(*, at_once: bool = False) -> None:
    """Hands runs over again that nobody works on, each once in a while; `at_once` where a worker has just begun to live."""
    for run in runs.heal():
        try:
            key = f"run-nudged-{run.pk}"
            if cache.add(key, 1, timeout=NUDGED_EVERY) or at_once:
                carry_out_run.delay(str(run.pk))
        except (RedisError, OperationalError) as fault:
            log.warning("run %s waits for the next sweep: %s", run.pk, fault)
