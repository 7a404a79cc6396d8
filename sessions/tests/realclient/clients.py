"""Real clients: installing one, and talking with it as a bridge does, in folders of the test and on loopback only."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from sessions.tests.realclient.api import KEY, Json

PACKAGE = "@anthropic-ai/claude-code"
# The native client of today, the last one in JavaScript, and one of the year before.
VERSIONS = ("2.1.332", "2.1.112", "2.0.76")
NATIVE = frozenset({"2.1.332"})
INSTALL_SECONDS = 300
TURN_SECONDS = 40
# A port of loopback where nobody can listen.
NOWHERE = "http://127.0.0.1:1"
MODEL = "claude-sonnet-4-5-20250929"


class NotInstalled(Exception):
    """npm could not install a client; the message is its own."""


def program(folder: Path, version: str) -> tuple[str, ...] | None:
    """The beginning of the command line of the client in an npm folder; None if it is not there."""
    package = folder / "node_modules" / PACKAGE
    binary, script = package / "bin" / "claude.exe", package / "cli.js"
    if version in NATIVE:
        return (str(binary),) if binary.exists() else None
    return (shutil.which("node") or "node", str(script)) if script.exists() else None


def install(folder: Path, version: str) -> None:
    """Raises NotInstalled."""
    folder.mkdir(parents=True, exist_ok=True)
    optional = [] if version in NATIVE else ["--omit=optional"]
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *optional, f"{PACKAGE}@{version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired as fault:
        raise NotInstalled("npm took too long") from fault
    if done.returncode or program(folder, version) is None:
        raise NotInstalled(done.stderr[-400:] or "npm left no client")


@dataclass(frozen=True)
class Seat:
    """A client with a home, a configuration and a working folder of the test."""

    command: tuple[str, ...]
    version: str
    folder: Path
    url: str

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def projects(self) -> Path:
        return self.folder / "config" / "projects"

    def transcript(self, session: str) -> Path:
        (found,) = self.projects.glob(f"*/{session}.jsonl")
        return found

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder / "home"),
            "CLAUDE_CONFIG_DIR": str(self.folder / "config"),
            "TMPDIR": str(self.folder / "tmp"),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": self.url,
            "ANTHROPIC_API_KEY": KEY,
            "MAX_THINKING_TOKENS": "4000",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "HTTP_PROXY": NOWHERE,
            "HTTPS_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1",
        }

    @contextmanager
    def talk(self, *options: str) -> Iterator[Conversation]:
        """A conversation in one process, as a bridge starts it."""
        for name in ("home", "work", "tmp"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        formats = ("--output-format", "stream-json", "--input-format", "stream-json")
        with open(self.folder / "errors", "ab") as errors:
            process = subprocess.Popen(
                [*self.command, "-p", *formats, "--verbose", "--model", MODEL, *options],
                cwd=self.work, env=self.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                start_new_session=True,
            )  # fmt: skip
        try:
            yield Conversation(process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class Conversation:
    """A running client; its events come in order."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._input = process, process.stdin
        self._events: queue.Queue[Json | None] = queue.Queue()
        self.session = ""
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def _read(self, output: IO[bytes]) -> None:
        for line in output:
            self._events.put(json.loads(line))
        self._events.put(None)

    def write(self, content: Any) -> None:
        line = {"type": "user", "message": {"role": "user", "content": content}}
        self._input.write(json.dumps(line).encode() + b"\n")
        self._input.flush()

    def until(self, is_wanted: Callable[[Json], bool]) -> Json:
        """Waits for an event; raises queue.Empty when it does not come, AssertionError when the client has ended."""
        while True:
            event = self._events.get(timeout=TURN_SECONDS)
            assert event is not None, "the client has ended"
            if event["type"] == "system" and event.get("subtype") == "init":
                self.session = event["session_id"]
            if is_wanted(event):
                return event

    def say(self, content: Any, *, meanwhile: str = "") -> Json:
        """One turn; `meanwhile` is sent as soon as a tool is called. The event that ends it."""
        self.write(content)
        if meanwhile:
            self.until(calls_a_tool)
            self.write(meanwhile)
        return self.until(lambda event: event["type"] == "result")

    def end(self) -> int:
        """Hangs up and waits; the exit code."""
        self._input.close()
        return self._process.wait(TURN_SECONDS)


def calls_a_tool(event: Json) -> bool:
    content = event.get("message", {}).get("content", []) if event["type"] == "assistant" else []
    return any(block["type"] == "tool_use" for block in content)
