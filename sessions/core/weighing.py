"""What a copied line weighs once it is squashed: tokens, by the same rule as the index (transcripts.md, section 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sessions.core import tokens
from sessions.core.pairing import Piece
from sessions.core.squash import PICTURES
from sessions.core.turns import Step


def weigh(
    pieces: Sequence[Piece], steps: Sequence[Step], *, generation: tokens.Generation, calibration: float
) -> dict[int, int]:
    """Tokens of each piece as it stays, by the idx of its step. Thinking and calls weigh what they did; tool results and
    pictures what is left of them."""
    weights: dict[int, int] = {}
    texts: list[str] = []
    counted: list[tuple[Piece, Step, int, int]] = []
    for piece in pieces:
        step = steps[piece.place]
        kept = step.tokens - (0 if piece.thoughts or not step.thinking else step.thinking)
        if not step.squashable:
            weights[step.idx] = kept
            continue
        found = list(_texts(piece))
        counted.append((piece, step, kept, len(found)))
        texts += found
    values = iter(tokens.estimate(texts, generation))
    for piece, step, kept, number in counted:
        left = sum(next(values) for _text in range(number)) + tokens.TOKENS_PER_TOOL_BLOCK * len(piece.results)
        pictures = step.images if step.images and _has_pictures(piece.content) else 0
        weights[step.idx] = min(kept, kept - step.squashable + round(left * calibration) + pictures)
    return weights


def _has_pictures(content: object) -> bool:
    blocks = content if isinstance(content, list) else []
    return any(
        isinstance(block, dict) and (block.get("type") in PICTURES or _has_pictures(block.get("content")))
        for block in blocks
    )


def _texts(piece: Piece) -> Iterable[str]:
    """The texts of the tool results in a piece."""
    for block in piece.content if isinstance(piece.content, list) else ():
        content = block.get("content") if isinstance(block, dict) and block.get("type") == "tool_result" else None
        if isinstance(content, str):
            yield content
        elif isinstance(content, list):
            yield from (
                each["text"] for each in content if isinstance(each, dict) and isinstance(each.get("text"), str)
            )
