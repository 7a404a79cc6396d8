"""The live socket: what it sends, to whom, how often, and in which language (spec S4, security row 2)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from asgiref.sync import sync_to_async
from django.db import connections, transaction
from django.test import override_settings

from companion import consumers
from companion.lib import live
from companion.lib.live import announce
from companion.tests.rows import HOSTILE, make_companion, make_run, make_window, signed_in
from companion.tests.wire import Socket
from sessions.models import Window

pytestmark = pytest.mark.django_db(transaction=True)

HOST = b"127.0.0.1:8765"
Opened = Callable[..., Awaitable[Socket]]


@pytest.fixture(autouse=True)
async def no_connection_left() -> AsyncIterator[None]:
    yield
    await sync_to_async(connections.close_all)()


@pytest.fixture
async def opened() -> AsyncIterator[Opened]:
    """Opens sockets with the session of a browser that is signed in, and closes them."""
    sockets: list[Socket] = []

    async def open_socket(looks: str, *, cookie: str | None = None, language: str = "") -> Socket:
        own = cookie if cookie is not None else await sync_to_async(session_cookie)()
        headers = [(b"host", HOST), (b"origin", b"http://" + HOST), (b"cookie", own.encode())]
        socket = Socket(f"/ws/live/?on={looks}", [*headers, (b"accept-language", language.encode())])
        assert await socket.connect() == 0
        sockets.append(socket)
        return socket

    yield open_socket
    for socket in sockets:
        await socket.close()


def session_cookie() -> str:
    return f"companion={signed_in().cookies['companion'].value}"


@sync_to_async
def a_window(**fields: object) -> Window:
    return make_window(**fields)  # type: ignore[arg-type]


@sync_to_async
def fill_to(window: Window, percent: float) -> None:
    """What the indexer does when a line was appended."""
    with transaction.atomic():
        Window.objects.filter(pk=window.pk).update(used_percent=percent, used_tokens=int(percent * 2000))
        announce("window", window.pk)


async def test_a_stranger_is_closed_out(opened: Opened) -> None:
    for cookie in ("", "companion=nosuchsession", "other=1"):
        socket = await opened("window-1", cookie=cookie)

        assert await socket.read() == {"type": "websocket.close", "code": 4401}


async def test_a_new_connection_catches_up(opened: Opened) -> None:
    window = await a_window(percent=61.4)

    text = await (await opened(f"window-{window.pk},row-{window.pk},companion-{window.companion_id}")).text()

    assert f'id="window-{window.pk}"' in text
    assert f'id="row-{window.pk}"' in text
    assert f'id="companion-{window.companion_id}"' in text
    assert '<time id="tick"' in text


async def test_the_gauge_moves_when_its_window_fills(opened: Opened) -> None:
    window, other = await a_window(percent=61.4), await a_window(percent=5)
    socket = await opened(f"window-{window.pk}")
    await socket.text()

    await fill_to(other, 6)
    assert await socket.is_silent(0.3)
    await fill_to(window, 72.5)

    assert "72.5" in await socket.text()


async def test_a_burst_is_sent_as_few_messages_and_the_last_state_arrives(opened: Opened) -> None:
    window = await a_window(percent=10)
    socket = await opened(f"window-{window.pk}")
    await socket.text()

    started = time.monotonic()
    for step in range(40):
        await fill_to(window, 20 + step)
    texts: list[str] = []
    while "59.0" not in (texts[-1] if texts else ""):
        texts.append(await socket.text())

    assert len(texts) <= (time.monotonic() - started) / consumers.PAUSE + 2


async def test_each_reader_gets_the_own_language(opened: Opened) -> None:
    window = await a_window()
    looks = f"window-{window.pk}"
    own = await sync_to_async(session_cookie)()

    assert "客户端压缩" in await (await opened(looks)).text()
    assert "client compacts" in await (await opened(looks, language="en-GB,en;q=0.9")).text()
    assert "client compacts" in await (await opened(looks, cookie=f"{own}; companion_language=en")).text()
    assert "客户端压缩" in await (await opened(looks, language="fr")).text()


async def test_a_page_hears_of_newcomers(opened: Opened) -> None:
    window = await a_window()
    now, listing = await opened("arrivals-1"), await opened("newcomers-1")
    assert "arrivals" not in await now.text()
    assert "newcomers" not in await listing.text()

    newcomer = await a_window()
    await sync_to_async(announce)("companion", newcomer.companion_id)
    await fill_to(newcomer, 10)

    assert 'id="arrivals"' in await now.text()
    assert "有 1 个新会话" in await listing.text()
    assert window.pk != newcomer.pk


async def test_the_pages_of_runs_are_told_to_ask_for_their_part(opened: Opened) -> None:
    window = await a_window()
    run, listing = await opened(f"run-{window.pk}"), await opened("runs-0")
    beside = await opened(f"window-runs-{window.pk}", language="en")
    card = await opened(f"last-runs-{window.companion_id}", language="en")
    for socket in (run, listing, beside, card):
        await socket.text()

    await sync_to_async(make_run)(window, status="running", kind="diet")
    await sync_to_async(announce)("run", window.pk)

    assert f'id="run-{window.pk}" hidden data-say=' in (told := await run.text())
    assert 'hx-target="#run"' in told
    assert 'id="runs-0"' in await listing.text()
    assert "Diet 61.4 → ≈ 29.1%" in await beside.text()
    assert "Diet 61.4 → ≈ 29.1%" in await card.text()


async def test_signing_out_closes_the_sockets(opened: Opened) -> None:
    client = await sync_to_async(signed_in)()
    socket = await opened("window-1", cookie=f"companion={client.cookies['companion'].value}")
    await socket.text()

    await sync_to_async(client.post)("/sign-out/")

    assert await socket.read() == {"type": "websocket.close", "code": 4401}


async def test_a_session_that_ended_elsewhere_is_noticed(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "HEARTBEAT", 0.2)
    client = await sync_to_async(signed_in)()
    socket = await opened("window-1", cookie=f"companion={client.cookies['companion'].value}")
    await socket.text()

    await sync_to_async(client.session.delete)()

    while (message := await socket.read())["type"] == "websocket.send":
        pass
    assert message["code"] == 4401


async def test_the_connection_shows_that_it_lives(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "HEARTBEAT", 0.2)
    socket = await opened("")

    first, second = await socket.text(), await socket.text()

    assert first.startswith('<time id="tick"')
    assert second.startswith('<time id="tick"')


@pytest.mark.parametrize(
    "looks", ["x-1", "window-x", "window--1", "window-", "window-99999999999999999999", ",,,", "window-1%00"]
)
async def test_an_odd_wish_is_left_out(opened: Opened, looks: str) -> None:
    text = await (await opened(looks)).text()

    assert text.count("id=") == 1


async def test_wishes_are_bounded(opened: Opened) -> None:
    socket = await opened(",".join(f"window-{number}" for number in range(1000)))

    await socket.text()

    assert consumers.MOST_TARGETS == 200


async def test_what_changed_while_the_database_was_away_is_not_lost(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import OperationalError

    monkeypatch.setattr(consumers, "HEARTBEAT", 0.3)
    window = await a_window(percent=10)
    socket = await opened(f"window-{window.pk}")
    await socket.text()
    drawn, calls = consumers.draw, []

    def away_once(*given: object) -> str:
        calls.append(given)
        if len(calls) == 1:
            raise OperationalError("away")
        return drawn(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(consumers, "draw", away_once)
    await fill_to(window, 44.0)

    assert "44.0" in await socket.text()


async def test_hostile_names_stay_text_in_a_push(opened: Opened) -> None:
    for text in HOSTILE:
        companion = await sync_to_async(make_companion)(text)
        window = await a_window(companion=companion, title=text, model=text[:100], trouble=text)
        of_window = [f"{look}-{window.pk}" for look in ("window", "row", "numbers")]
        of_companion = [f"{look}-{companion.pk}" for look in ("companion", "who", "headline")]

        pushed = await (await opened(",".join(of_window + of_companion))).text()

        assert "<script>" not in pushed
        assert "<img" not in pushed
        assert "<iframe" not in pushed
        assert not set("\x1b\x07\u202e\u2066\u200b\ufeff") & set(pushed)


def test_nothing_is_said_of_a_write_that_was_rolled_back(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(live, "tell", told.append)

    with transaction.atomic():
        announce("window", 1)
        transaction.set_rollback(True)
    announce("window", 2)

    assert told == [
        [
            ("live.window.2", {"type": "happened", "event": "window", "pk": 2}),
            ("live.window.0", {"type": "happened", "event": "window", "pk": 0}),
        ]
    ]


def test_a_broker_that_is_down_is_logged_and_nothing_more(caplog: pytest.LogCaptureFixture) -> None:
    layer = {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": ["unix:///nowhere/valkey.sock"]}}

    with override_settings(CHANNEL_LAYERS={"default": layer}):
        announce("window", 1)

    assert "nothing sent" in caplog.text


def test_an_announcement_can_be_made_beside_a_running_loop() -> None:
    def say_it() -> None:
        announce("window", 1)
        connections.close_all()

    async def on_a_loop() -> None:
        await asyncio.to_thread(say_it)

    asyncio.run(on_a_loop())
