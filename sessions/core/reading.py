"""Reading a transcript on: folds lines into rows and figures, one batch after another, without looking back.

The reading carries a small `State` from batch to batch (it is stored with the window). As long as a line continues the
live thread it gets its `idx` at once. A line that does not (a rewind, a missing parent, a pinned leaf) only sets
`rethread`: then the caller works the thread out anew over all links and calls `follow`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from sessions.core import tokens
from sessions.core.batches import Batch, Point, RawLine, Row, State
from sessions.core.events import DIALOGUE, Kind, bounded_id, kind_of, parent_of
from sessions.core.lines import BadLine, Line, Message, read_line
from sessions.core.pieces import Weigher
from sessions.core.spoken import spoken
from sessions.core.thread import BESIDE, Link, Thread, live_thread
from sessions.core.usage import MOST_TOKENS, Reported, reported

PREVIEW = 200
OPEN_STEP = 128
# Looked at for every line; a name of the module is quicker than an attribute of the enumeration.
_ASSISTANT, _HUMAN, _PROGRESS, _BOUNDARY = Kind.ASSISTANT, Kind.HUMAN, Kind.PROGRESS, Kind.BOUNDARY
_COUNTED = frozenset({Kind.HUMAN, Kind.QUEUED})
_STEP_PARTS = frozenset({Kind.ASSISTANT, Kind.TOOL_RESULT, *BESIDE})
_STEP_ENDS = frozenset({Kind.HUMAN, Kind.COMMAND, Kind.BOUNDARY})
PREVIEWED = frozenset({Kind.HUMAN, Kind.QUEUED, Kind.ASSISTANT, Kind.TAGGED})


# A chain line with its kind; no kind: a `last-prompt`, kept in order because it may move the thread.
_Link = tuple[RawLine, Line, Kind | None]


def read_batch(lines: Sequence[RawLine], state: State) -> Batch:
    """Folds whole lines into rows; changes `state`. A bad line is reported in the batch and changes nothing else."""
    batch = Batch(offset=lines[-1].offset + lines[-1].length, lines=lines[-1].seq + 1)
    links: list[_Link] = []
    for raw in lines:
        try:
            if raw.raw is None:
                raise BadLine(f"longer than the console reads: {raw.length} bytes")
            line = read_line(raw.raw)
        except BadLine as fault:
            batch.bad.append((raw, str(fault)))
            continue
        if line is not None:
            state.events += 1
            _take(raw, line, state, links)
    weigher = Weigher(tokens.generation_of(_model_ahead(links) or state.model))
    for _, line, kind in links:
        if kind is None or line.isSidechain:
            weigher.add_nothing()
        else:
            weigher.add(line, kind)
    for (raw, line, kind), parts in zip(links, weigher.weigh(), strict=True):
        if kind is None:
            _pin(line, state)
        else:
            _fold(raw, line, kind, parts, state, batch)
    return batch


def rethread(batch: Batch, state: State) -> None:
    """The live thread of a file whose lines are all in this batch: worked out before anything is stored."""
    links = [Link(row.seq, row.uuid, row.parent, row.kind, row.side, row.message_id, row.at) for row in batch.rows]
    thread = live_thread(links, version=state.version, pinned=state.pinned)
    places = follow(state, thread, {row.seq: sum(row.parts) for row in batch.rows})
    for row in batch.rows:
        row.live = row.seq in places
        row.idx = places.get(row.seq)
    live = []
    for point in batch.points.values():
        point.live = point.seq in places
        if point.live:
            live.append(point)
    use(state, [(point.seq, point.usage.context) for point in live])


def use(state: State, live: Sequence[tuple[int, int]]) -> None:
    """Takes the reported usage of the live thread into the state: (seq, tokens of context) in any order."""
    state.most_used = max([state.most_used, *(context for _, context in live)])
    after = [pair for pair in live if pair[0] > state.boundary]
    state.used_seq, state.used = max(after, default=(-1, 0))


def follow(state: State, thread: Thread, weights: Mapping[int, int]) -> dict[int, int | None]:
    """Takes a newly worked out thread into the state. Answers seq → idx (None: live, but no dialogue event).

    `weights` are the estimated tokens of each line by seq. Reported usage is the caller's to look up again.
    """
    state.dialogue = state.humans = state.compactions = 0
    state.boundary = state.used_seq = -1
    state.after_boundary = state.used = 0
    state.weight = 0.0
    places: dict[int, int | None] = {}
    for link in thread.links:
        places[link.seq] = state.dialogue if link.kind in DIALOGUE else None
        state.dialogue += link.kind in DIALOGUE
        state.humans += link.kind in _COUNTED
        state.weight += weights.get(link.seq, 0)
        if link.kind == Kind.BOUNDARY:
            state.cross_boundary(link.seq)
    state.leaf = thread.leaf.uuid if thread.leaf else None
    state.flat = thread.is_flat
    _open_step(state, thread)
    state.rethread = False
    return places


def _open_step(state: State, thread: Thread) -> None:
    """The lines of the last message and what hangs on it, as `_advance` would have gathered them."""
    step: list[Link] = []
    message: Link | None = None
    for link in reversed(thread.links[-OPEN_STEP:]):
        is_answer = link.kind == Kind.ASSISTANT
        if message is not None and (link.kind in _STEP_ENDS or (is_answer and link.message_id != message.message_id)):
            break
        step.append(link)
        message = link if is_answer else message
        if link.kind in _STEP_ENDS:
            break
    step.reverse()
    step = step[step.index(message) :] if message is not None else step
    state.step_message = message.message_id if message is not None else None
    state.step = [link.uuid for link in step]
    state.step_kinds = "".join(link.kind for link in step)


def _take(raw: RawLine, line: Line, state: State, links: list[_Link]) -> None:
    kind = kind_of(line)
    if kind is None:
        _take_metadata(line, state)
        if line.type == "last-prompt" and line.leafUuid:
            links.append((raw, line, None))
        return
    if line.cwd and not state.cwd:
        state.cwd = clean(line.cwd, 1000)
    if line.version and line.version != state.version:
        state.version = clean(line.version, 60)
    if line.sessionId and not state.session_id:
        state.session_id = clean(line.sessionId, 200)
    links.append((raw, line, kind))


def _take_metadata(line: Line, state: State) -> None:
    if line.customTitle and line.type == "custom-title":
        state.custom_title = clean(line.customTitle, 400)
    elif line.aiTitle and line.type == "ai-title":
        state.ai_title = clean(line.aiTitle, 400)


def _pin(line: Line, state: State) -> None:
    """The client's own word on where it stood; worth a look at the tree only if that is somewhere else."""
    state.pinned = bounded_id(line.leafUuid or "")
    state.rethread = state.rethread or (state.pinned != state.leaf and state.pinned not in state.step)


