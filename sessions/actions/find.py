"""Which session a person means: an id, a unique prefix of one, a path, or nothing at all (contract, "Commands")."""

from __future__ import annotations

import os
import re
from pathlib import Path

from django.db.models import Q
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.actions import rows
from sessions.actions.index import index_one
from sessions.gateways.transcripts import Found
from sessions.models import Companion, Transcript, Window

NAMED_CANDIDATES = 5
ID = re.compile(r"[0-9A-Za-z_-]{1,200}\Z")
NUMBER = re.compile(r"[0-9]{1,18}\Z")


def window_for(session: str | None, companion: str | None = None) -> Window:
    """The window meant. Raises Refusal: none, several (named), or unreadable. A path may lie outside of the roots; it is
    only read."""
    if not session:
        return _of_the_only_companion(companion)
    if os.sep in session or session.endswith(".jsonl"):
        return _at_path(Path(session).expanduser())
    if not ID.match(session):
        raise Refusal("bad-session", _("This is no session id: %(id)s") % {"id": session[:80]}, _unknown_hint())
    found = list(Window.objects.by_prefix(session.lower()).listed()[: NAMED_CANDIDATES + 1])
    exact = [window for window in found if window.session_id == session.lower()] or found
    if not found:
        raise Refusal(
            "unknown-session", _("No session has an id that starts with %(id)s.") % {"id": session}, _unknown_hint()
        )
    if len(exact) > 1:
        raise _ambiguous(session, exact)
    return exact[0]


def _unknown_hint() -> str:
    return _("`sessions` lists what there is.")


def _ambiguous(session: str, found: list[Window]) -> Refusal:
    names = ", ".join(f"{window.session_id} ({window.transcript.path})" for window in found[:NAMED_CANDIDATES])
    return Refusal(
        "ambiguous-session",
        _("More than one session is meant by %(id)s: %(names)s") % {"id": session, "names": names},
        _("Give more characters of the id, or the path."),
    )


def _at_path(path: Path) -> Window:
    path = rows.known_path(Path(os.path.realpath(path)))
    if not _is_file(path):
        raise Refusal("unknown-session", _("There is no file %(path)s.") % {"path": path}, _unknown_hint())
    if not os.access(path, os.R_OK):
        raise Refusal(
            "unreadable", _("%(path)s cannot be read.") % {"path": path}, _("Check who owns the file and its mode.")
        )
    was_known = Transcript.objects.filter(path=str(path)).exists()
    index_one(Found(path.parent.parent, path, path.parent.name, path.stem, is_subagent=False))
    window = Window.objects.listed().filter(transcript__path=str(path)).first()
    if window is None:
        if not was_known:
            rows.drop(str(path))
        raise Refusal(
            "no-transcript",
            _("%(path)s is no transcript: no line of it is a message.") % {"path": path},
            _("Give a .jsonl file that Claude Code wrote."),
        )
    return window


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError:
        # There or not: it cannot be read, which is what will be said.
        return True
    except OSError:
        # A name too long for any file.
        return False


def companion_named(name: str) -> Companion:
    """The companion of this name, project folder or number. Raises Refusal: none or several."""
    matching = Q(name=name) | Q(project=name)
    if NUMBER.match(name):
        matching |= Q(pk=int(name))
    found = list(Companion.objects.filter(matching)[:2])
    if len(found) == 1:
        return found[0]
    hint = _("`companions` lists them with their project folders.")
    if found:
        raise Refusal("ambiguous-companion", _("More than one companion is called %(name)s.") % {"name": name}, hint)
    raise Refusal("unknown-companion", _("There is no companion called %(name)s.") % {"name": name}, hint)


def _of_the_only_companion(name: str | None) -> Window:
    companion = companion_named(name) if name else _only_companion()
    window = (
        companion.windows.filter(is_archived=False).latest_first().select_related("companion", "transcript").first()
    )
    if window is None:
        raise Refusal("no-session", _("%(name)s has no session yet.") % {"name": companion.name})
    return window


def _only_companion() -> Companion:
    confirmed = list(Companion.objects.filter(confirmed=True)[:2])
    found = confirmed or list(Companion.objects.all()[:2])
    if not found:
        raise Refusal("no-session", _("There is no session yet."), _("Talk to your companion once, then `index`."))
    if len(found) > 1:
        raise Refusal(
            "which-session", _("There is more than one companion: say which session is meant."), _unknown_hint()
        )
    return found[0]
