"""Rows of the sessions room. In foreign keys always `agent_sessions.…`: Django has an app named sessions of its own."""

from sessions.models.companion import Companion
from sessions.models.event import Event, UsagePoint
from sessions.models.transcript import Transcript
from sessions.models.utterance import Utterance, WordsCursor
from sessions.models.window import Window

__all__ = ["Companion", "Event", "Transcript", "UsagePoint", "Utterance", "Window", "WordsCursor"]
