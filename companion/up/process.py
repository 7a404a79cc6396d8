"""Questions about processes, and the leash that ends them with the process that started them."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1
POLL = 0.5


def is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _is_zombie(number)


def mentions(number: int, text: str) -> bool:
    """Whether a living process has `text` on its command line: process numbers are used again, names are not."""
    return is_alive(number) and text in _command_line(number)


def end_with_parent(parent: int, number: int = signal.SIGKILL) -> None:
    """Ends this process when `parent` dies, by the kernel on Linux and by looking elsewhere."""
    if sys.platform == "linux":
        request_signal(number)
    else:
        threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()
    # It may have died before the kernel was asked.
    if os.getppid() != parent:
        os._exit(1)


def request_signal(number: int) -> None:
    """Asks Linux to send this signal when the parent's thread ends; cleared again by a change of user."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def end(number: int, soft: int, seconds: float) -> None:
    """Sends `soft`, waits, and kills what is still there."""
    for chosen, wait in ((soft, seconds), (signal.SIGKILL, 2.0)):
        if not is_alive(number):
            return
        try:
            os.kill(number, chosen)
        except ProcessLookupError:
            return
        wait_gone(number, wait)


def signal_working_in(folder: Path, number: int) -> None:
    """Signals every process whose working folder this is (Linux; elsewhere they end by themselves)."""
    for place in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if place.readlink() == folder.resolve():
                os.kill(int(place.parent.name), number)
        except OSError:
            continue


def wait_gone(number: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while is_alive(number):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def _watch_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(POLL)
    os._exit(1)


def _is_zombie(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "Z"
    except (OSError, IndexError):
        return False


def _command_line(number: int) -> str:
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return _listed(number)


def _listed(number: int) -> str:
    try:
        asked = subprocess.run(["ps", "-p", str(number), "-o", "command="], capture_output=True, text=True)
    except OSError:
        return ""
    return asked.stdout


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None
