"""A run as a person reads it in a terminal: what stays, what goes, how full it gets, and what to type next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from companion.lib.console import Document, padded
from companion.lib.visible import cut, visible
from sessions.views.run_words import kind_name, step_name

MARKS = {"ok": "✓", "warning": "!", "failed": "✗", "skipped": "-", "running": "…"}
LONGEST_PREVIEW = 70
Row = tuple[str, str]


def lines_of(document: Document) -> Iterator[str]:
    """One run, or a session that was bound without one."""
    if "run_id" not in document:
        yield binding_of(document["rebind"]["status"])
        yield visible(document["detail"])
        yield from resume(document["cwd"], document["session_id"])
        return
    yield f"{kind_name(document['kind'])} · {status_of(document)}"
    yield from _table(_rows(document))
    for warning in document["warnings"]:
        yield f"! {visible(warning)}"
    yield from map(step_line, document["steps"])
    yield from _ending(document)


def status_of(document: Document) -> str:
    return {
        "planned": pgettext("terminal", "planned, nothing is changed yet"),
        "running": pgettext("terminal", "under way"),
        "done": pgettext("terminal", "done"),
        "exported": pgettext("terminal", "written, the binding is as it was"),
        "failed": pgettext("terminal", "failed, the old window is as it was"),
        "stale": pgettext("terminal", "stale, nothing was changed"),
        "cancelled": pgettext("terminal", "cancelled, nothing was changed"),
        "rolled_back": pgettext("terminal", "rolled back to the old window"),
    }.get(document["status"], str(document["status"]))


def _table(rows: Iterable[Row]) -> Iterator[str]:
    for label, text in rows:
        yield f"  {padded(label, 11)} {text}"


def _rows(document: Document) -> Iterator[Row]:
    yield pgettext("terminal", "run"), document["run_id"]
    title = visible(cut(document["title"] or "", LONGEST_PREVIEW))
    yield pgettext("terminal", "old window"), f"{document['source']['session_id']}  {title}".rstrip()
    yield pgettext("terminal", "new window"), document["target"]["session_id"]
    yield pgettext("terminal", "stays"), _stays(document)
    yield pgettext("terminal", "first"), _words(document["first_preview"], document["cut"]["from_idx"])
    yield pgettext("terminal", "last"), _words(document["last_preview"], document["cut"]["to_idx"])
    yield pgettext("terminal", "goes"), _goes(document)
    yield pgettext("terminal", "squashed"), _squashed(document)
    yield pgettext("terminal", "hand-off"), _handoff(document)
    yield pgettext("terminal", "fullness"), _fullness(document)
    if binding := _binding(document):
        yield pgettext("terminal", "binding"), binding


def _stays(document: Document) -> str:
    kept = document["kept"]
    return _("≈ %(tokens)s tokens: %(events)s events in %(turns)s turns, thinking blocks: %(thinking)s") % {
        name: f"{kept[name]:,}" for name in ("tokens", "events", "turns", "thinking")
    }


def _goes(document: Document) -> str:
    dropped = document["dropped"]
    if not dropped["events"]:
        return pgettext("terminal", "nothing")
    return _("≈ %(tokens)s tokens: %(events)s events; they stay in the old window") % {
        name: f"{dropped[name]:,}" for name in ("tokens", "events")
    }


def _words(preview: str, idx: int | None) -> str:
    return f"#{'-' if idx is None else idx} {visible(cut(preview, LONGEST_PREVIEW))}".rstrip()


def _squashed(document: Document) -> str:
    kept = document["kept"]
    results, images = kept["tool_results_squashed"], kept["images_squashed"]
    if not results and not images:
        return pgettext("terminal", "nothing")
    return ", ".join(
        [
            ngettext("%(count)s tool result", "%(count)s tool results", results) % {"count": f"{results:,}"},
            ngettext("%(count)s picture", "%(count)s pictures", images) % {"count": f"{images:,}"},
        ]
    )


def _handoff(document: Document) -> str:
    count = document["handoff_chars"]
    if not count:
        return pgettext("terminal", "none")
    length = ngettext("%(count)s character", "%(count)s characters", count) % {"count": f"{count:,}"}
    if document["handoff_origin"] != "summary":
        return length
    return _("none; what a compaction or an earlier run left goes along: %(length)s") % {"length": length}


def _fullness(document: Document) -> str:
    used = document["used"]
    return _("%(before_pct)s %% → ≈ %(after_pct)s %%  (%(before)s → ≈ %(after)s of %(window)s tokens)") % {
        **used,
        **{name: f"{used[name]:,}" for name in ("before", "after", "window")},
    }


def _binding(document: Document) -> str:
    rebind = document["rebind"]
    if document["status"] == "planned" and not rebind["before"]:
        return ""
    ends = " → ".join(visible(str(rebind[end])) for end in ("before", "after") if rebind[end])
    return "  ".join(part for part in (binding_of(rebind["status"]), ends) if part)


def binding_of(status: str | None) -> str:
    """What became of the binding."""
    return {
        "bound": _("bound to the new window"),
        "bound-unproven": _("bound to the new window, not proven yet"),
        "unchanged": pgettext("terminal", "unchanged"),
        "needs-hand": pgettext("terminal", "needs your hand"),
        "none": _("no bridge: nothing is bound"),
    }.get(status or "", status or "")


def step_line(step: Document) -> str:
    """One step of a document."""
    mark = MARKS.get(step["status"], "?")
    seconds = f"{step['seconds'] or 0:.1f} s"
    return f"  {mark} {padded(step_name(step['name']), 34)}{seconds:>8}  {visible(step['detail'])}".rstrip()


def _ending(document: Document) -> Iterator[str]:
    """What went wrong, and what to type next."""
    if document["error"]:
        yield f"✗ {visible(document['error']['message'])}"
    status, run_id = document["status"], document["run_id"]
    if status == "planned":
        yield _("To do exactly this: %(command)s") % {"command": f"manage.py apply {run_id[:8]}"}
    elif status in {"done", "exported"}:
        yield _("To go on in the new window:")
        yield from resume(document["cwd"], document["target"]["session_id"])
        if status == "done":
            yield _("To go back to the old one: %(command)s") % {"command": f"manage.py rollback {run_id[:8]}"}
    elif status in {"failed", "stale", "cancelled", "rolled_back"}:
        yield _("The old window goes on as before:")
        yield from resume(document["cwd"], document["source"]["session_id"])


def resume(cwd: str | None, session_id: str) -> Iterator[str]:
    """What to type to go on in a window."""
    if cwd:
        yield f"  cd {visible(shlex.quote(cwd))}"
    yield f"  claude --resume {shlex.quote(session_id)}"


def line_of(document: Document) -> str:
    """One run of many."""
    used = document["used"]
    parts = [
        document["run_id"][:8],
        (document["local_time"] or "-")[:16],
        padded(kind_name(document["kind"]), 5),
        padded(document["status"], 11),
        f"{document['source']['session_id'][:8]} → {document['target']['session_id'][:8]}",
        f"{used['before_pct']:5.1f} % → ≈ {used['after_pct']:.1f} %",
        visible(cut(document["title"] or "", 40)),
    ]
    return "  ".join(parts).rstrip()
