"""The npm usage counter ccusage as a peer: it reads the same folder for its token sums, and keeps nothing.

Two of its generations: the last in JavaScript, and a native one. Each is installed by npm into the bench's own folder
and run offline; without npm they are left out, loudly.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

JAVASCRIPT = "18.0.11"
NATIVE = "20.0.24"
PLATFORMS = {("linux", "x86_64"): "linux-x64", ("linux", "aarch64"): "linux-arm64", ("darwin", "arm64"): "darwin-arm64"}
INSTALL = ("install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix")


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    command: Path

    def run(self, config: Path) -> None:
        """Counts every day's tokens below `config`."""
        environment = {**os.environ, "CLAUDE_CONFIG_DIR": str(config)}
        arguments = [str(self.command), "daily", "--json", "--offline"]
        subprocess.run(arguments, env=environment, stdout=subprocess.DEVNULL, check=True)


def installed(folder: Path) -> list[Peer]:
    """Those that npm has for this machine."""
    npm = shutil.which("npm")
    if not npm:
        missing("there is no npm")
        return []
    native = PLATFORMS.get((sys.platform, platform.machine()), "")
    wanted = {
        f"ccusage {JAVASCRIPT} (JavaScript)": [f"ccusage@{JAVASCRIPT}"],
        f"ccusage {NATIVE} (native)": [f"ccusage@{NATIVE}", f"@ccusage/ccusage-{native}@{NATIVE}"],
    }
    found = [fetched(npm, folder / f"npm-{number}", name, wanted[name]) for number, name in enumerate(wanted)]
    return [peer for peer in found if peer is not None]


def fetched(npm: str, folder: Path, name: str, packages: list[str]) -> Peer | None:
    done = subprocess.run([npm, *INSTALL, str(folder), *packages], capture_output=True, text=True, check=False)
    command = folder / "node_modules" / ".bin" / "ccusage"
    if done.returncode or subprocess.run([command, "--version"], capture_output=True, check=False).returncode:
        missing(f"npm has no {name} that runs here")
        return None
    return Peer(name, command)


def missing(why: str) -> None:
    print(f"*** The comparison with ccusage is SKIPPED: {why}.", file=sys.stderr, flush=True)
