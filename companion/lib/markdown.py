"""Markdown of a transcript as safe HTML: rendered without raw HTML, then sanitised all the same (security row 7).

No images and no remote anything; links open elsewhere and tell nothing of where they came from.
"""

from __future__ import annotations

import functools

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

TAGS = {
    "p", "br", "hr", "strong", "em", "del", "s", "blockquote", "ul", "ol", "li", "code", "pre", "a", "table", "thead", "tbody",
    "tr", "th", "td", "h3", "h4", "h5", "h6",
}  # fmt: skip
ATTRIBUTES = {"a": {"href"}, "ol": {"start"}}
# Headings of a message must not outrank the page's own.
LEVELS = {"h1": "h3", "h2": "h4", "h3": "h4", "h4": "h5", "h5": "h6", "h6": "h6"}


@functools.cache
def _parser() -> MarkdownIt:
    return (
        MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True})
        .enable(["table", "strikethrough"])
        .disable(["image", "html_block", "html_inline"])
    )


def rendered(text: str) -> SafeString:
    """The text as HTML. What the parser cannot take (depth, size) comes escaped, as it stands."""
    try:
        tokens = _parser().parse(text)
    except (RecursionError, ValueError, IndexError):
        return mark_safe(f"<p>{nh3.clean_text(text)}</p>")  # noqa: S308 - escaped
    for token in tokens:
        token.tag = LEVELS.get(token.tag, token.tag)
    html = _parser().renderer.render(tokens, _parser().options, {})
    clean = nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)  # noqa: S308 - sanitised
