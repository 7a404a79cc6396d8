"""Two small drawings of a pot of mint and one of a shop window, as PNG bytes: made by arithmetic, the same every time."""

from __future__ import annotations

import functools
import struct
import zlib

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT = 480, 360
NIGHT, SILL, CLAY, RIM, STEM, LEAF, LIGHT_LEAF, PALE, RAIN, LAMP, PAPER = range(11)
COLOURS = (
    (43, 52, 64), (92, 74, 58), (178, 98, 66), (206, 124, 88), (74, 110, 62), (86, 150, 84), (124, 184, 110), (206, 190, 96),
    (96, 112, 130), (244, 208, 128), (236, 228, 208),
)  # fmt: skip

Canvas = NDArray[np.uint8]


@functools.cache
def png(name: str) -> bytes:
    """`mint_yellow`, `mint_new_pot` or `shop_window`."""
    canvas = np.full((HEIGHT, WIDTH), NIGHT, dtype=np.uint8)
    _rain(canvas)
    canvas[300:, :] = SILL
    if name == "shop_window":
        _books(canvas)
    else:
        _mint(canvas, yellow=3 if name == "mint_yellow" else 0, wide=100 if name == "mint_new_pot" else 72)
    return _encoded(canvas)


def _rain(canvas: Canvas) -> None:
    for drop in range(90):
        x, y = drop * 131 % WIDTH, drop * 71 % 290
        canvas[y : y + 10, x] = RAIN


def _mint(canvas: Canvas, *, yellow: int, wide: int) -> None:
    for row in range(220, 300):
        half = wide - (row - 220) // 4
        canvas[row, 240 - half : 240 + half] = CLAY
    canvas[212:224, 240 - wide - 6 : 240 + wide + 6] = RIM
    for stem in range(7):
        lean = (stem - 3) * 20
        for step in range(90 + stem % 3 * 24):
            x = 240 + lean * step // 90 + (stem - 3) * 4
            canvas[212 - step, x - 1 : x + 2] = STEM
            if step % 24 == (stem * 9 + 8) % 24:
                low = step < 24 and stem % 2 == 0 and stem // 2 < yellow
                for side in (-1, 1):
                    _leaf(canvas, x + side * 13, 212 - step, PALE if low else (LEAF, LIGHT_LEAF)[side > 0])


def _leaf(canvas: Canvas, x: int, y: int, colour: int) -> None:
    rows, columns = np.ogrid[:HEIGHT, :WIDTH]
    # Two bows that meet in points, a little higher outside.
    rise = rows - y + abs(columns - x) * 0.25
    canvas[np.abs(rise) < 8 * (1 - ((columns - x) / 15.0) ** 2)] = colour


def _books(canvas: Canvas) -> None:
    canvas[60:300, 40:440] = PAPER
    for book in range(26):
        left, tall = 56 + book * 14, 90 + book * 37 % 60
        canvas[290 - tall : 290, left : left + 12] = (CLAY, LEAF, RAIN, STEM, RIM, PALE)[book % 6]
    rows, columns = np.ogrid[:HEIGHT, :WIDTH]
    canvas[(columns - 240) ** 2 + (rows - 96) ** 2 < 26**2] = LAMP


def _encoded(canvas: Canvas) -> bytes:
    """An indexed PNG of eight bits a pixel."""
    rows = np.zeros((HEIGHT, WIDTH + 1), dtype=np.uint8)
    rows[:, 1:] = canvas
    palette = bytes(value for colour in COLOURS for value in colour)
    parts = (
        _chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0)),
        _chunk(b"PLTE", palette),
        _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)),
        _chunk(b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
