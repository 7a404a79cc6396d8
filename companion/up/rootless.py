"""PostgreSQL refuses to run as root. Here is how it is run when the console itself runs as root."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from companion.lib.refusals import Refusal

NOBODY = 65534
UNSHARED = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}", "--")
# Where user namespaces are blocked (Docker): another user, who keeps the one right to pass closed folders.
DEMOTED = (
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_override", "--ambient-caps=+dac_override", "--pdeathsig=INT", "--"),
)


@dataclass(frozen=True, slots=True)
class Disguise:
    """What to put in front of a command, and which user must own its files."""

    prefix: tuple[str, ...]
    owner: int


def disguise() -> Disguise:
    if os.geteuid() != 0:
        return Disguise((), os.geteuid())
    if _works(UNSHARED):
        return Disguise(UNSHARED, 0)
    if _works(DEMOTED):
        return Disguise(DEMOTED, NOBODY)
    raise Refusal(
        "root",
        "PostgreSQL does not run as root, and neither unshare nor setpriv works here.",
        "Start the console as a normal user, or set DATABASE_URL.",
    )


def hand_over(folder: Path, owner: int) -> None:
    """Gives a whole folder to `owner`; needed when the disguise is another one than last time."""
    if os.geteuid() != 0 or folder.stat().st_uid == owner:
        return
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(place, name), owner, owner, follow_symlinks=False)
    # Last, so that a hand-over that was cut short is seen and done again.
    os.chown(folder, owner, owner)


def _works(prefix: tuple[str, ...]) -> bool:
    try:
        return subprocess.run([*prefix, "true"], capture_output=True, timeout=10).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
