import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from companion.models import SignInLink
from companion.session import HideTokens
from companion.tests.rows import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def with_password(monkeypatch: pytest.MonkeyPatch, embedded_servers: None) -> Iterator[None]:
    given = replace(settings.ENV, password="correct horse", public_url="https://console.example")
    monkeypatch.setattr(settings, "ENV", given)
    cache.clear()
    yield
    cache.clear()


def link() -> str:
    return f"/sign-in/{SignInLink.make(timezone.now())}/"


def test_opening_a_link_signs_nobody_in_and_uses_nothing_up() -> None:
    client, url = Client(), link()

    client.get(url)

    assert client.get("/").status_code == 303
    assert SignInLink.objects.get().used_at is None


def test_the_button_of_a_link_signs_in() -> None:
    client, url = Client(), link()

    answer = client.post(url)

    assert (answer.status_code, answer.headers["Location"]) == (302, "/")
    assert client.get("/").status_code == 200


def test_a_link_works_once() -> None:
    url = link()
    Client().post(url)

    late = Client()

    assert late.post(url).status_code == 410
    assert late.get("/").status_code == 303


def test_an_old_link_no_longer_works() -> None:
    url = link()
    SignInLink.objects.update(made_at=timezone.now() - SignInLink.LIFETIME - timedelta(seconds=1))

    assert Client().post(url).status_code == 410


def test_signing_in_changes_the_session_key() -> None:
    client = Client()
    client.session.save()
    before = client.session.session_key

    client.post(link())

    assert client.session.session_key != before


def test_the_cookie_is_kept_from_scripts_and_other_sites() -> None:
    client = Client()

    client.post(link())

    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Strict"


def test_signing_out_ends_the_session(embedded_servers: None) -> None:
    client = signed_in()

    client.post("/sign-out/")

    assert client.get("/").status_code == 303


def test_signed_out_requests_are_told_in_their_own_way() -> None:
    client = Client()

    assert client.get("/sessions/?q=雨").headers["Location"].startswith("/sign-in/?next=%2Fsessions%2F")
    assert client.get("/", headers={"HX-Request": "true"}).headers["HX-Redirect"] == "/sign-in/"
    assert client.get("/sessions/?format=json").json()["error"]["code"] == "signed-out"
    assert client.post("/sessions/1/pin/").status_code == 401


def test_without_a_password_set_there_is_no_field_for_one() -> None:
    client = Client()

    assert b'type="password"' not in client.get("/sign-in/").content
    assert client.post("/sign-in/password/", {"password": ""}).status_code == 404


@pytest.mark.usefixtures("with_password")
def test_the_password_signs_in() -> None:
    client = Client()

    answer = client.post("/sign-in/password/", {"password": "correct horse", "next": "/sessions/"})

    assert answer.headers["Location"] == "/sessions/"
    assert client.get("/").status_code == 200


@pytest.mark.usefixtures("with_password")
def test_wrong_passwords_are_slowed_down_and_links_go_on_working() -> None:
    client = Client()
    for _ in range(5):
        assert client.post("/sign-in/password/", {"password": "wrong"}).status_code == 422

    assert client.post("/sign-in/password/", {"password": "correct horse"}).status_code == 429
    assert client.post(link()).status_code == 302


@pytest.mark.usefixtures("with_password")
@pytest.mark.parametrize("place", ["https://evil.test/", "//evil.test", "/\\evil.test", "javascript:alert(1)"])
def test_after_the_password_nobody_is_sent_elsewhere(place: str) -> None:
    answer = Client().post("/sign-in/password/", {"password": "correct horse", "next": place})

    assert answer.headers["Location"] == "/"


def test_no_log_holds_a_token(caplog: pytest.LogCaptureFixture) -> None:
    token = SignInLink.make(timezone.now())
    caplog.handler.addFilter(HideTokens())

    with caplog.at_level(logging.DEBUG):
        for _ in range(2):
            Client().post(f"/sign-in/{token}/")
        Client().post(f"/sign-in/{token}/x/")
        logging.getLogger("uvicorn.access").info('%s - "%s %s"', "127.0.0.1", "GET", f"/sign-in/{token}/")

    assert "/sign-in/" in caplog.text
    assert token not in caplog.text


def test_the_link_page_gives_its_address_to_nobody() -> None:
    answer = Client().get(link())

    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert b"https://" not in answer.content
