"""A room for one program run: folders that are thrown away, an environment from scratch, an end in time (spec W13).

Whatever runs in here finds no home, no configuration and no way out of this machine: everything but loopback is sent
to a port where nobody listens.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

PREFIX = f"companion-room-{os.getuid()}-"
# Seconds after which a room was left behind by a process that was killed.
LEFT_BEHIND = 900
# Bytes that a program may print.
MOST_PRINTED = 8 * 1024 * 1024
TICK = 0.02
FOLDERS = ("home", "config", "work", "tmp")
PLACES = ("/usr/local/bin", "/usr/bin", "/bin")
SWITCHES = (
    "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "DISABLE_BUG_COMMAND", "DO_NOT_TRACK",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
)  # fmt: skip


class DoesNotStart(Exception):
    """A program that the system could not start; the message says why."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended: its exit code, None if it was ended because time or room for its words was up."""

    code: int | None
    output: bytes
    errors: bytes

    @property
    def last_words(self) -> str:
        """The end of what it printed, on one line of at most 200 characters."""
        words = (self.errors.strip() or self.output.strip())[-800:].decode(errors="replace")
        return re.sub(r"\s+", " ", words)[-200:]


@dataclass(frozen=True, slots=True)
class Room:
    """The folders, and the environment of what runs in them."""

    folder: Path
    environment: Mapping[str, str]

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def place(self, transcript: Path, session: str) -> None:
        """Copies a transcript to where a client that works here looks for the session. Raises OSError."""
        project = self.folder / "config" / "projects" / re.sub(r"[^a-zA-Z0-9]", "-", str(self.work))
        project.mkdir(parents=True)
        shutil.copyfile(transcript, project / f"{session}.jsonl")


@contextmanager
def opened(program: Sequence[str], *, url: str = "", key: str = "", within: Path | None = None) -> Iterator[Room]:
    """A room for `program`, mode 0700, below `within` (else below the system's temporary folder); removed at the end.

    `url` and `key` are those of the API it should use. Raises OSError where no folder can be made.
    """
    base = Path(within or tempfile.gettempdir()).resolve()
    _sweep(base)
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX, dir=base, ignore_cleanup_errors=True) as name,
        _closed_port() as nowhere,
    ):
        folder = Path(name)
        for each in FOLDERS:
            (folder / each).mkdir(mode=0o700)
        api = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": key} if url else {}
        # Settings come after the environment: a wrapper around the client cannot lead it to another API.
        settings = {"env": {**api, **_proxies(nowhere)}, "disableAllHooks": True}
        (folder / "config" / "settings.json").write_text(json.dumps(settings))
        yield Room(folder, _environment(folder, program, nowhere) | api)


def run(program: Sequence[str], room: Room, *, words: str = "", seconds: float) -> Ended:
    """Runs a program in the room with `words` as its input; after `seconds` it and all its children are ended.

    Raises DoesNotStart.
    """
    (room.folder / "input").write_text(words)
    with (
        (room.folder / "input").open("rb") as source,
        (room.folder / "output").open("w+b", buffering=0) as output,
        (room.folder / "errors").open("w+b", buffering=0) as errors,
    ):
        process = _start(program, room, source, output, errors)
        try:
            code = _wait(process, (output, errors), seconds)
        finally:
            _end_group(process)
        return Ended(code, _read(output), _read(errors))


def _start(program: Sequence[str], room: Room, *streams: BinaryIO) -> subprocess.Popen[bytes]:
    source, output, errors = streams
    try:
        return subprocess.Popen(
            list(program), cwd=room.work, env=dict(room.environment), stdin=source, stdout=output, stderr=errors,
            start_new_session=True,
        )  # fmt: skip
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise DoesNotStart(f"{Path(program[0]).name}: {reason.lower()}") from fault


def _wait(process: subprocess.Popen[bytes], printed: Sequence[BinaryIO], seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and sum(os.fstat(each.fileno()).st_size for each in printed) < MOST_PRINTED:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(TICK)
    return None


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """The whole family: what a program leaves running would write into a folder that is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read(stream: BinaryIO) -> bytes:
    stream.seek(0)
    return stream.read(MOST_PRINTED)


def _environment(folder: Path, program: Sequence[str], nowhere: str) -> dict[str, str]:
    node = shutil.which("node")
    near = [str(Path(found).parent) for found in (program[0], node) if found and Path(found).is_absolute()]
    return {
        "HOME": str(folder / "home"),
        "CLAUDE_CONFIG_DIR": str(folder / "config"),
        "TMPDIR": str(folder / "tmp"),
        "CLAUDE_CODE_TMPDIR": str(folder / "tmp"),
        "PATH": ":".join([*near, *PLACES]),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        # An orphan gives up at once when its API is gone.
        "CLAUDE_CODE_MAX_RETRIES": "1",
        **dict.fromkeys(SWITCHES, "1"),
        **_proxies(nowhere),
    }


def _proxies(nowhere: str) -> dict[str, str]:
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    ways = dict.fromkeys([*names, *map(str.lower, names)], nowhere)
    return ways | dict.fromkeys(["NO_PROXY", "no_proxy"], "127.0.0.1")


@contextmanager
def _closed_port() -> Iterator[str]:
    """The address of a port that is taken, so that nobody else can, and refuses every connection."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def _sweep(base: Path) -> None:
    """Removes rooms that a killed process left behind: they hold a copy of a transcript."""
    for folder in base.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            seen = folder.lstat()
            if seen.st_uid == os.getuid() and time.time() - seen.st_mtime > LEFT_BEHIND:
                shutil.rmtree(folder, ignore_errors=True)
