"""Log files of the processes that the console starts: appended to, bounded in size."""

import os
import shutil
from pathlib import Path

LIMIT = 5 * 1024 * 1024
TAIL = 64 * 1024


def open_log(path: Path) -> int:
    """A descriptor to append to; appending is what lets `trim` cut the file while it is in use."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    trim(path)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)


def trim(path: Path, limit: int = LIMIT) -> None:
    """Keeps one older generation, `<name>.1`, once the file has grown over `limit` bytes."""
    if not path.exists() or path.stat().st_size <= limit:
        return
    shutil.copyfile(path, older := path.with_name(f"{path.name}.1"))
    older.chmod(0o600)
    os.truncate(path, 0)


def trim_all(folder: Path) -> None:
    for path in folder.glob("*.log"):
        trim(path)


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def lines_since(path: Path, offset: int) -> list[str]:
    """The lines written after `offset`, at most the last 64 KiB of them."""
    if not path.exists():
        return []
    with path.open("rb") as file:
        file.seek(max(offset if offset <= size(path) else 0, size(path) - TAIL))
        return [line for line in file.read().decode(errors="replace").splitlines() if line.strip()]
