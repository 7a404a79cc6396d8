"""How a hit is drawn: somebody else's text, made harmless piece by piece, with what was asked for marked."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from companion.lib.visible import calm, pieces
from companion.templatetags.console import drawn
from sessions.core.marks import Snippet

register = template.Library()


@register.filter
def marked(snippet: Snippet) -> SafeString:
    """The snippet with its hits in <mark>; secrets were covered before it was cut."""
    parts: list[SafeString] = []
    at = 0
    for start, end in snippet.spans:
        parts.append(harmless(snippet.text[at:start]))
        parts.append(format_html("<mark>{}</mark>", harmless(snippet.text[start:end])))
        at = end
    parts.append(harmless(snippet.text[at:]))
    before, after = "…" if snippet.starts_inside else "", "…" if snippet.ends_inside else ""
    return mark_safe(f"{before}{''.join(parts)}{after}")  # noqa: S308 - every part is escaped in `drawn`


def harmless(text: str) -> SafeString:
    return mark_safe("".join(drawn(piece) for piece in pieces(calm(text))))  # noqa: S308 - escaped in `drawn`
