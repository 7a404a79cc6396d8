"""The demo companion from the browser: loaded and removed in place or by the worker, refused in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from companion.tests.rows import make_companion, make_window, signed_in
from sessions import tasks
from sessions.actions import demo, health
from sessions.core.demo.files import PROJECT
from sessions.models import Companion, Window

pytestmark = pytest.mark.django_db
PART = {"HX-Request": "true"}


@pytest.fixture
def client() -> Client:
    return signed_in()


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(settings, "ENV", replace(settings.ENV, data=tmp_path / "data"))
    cache.delete_many([tasks.DEMO, tasks.DEMO_REFUSED])
    yield
    cache.delete_many([tasks.DEMO, tasks.DEMO_REFUSED])


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """A worker that lives and takes what it is told, without doing it."""
    told: list[tuple[str, ...]] = []
    monkeypatch.setattr(health, "is_alive", lambda name: True)
    monkeypatch.setattr(tasks.change_demo, "delay", lambda *given: told.append(given))
    return told


@pytest.mark.parametrize("path", ["/", "/sessions/"])
def test_an_empty_page_offers_the_demo(client: Client, path: str) -> None:
    text = client.get(path).content.decode()

    assert 'action="/demo/load/"' in text
    assert "载入演示" in text


def test_without_a_worker_it_is_loaded_and_removed_at_once(client: Client) -> None:
    answer = client.post("/demo/load/", {"next": "/sessions/"})

    assert (answer.status_code, answer.headers["Location"]) == (303, "/sessions/")
    assert Companion.objects.get().is_demo
    window = Window.objects.first()
    assert window is not None
    for path in ("/", f"/sessions/{window.pk}/"):
        text = client.get(path).content.decode()
        assert 'action="/demo/remove/"' in text
        assert "会移走的" in text
        assert '<span class="tag">演示</span>' in text

    assert client.post("/demo/remove/").headers["Location"] == "/"
    assert not Companion.objects.exists()
    assert client.post("/demo/remove/").status_code == 303


def test_htmx_is_told_where_to_go(client: Client) -> None:
    answer = client.post("/demo/load/", {"next": "/"}, headers=PART)

    assert answer.headers["HX-Redirect"] == "/"


def test_a_worker_is_told_once_and_the_page_asks_until_it_is_done(
    client: Client, queued: list[tuple[str, ...]]
) -> None:
    first = client.post("/demo/load/", {"next": "/sessions/"}, headers=PART).content.decode()
    client.post("/demo/load/", headers=PART)
    asked = client.get("/demo/?next=/sessions/", headers=PART).content.decode()

    assert queued == [("load", "zh-hans")]
    assert "正在载入演示" in first
    assert 'hx-get="/demo/?next=/sessions/"' in first
    assert 'hx-target="this"' in first
    assert "0 / 6 个窗口" in asked
    tasks.change_demo("load", "zh-hans")
    assert client.get("/demo/?next=/sessions/", headers=PART).headers["HX-Redirect"] == "/sessions/"


def test_without_javascript_the_demo_page_shows_how_it_goes(client: Client, queued: list[tuple[str, ...]]) -> None:
    assert client.post("/demo/load/").headers["Location"] == "/demo/?next=/"
    text = client.get("/demo/").content.decode()

    assert "正在载入演示" in text
    assert 'action="/demo/load/"' not in text


@pytest.mark.parametrize("language", ["zh-CN", "en"])
@pytest.mark.parametrize("headers", [{}, PART], ids=["page", "htmx"])
def test_a_refusal_is_said_and_nothing_is_changed(client: Client, headers: dict[str, str], language: str) -> None:
    make_window(make_companion("阿吉", project=PROJECT))

    answer = client.post("/demo/load/", headers={**headers, "Accept-Language": language})

    assert answer.status_code == 422
    assert ("什么都没动" if language == "zh-CN" else "Nothing was changed") in answer.content.decode()
    assert not Companion.objects.get().is_demo


def test_a_refusal_of_the_worker_waits_for_whoever_asked(client: Client, queued: list[tuple[str, ...]]) -> None:
    make_window(make_companion("阿吉", project=PROJECT))
    client.post("/demo/load/", headers=PART)
    tasks.change_demo("load", "zh-hans")

    text = client.get("/demo/", headers=PART).content.decode()

    assert PROJECT in text
    assert "hx-trigger" not in text


@pytest.mark.parametrize("place", ["https://evil.test/", "//evil.test", "/sign-out/", "/sessions/1/", "x", ""])
def test_it_leads_only_to_pages_that_show_the_change(client: Client, place: str) -> None:
    assert client.post("/demo/remove/", {"next": place}).headers["Location"] == "/"


@pytest.mark.parametrize("path", ["/demo/load/", "/demo/remove/"])
def test_looking_does_nothing_and_a_write_needs_the_token(path: str) -> None:
    assert signed_in().get(path).status_code == 405
    assert signed_in(enforce_csrf_checks=True).post(path).status_code == 403
    assert Client().post(path).status_code == 401
    assert not Companion.objects.exists()


def test_words_are_asked_for_after_a_load(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(tasks, "queue_words", lambda: asked.append(True))

    client.post("/demo/load/")
    tasks.change_demo("remove", "en")

    assert asked == [True, True]


def test_the_demo_page_says_what_it_is_and_what_goes(client: Client) -> None:
    assert "载入演示" in client.get("/demo/").content.decode()
    demo.load_demo()

    text = client.get("/demo/").content.decode()

    assert "小满在，有 6 个窗口" in text
    assert "会留下的：你自己的一切" in text
