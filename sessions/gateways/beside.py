"""What lies beside a transcript, in the folder of its session's name: spilled tool results and subagents' files (S1)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def those_there(folder: Path, names: Iterable[str], agents: Iterable[str]) -> tuple[list[str], list[str]]:
    """Of the side files that a copy refers to, those that are there: (`tool-results/<name>`, agent ids), sorted.

    Links count as absent: nothing is carried along from elsewhere (security row 6).
    """
    files = [name for name in names if _is_plain(folder / name)]
    known = [agent for agent in agents if agent.isalnum() and _is_plain(folder / "subagents" / f"agent-{agent}.jsonl")]
    return sorted(files), sorted(known)


def _is_plain(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink() and not path.parent.is_symlink()
    except OSError:
        return False
