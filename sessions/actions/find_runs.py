"""Which run a person means: its id, or a beginning of it that no other run has (contract, "Commands")."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.actions.documents import local
from sessions.models import Run

NAMED_CANDIDATES = 5
ID = re.compile(r"[0-9a-f-]{1,36}\Z", re.IGNORECASE)


def run_for(text: str) -> Run:
    """The run meant. Raises Refusal: no id, none, or several (named, the latest first)."""
    text = text.strip()
    if not ID.match(text):
        raise Refusal("bad-run", _("This is no run id: %(id)s") % {"id": text[:80]}, _hint())
    found = runs_named(text)
    if not found:
        raise Refusal("unknown-run", _("No run has an id that starts with %(id)s.") % {"id": text}, _hint())
    if len(found) > 1:
        raise Refusal(
            "ambiguous-run",
            _("More than one run is meant by %(id)s: %(names)s")
            % {"id": text, "names": ", ".join(map(named, found[:NAMED_CANDIDATES]))},
            _("Give more characters of the id."),
        )
    return found[0]


def runs_named(text: str) -> list[Run]:
    """Runs whose id starts so, the latest first; a few more than can be named. Empty for what is no id."""
    if not ID.match(text):
        return []
    runs = Run.objects.by_prefix(text).select_related("window", "companion").latest_first()
    return list(runs[: NAMED_CANDIDATES + 1])


def named(run: Run) -> str:
    """A run as a person tells it from others."""
    return f"{run.pk} ({run.kind} {run.source_session_id[:8]}, {local(run.created_at)})"


def _hint() -> str:
    return _("`runs` lists what there is.")
