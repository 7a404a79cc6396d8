"""Signs of life of the processes around the web server, kept in the broker for as long as they are fresh."""

from __future__ import annotations

import functools
import logging

import redis
from django.conf import settings
from django.utils import timezone

log = logging.getLogger(__name__)
# Seconds after which a silent process counts as gone.
FRESH = {"watcher": 20, "worker": 150}


@functools.cache
def _broker() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)


def beat(name: str) -> None:
    """Says that a process lives. A broker that is down is no reason to stop working."""
    try:
        _broker().set(_key(name), timezone.now().isoformat(), ex=FRESH[name])
    except redis.RedisError as fault:
        log.debug("no sign of life: %s", fault)


def gone(name: str) -> None:
    """Takes the sign of life back, at the end."""
    try:
        _broker().delete(_key(name))
    except redis.RedisError as fault:
        log.debug("no last sign: %s", fault)


def is_alive(name: str) -> bool | None:
    """Was there a sign of life lately? None where the broker cannot be asked."""
    try:
        return bool(_broker().exists(_key(name)))
    except redis.RedisError:
        return None


def _key(name: str) -> str:
    return f"companion:alive:{settings.ENV.host_name}:{name}"
