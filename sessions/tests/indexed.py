"""Questions that tests of the index ask of its rows."""

from __future__ import annotations

from pathlib import Path

from sessions.actions.index import Indexed, index_all
from sessions.models import Event, Transcript, Window
from sessions.tests.transcripts import (
    TranscriptFile,
)  # fmt: skip


def window_of(file: TranscriptFile) -> Window:
    return Window.objects.get(transcript__path=str(file.path))


def transcript_of(path: Path) -> Transcript:
    return Transcript.objects.get(path=str(path))


def anchors(file: TranscriptFile) -> list[tuple[int | None, str | None]]:
    found = Event.objects.filter(transcript__path=str(file.path)).anchors().order_by("idx")
    return [(event.idx, event.preview) for event in found]


def index(root: Path) -> Indexed:
    return index_all([root])
