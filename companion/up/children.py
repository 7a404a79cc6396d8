"""One supervised process: started, probed, started again with back-off, stopped within its time."""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from companion.up import logs

ROOT = Path(__file__).resolve().parent.parent.parent
FIRST_DELAY = 1.0
LONGEST_DELAY = 30.0
HEALTHY_SECONDS = 60.0
PROBE_SECONDS = 0.1
SLOW_SECONDS = 30.0

log = logging.getLogger("companion.up")

Probe = Callable[[int], Awaitable[bool]]


def next_delay(delay: float, lived: float) -> float:
    """Seconds to wait before the next start, after a process that lived `lived` seconds."""
    return FIRST_DELAY if lived >= HEALTHY_SECONDS else min(max(delay * 2, FIRST_DELAY), LONGEST_DELAY)


@dataclass
class Child:
    """A process of the console. `probe` is asked with its number until it answers true once."""

    name: str
    log_path: Path
    probe: Probe
    arguments: tuple[str, ...] = ()
    descriptors: tuple[int, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    process: asyncio.subprocess.Process | None = None
    stopping: bool = False

    async def keep_alive(self) -> None:
        delay = 0.0
        while not self.stopping:
            started = time.monotonic()
            self.process = await self._start()
            await self._live(self.process)
            if self.stopping:
                return
            delay = next_delay(delay, time.monotonic() - started)
            log.warning("%s ended (%s), again in %.0f s; see %s", self.name, self._how(), delay, self.log_path)
            await asyncio.sleep(delay)

    async def stop(self, quit_after: float, kill_after: float) -> None:
        """Asks, asks again, kills: the worker gives its task back on the second asking."""
        self.stopping = True
        if self.process is None:
            return
        for number, seconds in (
            (signal.SIGTERM, quit_after),
            (signal.SIGQUIT, kill_after - quit_after),
            (signal.SIGKILL, 2.0),
        ):
            if await _ended_after(self.process, number, seconds):
                break
        self._kill_group()

    async def _live(self, process: asyncio.subprocess.Process) -> None:
        probing = asyncio.create_task(self._await_ready(process.pid))
        try:
            await process.wait()
        finally:
            probing.cancel()
            # What the process has started does not outlive it.
            self._kill_group()

    async def _start(self) -> asyncio.subprocess.Process:
        output = logs.open_log(self.log_path)
        command = [sys.executable, "-m", "companion.up.child", self.name, str(os.getpid()), *self.arguments]
        try:
            return await asyncio.create_subprocess_exec(
                *command,
                cwd=ROOT,
                env={**os.environ, **self.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=self.descriptors,
                start_new_session=True,
            )
        finally:
            os.close(output)

    async def _await_ready(self, number: int) -> None:
        started, told = time.monotonic(), False
        while not await self.probe(number):
            if not told and time.monotonic() - started > SLOW_SECONDS:
                log.warning("%s is not ready after %.0f s; see %s", self.name, SLOW_SECONDS, self.log_path)
                told = True
            await asyncio.sleep(PROBE_SECONDS)
        self.ready.set()

    def _kill_group(self) -> None:
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            return

    def _how(self) -> str:
        code = self.process.returncode if self.process else None
        if code is not None and code < 0:
            return signal.Signals(-code).name
        return f"status {code}"


async def _ended_after(process: asyncio.subprocess.Process, number: int, seconds: float) -> bool:
    if process.returncode is not None:
        return True
    try:
        process.send_signal(number)
        await asyncio.wait_for(asyncio.shield(process.wait()), seconds)
    except TimeoutError:
        return False
    except ProcessLookupError:
        return True
    return True
