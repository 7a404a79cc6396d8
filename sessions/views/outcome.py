"""How a run stands or ended: what happened, what was kept, what to do next (ui: errors and ends say all three)."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.utils.translation import gettext

from sessions.actions.rollback import MOVED
from sessions.actions.sentence_table import LEFT
from sessions.actions.sentences import sentence
from sessions.models import Run
from sessions.views.run_words import kind_name, shape_of

Status = Run.Status


@dataclass(frozen=True, slots=True)
class Outcome:
    """`left` is what lies where since; `command` goes on in the window to talk in, empty where nothing is to be typed."""

    shape: str
    happened: list[str]
    kept: str
    todo: str = ""
    command: str = ""
    left: list[str] = field(default_factory=list)


def title(run: Run) -> str:
    titles = {
        Status.PLANNED: gettext("%(kind)s planned"),
        Status.QUEUED: gettext("%(kind)s under way"),
        Status.RUNNING: gettext("%(kind)s under way"),
        Status.DONE: gettext("%(kind)s done"),
        Status.EXPORTED: gettext("%(kind)s exported"),
        Status.FAILED: gettext("%(kind)s failed"),
        Status.STALE: gettext("%(kind)s: the plan is stale"),
        Status.CANCELLED: gettext("%(kind)s cancelled"),
        Status.ROLLED_BACK: gettext("%(kind)s rolled back"),
    }
    return titles[Status(run.status)] % {"kind": kind_name(run.kind)}


def outcome(run: Run) -> Outcome:
    """Of a run that is over."""
    endings = {
        Status.DONE: done,
        Status.EXPORTED: exported,
        Status.FAILED: failed,
        Status.STALE: stale,
        Status.CANCELLED: cancelled,
        Status.ROLLED_BACK: rolled_back,
    }
    return replace(endings[Status(run.status)](run), left=left(run))


def left(run: Run) -> list[str]:
    """What the run left to be known, apart from what its plan warned of."""
    return [sentence(warning) for warning in run.warnings if warning.get("code") in LEFT]


def done(run: Run) -> Outcome:
    happened = [gettext("The new window is written, read back and ready."), chat(run)]
    kept = gettext("The old window is as it was; nothing in it was changed, and you can go back to it at any time.")
    if run.rebind.get("status") in MOVED:
        return Outcome(shape_of(run), happened, kept, gettext("Nothing: the talk goes on in the new window."))
    todo = gettext("To go on in the new window, type this in a terminal:")
    return Outcome(shape_of(run), happened, kept, todo, resume(run, run.target_session_id))


def exported(run: Run) -> Outcome:
    return Outcome(
        shape_of(run),
        [gettext("The new window is written, read back and ready."), chat(run)],
        gettext("The old window is as it was, and whatever was bound to it still is."),
        gettext("To try the new window, type this in a terminal:"),
        resume(run, run.target_session_id),
    )


def failed(run: Run) -> Outcome:
    kept = gettext("The old window is as it was: the same file, and whatever was bound to it still is.")
    todo = str(run.error.get("hint") or gettext("See to that, then plan anew. Until then go on as before."))
    return Outcome(shape_of(run), [reason(run)], kept, todo)


def stale(run: Run) -> Outcome:
    happened = [gettext("The window changed after it was planned, so the plan was not carried out.")]
    happened += [sentence(run.error)] if run.error else []
    kept = gettext("Nothing was changed; the old window is as it was.")
    return Outcome(shape_of(run), happened, kept, gettext("Plan anew. It takes a moment, and your choices are kept."))


def cancelled(run: Run) -> Outcome:
    happened = gettext("It was called off before the new window was written.")
    if not run.steps:
        happened = gettext("The plan was put away and never carried out.")
    return Outcome(shape_of(run), [happened], gettext("The old window is as it was."))


def rolled_back(run: Run) -> Outcome:
    return Outcome(
        shape_of(run),
        [gettext("The old window is the one to talk in again.")],
        gettext("Nothing was deleted: the new window’s file is kept, with whatever was said in it."),
        gettext("To go on in the old window, type this in a terminal:"),
        resume(run, run.source_session_id),
    )


def reason(run: Run) -> str:
    """Why it failed: the error in words, else the detail of the step that failed."""
    if run.error:
        return sentence(run.error)
    details = [step.get("detail") for step in run.steps if step.get("status") == "failed"]
    spoken = [sentence(detail) for detail in details if isinstance(detail, dict) and detail]
    return spoken[0] if spoken else gettext("It ended before it was finished.")


def chat(run: Run) -> str:
    """Where the chat is now."""
    words = {
        "bound": gettext("The chat was moved to it."),
        "bound-unproven": gettext("The chat was moved to it; its first answer there will prove it."),
        "unchanged": gettext("The chat was left where it is."),
        "needs-hand": gettext("The chat has to be moved by hand."),
    }
    return words.get(str(run.rebind.get("status")), gettext("No bridge is set up, so no chat had to be moved."))


def resume(run: Run, session: str) -> str:
    """The line that goes on in a window, in its own folder; safe to paste whatever the names are."""
    client = f"{shlex.quote(settings.ENV.claude_bin or 'claude')} --resume {shlex.quote(session)}"
    folder = run.window.cwd if run.window else ""
    return f"cd {shlex.quote(folder)} && {client}" if folder else client
