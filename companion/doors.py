"""The outer door, in front of Django, static files and sockets alike: only known hosts, only our own origin.

WhiteNoise answers before Django looks at the Host header, and a socket is no request to Django at all; a page of
another site that points its name at this machine would get through (security rows 1 and 2).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

# What every answer carries, also one that Django never sees (security row 15).
SAFE_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
REFUSAL_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
REFUSAL = "This address is not one of the console's own. Open it by the address that it printed at start.\n"


def header(scope: Scope, name: bytes) -> str | None:
    """The one value of a header; None when it is missing. Sent twice it is no value at all: an empty text."""
    values = [value for key, value in scope["headers"] if key.lower() == name]
    if not values:
        return None
    return values[0].decode("latin-1") if len(values) == 1 else ""


def is_known_host(host: str | None) -> bool:
    if not host:
        return False
    domain, _port = split_domain_port(host)
    return bool(domain) and validate_host(domain, settings.ALLOWED_HOSTS)


def is_own_origin(origin: str | None, host: str, *, secure: bool) -> bool:
    """True when scheme, host and port of the page that asks are those it was served from, or the public address."""
    if not origin:
        return False
    scheme = "https" if secure else "http"
    return origin.lower() in own_origins(f"{scheme}://{host}".lower())


def own_origins(served_from: str) -> Iterable[str]:
    public = settings.ENV.public_url.lower()
    return [served_from, public] if public else [served_from]


def is_secure(scope: Scope) -> bool:
    forwarded = header(scope, b"x-forwarded-proto") if settings.SECURE_PROXY_SSL_HEADER else None
    return scope.get("scheme") in {"https", "wss"} or forwarded == "https"


class OuterDoor:
    """Refuses what does not come to us by our own name; hands on the rest."""

    def __init__(self, inner: Application) -> None:
        self.inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = header(scope, b"host")
        if not is_known_host(host):
            await refuse(scope, receive, send, 400)
        elif scope["type"] == "websocket" and not is_own_origin(
            header(scope, b"origin"), host or "", secure=is_secure(scope)
        ):
            await refuse(scope, receive, send, 403)
        else:
            await self.inner(scope, receive, send)


async def refuse(scope: Scope, receive: Receive, send: Send, status: int) -> None:
    """A short plain answer with every safe header. A socket is told in HTTP as well where the server can."""
    kind = "http.response"
    if scope["type"] == "websocket":
        await receive()
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 4403})
            return
        kind = "websocket.http.response"
    body = REFUSAL.encode()
    await send({"type": f"{kind}.start", "status": status, "headers": refusal_headers(len(body))})
    await send({"type": f"{kind}.body", "body": body})


def refusal_headers(length: int) -> list[tuple[bytes, bytes]]:
    given = {
        **SAFE_HEADERS,
        "Content-Security-Policy": REFUSAL_POLICY,
        "Content-Type": "text/plain; charset=utf-8",
        "Content-Length": str(length),
    }
    return [(name.lower().encode(), value.encode()) for name, value in given.items()]


async def lifespan(scope: Scope, receive: Receive, send: Send) -> None:
    """Django and Channels both raise on the lifespan events; here they are simply answered."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
