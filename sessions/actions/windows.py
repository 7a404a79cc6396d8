"""A window's figures from what was read, and the companion it belongs to (spec S1, S3, S9)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from pathlib import Path, PurePath

from django.conf import settings
from django.db.models import Max, OuterRef, Subquery
from django.utils import timezone

from sessions.core.batches import State
from sessions.core.tokens import OVERHEAD
from sessions.core.usage import compaction_point, percent, window_size
from sessions.gateways.claude_home import configured_model
from sessions.models import Companion, Transcript, Window


def refresh(transcript: Transcript, state: State, companions: dict[str, Companion]) -> Window | None:
    """Brings the window of a main transcript up to date; None where there is not a single turn to show.

    `companions` remembers, by project folder, those looked up already.
    """
    if transcript.kind != Transcript.Kind.MAIN:
        return None
    project = Path(transcript.path).parent.name[:400]
    companion = companions.get(project) or _companion_for(transcript, project, state)
    companions[project] = companion
    window = Window.objects.filter(transcript=transcript).first() or Window(transcript=transcript)
    window.companion = companion
    window.session_id = Path(transcript.path).stem
    _fill(window, transcript, state)
    window.save()
    return window


def _companion_for(transcript: Transcript, project: str, state: State) -> Companion:
    """The companion of a project folder, named after the working folder until the operator names it."""
    known = Companion.objects.filter(host=transcript.host, project=project).first()
    name = PurePath(state.cwd).name or project
    values = {"name": name[:120], "cwd": state.cwd}
    return known or Companion.objects.get_or_create(host=transcript.host, project=project, defaults=values)[0]


def _fill(window: Window, transcript: Transcript, state: State) -> None:
    window.cwd = state.cwd
    window.model = state.model
    window.client_version = state.version
    window.events = state.events
    window.dialogue_events = state.dialogue
    window.human_messages = state.humans
    window.bad_lines = transcript.bad_lines
    window.compactions = state.compactions
    window.started_at = state.first_at
    window.last_activity = _not_ahead(state.last_at)
    window.file_title = state.custom_title
    window.guessed_title = state.ai_title
    window.first_words = state.first_words
    window.title = title_of(window)
    window.calibration = round(state.calibration, 4)
    window.most_used = state.most_used
    measure(window, transcript, state)


def measure(window: Window, transcript: Transcript, state: State) -> None:
    """Size, fullness and compaction point (spec S3): reported where a reply told it, else estimated and marked so."""
    window.window_tokens = window_size(
        model=state.model,
        version=state.version,
        configured=configured_model(Path(transcript.root)),
        most_used=state.most_used,
        override=window.window_override or settings.ENV.context_window or None,
    )
    window.compacts_at = compaction_point(window=window.window_tokens, version=state.version)
    window.used_tokens, window.is_estimated = used(state)
    window.used_percent = percent(window.used_tokens, window.window_tokens)


def used(state: State) -> tuple[int, bool]:
    """(tokens, is estimated): the last reported usage; after a compaction what the client left; else our estimate."""
    if state.used_seq >= 0:
        return state.used, False
    if state.after_boundary:
        return state.after_boundary, True
    return round(state.weight * state.calibration) + OVERHEAD, True


def title_of(window: Window) -> str:
    """The operator's own title, else the file's, else the client's guess, else the first words."""
    return window.own_title or window.file_title or window.guessed_title or window.first_words


def _not_ahead(at: datetime | None) -> datetime | None:
    """A clock that once jumped ahead must not keep a window on top for ever."""
    return min(at, timezone.now()) if at is not None else None


def note_activity(companions: Collection[int]) -> None:
    """Brings the companions' latest activity up to their windows'."""
    if companions:
        latest = Window.objects.filter(companion=OuterRef("pk")).order_by().values("companion")
        newest = latest.annotate(newest=Max("last_activity")).values("newest")
        Companion.objects.filter(pk__in=companions).update(last_activity=Subquery(newest))
