"""Joining the embedded servers: started by the first who needs them, shared, stopped after the last (contract).

Who uses a server holds `<name>.users` shared. Who finds `<name>.guard` free starts a guard and hands it that lock.
"""

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from companion.env import Environment
from companion.lib.refusals import Refusal
from companion.up import lock, logs
from companion.up.guard import status_path
from companion.up.refusal import storage_refused

START = Path(__file__).with_name("guard_start.py")
POLL = 0.02
WAIT_SECONDS = 150.0
STOP_SECONDS = 12.0
ATTEMPTS = 3


@dataclass
class Share:
    """This process's part in one embedded server."""

    name: str
    data: Path
    run: Path
    users: int = -1
    guards: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def join(self) -> None:
        self.users = lock.open_lock(self.run / f"{self.name}.users")
        # Waits while a guard is stopping its server.
        lock.share(self.users)
        self.start_guard()

    def start_guard(self) -> bool:
        """Starts one unless there is one. The lock goes to it with the descriptor, so no two can start."""
        held = lock.open_lock(self.run / f"{self.name}.guard")
        try:
            if not lock.try_take(held):
                return False
            self.status.unlink(missing_ok=True)
            self.guards = [guard for guard in self.guards if guard.poll() is None]
            self.guards.append(self._spawn(held))
            return True
        finally:
            os.close(held)

    def wait_ready(self) -> None:
        """Returns when the server answers; raises what the guard found wrong."""
        until, attempts = time.monotonic() + WAIT_SECONDS, 0
        while (state := self._state()) != "ready":
            if state == "" and attempts < ATTEMPTS:
                attempts += self.start_guard()
            elif state == "" or time.monotonic() > until:
                raise self._no_answer()
            time.sleep(POLL)

    def revive(self) -> bool:
        """Starts a new guard where the old one is gone. True when that was needed."""
        if self.is_guarded():
            return False
        self.start_guard()
        self.wait_ready()
        return True

    def is_guarded(self) -> bool:
        return not lock.is_free(self.run / f"{self.name}.guard")

    def leave(self) -> None:
        if self.users >= 0:
            os.close(self.users)
            self.users = -1

    def wait_stopped(self) -> None:
        """The last one out waits for the stop, so that nothing is left when a command ends."""
        until = time.monotonic() + STOP_SECONDS
        while self.is_guarded() and not self._is_used() and time.monotonic() < until:
            time.sleep(POLL)

    @property
    def status(self) -> Path:
        return status_path(self.run, self.name)

    def _spawn(self, held: int) -> subprocess.Popen[bytes]:
        log = logs.open_log(self.data / "logs" / f"{self.name}-guard.log")
        command = [sys.executable, "-I", str(START), self.name, str(self.data), str(self.run), str(held)]
        try:
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[held],
                start_new_session=True,
            )
        finally:
            os.close(log)

    def _state(self) -> str:
        """`ready`, `starting`, or empty when the guard is gone; raises Refusal when it reported a failure."""
        guarded = self.is_guarded()
        try:
            said = json.loads(self.status.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            said = {"state": "starting"}
        if said["state"] == "failed":
            raise Refusal(**said["error"])
        return str(said["state"]) if guarded else ""

    def _is_used(self) -> bool:
        """Whether someone else holds a share; a guard that has taken the lock for its stop does not count."""
        probe = lock.open_lock(self.run / f"{self.name}.users")
        try:
            return not lock.try_take(probe) and lock.try_share(probe)
        finally:
            os.close(probe)

    def _no_answer(self) -> Refusal:
        log = self.data / "logs" / f"{self.name}-guard.log"
        last = (logs.lines_since(log, 0) or ["it wrote nothing"])[-1]
        return Refusal("embedded-server", f"The embedded {self.name} does not start: {last} (log: {log}).")


def needed(environment: Environment) -> list[str]:
    """The servers that no URL stands for."""
    given = {"postgres": environment.database_url, "valkey": environment.redis_url}
    return [name for name, url in given.items() if not url]


def run_folder(environment: Environment) -> Path:
    """Makes the folder of sockets and locks; it may lie in a shared place, so it must be ours alone."""
    try:
        environment.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        environment.run.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = environment.run.lstat()
    except OSError as error:
        raise storage_refused(error, environment.run) from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise Refusal(
            "run-folder",
            f"{environment.run} must be a folder of this user alone (mode 0700).",
            "Remove it and start again.",
        )
    return environment.run


@contextmanager
def joined(environment: Environment) -> Iterator[list[Share]]:
    """Inside, every embedded server that the environment calls for answers."""
    run = run_folder(environment)
    shares = [Share(name, environment.data, run) for name in needed(environment)]
    try:
        for share in shares:
            _join(share)
        for share in shares:
            share.wait_ready()
        yield shares
    finally:
        for share in shares:
            share.leave()
        for share in shares:
            share.wait_stopped()


def _join(share: Share) -> None:
    try:
        share.join()
    except OSError as error:
        raise storage_refused(error, share.run) from None
