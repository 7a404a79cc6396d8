"""The token rule against itself, character by character (transcripts.md, section 2)."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions.core.tokens import (
    MOST_IMAGE_TOKENS,
    WEIGHTS,
    Generation,
    Weights,
    estimate,
    generation_of,
    image_size,
    image_tokens,
)  # fmt: skip

OLD, NEW = Generation.UP_TO_4_6, Generation.FROM_4_7
TEXTS = st.lists(
    st.text(
        st.one_of(
            st.sampled_from(
                list(
                    "ab Z09_-{}\n\t\r.,雨盆の한，。！「」…—‘’“”·é🌿㐀\u200b\ud83d\x00\uff00\uffef\uffee\u2010\u2028\u3000"
                )
            ),
            st.characters(),
        ),
        max_size=30,
    ),
    max_size=6,
)


def slow(text: str, weights: Weights) -> float:
    """The rule as the document writes it."""
    total, inside_word = 0.0, False
    for char in text:
        is_letter = char.isascii() and char.isalpha()
        total += weight_of(char, weights) + (weights.word if is_letter and not inside_word else 0)
        inside_word = is_letter
    return total


def weight_of(char: str, weights: Weights) -> float:
    point = ord(char)
    if point < 128:
        return ascii_weight(char, weights)
    if 0x3000 <= point <= 0x303F or 0xFF00 <= point <= 0xFFEF or 0x2010 <= point <= 0x2027:
        return weights.cjk_mark
    return weights.cjk if 0x3000 <= point <= 0xDFFF else weights.other


def ascii_weight(char: str, weights: Weights) -> float:
    if char == "\n":
        return weights.newline
    if char.isalpha():
        return weights.letter
    if char.isdigit():
        return weights.digit
    return weights.mark if "!" <= char <= "~" else 0.0


@pytest.mark.parametrize("generation", Generation, ids=lambda generation: str(generation.name))
@given(texts=TEXTS)
@example(texts=["", "a", "", "b"])
@example(texts=["a" * 3, "b\n", "，", "雨。雨"])
def test_the_batch_weighs_what_the_rule_says_of_each_text(generation: Generation, texts: list[str]) -> None:
    weighed = estimate(texts, generation)

    expected = [slow(text, WEIGHTS[generation]) for text in texts]
    # A step is 1/240 token, so a character is off by half of one at most.
    assert weighed == [
        pytest.approx(value, abs=(len(text) + 1) * 2 / 480) for text, value in zip(texts, expected, strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("今天下雨", 4.02, 4.024),
        ("，。！", 6.9, 7.14),
        ("mint", 1.05, 1.42),
        ("mint tea", 0.158 * 7 + 0.836, 0.355 * 7),
        ("2026", 4.0, 4.16),
        ("{};", 2.439, 3.165),
        ("\n\n", 1.628, 1.27),
        (" \t  ", 0.0, 0.0),
        ("éé", 1.38, 1.42),
        ("", 0.0, 0.0),
    ],
    ids=["han", "full-width", "word", "words", "digits", "marks", "newlines", "blanks", "other", "nothing"],
)
def test_each_class_of_character_has_its_weight(text: str, old: float, new: float) -> None:
    assert estimate([text], OLD) == [pytest.approx(old, rel=0.01)]
    assert estimate([text], NEW) == [pytest.approx(new, rel=0.01)]


def test_no_texts_weigh_nothing() -> None:
    assert estimate([], NEW) == []


def test_a_word_does_not_run_on_into_the_next_text() -> None:
    assert estimate(["mint", "tea"], OLD) == [estimate(["mint"], OLD)[0], estimate(["tea"], OLD)[0]]


@pytest.mark.parametrize(
    ("model", "generation"),
    [
        ("claude-opus-4-6", OLD), ("claude-opus-4-5-20251101", OLD), ("claude-sonnet-4-5-20250929", OLD),
        ("claude-sonnet-4-20250514", OLD), ("claude-3-5-sonnet-20241022", OLD), ("claude-haiku-4-5", OLD),
        ("claude-sonnet-4-6[1m]", OLD), ("claude-sonnet-4-5@20250929", OLD), ("us.anthropic.claude-opus-4-6-v1:0", OLD),
        ("claude-opus-4-7", NEW), ("claude-opus-4-8", NEW), ("claude-opus-5", NEW), ("claude-opus-5-5", NEW),
        ("claude-sonnet-5-5-20261001", NEW), ("claude-haiku-5-5", NEW), ("claude-fable-5-1", NEW), ("claude-opus-4-10", NEW),
        ("glm-4.6", NEW), ("gpt-4o", NEW), ("", NEW), ("<synthetic>", NEW),
    ],
)  # fmt: skip
def test_the_tokenizer_of_a_model_is_known_by_its_number(model: str, generation: Generation) -> None:
    assert generation_of(model) is generation


PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 1200, 500) + b"\x08\x06"
GIF = b"GIF89a" + struct.pack("<HH", 320, 200) + b"\x00" * 8
WEBP_LOSSY = b"RIFF\x00\x00\x00\x00WEBPVP8 " + b"\x00" * 10 + struct.pack("<HH", 640 | 0x4000, 480)
WEBP_LOSSLESS = b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f" + struct.pack("<I", 639 | 479 << 14) + b"\x00" * 8
WEBP_EXTENDED = (
    b"RIFF\x00\x00\x00\x00WEBPVP8X" + b"\x00" * 8 + (799).to_bytes(3, "little") + (599).to_bytes(3, "little")
)
JPEG_SIZE = b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 600, 800) + b"\x03" + b"\x00" * 12
JPEG = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + b"\x00" * 9 + JPEG_SIZE
JPEG_TABLES_FIRST = b"\xff\xd8\xff\xc4\x00\x06abcd\xff\xdb\x00\x04xy" + JPEG_SIZE


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (PNG, (1200, 500)), (GIF, (320, 200)), (WEBP_LOSSY, (640, 480)), (WEBP_LOSSLESS, (640, 480)),
        (WEBP_EXTENDED, (800, 600)), (JPEG, (800, 600)), (JPEG_TABLES_FIRST, (800, 600)),
        (PNG[:20], None), (GIF[:8], None), (WEBP_LOSSY[:28], None), (JPEG[:24], None), (b"\xff\xd8", None),
        (b"\xff\xd8" + b"\xff\xe0\x00\x00" * 20, None), (b"BM" + b"\x00" * 40, None), (b"", None),
    ],
    ids=[
        "png", "gif", "webp-lossy", "webp-lossless", "webp-extended", "jpeg", "jpeg-tables", "png-cut", "gif-cut", "webp-cut",
        "jpeg-cut", "jpeg-start-only", "jpeg-of-nothing", "bitmap", "nothing",
    ],
)  # fmt: skip
def test_the_size_of_an_image_is_in_its_header(head: bytes, size: tuple[int, int] | None) -> None:
    assert image_size(base64.b64encode(head)) == size


@pytest.mark.parametrize("encoded", [b"!!!!", b"ab", b"====", "盆盆".encode(), b'iVBOR"'])
def test_what_is_no_base64_has_no_size(encoded: bytes) -> None:
    assert image_size(encoded) is None


def test_the_start_of_a_long_image_is_enough() -> None:
    assert image_size(base64.b64encode(PNG + b"\x00" * 200_000)[:65_536]) == (1200, 500)


@pytest.mark.parametrize(
    ("kind", "head", "tokens"),
    [
        ("base64", PNG, 800),
        ("base64", PNG[:16] + struct.pack(">II", 9000, 9000), MOST_IMAGE_TOKENS),
        ("base64", PNG[:16] + struct.pack(">II", 1, 1), 1),
        ("base64", b"unknown header", MOST_IMAGE_TOKENS),
        ("url", PNG, MOST_IMAGE_TOKENS),
        (None, b"", MOST_IMAGE_TOKENS),
    ],
    ids=["by-size", "never-more-than-most", "never-nothing", "unreadable", "url", "no-source"],
)
def test_an_image_costs_by_its_size(kind: str | None, head: bytes, tokens: int) -> None:
    assert image_tokens(kind, base64.b64encode(head)) == tokens
