"""`metrics.jsonl` in the data folder: one line for each decision or end of a run (spec O1)."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

NAME = "metrics.jsonl"


def append(data: Path, entry: Mapping[str, Any]) -> None:
    """Adds one line in one write, so that lines of several processes never mix. Raises OSError."""
    line = json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(data / NAME, flags, 0o600)
    try:
        os.write(descriptor, line.encode("utf-8", errors="replace"))
    finally:
        os.close(descriptor)