def _model_ahead(links: Iterable[_Link]) -> str:
    """The model of the batch's first real answer: what stands before it was weighed by the same tokenizer."""
    for _, line, kind in links:
        if kind is Kind.ASSISTANT and line.message is not None and line.message.model:
            return line.message.model
    return ""


def _fold(raw: RawLine, line: Line, kind: Kind, parts: list[int], state: State, batch: Batch) -> None:
    parent = parent_of(line)
    parent = bounded_id(parent) if parent else None
    parent = state.bridges.get(parent, parent) if parent and state.bridges else parent
    uuid = bounded_id(line.uuid or "")
    if kind is _PROGRESS:
        state.bridge(uuid, parent)
        return
    side = line.isSidechain is True
    message = line.message if kind is _ASSISTANT else None
    message_id = bounded_id(message.id) if message is not None and message.id else None
    preview = clean(spoken(line), PREVIEW) or None if kind in PREVIEWED and not side else None
    said = line.keptTimestamp if time_of(line.keptTimestamp) else line.timestamp
    at = time_of(said)
    row = Row(
        raw.seq,
        raw.offset,
        raw.length,
        uuid,
        parent,
        kind,
        side,
        False,
        None,
        at,
        message_id,
        preview,
        parts,
        said,
    )
    batch.rows.append(row)
    if not side:
        if kind is _BOUNDARY:
            _remember_boundary(raw.seq, line, state)
        row.live = _advance(row, state)
        state.rethread = state.rethread or not row.live
        _note(row, line, state)
    if message is not None:
        _take_usage(row, message, state, batch)
    if row.live:
        _count(row, line, sum(parts), state)


