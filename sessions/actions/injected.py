"""The text before the first kept message: a forge's hand-off, and what a compaction or an earlier run left (W2, W14, H1)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.actions.handoff import draft_for
from sessions.core.handoff_carried import carried, language_of_text
from sessions.core.handoff_frame import LONGEST, fenced, reading_faults
from sessions.core.plan import Warning
from sessions.models import Run, Window


def text_for(
    window: Window,
    *,
    kind: str,
    days: Sequence[date],
    text: str | None,
    origin: str,
    summaries: Sequence[str],
    earlier: str,
) -> tuple[str, str, list[Warning]]:
    """(text as injected, whose it is, warnings). A diet injects no hand-off; what would be lost otherwise it carries on:
    the hand-off of an earlier run, and a compaction summary. Raises Refusal: a day without messages, a text too long."""
    notes: list[Warning] = [
        {"code": "summary-carried", "characters": sum(len(summary) for summary in summaries)} for _any in summaries[:1]
    ]
    if kind == Run.Kind.DIET:
        return *_left_over(summaries, earlier), notes
    board, language = _board(window, days, text)
    if not board.strip():
        return "", "", notes
    _check_length(board)
    faults = [{"code": f"handoff-{fault}"} for fault in reading_faults(board)]
    summary = carried(summaries, language=language, most=LONGEST - len(board))
    return fenced("\n\n".join(filter(None, [board, summary])), language=language), origin, [*notes, *faults]


def _board(window: Window, days: Sequence[date], text: str | None) -> tuple[str, str]:
    """(hand-off as Markdown, its language): the operator's text, or a draft."""
    if text is not None:
        return text.strip(), language_of_text(text)
    drafted = draft_for(window, days=days)
    return drafted.markdown.strip(), drafted.language


def _left_over(summaries: Sequence[str], earlier: str) -> tuple[str, str]:
    language = language_of_text("\n".join(summaries))
    summary = carried(summaries, language=language, most=LONGEST)
    parts = [earlier, fenced(summary, language=language) if summary else ""]
    text = "\n\n".join(part for part in parts if part)
    return text, "summary" if text else ""


def _check_length(board: str) -> None:
    if len(board) > LONGEST:
        raise Refusal(
            "handoff-too-long",
            _("The hand-off has %(length)d characters; at most %(most)d are injected.")
            % {"length": len(board), "most": LONGEST},
            _("Shorten it: topic, state, promises, what never to do, a few cues."),
        )
