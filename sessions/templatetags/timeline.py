"""How the words of a transcript are drawn: hidden characters as marks, then markdown."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from companion.lib.markdown import rendered
from companion.lib.secrets_mask import masked
from companion.lib.visible import calm
from companion.lib.visible import visible as visible_plain
from sessions.core.squash import left_out

register = template.Library()


@register.filter
def prose(value: object) -> SafeString:
    """A companion's text as sanitised HTML: secrets covered first, then what hides made visible, then markdown."""
    return rendered(visible_plain(calm(masked(str(value)))))


@register.filter
def picture_in(value: object) -> str:
    """The session that still has the picture whose mark this text is; empty for any other text."""
    found = left_out(str(value))
    return found[1] if found else ""


@register.filter
def size(value: int) -> str:
    """Bytes in their largest fitting unit, one decimal."""
    if value >= 1024 * 1024:
        return f"{value / 1024 / 1024:.1f} MB"
    return f"{value / 1024:.1f} kB" if value >= 1024 else f"{value} B"
