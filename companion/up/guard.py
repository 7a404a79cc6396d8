"""The guard: a small process that owns one embedded server for everyone who uses it.

Run by `embedded` through `guard_start.py`, detached. Users hold `<name>.users` shared; once nobody
does, however they went, the guard stops its server and ends. It holds `<name>.guard` all its life: there is only one.
Nothing but the standard library is imported: it starts in a few hundredths of a second and stays small.
"""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Protocol

from companion.lib.refusals import Refusal
from companion.up import lock, logs, process
from companion.up.postgres import STILL_IN_USE, Postgres
from companion.up.refusal import document, storage_refused
from companion.up.valkey import Valkey

START_SECONDS = 120.0
STOP_SECONDS = 5.0
PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
RESTARTS = 5
HEALTHY_SECONDS = 60.0
POLL = 0.02


class Server(Protocol):
    """What a guard has to know of its server."""

    @property
    def name(self) -> str: ...
    @property
    def folder(self) -> Path: ...
    @property
    def log(self) -> Path: ...
    @property
    def run(self) -> Path: ...
    @property
    def stop_signal(self) -> signal.Signals: ...
    @property
    def last_resort(self) -> signal.Signals: ...
    def prepare(self) -> None: ...
    def command(self) -> list[str]: ...
    def is_ready(self, number: int) -> bool: ...
    def refusal(self, log_offset: int) -> Refusal: ...


SERVERS: dict[str, Callable[[Path, Path], Server]] = {"postgres": Postgres, "valkey": Valkey}


def server_named(name: str, data: Path, run: Path) -> Server:
    return SERVERS[name](data, run)


def status_path(run: Path, name: str) -> Path:
    return run / f"{name}.status"


@dataclass
class Guard:
    """One server, from its start to its clean stop."""

    server: Server
    events: SimpleQueue[str] = field(default_factory=SimpleQueue)
    child: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        try:
            self.report("starting")
            self.end_leftover()
            self.server.prepare()
            self.start()
            self.report("ready")
            self.watch_users()
            self.tend()
            self.report("stopping")
        except Refusal as refused:
            self.report("failed", refused)
            return 1
        except OSError as error:
            self.report("failed", storage_refused(error, self.server.folder))
            return 1
        finally:
            self.stop()
        return 0

    def report(self, state: str, refused: Refusal | None = None) -> None:
        """Written whole or not at all; where even that fails, waiting users see a guard that is gone."""
        path = status_path(self.server.run, self.server.name)
        aside = path.with_suffix(".new")
        aside.write_text(json.dumps({"state": state, **(document(refused) if refused else {})}))
        os.replace(aside, path)

    def start(self) -> None:
        """What a killed server has left behind, a running query for one, is ended as the server would have done."""
        for pause in PAUSES:
            try:
                return self.start_once()
            except Refusal as refused:
                if refused.code != STILL_IN_USE:
                    raise
                process.signal_working_in(self.server.folder, self.server.last_resort)
                time.sleep(pause)
        return self.start_once()

    def start_once(self) -> None:
        offset, log = logs.size(self.server.log), logs.open_log(self.server.log)
        try:
            self.child = subprocess.Popen(
                self.server.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=lambda: process.request_signal(self.server.stop_signal),
            )
        finally:
            os.close(log)
        self.pid_path().write_text(str(self.child.pid))
        self.await_ready(self.child, offset)
        threading.Thread(target=self.await_end, args=(self.child,), daemon=True).start()

    def await_ready(self, child: subprocess.Popen[bytes], log_offset: int) -> None:
        until = time.monotonic() + START_SECONDS
        while not self.server.is_ready(child.pid):
            if child.poll() is not None or time.monotonic() > until:
                raise self.server.refusal(log_offset)
            time.sleep(POLL)

    def await_end(self, child: subprocess.Popen[bytes]) -> None:
        child.wait()
        self.events.put("ended")

    def watch_users(self) -> None:
        threading.Thread(target=self.await_nobody, daemon=True).start()

    def await_nobody(self) -> None:
        """The lock is kept until this process ends: who comes meanwhile waits, then starts a new guard."""
        lock.take(lock.open_lock(self.server.run / f"{self.server.name}.users"))
        self.events.put("nobody")

    def tend(self) -> None:
        started, restarts = time.monotonic(), 0
        while self.events.get() == "ended":
            restarts = 0 if time.monotonic() - started > HEALTHY_SECONDS else restarts + 1
            if restarts > RESTARTS:
                raise self.server.refusal(0)
            time.sleep(min(0.1 * 2**restarts, 2.0))
            started = time.monotonic()
            self.server.prepare()
            self.start()

    def stop(self) -> None:
        if self.child is None or self.child.poll() is not None:
            return
        for number in (self.server.stop_signal, self.server.last_resort, signal.SIGKILL):
            self.child.send_signal(number)
            try:
                self.child.wait(STOP_SECONDS)
                return
            except subprocess.TimeoutExpired:
                continue

    def end_leftover(self) -> None:
        """A server whose guard was killed: the kernel has told it to stop, and it may still be at it."""
        try:
            number = int(self.pid_path().read_text())
        except (FileNotFoundError, ValueError):
            return
        ours = (str(self.server.folder), str(self.server.run))
        if any(process.mentions(number, text) for text in ours) and not process.wait_gone(number, STOP_SECONDS):
            process.end(number, self.server.last_resort, STOP_SECONDS)

    def pid_path(self) -> Path:
        return self.server.run / f"{self.server.name}.pid"


def main(name: str, data: str, run: str) -> int:
    guard = Guard(server_named(name, Path(data), Path(run)))
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: guard.events.put("asked"))
    os.chdir("/")
    return guard.run()
