"""The live socket: it says which fragments of a page are out of date by sending them anew.

One message holds all fragments that changed since the last one, at most ten messages a second. What happens while a
message is drawn waits for the next, so the last state always arrives; after a lost connection the first message brings
everything (spec S4).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.http.cookie import parse_cookie
from django.template.loader import render_to_string
from django.utils import timezone, translation

from companion.doors import Scope, header
from companion.lib.live import look_for
from companion.session import group_of_session, is_signed_in

logger = logging.getLogger(__name__)

# Seconds between two messages, and between two signs of life.
PAUSE = 0.1
HEARTBEAT = 15.0
MOST_TARGETS = 200
SIGNED_OUT = 4401

Target = tuple[str, int]


class LiveConsumer(AsyncWebsocketConsumer):
    """`/ws/live/?on=window-12,companion-3`: fragments of these, now and whenever they change."""

    async def connect(self) -> None:
        self.targets: list[Target] = []
        self.groups_joined: list[str] = []
        self.pending: set[Target] = set()
        self.cookies = cookies_of(dict(self.scope))
        self.wake = asyncio.Event()
        self.work: list[asyncio.Task[None]] = []
        await self.accept()
        if not await self.is_welcome():
            await self.close(SIGNED_OUT)
            return
        self.language = language_of(dict(self.scope), self.cookies)
        self.targets = targets_in(dict(self.scope))
        await self.join()
        self.pending.update(self.targets)
        self.wake.set()
        self.work = [asyncio.create_task(self.send_changes()), asyncio.create_task(self.beat())]

    @property
    def session_key(self) -> str:
        return self.cookies.get(settings.SESSION_COOKIE_NAME, "")

    async def is_welcome(self) -> bool:
        return await database_sync_to_async(signed_in_now)(self.session_key)

    async def join(self) -> None:
        names = {look.group(pk) for name, pk in self.targets if (look := look_for(name))}
        self.groups_joined = [group_of_session(self.session_key), *sorted(names)]
        for group in self.groups_joined:
            await self.channel_layer.group_add(group, self.channel_name)

    async def disconnect(self, code: int) -> None:
        for task in self.work:
            task.cancel()
        with contextlib.suppress(Exception):
            for group in self.groups_joined:
                await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Pages have nothing to say here."""

    async def happened(self, message: Mapping[str, Any]) -> None:
        for name, pk in self.targets:
            look = look_for(name)
            if look and look.is_touched(pk, message["event"], message["pk"]):
                self.pending.add((name, pk))
        self.wake.set()

    async def signed_out(self, message: Mapping[str, Any]) -> None:
        await self.close(SIGNED_OUT)

    async def send_changes(self) -> None:
        while True:
            await self.wake.wait()
            self.wake.clear()
            changed, self.pending = self.pending, set()
            try:
                await self.send(text_data=await database_sync_to_async(draw)(changed, self.language))
            except DatabaseError as trouble:
                # Nothing is lost: the next change or heartbeat tries these again.
                self.pending |= changed
                logger.warning("live: %d fragments wait, %s", len(changed), type(trouble).__name__)
            await asyncio.sleep(PAUSE)

    async def beat(self) -> None:
        """Shows that the connection lives, and ends it when the session has ended elsewhere."""
        while True:
            await asyncio.sleep(HEARTBEAT)
            if not await self.is_welcome():
                await self.close(SIGNED_OUT)
                return
            self.wake.set()


def cookies_of(scope: Scope) -> dict[str, str]:
    return parse_cookie(header(scope, b"cookie") or "")


def signed_in_now(session_key: str) -> bool:
    """Asks the session store, not what the socket remembers from its start."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    return bool(session_key) and is_signed_in(store(session_key))


def language_of(scope: Scope, cookies: Mapping[str, str]) -> str:
    """The reader's language as the page finds it: cookie, then Accept-Language, then the default."""
    cookie = cookies.get(settings.LANGUAGE_COOKIE_NAME, "")
    accepted = header(scope, b"accept-language") or ""
    wishes = [cookie, *(part.split(";")[0].strip() for part in accepted.split(",")[:10])]
    for wish in filter(None, wishes):
        with contextlib.suppress(LookupError):
            return translation.get_supported_language_variant(wish)
    return settings.LANGUAGE_CODE


def targets_in(scope: Scope) -> list[Target]:
    """The `look-id` words of `on=` that are known, each once, bounded."""
    words = ",".join(parse_qs(scope["query_string"].decode("latin-1")).get("on", []))
    return list(dict.fromkeys(filter(None, map(target, words.split(",")))))[:MOST_TARGETS]


def target(word: str) -> Target | None:
    name, _, number = word.rpartition("-")
    known = look_for(name) is not None and number.isascii() and number.isdigit() and len(number) < 18
    return (name, int(number)) if known else None


def draw(changed: Iterable[Target], language: str) -> str:
    """The fragments of these targets in this language, and the time on the server."""
    wanted: dict[str, list[int]] = {}
    for name, pk in sorted(changed):
        wanted.setdefault(name, []).append(pk)
    with translation.override(language):
        parts: list[str] = [render_to_string("components/_tick.html", {"now": timezone.now()})]
        for name, pks in wanted.items():
            parts.extend(fragments(name, pks))
    return "\n".join(parts)


def fragments(name: str, pks: list[int]) -> Iterable[str]:
    """One look's fragments; a row that cannot be drawn does not silence the others."""
    look = look_for(name)
    try:
        return look.render(pks).values() if look else ()
    except DatabaseError:
        raise
    except Exception:
        logger.exception("live: %s could not be drawn", name)
        return ()
