"""What an operator may note about a session or a companion; no file is touched (spec S9)."""

from __future__ import annotations

from django.utils.translation import gettext as _

from companion.lib.live import announce
from companion.lib.refusals import Refusal
from sessions.actions import rows
from sessions.actions.windows import measure, title_of
from sessions.models import Companion, Window

LONGEST_TITLE = 200
LONGEST_NAME = 120
SMALLEST_WINDOW, LARGEST_WINDOW = 1_000, 10_000_000


def retitle(window: Window, title: str) -> None:
    """The operator's own title; an empty one gives the file's title back. Raises Refusal for one that is too long."""
    wanted = " ".join(title.replace("\x00", "").split())
    if len(wanted) > LONGEST_TITLE:
        raise Refusal("bad-title", _("A title has at most %(most)d characters.") % {"most": LONGEST_TITLE})
    window.own_title = wanted
    window.title = title_of(window)
    window.save(update_fields=["own_title", "title"])
    announce("window", window.pk)


def resize(window: Window, tokens: int | None) -> None:
    """The operator's word on how large the window is, in tokens; None goes back to model and client (spec S3)."""
    if tokens is not None and not SMALLEST_WINDOW <= tokens <= LARGEST_WINDOW:
        wanted = {"least": SMALLEST_WINDOW, "most": LARGEST_WINDOW}
        raise Refusal("bad-window", _("A window has %(least)d to %(most)d tokens.") % wanted)
    window.window_override = tokens
    measure(window, window.transcript, rows.state_of(window.transcript))
    window.save(update_fields=["window_override", "window_tokens", "compacts_at", "used_percent"])
    announce("window", window.pk)
    announce("companion", window.companion_id)


def pin(window: Window, on: bool) -> None:
    window.is_pinned = on
    window.save(update_fields=["is_pinned"])
    announce("window", window.pk)


def archive(window: Window, on: bool) -> None:
    """Out of the list, never deleted."""
    window.is_archived = on
    window.save(update_fields=["is_archived"])
    announce("window", window.pk)


def rename(companion: Companion, name: str) -> None:
    """Raises Refusal for an empty or too long name."""
    wanted = " ".join(name.replace("\x00", "").split())
    if not 0 < len(wanted) <= LONGEST_NAME:
        raise Refusal("bad-name", _("A name has 1 to %(most)d characters.") % {"most": LONGEST_NAME})
    companion.name = wanted
    companion.save(update_fields=["name"])
    announce("companion", companion.pk)


def confirm(companion: Companion, on: bool = True) -> None:
    """The operator's word that this project folder is a companion's (spec K3)."""
    companion.confirmed = on
    companion.save(update_fields=["confirmed"])
    announce("companion", companion.pk)
