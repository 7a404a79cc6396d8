"""Index transcripts: read what is new, store rows, refresh the window, announce (spec S1-S5).

Files are read outside of any transaction; each batch is written in one of its own together with the cursor, guarded by
the cursor it started from, so that two readers of one file cannot both win and a killed one leaves nothing half-done.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import msgspec
from django.conf import settings
from django.db import DataError, IntegrityError, transaction
from django.utils import timezone

from companion.lib.forks import spread
from companion.lib.live import announce
from sessions.actions import health, rows
from sessions.actions.windows import note_activity, refresh
from sessions.core.batches import Batch, State
from sessions.core.reading import read_batch, rethread
from sessions.gateways import transcripts
from sessions.gateways.transcripts import Found, Identity, Reader, Trouble
from sessions.models import Companion, Transcript

log = logging.getLogger(__name__)
ANNOUNCED_TOGETHER = 50
# Bytes to read from which on a pass is spread over the processors.
LONG_PASS = 32 * 1024 * 1024


@dataclass(slots=True)
class Indexed:
    """What one pass over transcripts did. `seconds` is the whole pass, `new_events` counts records read in it."""

    files: int = 0
    new_events: int = 0
    seconds: float = 0.0
    troubles: list[Trouble] = field(default_factory=list)
    # Keys of what changed, for the open pages.
    windows: set[int] = field(default_factory=set)
    companions: set[int] = field(default_factory=set)
    # Looked up once in a pass, by project folder.
    companions_by_project: dict[str, Companion] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    """A transcript as a look at its folder showed it; no identity where it could not be asked for."""

    found: Found
    identity: Identity | None

    @property
    def size(self) -> int:
        return self.identity.size if self.identity is not None else 0


@dataclass(slots=True)
class Reading:
    """One file being read on. `seen` is what it has named so far."""

    transcript: Transcript
    reader: Reader
    state: State
    seen: rows.Seen
    before: int


def index_all(roots: Sequence[Path] | None = None, *, full: bool = False) -> Indexed:
    """Brings every transcript below the roots up to date, the most recently written first.

    `full` reads every file again from its start. Files that are gone keep their rows and are marked missing.
    """
    started = time.monotonic()
    done = Indexed()
    roots = settings.ENV.roots if roots is None else roots
    found = _newest_first(roots, done)
    unchanged = {} if full else rows.settled(roots)
    changed = [item for item in found if unchanged.get(str(item.found.path)) != item.identity]
    for part in _index_files(changed, full):
        done.new_events += part.new_events
    _mark_missing({str(item.found.path) for item in found}, roots, done)
    done.files = len(found)
    done.seconds = round(time.monotonic() - started, 3)
    return done


def _index_files(changed: Sequence[Listed], full: bool) -> list[Indexed]:
    """A long pass uses every processor."""
    if sum(item.size for item in changed) > LONG_PASS:
        return spread(partial(_index_part, full=full), changed, lambda item: item.size)
    return [_index_part(changed, full=full)]


def _index_part(changed: Sequence[Listed], *, full: bool) -> Indexed:
    done = Indexed()
    if changed:
        with rows.relaxed():
            for item in changed:
                index_file(item.found, done, full=full)
                _announce_now_and_then(done)
        _announce(done)
    return done


def _announce_now_and_then(done: Indexed) -> None:
    """During a long pass the pages hear of it in handfuls."""
    if len(done.windows) >= ANNOUNCED_TOGETHER:
        _announce(done)


def _newest_first(roots: Iterable[Path], done: Indexed) -> list[Listed]:
    found: list[Listed] = []
    for root in roots:
        for item in transcripts.discover(root):
            if isinstance(item, Trouble):
                done.troubles.append(item)
                log.warning("%s cannot be read: %s", item.path, item.reason)
            else:
                found.append(Listed(item, _identity(item.path)))
    return sorted(found, key=lambda item: -(item.identity.modified_ns if item.identity else 0))


def _identity(path: Path) -> Identity | None:
    try:
        return transcripts.identity(path)
    except OSError:
        return None


def _mark_missing(seen: set[str], roots: Iterable[Path], done: Indexed) -> None:
    """Marks what a look at its whole folder no longer showed; an unreadable folder says nothing about its files."""
    blind = [str(trouble.path) for trouble in done.troubles]
    here = Transcript.objects.filter(host=settings.ENV.host_name, root__in=[str(root) for root in roots])
    for transcript in here.filter(missing_since=None).only("path").iterator(chunk_size=2000):
        if transcript.path not in seen and not any(_is_below(transcript.path, folder) for folder in blind):
            rows.note(transcript.path, missing_since=timezone.now())


def _is_below(path: str, folder: str) -> bool:
    return Path(path).is_relative_to(folder)


def index_path(path: Path) -> int:
    """Indexes one file that changed. Answers the number of new records; 0 for anything that is no transcript."""
    for root in settings.ENV.roots:
        if path.is_relative_to(root):
            found = transcripts.recognise(root, path)
            return index_one(found) if found is not None and _may_be_read(found) else 0
    return 0


def index_one(found: Found) -> int:
    """Indexes one file, wherever it lies, and tells the open pages."""
    done = Indexed()
    with rows.relaxed():
        index_file(found, done)
    _announce(done)
    return done.new_events


def _may_be_read(found: Found) -> bool:
    try:
        return found.path.resolve(strict=True).is_relative_to(found.root.resolve())
    except OSError:
        rows.note(str(found.path), missing_since=timezone.now())
        return False


def index_file(found: Found, done: Indexed, *, full: bool = False) -> None:
    """Reads what is new in one transcript; counts it in `done`.

    A file that cannot be opened is noted on its row, with the reason; what was read before stays.
    """
    try:
        # The row before the file: a file that is behind its row would look like a truncated one.
        transcript = rows.transcript_for(found, transcripts.identity(found.path))
        with transcripts.opened(found.path) as reader:
            _read_on(transcript, reader, done, full)
    except OSError as fault:
        _note_trouble(found, fault)
    except (DataError, IntegrityError) as fault:
        # One file may not keep the others from being read.
        log.exception("%s does not fit the database", found.path)
        rows.note(str(found.path), trouble=f"does not fit the database: {str(fault).splitlines()[0]}")


def _note_trouble(found: Found, fault: OSError) -> None:
    """A file that cannot be read keeps what was read of it; its row says why, or since when it is gone."""
    reason = transcripts.reason_of(fault)
    log.warning("%s cannot be read: %s", found.path, reason)
    if isinstance(fault, FileNotFoundError):
        rows.note(str(found.path), missing_since=timezone.now())
    else:
        rows.note(str(found.path), trouble=reason)


def _read_on(transcript: Transcript, reader: Reader, done: Indexed, full: bool) -> None:
    if full or not _is_same_file(transcript, reader):
        rows.forget(transcript)
    state = rows.state_of(transcript)
    seen = rows.Seen(transcript)
    reading = Reading(transcript, reader, state, seen, before=state.events)
    is_last, is_first = False, transcript.offset == 0
    for lines, is_last in reader.batches(transcript.offset, transcript.lines):
        batch = read_batch(lines, state)
        state.rethread = state.rethread or seen.has_repeats(batch.rows)
        if is_last and is_first and state.rethread:
            rethread(batch, state)
        is_first = False
        look = rows.Look.at(reader, batch.offset, is_last=is_last)
        if not _store(reading, batch, look, done):
            return
    if not is_last:
        _settle_unread(reading, rows.Look.at(reader, transcript.offset, is_last=True), done)


def _is_same_file(transcript: Transcript, reader: Reader) -> bool:
    """Is what was read before still how this file begins? An empty row fits any file."""
    if transcript.offset == 0:
        return True
    if reader.identity.size < transcript.offset:
        return False
    tail = reader.tail_digest(transcript.offset)
    return tail == transcript.tail_digest and reader.head_digest(transcript.offset) == transcript.head_digest


def _store(reading: Reading, batch: Batch, look: rows.Look, done: Indexed) -> bool:
    """One batch into the database, with the last one the window's figures; False if another reader was faster, who then
    has it all."""
    with transaction.atomic():
        if not rows.advance(reading.transcript, batch, reading.state, look):
            return False
        rows.write(reading.transcript, batch, reading.seen)
        if look.identity is not None:
            _settle(reading.transcript, reading.state, done)
    done.new_events += reading.state.events - reading.before
    reading.before = reading.state.events
    return True


def _settle_unread(reading: Reading, look: rows.Look, done: Indexed) -> None:
    """A file that was touched or renamed, or whose last line still waits: nothing new to store but how it looks."""
    nothing = Batch(offset=reading.transcript.offset, lines=reading.transcript.lines)
    _store(reading, nothing, look, done)


def _settle(transcript: Transcript, state: State, done: Indexed) -> None:
    """The thread anew if need be, then the window's figures."""
    if state.rethread:
        rows.rethread(transcript, state)
        transcript.state = msgspec.to_builtins(state)
        transcript.save(update_fields=["state"])
    window = refresh(transcript, state, done.companions_by_project)
    if window is not None:
        done.windows.add(window.pk)
        done.companions.add(window.companion_id)


def _announce(done: Indexed) -> None:
    note_activity(done.companions)
    announce("window", *done.windows)
    announce("companion", *done.companions)
    done.windows.clear()
    done.companions.clear()


def catch_up() -> None:
    """Before a command reads the index: where no watcher keeps it fresh, look at the files first."""
    if not health.is_alive("watcher"):
        index_all()


def totals() -> dict[str, int]:
    """Sums over all that is indexed: sessions, events, bad_lines, bytes."""
    return rows.totals()
