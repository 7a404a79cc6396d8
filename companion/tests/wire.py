"""The ASGI application driven by hand, for what Django's test client does not reach: the outer door and sockets."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from channels.exceptions import StopConsumer

Headers = dict[str, str]


def scope_of(kind: str, path: str, headers: Headers, **more: Any) -> dict[str, Any]:
    target, _, query = path.partition("?")
    listed: list[tuple[bytes, bytes]] = [
        (name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()
    ]
    base: dict[str, Any] = {
        "type": kind,
        "path": target,
        "raw_path": target.encode(),
        "query_string": query.encode(),
        "headers": listed,
    }
    extra: dict[str, Any] = {"method": "GET"} if kind == "http" else {"subprotocols": []}
    scheme = "http" if kind == "http" else "ws"
    return {
        **base,
        **extra,
        "scheme": scheme,
        "http_version": "1.1",
        "client": ("127.0.0.1", 5),
        "server": ("127.0.0.1", 8765),
        **more,
    }


async def http(path: str, headers: Headers, **more: Any) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of one GET through the whole application."""
    from companion.asgi import application

    sent: list[dict[str, Any]] = []
    asked = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if not asked.is_set():
            asked.set()
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.sleep(3600)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await application(scope_of("http", path, headers, **more), receive, send)
    found = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])


class Socket:
    """A WebSocket client of the application, without a server between."""

    def __init__(self, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        self.scope = {**scope_of("websocket", path, {}), "headers": headers}
        self.given: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.taken: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.work: asyncio.Task[None] | None = None

    async def connect(self) -> int:
        """0 when the door opened, else the code it was closed with."""
        from companion.asgi import application

        async def send(message: Any) -> None:
            self.taken.put_nowait(dict(message))

        self.given.put_nowait({"type": "websocket.connect"})
        self.work = asyncio.create_task(application(self.scope, self.given.get, send))
        answer = await self.read()
        return 0 if answer["type"] == "websocket.accept" else int(answer["code"])

    async def read(self, seconds: float = 3) -> dict[str, Any]:
        return await asyncio.wait_for(self.taken.get(), seconds)

    async def text(self, seconds: float = 3) -> str:
        message = await self.read(seconds)
        assert message["type"] == "websocket.send", message
        return str(message["text"])

    async def is_silent(self, seconds: float) -> bool:
        await asyncio.sleep(seconds)
        return self.taken.empty()

    async def close(self) -> None:
        self.given.put_nowait({"type": "websocket.disconnect", "code": 1000})
        with contextlib.suppress(asyncio.CancelledError, TimeoutError, StopConsumer):
            await asyncio.wait_for(self.work or asyncio.sleep(0), 2)