def _remember_boundary(seq: int, line: Line, state: State) -> None:
    after = line.compactMetadata.postTokens if line.compactMetadata else None
    state.boundaries.append((seq, min(max(int(after or 0), 0), MOST_TOKENS)))


def _advance(row: Row, state: State) -> bool:
    """Moves the live thread's end to this line if it continues it; False where only the whole tree can tell."""
    if state.leaf is not None and (row.parent is None or state.flat):
        return False
    if state.leaf is not None and row.parent != state.leaf and not _is_same_step(row, state):
        return False
    if row.kind in _STEP_ENDS or (row.kind is _ASSISTANT and row.message_id != state.step_message):
        state.step, state.step_kinds = [], ""
        state.step_message = row.message_id
    if len(state.step) < OPEN_STEP:
        state.step.append(row.uuid)
        state.step_kinds += row.kind
    state.leaf = row.uuid
    if row.kind in DIALOGUE:
        row.idx = state.dialogue
        state.dialogue += 1
    return True


def _is_same_step(row: Row, state: State) -> bool:
    """Does a line that hangs on an earlier line of the message being answered belong to it, as `live_thread` sees it?

    Results and further calls of the message, what was queued beside them, and the next answer behind any of its results.
    """
    if row.parent not in state.step:
        return False
    parent = state.step_kinds[state.step.index(row.parent)]
    if row.kind is _ASSISTANT and row.message_id == state.step_message:
        return parent == _ASSISTANT and row.message_id is not None
    if row.kind is _ASSISTANT:
        return parent == Kind.TOOL_RESULT and _STEP_PARTS.issuperset(state.step_kinds)
    if row.kind is Kind.TOOL_RESULT:
        return parent == _ASSISTANT
    return row.kind in BESIDE and parent == Kind.TOOL_RESULT


def _note(row: Row, line: Line, state: State) -> None:
    """Facts that hold on whichever branch the line stands."""
    state.has_main = state.has_main or line.type == "user" or line.type == "assistant"
    if row.at is not None:
        state.first_at = state.first_at or row.at
        state.last_at = row.at
    if row.kind is _HUMAN and not state.first_words and row.preview:
        state.first_words = row.preview
    model = line.message.model if row.kind is _ASSISTANT and line.message is not None else None
    if model and model != state.model:
        state.model = clean(model, 120)


def _count(row: Row, line: Line, weight: int, state: State) -> None:
    if row.kind is _BOUNDARY:
        state.cross_boundary(row.seq)
        return
    state.humans += row.kind in _COUNTED
    state.weight += weight
    state.since_call += weight


def _take_usage(row: Row, message: Message, state: State, batch: Batch) -> None:
    usage = reported(message.usage)
    if usage is None:
        return
    key = row.message_id or row.uuid
    batch.points[key] = Point(row.seq, key, row.at, state.model or clean(message.model or "", 120), usage, row.live)
    if row.live:
        _calibrate(key, usage, state)
        state.used = usage.context
        state.used_seq = row.seq
        state.most_used = max(state.most_used, usage.context)


def _calibrate(key: str, usage: Reported, state: State) -> None:
    """At a message's first line: how much the window really grew since the last call, beside what was estimated."""
    if key == state.call:
        return
    growth = usage.context - state.call_used
    if state.call_used and growth > 0 and state.since_call > 0:
        state.grown += growth
        state.grown_estimate += state.since_call
    state.call = key
    state.call_used = usage.context
    state.since_call = 0.0


def time_of(text: str | None) -> datetime | None:
    """An ISO time as UTC; a time without a zone is taken as UTC, as the client writes it. None for anything else."""
    if not text:
        return None
    try:
        at = datetime.fromisoformat(text)
        return at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def clean(text: str, limit: int) -> str:
    """Text for a row: white space folded, no NUL and no lone surrogate, at most `limit` characters."""
    folded = " ".join(text[: limit * 4].split())[:limit].replace("\x00", "\ufffd")
    return folded if folded.isascii() else folded.encode("utf-8", errors="replace").decode()
