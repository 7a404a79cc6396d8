"""Rows of the sessions room. In foreign keys always `agent_sessions.…`: Django has an app named sessions of its own."""

from sessions.models.backup import Backup
from sessions.models.companion import Companion
from sessions.models.event import Event, UsagePoint
from sessions.models.metric import Metric
from sessions.models.run import Run
from sessions.models.transcript import Transcript
from sessions.models.utterance import Utterance, WordsCursor
from sessions.models.window import Window

__all__ = [
    "Backup",
    "Companion",
    "Event",
    "Metric",
    "Run",
    "Transcript",
    "UsagePoint",
    "Utterance",
    "Window",
    "WordsCursor",
]
