"""The hand-off of a window: drafted from what was said, or a text that replaces the draft (spec H1–H4)."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from companion.lib.secrets_mask import masked
from companion.lib.visible import cut, visible
from sessions.actions.handoff_reading import MOST_MESSAGES, heard
from sessions.actions.sentences import sentence
from sessions.core.handoff import LONGEST, Handoff, Language, draft, fields, language_of, markdown, reading_faults
from sessions.gateways import transcripts, whiteboard_file
from sessions.gateways.whiteboard_file import NoPlainFile, Written
from sessions.models import Window

# An unsaved draft: numbers begin with the first one that is kept.
DRAFT_VERSION = 0
MOST_DAYS = 366
# A character of UTF-8 has at most four bytes; a mark of order at the start has three.
LONGEST_FILE = LONGEST * 4 + 3
_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft as it would be injected (`markdown`), from so many messages of these days; `note` where not all were read."""

    session_id: str
    handoff: Handoff
    language: Language
    markdown: str
    messages: int
    days: list[date] = field(default_factory=list)
    note: str = ""

    @property
    def warnings(self) -> list[str]:
        """What a person should know about it, in words."""
        nothing = [] if self.messages else [_("The person has said nothing here yet: the hand-off is empty.")]
        return [*nothing, *([self.note] if self.note else []), *warnings_about(self.markdown)]


def draft_for(
    window: Window,
    *,
    days: Sequence[date] = (),
    until_idx: int | None = None,
    summaries: Sequence[str] = (),
) -> Drafted:
    """A hand-off drafted from the person's messages and the answers to them on these days, up to `until_idx` (included)
    where one is given; without days the last one that has messages and the day before it.

    `summaries` are the client's own, carried along and marked. Secrets are covered. Raises Refusal: a day without
    messages, a file that cannot be read or is not the one indexed.
    """
    found = heard(window, days, until_idx)
    handoff = draft(found.said, summaries=[masked(summary) for summary in summaries])
    language = language_of(found.said)
    page = markdown(handoff, language=language, zone=settings.ENV.zone, session_id=window.session_id)
    note = _note() if found.is_bounded else ""
    return Drafted(window.session_id, handoff, language, page, len(found.said), found.days, note)


def _note() -> str:
    return _("These days have more messages than a draft reads; it is made of the newest %(most)s at most.") % {
        "most": f"{MOST_MESSAGES:,}"
    }


def document(drafted: Drafted) -> dict[str, Any]:
    """A draft as `handoff` gives it (contract, "Commands")."""
    return {
        "session_id": drafted.session_id,
        "days": [day.isoformat() for day in drafted.days],
        "fields": fields(drafted.handoff),
        "markdown": drafted.markdown,
        "version": DRAFT_VERSION,
        "language": drafted.language,
        "messages": drafted.messages,
        "warnings": drafted.warnings,
        "written": None,
    }


def warnings_about(text: str) -> list[str]:
    """How a hand-off reads, where it reads badly: like a novel, like a list of changes, too long (spec H1)."""
    return [sentence({"code": f"handoff-{fault}"}) for fault in reading_faults(text)]


def days_from(text: str) -> list[date]:
    """Days as people type them: "2026-08-03,2026-08-04", also with blanks or the signs of Chinese; each once, in order.

    Raises Refusal that names what is no day.
    """
    parts = [part for part in re.split(r"[,，、;；\s]+", text.strip()) if part]
    if not parts or len(parts) > MOST_DAYS:
        raise Refusal("bad-days", _("Give 1 to %(most)d days.") % {"most": MOST_DAYS}, _day_hint())
    return sorted({_day(part) for part in parts})


def _day(part: str) -> date:
    found = _DAY.match(part)
    with contextlib.suppress(ValueError):
        if found is not None:
            year, month, day = map(int, found.groups())
            return date(year, month, day)
    raise Refusal("bad-days", _("“%(text)s” is no day.") % {"text": visible(cut(part, 40))}, _day_hint())


