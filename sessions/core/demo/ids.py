"""Ids and small numbers of the demo: digests of what they stand for, so that every run names things alike."""

from __future__ import annotations

import base64
import hashlib
import uuid

LETTERS = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def _digest(*parts: object, size: int = 32) -> bytes:
    return hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=size).digest()


def uuid_of(*parts: object) -> str:
    return str(uuid.UUID(bytes=_digest(*parts, size=16), version=4))


def token_of(start: str, *parts: object) -> str:
    """An id as the API makes them, such as `toolu_01…`."""
    return start + "".join(LETTERS[byte % len(LETTERS)] for byte in _digest(start, *parts, size=22))


def signature_of(*parts: object, size: int) -> str:
    """The look of a thinking block's signature."""
    signed = b"".join(_digest("signature", number, *parts, size=64) for number in range(size // 64 + 1))
    return base64.b64encode(signed[:size]).decode()


def between(low: float, high: float, *parts: object) -> float:
    """A number between two, fixed by `parts`."""
    return low + (high - low) * int.from_bytes(_digest(*parts, size=4), "big") / 0xFFFFFFFF
