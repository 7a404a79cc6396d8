"""Tokens without a tokenizer: a linear rule by class of character, for whole batches at once (transcripts.md, section 2).

The weights are per model generation; each session calibrates the sum on its own reported usage. Everything that comes
from here is an estimate and is shown as one.
"""

from __future__ import annotations

import base64
import binascii
import functools
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

# What a tool call and its result cost beside their text: half of the measured 82 tokens each.
TOKENS_PER_TOOL_BLOCK = 41
# System prompt and tools of a session that has reported nothing yet.
OVERHEAD = 20_000
PIXELS_PER_TOKEN = 750
MOST_IMAGE_TOKENS = 1_600
CHARACTERS_PER_SIGNATURE_TOKEN = 12


class Generation(IntEnum):
    """Tokenizers differ from model 4.7 on: English and code cost 35-40 % more there."""

    UP_TO_4_6 = 0
    FROM_4_7 = 1


_version = re.compile(r"-(\d)(?:-(\d{1,2}))?(?=-|\[|@|$)")


def generation_of(model: str) -> Generation:
    """The tokenizer generation of a model id; an unknown id counts as the newer one."""
    match = _version.search(model)
    if match is None:
        return Generation.FROM_4_7
    number = (int(match.group(1)), int(match.group(2) or 0))
    return Generation.UP_TO_4_6 if number <= (4, 6) else Generation.FROM_4_7


@dataclass(frozen=True, slots=True)
class Weights:
    """Tokens per character of a class, and per word of Latin letters on top of its letters."""

    cjk: float
    cjk_mark: float
    letter: float
    digit: float
    mark: float
    newline: float
    other: float
    word: float


WEIGHTS = {
    Generation.UP_TO_4_6: Weights(1.005, 2.30, 0.158, 1.0, 0.813, 0.814, 0.69, 0.418),
    Generation.FROM_4_7: Weights(1.006, 2.38, 0.355, 1.04, 1.055, 0.635, 0.71, 0.0),
}
# Weights are summed as whole steps of this size, one byte each: 1/240 token.
STEPS = 240
_LETTERS = bytes(1 if chr(byte).isalpha() and byte < 128 else 0 for byte in range(256))


@functools.cache
def _steps(generation: Generation) -> bytes:
    """Steps of every byte of UTF-8: ASCII by class, a longer character by its first byte, the bytes after it nothing."""
    weights = WEIGHTS[generation]
    table = [0.0] * 256
    for byte in range(33, 127):
        char = chr(byte)
        table[byte] = weights.digit if char.isdigit() else weights.letter if char.isalpha() else weights.mark
    table[0x0A] = weights.newline
    for byte in range(0xC2, 0xF5):
        table[byte] = weights.cjk if 0xE3 <= byte <= 0xED else weights.other
    return bytes(round(value * STEPS) for value in table)


def estimate(texts: Sequence[str], generation: Generation) -> list[float]:
    """Tokens of each text, in order. All texts are weighed together, about two nanoseconds a byte."""
    plain = [index for index, text in enumerate(texts) if text.isascii()]
    wide = [index for index, text in enumerate(texts) if not text.isascii()]
    result = [0.0] * len(texts)
    for indexes in (plain, wide):
        encoded = [texts[index].encode("utf-8", errors="surrogatepass") for index in indexes]
        for index, tokens in zip(indexes, _estimate_encoded(encoded, generation), strict=True):
            result[index] = tokens
    return result


def _estimate_encoded(texts: Sequence[bytes], generation: Generation) -> list[float]:
    """Texts joined by blanks, which weigh nothing and keep words apart, and summed up between their starts."""
    if not texts:
        return []
    joined = b" ".join(texts) + b" "
    lengths = np.fromiter((len(text) + 1 for text in texts), dtype=np.int64, count=len(texts))
    starts = np.cumsum(lengths) - lengths
    steps = np.frombuffer(bytearray(joined.translate(_steps(generation))), dtype=np.uint8)
    _add_words(steps, joined, generation)
    sums = np.add.reduceat(steps, starts, dtype=np.int64) / STEPS
    if not joined.isascii():
        sums += _add_cjk_marks(joined, starts, WEIGHTS[generation])
    tokens: list[float] = sums.tolist()
    return tokens


def _add_words(steps: NDArray[np.uint8], joined: bytes, generation: Generation) -> None:
    """Puts the price of a word onto its first letter."""
    price = round(WEIGHTS[generation].word * STEPS)
    if price:
        letters = np.frombuffer(joined.translate(_LETTERS), dtype=np.uint8)
        steps[0] += letters[0] * np.uint8(price)
        steps[1:] += (letters[1:] > letters[:-1]) * np.uint8(price)


def _add_cjk_marks(joined: bytes, starts: NDArray[np.int64], weights: Weights) -> NDArray[np.float64]:
    """What full-width marks cost above the class of their first byte: U+3000-303F, U+FF00-FFEF, U+2010-2027."""
    points = np.frombuffer(joined, dtype=np.uint8)
    first, second, third = points[:-2], points[1:-1], points[2:]
    extra = np.zeros(len(points), dtype=np.float32)
    extra[:-2] += ((first == 0xE3) & (second == 0x80)) * np.float32(weights.cjk_mark - weights.cjk)
    wide = (first == 0xEF) & (second >= 0xBC) & ((second < 0xBF) | (third <= 0xAF))
    dashes = (first == 0xE2) & (second == 0x80) & (third >= 0x90) & (third <= 0xA7)
    extra[:-2] += wide * np.float32(weights.cjk_mark - weights.other)
    extra[:-2] += dashes * np.float32(weights.cjk_mark - weights.other)
    marks: NDArray[np.float64] = np.add.reduceat(extra, starts, dtype=np.float64)
    return marks


def image_tokens(kind: str | None, encoded: bytes) -> int:
    """Tokens of an image from the size in its header; the most an image can cost where that cannot be read.

    `encoded` is the start of its base64 (64 KB are enough), `kind` the source's type.
    """
    if kind != "base64":
        return MOST_IMAGE_TOKENS
    size = image_size(encoded)
    if size is None:
        return MOST_IMAGE_TOKENS
    return max(1, min(MOST_IMAGE_TOKENS, round(size[0] * size[1] / PIXELS_PER_TOKEN)))


def image_size(encoded: bytes) -> tuple[int, int] | None:
    """(width, height) in pixels of a base64 PNG, GIF, WebP or JPEG; None where the header does not say."""
    usable = encoded[: len(encoded) - len(encoded) % 4][:65536]
    try:
        head = base64.b64decode(usable)
    except binascii.Error:
        return None
    if head.startswith(b"\x89PNG") and len(head) >= 24:
        return struct.unpack(">II", head[16:24])
    if head.startswith(b"GIF8") and len(head) >= 10:
        return struct.unpack("<HH", head[6:10])
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return _webp_size(head)
    return _jpeg_size(head) if head.startswith(b"\xff\xd8") else None


def _webp_size(head: bytes) -> tuple[int, int] | None:
    if len(head) < 30:
        return None
    if head[12:16] == b"VP8X":
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack("<HH", head[26:30])
    return width & 0x3FFF, height & 0x3FFF


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + max(2, length)
    return None
