"""Images inside a transcript: only kinds a browser shows safely, and only from the transcript itself (security row 7)."""

from __future__ import annotations

import base64
import binascii

import msgspec
from msgspec import UNSET

from sessions.core.events import blocks_of
from sessions.core.lines import Image, Line

SAFE_STARTS = {b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif", b"\xff\xd8\xff": "image/jpeg"}


def pictures_of(line: Line) -> list[Image]:
    """The images of a line in reading order, those inside tool results included."""
    found: list[Image] = []
    for block in blocks_of(line):
        if block.type == "image":
            found.append(block.source or Image())
        elif block.type == "tool_result" and isinstance(block.content, list):
            found += [inner.source or Image() for inner in block.content if inner.type == "image"]
    return found


def bytes_of(image: Image) -> tuple[bytes, str] | None:
    """(bytes, media type) of an image; the type by its own first bytes, never by what the file calls it. None for
    anything else."""
    if image.type != "base64" or image.data is UNSET:
        return None
    try:
        data = base64.b64decode(msgspec.json.decode(image.data, type=str), validate=False)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        return None
    for start, kind in SAFE_STARTS.items():
        if data.startswith(start):
            return data, kind
    return (data, "image/webp") if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
