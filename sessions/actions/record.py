"""The record: a person's own messages in order, each with its number for good (spec T2, C2)."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from companion.lib.secrets_mask import masked
from sessions.actions.documents import local, utc
from sessions.models import Companion
from sessions.models.said import Said, said_to


def record(companion: Companion, *, limit: int | None = None, before: int | None = None) -> list[Said]:
    """The newest `limit` messages (all if None), oldest first; those before a number where one is given."""
    return said_to(companion.pk, limit=limit, before=before)


def message(companion: Companion, number: int) -> Said:
    """The message of this number. Raises Refusal where there is none."""
    found = said_to(companion.pk, number=number)
    if not found:
        raise Refusal(
            "unknown-number",
            _("%(name)s has no message of the number %(number)d.") % {"name": companion.name, "number": number},
            _("`record` lists the messages with their numbers."),
        )
    return found[0]


def said_document(said: Said) -> dict[str, Any]:
    """A message as `record` lists it: the whole text, its secrets covered."""
    return {
        "number": said.number,
        "timestamp": utc(said.at),
        "local_time": local(said.at),
        "session_id": said.session_id,
        "uuid": said.uuid,
        "text": masked(said.text),
    }
