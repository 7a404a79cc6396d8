"""A window seen for planning: its dialogue, its turns, what each would weigh; remembered while its file stays the same.

One choice after another is tried on the same window: only the first look reads it all.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from django.utils import timezone
from django.utils.translation import gettext as _

from companion.lib.refusals import Refusal
from sessions.actions.copying import Changed
from sessions.actions.ground import Before, before_of, changed, steps_of
from sessions.actions.index import index_one
from sessions.actions.trial import Trial
from sessions.core.surgery import Order, preserves_thinking
from sessions.core.turns import Step, Turn, turns_of
from sessions.gateways import transcripts
from sessions.gateways.transcripts import Found, Reader
from sessions.models import Window

# A file that is written to while it is looked at is looked at again.
LOOKS = 3
# Windows kept in mind by one process, and the events of one beyond which it is not.
MOST_REMEMBERED = 2
MOST_EVENTS = 200_000
_remembered: OrderedDict[tuple[object, ...], Sight] = OrderedDict()
_lock = Lock()


@dataclass(slots=True)
class Sight:
    """A window as its file stands now. `steps` are its dialogue events, `turns` what may be kept, `before` what stands
    before them, `trial` weighs turns under one squash cap; `reader` is open while the sight is used."""

    window: Window
    reader: Reader
    steps: Sequence[Step]
    turns: Sequence[Turn]
    before: Before
    trial: Trial


@contextmanager
def seen(window: Window, *, squash: int) -> Iterator[Sight]:
    """The window with what is new read first; `squash` in characters of a tool result (0: uncut).

    Raises Refusal: the file is gone, unreadable, or written to all the time. What the block raises as Changed is that too.
    """
    for _look in range(LOOKS):
        window = _read_on(window)
        with _opened(window) as reader:
            if _is_as_indexed(window, reader):
                try:
                    yield _sight(window, reader, squash)
                except Changed:
                    raise changed() from None
                return
    raise changed()


def is_unchanged(sight: Sight) -> bool:
    """Has nobody written to the file since it was opened?"""
    return transcripts.identity(Path(sight.window.transcript.path)) == sight.reader.identity


def forget() -> None:
    """Remembers nothing: the next look reads it all."""
    with _lock:
        _remembered.clear()


def _sight(window: Window, reader: Reader, squash: int) -> Sight:
    key = (window.pk, reader.identity, squash, window.model, window.calibration)
    with _lock:
        found = _remembered.pop(key, None) or _looked_at(window, reader, squash)
        found.window, found.reader, found.trial.reader = window, reader, reader
        if len(found.steps) <= MOST_EVENTS:
            _remembered[key] = found
        while len(_remembered) > MOST_REMEMBERED:
            _remembered.popitem(last=False)
    return found


def _looked_at(window: Window, reader: Reader, squash: int) -> Sight:
    steps = steps_of(window)
    if any(step.idx != place for place, step in enumerate(steps)):
        raise Changed
    turns = turns_of(steps)
    order = Order(window.session_id, "", timezone.now(), cap=squash, drop_thinking=preserves_thinking(window.model))
    trial = Trial(window, reader, steps, order, last=turns[-1].last if turns else -1)
    return Sight(window, reader, steps, turns, before_of(window, reader, steps), trial)


def _read_on(window: Window) -> Window:
    path = Path(window.transcript.path)
    if not path.is_file():
        raise Refusal(
            "file-gone",
            _("The transcript %(path)s is no longer there.") % {"path": path},
            _("`backups` lists the copies that were made of it."),
        )
    index_one(Found(Path(window.transcript.root), path, path.parent.name, path.stem, is_subagent=False))
    return Window.objects.listed().get(pk=window.pk)


@contextmanager
def _opened(window: Window) -> Iterator[Reader]:
    path = Path(window.transcript.path)
    try:
        with transcripts.opened(path) as reader:
            yield reader
    except OSError as fault:
        reason = transcripts.reason_of(fault)
        raise Refusal(
            "unreadable",
            _("%(path)s cannot be read: %(reason)s.") % {"path": path, "reason": reason},
            _("Check who owns the file and its mode."),
        ) from None


def _is_as_indexed(window: Window, reader: Reader) -> bool:
    row, now = window.transcript, reader.identity
    return (row.device, int(row.inode), row.size, row.modified_ns) == (
        now.device, now.inode, now.size, now.modified_ns,
    )  # fmt: skip
