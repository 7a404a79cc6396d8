"""The rows behind an index: a transcript's cursor, its events, its thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import msgspec
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, F, Q, Sum
from django.utils import timezone

from companion.lib.live import announce
from sessions.core.batches import Batch, Point, Row, State
from sessions.core.reading import follow, use
from sessions.core.thread import live_thread
from sessions.gateways import transcripts
from sessions.gateways.transcripts import Found, Identity, Reader
from sessions.models import Event, Transcript, UsagePoint, Window, WordsCursor, bulk

BAD_SAMPLES = 50


def transcript_for(found: Found, identity: Identity) -> Transcript:
    """The row of a file: by its path, or by its inode where it was only renamed; a new one for a new file."""
    here = Transcript.objects.filter(host=settings.ENV.host_name)
    same = Q(path=str(found.path)) | Q(device=identity.device, inode=identity.inode)
    for transcript in sorted(here.filter(same), key=lambda row: row.path != str(found.path)):
        if transcript.path == str(found.path) or _was_renamed(transcript, identity):
            transcript.path, transcript.root = str(found.path), str(found.root)
            return transcript
    kind = Transcript.Kind.SUBAGENT if found.is_subagent else Transcript.Kind.OTHER
    new = Transcript(
        host=settings.ENV.host_name,
        path=str(found.path),
        root=str(found.root),
        kind=kind,
        parent_session_id=found.parent,
    )
    try:
        new.save(force_insert=True)
    except IntegrityError:
        # Another reader saw the file at the same moment.
        return here.get(path=str(found.path))
    return new


def known_path(path: Path) -> Path:
    """The path under which this very file is known already, however it was reached; else the path itself."""
    try:
        seen = transcripts.identity(path)
    except OSError:
        return path
    same = Transcript.objects.filter(host=settings.ENV.host_name, device=seen.device, inode=seen.inode)
    names = sorted(same.values_list("path", flat=True))
    others = [Path(name) for name in names if _is_same(Path(name), path)]
    return path if str(path) in names or not others else others[0]


def _is_same(known: Path, path: Path) -> bool:
    try:
        return known.samefile(path)
    except OSError:
        return False


def _was_renamed(transcript: Transcript, identity: Identity) -> bool:
    return transcript.offset <= identity.size and not Path(transcript.path).exists()


def state_of(transcript: Transcript) -> State:
    """The reading as it was left. An unreadable state starts over, with its rows."""
    try:
        return msgspec.convert(transcript.state, State)
    except msgspec.ValidationError:
        forget(transcript)
        return State()


@transaction.atomic
def forget(transcript: Transcript) -> None:
    """Takes back what was read, before a file is read anew; its window, title and pin stay."""
    # Another reader may be about to store a batch: it has to end before, or to find its place gone.
    Transcript.objects.select_for_update().get(pk=transcript.pk)
    Event.objects.filter(transcript=transcript).delete()
    UsagePoint.objects.filter(transcript=transcript).delete()
    # Words stay until those of the new reading take their place.
    WordsCursor.objects.filter(transcript=transcript).update(lines=0, turn=F("turn") + 1, last_at=None)
    transcript.offset = transcript.lines = transcript.events = transcript.bad_lines = 0
    transcript.state, transcript.bad_samples = {}, []
    transcript.head_digest = transcript.tail_digest = ""
    transcript.save()


def drop(path: str) -> None:
    """Takes back the row of a file that turned out to be none of ours."""
    for transcript in Transcript.objects.filter(host=settings.ENV.host_name, path=path, window=None):
        forget(transcript)
        WordsCursor.objects.filter(transcript=transcript).delete()
        transcript.delete()


class Seen:
    """What a file has named so far, by hash: of two lines with one uuid the last counts, which only the tree can tell,
    and of two lines of one message the last report. For a file read before, the database has to be asked."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._uuids: set[int] | None = set() if transcript.offset == 0 else None
        self._messages: set[int] = set()

    def has_repeats(self, rows: Sequence[Row]) -> bool:
        uuids = [row.uuid for row in rows]
        repeats = len(set(uuids)) < len(uuids)
        if self._uuids is None:
            return repeats or Event.objects.filter(transcript=self._transcript, uuid__in=uuids).exists()
        hashes = set(map(hash, uuids))
        repeats = repeats or not self._uuids.isdisjoint(hashes)
        self._uuids |= hashes
        return repeats

    def split(self, points: Mapping[str, Point]) -> tuple[list[Point], list[Point]]:
        """(messages never reported before, messages that may have been)."""
        if self._uuids is None:
            return [], list(points.values())
        fresh = [point for key, point in points.items() if hash(key) not in self._messages]
        again = [point for key, point in points.items() if hash(key) in self._messages]
        self._messages.update(map(hash, points))
        return fresh, again


