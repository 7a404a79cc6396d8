"""Real consoles for tests: commands and `up` in processes of their own, on a data folder of the test."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).resolve().parent.parent.parent
MANAGE = [sys.executable, "manage.py"]
START_SECONDS = 60


def environment(data: Path, **more: str) -> dict[str, str]:
    """The environment of a child: this one's, with a data folder, a home and a projects folder of its own."""
    home = data.parent / "home"
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("COMPANION_", "DATABASE_", "REDIS_"))
    }
    places = {"HOME": str(home), "COMPANION_DATA": str(data), "COMPANION_PROJECTS_ROOT": str(home / "projects")}
    return {**kept, **places, **more}


def manage(data: Path, *arguments: str, before: tuple[str, ...] = (), **more: str) -> subprocess.CompletedProcess[str]:
    command = [*before, *MANAGE, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment(data, **more), capture_output=True, text=True, timeout=START_SECONDS
    )


def refusal(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The error document of a refused command; stdout must be exactly that, and stderr no traceback."""
    assert "Traceback" not in done.stderr, done.stderr
    error: dict[str, str] = json.loads(done.stdout)["error"]
    return error


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """Short, because the path of a socket must be; pytest's own folders are long."""
    folder = Path(tempfile.mkdtemp(prefix="cc-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def until(question: Callable[[], Any], seconds: float = 20.0) -> Any:
    """Asks until the answer is true; returns it, or the last one."""
    end = time.monotonic() + seconds
    while not (answer := question()) and time.monotonic() < end:
        time.sleep(0.05)
    return answer


def mentioning(text: str) -> list[psutil.Process]:
    """Living processes with `text` on their command line."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        if process.info["status"] != psutil.STATUS_ZOMBIE and text in " ".join(process.info["cmdline"] or ()):
            found.append(process)
    return found


@dataclass
class Console:
    """A running `up`."""

    process: subprocess.Popen[str]
    data: Path
    port: int
    url: str

    def family(self) -> list[psutil.Process]:
        own = psutil.Process(self.process.pid)
        return [own, *own.children(recursive=True)]

    def child(self, name: str) -> psutil.Process | None:
        """The first process of this child (`web`, `worker`, …)."""
        wanted = ["companion.up.child", name]
        for process in psutil.Process(self.process.pid).children():
            with contextlib.suppress(psutil.Error):
                if process.cmdline()[2:4] == wanted:
                    return process
        return None

    def is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/healthz", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def stop(self, number: int) -> float:
        """Seconds until it was gone."""
        started = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(30)
        return time.monotonic() - started


@contextlib.contextmanager
def console(data: Path, **more: str) -> Iterator[Console]:
    port = free_port()
    errors = data.parent / "up.stderr"
    with errors.open("a") as output:
        process = subprocess.Popen(
            [*MANAGE, "up", "--json", "--no-open", "--port", str(port)],
            cwd=ROOT,
            env=environment(data, **more),
            stdout=subprocess.PIPE,
            stderr=output,
            text=True,
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, errors.read_text()
        yield Console(process, data, port, json.loads(line)["url"])
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(30)
        if process.stdout is not None:
            process.stdout.close()
