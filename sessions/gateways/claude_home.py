"""The client's own configuration beside a projects root: only read, and never required."""

from __future__ import annotations

import json
from pathlib import Path

MOST_BYTES = 1_000_000


def configured_model(root: Path) -> str:
    """The `model` of settings.json beside `projects`: the only place that tells a `[1m]` window. Empty if unknown."""
    try:
        with open(root.parent / "settings.json", "rb") as stream:
            value = json.loads(stream.read(MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    model = value.get("model") if isinstance(value, dict) else None
    return model if isinstance(model, str) else ""
