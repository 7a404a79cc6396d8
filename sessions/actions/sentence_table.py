"""The sentences of codes: what a plan warns of, what each step of a run has to say, and what ended one badly.

Numbers come as figures that read well, `bytes` as a size; one code has one sentence. See `sessions.actions.sentences`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy, ngettext_lazy

# What a person should know before they apply a plan.
WARNINGS = {
    "cap-cut": ngettext_lazy(
        "The oldest turn that was chosen is left out, so that it stays within the cap: about %(tokens)s tokens stay.",
        "The oldest %(turns)s turns that were chosen are left out, so that it stays within the cap: "
        "about %(tokens)s tokens stay.",
        "turns",
    ),
    "cut-differs": gettext_lazy("An end lies inside of a turn. Whole turns stay: #%(first)s to #%(last)s."),
    "compaction-crossed": ngettext_lazy(
        "%(events)s event from before the last compaction comes back into the window.",
        "%(events)s events from before the last compaction come back into the window.",
        "events",
    ),
    "newest-dropped": ngettext_lazy(
        "The newest event is not kept: the talk will go on from before it.",
        "The newest %(events)s events are not kept: the talk will go on from before them.",
        "events",
    ),
    "thinking-dropped": ngettext_lazy(
        "%(blocks)s block of thinking is left out: this model ties its thinking to the whole talk before it and would "
        "refuse it after a cut.",
        "%(blocks)s blocks of thinking are left out: this model ties its thinking to the whole talk before it and would "
        "refuse it after a cut.",
        "blocks",
    ),
    "near-compaction": gettext_lazy(
        "The new window will start at about %(tokens)s tokens, close to the %(compacts_at)s at which the client compacts."
    ),
    "no-gain": gettext_lazy(
        "Little is won: about %(before)s tokens before, %(after)s after, in a window of %(window)s."
    ),
    "mid-turn": gettext_lazy("The companion is still answering: the last turn is not finished."),
    "live-chat": ngettext_lazy(
        "Something was said here %(seconds)s second ago. One more word makes this plan stale.",
        "Something was said here %(seconds)s seconds ago. One more word makes this plan stale.",
        "seconds",
    ),
    "summary-carried": ngettext_lazy(
        "A summary that the client made is not kept as talk; its %(characters)s character goes along in the hand-off, "
        "marked as a summary.",
        "A summary that the client made is not kept as talk; its %(characters)s characters go along in the hand-off, "
        "marked as a summary.",
        "characters",
    ),
    "handoff-novel": gettext_lazy("The hand-off reads like a novel: mostly prose. Short lines carry better."),
    "handoff-changelog": gettext_lazy(
        "The hand-off reads like a list of changes: mostly paths and commits. Say what is open between you."
    ),
    "handoff-too-long": gettext_lazy("The hand-off is longer than it should be. Shorter carries better."),
    "half-line": gettext_lazy("The last line of the file is half-written. It is not part of this plan."),
    "bad-lines": ngettext_lazy(
        "%(count)s line that nobody can read is left behind.",
        "%(count)s lines that nobody can read are left behind.",
        "count",
    ),
    "unpaired": ngettext_lazy(
        "%(count)s half of a tool call is left out: its other half is not there.",
        "%(count)s halves of tool calls are left out: their other halves are not there.",
        "count",
    ),
    "sides-missing": ngettext_lazy(
        "%(count)s long tool result that the client had put into a file of its own is gone; only its mention stays.",
        "%(count)s long tool results that the client had put into files of their own are gone; only their mentions stay.",
        "count",
    ),
}

# What a step did.
STEPS = {
    "claimed": gettext_lazy("Nobody else works on this window."),
    "taken-up": gettext_lazy("Taken up again: whoever worked on it is gone."),
    "quiet": ngettext_lazy(
        "Nothing was said for %(seconds)s second.", "Nothing was said for %(seconds)s seconds.", "seconds"
    ),
    "forced": ngettext_lazy(
        "Forced: something was said %(seconds)s second ago.",
        "Forced: something was said %(seconds)s seconds ago.",
        "seconds",
    ),
    "digest-same": gettext_lazy("The transcript is the one that was planned, byte for byte (%(bytes)s)."),
    "no-memory-yet": gettext_lazy("There is no memory to hold it yet."),
    "hold-not-wanted": gettext_lazy("Not put into memory, as you asked."),
    "backed-up": gettext_lazy("%(bytes)s, in %(path)s"),
    "backup-reused": gettext_lazy("The same content was backed up before: %(path)s"),
    "backup-not-wanted": gettext_lazy("No backup, as you asked."),
    "written": ngettext_lazy(
        "%(events)s event, %(bytes)s.",
        "%(events)s events, %(bytes)s.",
        "events",
    ),
    "verified": gettext_lazy("Every line is linked and every call has its result. Files beside it: %(sides)s."),
    "found-written": gettext_lazy("The new session was there already, whole: %(bytes)s."),
    "sides-left-behind": ngettext_lazy(
        "%(count)s file beside the transcript could not be carried along: %(names)s",
        "%(count)s files beside the transcript could not be carried along: %(names)s",
        "count",
    ),
    "talked-in": gettext_lazy("Somebody talks in the new window already; there is nothing to rehearse."),
    "no-client": gettext_lazy("Claude Code was not found here. CLAUDE_BIN says where it is."),
    "rehearse-off": gettext_lazy("Switched off by REHEARSE."),
    "export-only": gettext_lazy("Left alone, as you asked: the new session is only written."),
    "no-bridge": gettext_lazy("There is no bridge. Open the new window yourself."),
    "rebind-off": gettext_lazy("BRIDGE_REBIND is off. Bind or open the new window yourself."),
    "bound": gettext_lazy("The chat goes into the new window."),
    "bound-unproven": gettext_lazy("The chat should go into the new window; that is not proven yet."),
    "unchanged": gettext_lazy("The binding is as it was."),
    "needs-hand": gettext_lazy("The bridge could not be asked. Bind the window by hand, or rebind later."),
    "not-the-newest": gettext_lazy("`claude --continue` may not pick the new window: %(path)s (%(reason)s)"),
    "metrics-not-written": gettext_lazy("metrics.jsonl could not be written; the figures are in the database."),
}

# What a run leaves to be known.
LEFT = {
    "set-aside": gettext_lazy("The new session was set aside, nobody will resume it by accident: %(path)s"),
    "not-set-aside": gettext_lazy("The new session could not be set aside and stays in %(path)s (%(reason)s)."),
    "left-in-place": gettext_lazy("The new session stays where it is: %(path)s"),
    "cancel-too-late": gettext_lazy("The wish to cancel came too late: the new session was written."),
    "source-restored": gettext_lazy("The old transcript was gone and is back from the backup: %(path)s"),
    "said-since": ngettext_lazy(
        "%(lines)s line was said in the new window since. It stays there: %(path)s",
        "%(lines)s lines were said in the new window since. They stay there: %(path)s",
        "lines",
    ),
    "put-back": gettext_lazy("The new session is back in its place: %(path)s"),
}

# What ended a run.
ENDS = {
    "cancelled": gettext_lazy("It was cancelled."),
    "interrupted": gettext_lazy("It was interrupted."),
    "worker-lost": ngettext_lazy(
        "Whoever worked on it was lost %(times)s time; it is given up.",
        "Whoever worked on it was lost %(times)s times; it is given up.",
        "times",
    ),
    "not-quiet": gettext_lazy(
        "Something was said %(seconds)s seconds ago. Try again in %(wait)s seconds, or force it."
    ),
    "still-answering": gettext_lazy("The companion is still answering. Wait for the end of its turn, or force it."),
    "grown": gettext_lazy(
        "Something was said after the plan was made: the transcript has grown by %(bytes)s. Plan once more."
    ),
    "changed": gettext_lazy("The transcript is not the one that was planned. Plan once more."),
    "source-gone": gettext_lazy("The old transcript is gone: %(path)s"),
    "source-unreadable": gettext_lazy("The old transcript cannot be read: %(path)s (%(reason)s)"),
    "uncopyable": gettext_lazy(
        "Line %(line)s is nested so deeply that it cannot be copied. Choose a range without it."
    ),
    "not-whole": gettext_lazy("The new session was not as it has to be, and was not kept: %(faults)s"),
    "rehearsal-not-held": gettext_lazy("The rehearsal could not be held: %(reason)s."),
    "client-without-version": gettext_lazy("No rehearsal: Claude Code does not say its version."),
    "client-does-not-start": gettext_lazy("No rehearsal: Claude Code does not start (%(reason)s)."),
    "client-stopped": gettext_lazy("Claude Code %(version)s came to no end and was stopped."),
    "rehearsed-otherwise": gettext_lazy("Claude Code %(version)s would not send what was planned."),
    "api-would-refuse": gettext_lazy("The API would refuse what Claude Code %(version)s sends (%(reason)s)."),
    "compacts-first": gettext_lazy(
        "Claude Code %(version)s sent %(count)s requests instead of one: it would compact the new window first."
    ),
    "client-silent": gettext_lazy("Claude Code %(version)s sent nothing; it said: %(words)s"),
    "client-ended-badly": gettext_lazy(
        "Claude Code %(version)s sent what was planned, then ended with status %(exit)s: %(words)s"
    ),
    "rehearsed-same": gettext_lazy("Claude Code %(version)s sends exactly what was planned."),
    "rehearsed-without-thinking": ngettext_lazy(
        "Claude Code %(version)s sends what was planned and leaves out %(count)s block of thinking.",
        "Claude Code %(version)s sends what was planned and leaves out %(count)s blocks of thinking.",
        "count",
    ),
    "rehearsal-failed": gettext_lazy("%(detail)s %(difference)s"),
    "rebind-failed": gettext_lazy("The binding did not move: %(why)s"),
    "bridge-failed": gettext_lazy(
        "The bridge does not answer (%(reason)s). The new session stays where it is; see where the chat goes, then rebind."
    ),
    "no-space": gettext_lazy("No space is left for %(path)s. Make room, then try again."),
    "not-allowed": gettext_lazy("%(path)s may not be written. Check who owns its folder and its mode."),
    "read-only": gettext_lazy("%(path)s lies on a disk that cannot be written to."),
    "folder-gone": gettext_lazy("The folder of %(path)s is gone."),
    "target-taken": gettext_lazy("There is a file under the name of the new session, and it is left alone: %(path)s"),
    "owner-differs": gettext_lazy(
        "%(path)s would belong to somebody else than the old transcript. Run it as its owner."
    ),
    "is-a-link": gettext_lazy("%(path)s is a link, and links are not followed."),
    "disk-error": gettext_lazy("The disk gave back something else than was written: %(path)s"),
    "not-written": gettext_lazy("%(path)s could not be written: %(reason)s"),
    "unexpected": gettext_lazy("A fault of the console: %(text)s"),
}

SENTENCES: Mapping[str, Any] = {**WARNINGS, **STEPS, **LEFT, **ENDS}
