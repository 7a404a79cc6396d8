"""The outer door: Host and Origin in front of pages, static files, health and sockets (security rows 1, 2, 15)."""

from dataclasses import replace

import pytest
from django.conf import settings

from companion.asgi import application
from companion.doors import SAFE_HEADERS, is_own_origin
from companion.tests.wire import Socket, http

FOREIGN_HOSTS = ["evil.test", "localhost.evil.test", "127.0.0.1.nip.io", "127.0.0.1@evil.test", "", "[::2]", "0.0.0.0"]
PLACES = [
    "/",
    "/sessions/?format=json",
    "/static/css/tokens.css",
    "/healthz",
    "/sign-in/",
    "/hooks/inject",
    "/mcp",
    "/nope",
]


@pytest.mark.parametrize("host", FOREIGN_HOSTS)
@pytest.mark.parametrize("place", PLACES)
async def test_a_foreign_host_gets_nothing(place: str, host: str) -> None:
    status, headers, body = await http(place, {"Host": host})

    assert status == 400
    assert b"console" in body
    assert not {name.lower(): value for name, value in SAFE_HEADERS.items()}.items() - headers.items()
    assert headers["content-security-policy"].startswith("default-src 'none'")


async def test_a_missing_or_doubled_host_gets_nothing() -> None:
    assert (await http("/static/css/tokens.css", {}))[0] == 400
    assert (await http("/static/css/tokens.css", {"Host": "127.0.0.1", "HOST": "evil.test"}))[0] == 400


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "[::1]:8765", "LOCALHOST"])
async def test_our_own_names_open_static_files(host: str) -> None:
    status, headers, _ = await http("/static/css/tokens.css", {"Host": host})

    assert status == 200
    assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("https://evil.test", "127.0.0.1:8765"),
        ("null", "127.0.0.1:8765"),
        ("http://127.0.0.1:9999", "127.0.0.1:8765"),
        ("http://127.0.0.1", "127.0.0.1:8765"),
        ("https://127.0.0.1:8765", "127.0.0.1:8765"),
        ("http://localhost:8765", "127.0.0.1:8765"),
        ("http://127.0.0.1:8765.evil.test", "127.0.0.1:8765"),
        ("", "127.0.0.1:8765"),
        (None, "127.0.0.1:8765"),
        ("http://evil.test", "evil.test"),
    ],
)
async def test_a_socket_from_another_origin_is_refused(origin: str | None, host: str) -> None:
    given = [(b"host", host.encode())] + ([(b"origin", origin.encode())] if origin is not None else [])

    assert await Socket("/ws/live/?on=window-1", given).connect() == 4403


async def test_another_socket_address_is_refused() -> None:
    own = [(b"host", b"127.0.0.1:8765"), (b"origin", b"http://127.0.0.1:8765")]

    assert await Socket("/ws/other/", own).connect() == 4403


def test_behind_a_proxy_the_public_address_is_an_own_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENV", replace(settings.ENV, public_url="https://console.example"))

    assert is_own_origin("https://console.example", "127.0.0.1:8765", secure=False)
    assert is_own_origin("https://console.example", "console.example", secure=True)
    assert not is_own_origin("http://console.example", "127.0.0.1:8765", secure=False)
    assert not is_own_origin("https://console.example:444", "console.example", secure=True)


async def test_the_lifespan_events_are_answered() -> None:
    sent: list[str] = []
    events = iter(["lifespan.startup", "lifespan.shutdown"])

    async def receive() -> dict[str, str]:
        return {"type": next(events)}

    async def send(message: dict[str, str]) -> None:
        sent.append(message["type"])

    await application({"type": "lifespan"}, receive, send)  # type: ignore[arg-type]

    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
