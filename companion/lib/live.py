"""What happened, told to every open page.

An action says `announce("window", 12)` after its rows are written; it does not know who looks. Each app registers how a
thing looks: a look is a word of the socket's `on=` and turns ids into fragments, drawn from the same templates as the
page. The message on the wire carries ids only; whoever shows them reads the rows anew, so a lost or doubled message
does no harm.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction

logger = logging.getLogger(__name__)

# Seconds that a write may be held up by a broker that does not answer.
PATIENCE = 2.0

# Where those listen who care for every row of an event; no row has this id.
ANY = 0

# Ids in, HTML out. An id that is gone is left out. The language is that of the reader when it is called.
Renderer = Callable[[Sequence[int]], Mapping[int, str]]


@dataclass(frozen=True, slots=True)
class Look:
    """One way to show what an event is about."""

    event: str
    render: Renderer
    # Speaks of all rows at once: it is drawn anew whichever of them changed, and its number is not a row's.
    is_of_all: bool = False

    def group(self, pk: int) -> str:
        return group_of(self.event, ANY if self.is_of_all else pk)

    def is_touched(self, pk: int, event: str, changed: int) -> bool:
        return self.event == event and changed == (ANY if self.is_of_all else pk)


_looks: dict[str, Look] = {}


def register(look: str, renderer: Renderer, *, event: str = "", is_of_all: bool = False) -> None:
    """Makes `look` a word of `on=`. It is drawn again whenever `event` (the look's own name when left out) happens."""
    _looks[look] = Look(event or look, renderer, is_of_all)


def look_for(name: str) -> Look | None:
    return _looks.get(name)


def group_of(event: str, pk: int) -> str:
    return f"live.{event}.{pk}"


def announce(event: str, *pks: int) -> None:
    """Says, once the running transaction is written, that something happened to these rows. Never raises."""
    if pks:
        messages = [(group_of(event, pk), {"type": "happened", "event": event, "pk": pk}) for pk in [*pks, ANY]]
        transaction.on_commit(lambda: tell(messages))


def tell(messages: Iterable[tuple[str, dict[str, object]]]) -> None:
    """Sends to groups now. A broker that is down is logged: the page catches up when it connects again."""
    try:
        async_to_sync(send_all)(list(messages))
    except Exception as trouble:  # noqa: BLE001 - no failure of the broker may undo a write that is done
        logger.warning("live: nothing sent, %s: %s", type(trouble).__name__, trouble)


async def send_all(messages: Iterable[tuple[str, dict[str, object]]]) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    async with asyncio.timeout(PATIENCE):
        for group, message in messages:
            await layer.group_send(group, message)