def _day_hint() -> str:
    return _("Write days with commas between, such as 2026-08-03,2026-08-04.")


def read_text(path: str) -> str:
    """A hand-off from a file, for `--handoff FILE`: the text with its secrets covered, at most LONGEST characters.

    Raises Refusal: missing, unreadable, no plain file, no UTF-8, empty, too long.
    """
    name = visible(cut(path, 200))
    try:
        data = whiteboard_file.read(Path(path).expanduser(), LONGEST_FILE + 1)
    except NoPlainFile:
        raise Refusal("no-text-file", _("%(path)s is no plain file.") % {"path": name}, _file_hint()) from None
    except (OSError, ValueError, RuntimeError) as fault:
        reason = transcripts.reason_of(fault) if isinstance(fault, OSError) else _("this is no path")
        raise Refusal(
            "unreadable", _("%(path)s cannot be read: %(reason)s.") % {"path": name, "reason": reason}, _file_hint()
        ) from None
    return usable(_decoded(data, name))


def _decoded(data: bytes, name: str) -> str:
    try:
        return data[:LONGEST_FILE].decode("utf-8-sig") if len(data) <= LONGEST_FILE else "x" * (LONGEST + 1)
    except UnicodeDecodeError:
        raise Refusal("no-text-file", _("%(path)s is no text in UTF-8.") % {"path": name}, _file_hint()) from None


def usable(text: str) -> str:
    """A hand-off somebody wrote: ends of lines alike, secrets covered. Raises Refusal: empty, or over LONGEST characters."""
    text = masked(text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not text.replace("\x00", "").strip():
        raise Refusal("handoff-empty", _("The hand-off is empty."), _file_hint())
    if len(text) > LONGEST:
        raise Refusal(
            "handoff-too-long",
            _("The hand-off is longer than the %(most)d characters that are injected.") % {"most": LONGEST},
            _("Shorten it: topic, state, promises, what never to do, a few cues."),
        )
    return text


def _file_hint() -> str:
    return _("Give a Markdown file, such as one that `handoff --write` has written.")


def write(window: Window, text: str) -> Written:
    """Writes `SESSION_HANDOFF.md` into the window's working folder; another text there is kept beside. Raises Refusal."""
    try:
        return whiteboard_file.write(_folder(window), text)
    except OSError as fault:
        raise _not_written(window, fault) from None


def check_writable(window: Window) -> None:
    """Raises the Refusal that `write` would, as far as that can be seen."""
    try:
        whiteboard_file.check(_folder(window))
    except OSError as fault:
        raise _not_written(window, fault) from None


def written_document(written: Written) -> dict[str, Any]:
    """`path`, `kept` (where the text before it is now, or null) and `unchanged`."""
    kept = str(written.kept) if written.kept is not None else None
    return {"path": str(written.path), "kept": kept, "unchanged": written.was_same}


def _folder(window: Window) -> Path:
    if not window.cwd or "\x00" in window.cwd or not Path(window.cwd).is_absolute():
        raise Refusal(
            "no-folder",
            _("The working folder of this session is not known: its lines name none."),
            _("Leave --write out and put the text where you want it."),
        )
    return Path(window.cwd)


def _not_written(window: Window, fault: OSError) -> Refusal:
    words = {
        "name": whiteboard_file.NAME,
        "folder": visible(cut(window.cwd, 200)),
        "reason": transcripts.reason_of(fault),
    }
    if isinstance(fault, NoPlainFile):
        return Refusal(
            "no-plain-file",
            _("%(name)s in %(folder)s is a link or a folder; nothing is written through it.") % words,
            _("Move it away, then try again."),
        )
    return Refusal(
        "not-writable",
        _("%(name)s cannot be written into %(folder)s: %(reason)s.") % words,
        _("Is the folder still there, and yours?"),
    )
