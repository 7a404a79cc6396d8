"""A compaction summary that does not stay as talk: carried along whole, marked as what it is (spec W14)."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Characters that headings and notes take beside the summaries themselves.
AROUND = 400
_TITLES = {
    "zh": "## 压缩时客户端自己写的摘要（不是谁的原话，可能有错）",
    "en": "## The client's own summary from a compaction (nobody's words, and it may be wrong)",
}
_MISSING = {"zh": "（这里省去 {count} 字）", "en": "(… {count} characters left out here)"}
_HAN = re.compile(r"[\u3400-\u9fff]")


def carried(summaries: Sequence[str], *, language: str, most: int) -> str:
    """The summaries below a heading that says what they are, every line a quotation, within `most` characters; empty for
    none."""
    shown = [summary.strip() for summary in summaries if summary.strip()]
    if not shown or most <= AROUND:
        return ""
    room = (most - AROUND) // len(shown)
    return "\n\n".join([_TITLES[language], *(_quoted(summary, language, room) for summary in shown)])


def _quoted(summary: str, language: str, room: int) -> str:
    """Quotation marks take room as well: what has to go is said."""
    lines = [f"> {line}" for line in summary.splitlines() if line.strip()]
    kept = "\n".join(lines)
    if len(kept) <= room:
        return kept
    missing = len(kept) - room
    return f"{kept[:room]}\n> {_MISSING[language].format(count=f'{missing:,}')}"


def language_of_text(text: str) -> str:
    """Chinese ("zh") or English ("en") by the Chinese characters of a text."""
    return "zh" if len(_HAN.findall(text)) * 5 > len(text) or not text.strip() else "en"
