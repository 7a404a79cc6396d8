"""Bridges: what carries a chat into a window (spec B4). One small interface; a twin that does nothing where there is none."""

from __future__ import annotations

from typing import Protocol

from django.conf import settings

from sessions.gateways.bridges.bridge import Binding, Bridge, Rebound
from sessions.gateways.bridges.none import NoBridge

__all__ = ["Binding", "Bridge", "Place", "Rebound", "bridge_for"]


class Place(Protocol):
    """Whose chat it is: a companion, known to its bridge by its working folder."""

    cwd: str
    project: str


def bridge_for(companion: Place | None) -> Bridge:
    """The bridge that carries this companion's chat; NoBridge where none does, or none may be touched."""
    return NoBridge("no-bridge" if settings.ENV.bridge_rebind else "rebind-off")
