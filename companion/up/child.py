"""What the supervisor's children run: `python -m companion.up.child NAME PARENT [SOCKET]`.

Each is tied to the supervisor first, so that none is left when it is killed.
"""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from companion.up import process

if TYPE_CHECKING:
    from celery import Celery

CONCURRENCY = 2
GRACEFUL_SECONDS = 3


def ready_path(run: Path, name: str) -> Path:
    """Where a child that serves no port writes its process number once it works."""
    return run / f"{name}.ready"


def web(door: int) -> None:
    import uvicorn

    from companion import env

    config = uvicorn.Config(
        "companion.asgi:application",
        server_header=False,
        # The access log would keep the sign-in links (security row 4).
        access_log=False,
        log_config=None,
        proxy_headers=bool(env.read().public_url),
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=door)])


def worker() -> None:
    from celery import signals
    from django.conf import settings

    app = _celery()
    signals.worker_ready.connect(_mark("worker"), weak=False)
    # Without it the pool outlives a worker that is killed.
    signals.worker_process_init.connect(_tie_to_worker, weak=False)
    app.worker_main(
        [
            *("worker", "--pool=prefork", f"--concurrency={CONCURRENCY}", "--loglevel=INFO"),
            *(f"--queues={settings.CELERY_TASK_DEFAULT_QUEUE}", f"--hostname=worker@{settings.ENV.host_name}"),
            *("--without-gossip", "--without-mingle"),
        ]
    )


def beat() -> None:
    from celery import signals
    from django.conf import settings

    app = _celery()
    signals.beat_init.connect(_mark("beat"), weak=False)
    app.Beat(schedule=str(settings.ENV.data / "beat.schedule"), loglevel="INFO", quiet=True).run()


def watch() -> None:
    from companion.up.commandline import run

    sys.exit(run(["manage.py", "watch"]))


def _celery() -> "Celery":
    import django

    django.setup()
    from companion.celery import app

    return app


def _mark(name: str) -> Callable[..., None]:
    from django.conf import settings

    def mark(**_: object) -> None:
        ready_path(settings.ENV.run, name).write_text(str(os.getpid()))

    return mark


def _tie_to_worker(**_: object) -> None:
    process.end_with_parent(os.getppid())


def main(name: str, parent: int, *rest: str) -> None:
    process.end_with_parent(parent)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "companion.settings")
    if name == "web":
        web(int(rest[0]))
    else:
        {"worker": worker, "beat": beat, "watch": watch}[name]()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
