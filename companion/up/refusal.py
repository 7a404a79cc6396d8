"""How a refusal looks on the command line, and the ones that any part of `up` may need."""

import errno
from pathlib import Path

from companion.lib.refusals import Refusal


class Misused(Refusal):
    """The command line itself is wrong."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__("usage", message, hint)


def document(refusal: Refusal) -> dict[str, dict[str, str]]:
    """The contract's error document."""
    return {"error": {"code": refusal.code, "message": str(refusal.message), "hint": str(refusal.hint)}}


def line(refusal: Refusal) -> str:
    """Message and hint as two sentences, whatever the message ends in."""
    message = str(refusal.message).strip()
    stop = "" if message.endswith(tuple(".!?。！？…")) else "."
    return f"{message}{stop} {refusal.hint}".strip()


def storage_refused(error: OSError, folder: Path) -> Refusal:
    """Why a folder could not be read or written."""
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return disk_full(folder)
    return Refusal(
        "storage",
        f"{error.filename or folder} cannot be used: {error.strerror or error}.",
        "Make it accessible for this user, or set COMPANION_DATA to another folder.",
    )


def disk_full(folder: Path) -> Refusal:
    return Refusal("disk-full", f"No space is left on the disk of {folder}.", "Free some space and start again.")
