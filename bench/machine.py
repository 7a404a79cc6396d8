"""The machine a measurement ran on, and whether anything else was running there."""

from __future__ import annotations

import os
import platform
import sys
import time

import psutil

QUIET_PERCENT = 15.0
LOOK_SECONDS = 2.0
# Looks in a row: test suites pause for a moment as well.
QUIET_LOOKS = 4


def describe() -> dict[str, object]:
    """Its kind only: neither its name nor any path."""
    return {
        "system": platform.system(),
        "architecture": platform.machine(),
        "processors": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30),
        "python": platform.python_version(),
    }


def in_words(machine: dict[str, object]) -> str:
    return (
        f"{machine['processors']} cores, {machine['system']} {machine['architecture']}, "
        f"{machine['memory_gib']} GiB, Python {machine['python']}"
    )


def wait_until_quiet(minutes: float) -> float:
    """Waits while other programs use the processors, at most so long; answers the percent they used last."""
    until, quiet = time.monotonic() + minutes * 60, 0
    while True:
        busy = float(psutil.cpu_percent(LOOK_SECONDS))
        quiet = quiet + 1 if busy <= QUIET_PERCENT else 0
        if quiet == QUIET_LOOKS or time.monotonic() > until:
            return busy
        if not quiet:
            print(f"others use {busy:.0f} % of the processors; waiting …", file=sys.stderr, flush=True)
