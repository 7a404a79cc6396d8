"""Whether the operator's own Valkey or Redis answers, asked once before the console starts."""

from urllib.parse import urlsplit

from companion.env import Environment
from companion.lib.refusals import Refusal

SECONDS = 5


def check_broker(environment: Environment) -> None:
    if not environment.redis_url:
        return
    import redis

    client = redis.Redis.from_url(environment.redis_url, socket_timeout=SECONDS, socket_connect_timeout=SECONDS)
    try:
        client.ping()
    except redis.RedisError as error:
        raise Refusal(
            "broker-unreachable",
            f"The server at {_place(environment.redis_url)} cannot be reached: {str(error).splitlines()[0]}",
            "Start it or correct REDIS_URL; without it the console starts its own.",
        ) from None
    finally:
        client.close()


def _place(url: str) -> str:
    """Without the password."""
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port or 6379}" if parts.hostname else parts.path