@contextmanager
def relaxed() -> Iterator[None]:
    """What is written can be read again from the files: no need to wait for the disk."""
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
        try:
            yield
        finally:
            cursor.execute("RESET synchronous_commit")


@dataclass(frozen=True, slots=True)
class Look:
    """How a file looked where a batch ended: digests of its first and of the last read bytes, and at its end also
    what it is."""

    head_digest: str
    tail_digest: str
    identity: Identity | None

    @classmethod
    def at(cls, reader: Reader, offset: int, *, is_last: bool) -> Look:
        return cls(reader.head_digest(offset), reader.tail_digest(offset), reader.identity if is_last else None)


def advance(transcript: Transcript, batch: Batch, state: State, look: Look) -> bool:
    """Moves the cursor over a batch; False if it is no longer where this reading began."""
    here = Transcript.objects.filter(pk=transcript.pk, offset=transcript.offset, lines=transcript.lines)
    samples = [{"line": raw.seq + 1, "offset": raw.offset, "reason": reason} for raw, reason in batch.bad]
    transcript.offset, transcript.lines = batch.offset, batch.lines
    transcript.bad_lines += len(batch.bad)
    transcript.bad_samples = [*transcript.bad_samples, *samples][:BAD_SAMPLES]
    take(transcript, state, look)
    return here.update(**{name: getattr(transcript, name) for name in READ_FIELDS}) == 1


def write(transcript: Transcript, batch: Batch, seen: Seen) -> None:
    # COPY goes past Django's cursor, and so would its faults.
    with connection.wrap_database_errors:
        if batch.rows:
            bulk.copy_events(transcript.pk, batch.rows)
        fresh, again = seen.split(batch.points)
        bulk.copy_points(transcript.pk, fresh)
        bulk.upsert_points(transcript.pk, again)


def rethread(transcript: Transcript, state: State) -> None:
    """Works the live thread out over all rows of the file and puts it onto them."""
    links, weights = [], {}
    for link, weight in bulk.links_of(transcript.pk):
        links.append(link)
        weights[link.seq] = weight
    thread = live_thread(links, version=state.version, pinned=state.pinned)
    bulk.place(transcript.pk, follow(state, thread, weights))
    use(state, bulk.live_usage(transcript.pk))


READ_FIELDS = (
    "path", "root", "kind", "parent_session_id", "device", "inode", "size", "modified_ns", "offset", "lines", "head_digest",
    "tail_digest", "state", "events", "bad_lines", "bad_samples", "trouble", "missing_since", "indexed_at",
)  # fmt: skip


def take(transcript: Transcript, state: State, look: Look) -> None:
    """How far the file was read and how it looked; read to its end, an unchanged one costs nothing the next time."""
    transcript.events = state.events
    transcript.state = msgspec.to_builtins(state)
    transcript.head_digest, transcript.tail_digest = look.head_digest, look.tail_digest
    transcript.trouble, transcript.missing_since = "", None
    transcript.indexed_at = timezone.now()
    if transcript.kind == Transcript.Kind.SUBAGENT:
        transcript.parent_session_id = transcript.parent_session_id or state.session_id
    elif state.has_main:
        transcript.kind = Transcript.Kind.MAIN
    if look.identity is not None:
        seen = look.identity
        transcript.device, transcript.inode = seen.device, Decimal(seen.inode)
        transcript.size, transcript.modified_ns = seen.size, seen.modified_ns


def settled(roots: Iterable[Path], path: str | None = None) -> dict[str, Identity]:
    """Path → identity of the files that were read to their end and are as they should be (or of the one `path`)."""
    here = Transcript.objects.filter(
        host=settings.ENV.host_name, root__in=[str(root) for root in roots], missing_since=None, trouble=""
    )
    here = here.filter(path=path) if path is not None else here
    fields = here.exclude(state__rethread=True).values_list("path", "device", "inode", "size", "modified_ns")
    return {name: Identity(device, int(inode), size, modified) for name, device, inode, size, modified in fields}


def note(path: str, **values: object) -> None:
    """Notes something about a file that was not read, once, and tells the open pages."""
    here = Transcript.objects.filter(host=settings.ENV.host_name, path=path)
    fresh = here.filter(missing_since=None) if "missing_since" in values else here.exclude(**values)
    if fresh.update(**values):
        shown = Window.objects.filter(transcript__in=here).values_list("pk", "companion_id")
        announce("window", *(pk for pk, _ in shown))
        announce("companion", *{companion for _, companion in shown})


def totals() -> dict[str, int]:
    sums = Transcript.objects.aggregate(events=Sum("events"), bad_lines=Sum("bad_lines"), bytes=Sum("offset"))
    sessions = Window.objects.aggregate(sessions=Count("pk"))
    return {name: value or 0 for name, value in {**sessions, **sums}.items()}
