"""Every address at once: who may open it, what it answers with, and that looking changes nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from companion.middleware import comes_from_us, open_to_all  # noqa: F401
from companion.tests.rows import make_companion, make_run, make_window, say, signed_in
from sessions.models import Run, Window

OPEN = {"sign-in", "sign-in-password", "sign-in-link", "healthz", "language", "theme"}
MUST_HAVE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
WRITES = ["POST", "PUT", "PATCH", "DELETE"]

pytestmark = pytest.mark.django_db


def patterns(resolver: URLResolver | None = None) -> Iterator[URLPattern]:
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry)
        else:
            yield entry


def addresses(window: Window) -> dict[str, str]:
    """Every named address of the console with arguments that exist."""
    from django.urls import reverse

    given = {"prefix": window.session_id[:8], "token": "a" * 43, "run": Run.objects.get(window=window).pk}
    found: dict[str, str] = {}
    for pattern in patterns():
        names = pattern.pattern.converters
        pk = window.companion_id if str(pattern.pattern).startswith("companions/") else window.pk
        found[str(pattern.name)] = reverse(str(pattern.name), kwargs={name: given.get(name, pk) for name in names})
    return found


@pytest.fixture
def window() -> Window:
    window = make_window(bad_samples=[{"line": 7, "offset": 1, "reason": "broken"}], bad_lines=1)
    say(window, "早", "晚上还下吗？我想走回家")
    make_run(window)
    return window


def database_digest() -> str:
    """One number for all rows of all tables of the console."""
    digest = hashlib.sha256()
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names()):
            cursor.execute(
                f"SELECT md5(coalesce(string_agg(t::text, chr(10) ORDER BY t::text), '')) FROM \"{table}\" t"
            )
            digest.update(f"{table} {cursor.fetchone()[0]}".encode())
    return digest.hexdigest()


def test_every_address_has_a_name_and_is_tried_here(window: Window) -> None:
    named = [pattern.name for pattern in patterns()]

    assert None not in named
    assert len(set(named)) == len(named) == len(addresses(window))


def test_signed_out_only_the_open_addresses_answer(window: Window) -> None:
    for name, url in addresses(window).items():
        status = Client().get(url).status_code

        assert (status in {200, 405}) == (name in OPEN), (name, status)
        assert name in OPEN or status == 303, (name, status)


def test_signed_out_nothing_can_be_written(window: Window) -> None:
    before = database_digest()

    for name, url in addresses(window).items():
        if name not in OPEN:
            for method in WRITES:
                assert Client().generic(method, url).status_code == 401, (method, name)

    assert database_digest() == before


def test_an_unknown_address_tells_a_stranger_nothing() -> None:
    assert Client().get("/no/such/page/").status_code == 303


def test_looking_changes_nothing(window: Window) -> None:
    client = signed_in()
    before = database_digest()

    for url in addresses(window).values():
        for query in ("", "?format=json", "?format=csv", "?q=x&page=2&order=oldest"):
            for headers in ({}, {"HX-Request": "true"}):
                answer = client.get(url + query, headers=headers)
                b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
                client.head(url + query)

    assert database_digest() == before


def test_every_write_needs_the_token(window: Window, embedded_servers: None) -> None:
    before = database_digest()

    for name, url in addresses(window).items():
        for method in WRITES:
            client = signed_in(enforce_csrf_checks=True)
            session = database_digest()
            assert client.generic(method, url).status_code in {403, 405}, (method, name)
            assert database_digest() == session, (method, name)
            client.session.delete()

    assert database_digest() == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.test"},
        {"Origin": "null"},
        {"Origin": "null", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://testserver:81"},
        {"Origin": "http://testserver", "Sec-Fetch-Site": "cross-site"},
    ],
    ids=str,
)
def test_a_write_from_elsewhere_is_refused_with_any_token(window: Window, headers: dict[str, str]) -> None:
    answer = signed_in().post(f"/sessions/{window.pk}/pin/", {"on": "1"}, headers=headers)

    window.refresh_from_db()
    assert answer.status_code == 403
    assert not window.is_pinned


@pytest.mark.parametrize("origin", ["http://testserver", "null"])
def test_our_own_form_is_taken_with_its_token(window: Window, origin: str) -> None:
    client = signed_in(enforce_csrf_checks=True)
    token = client.get("/sessions/").context["csrf_token"]

    answer = client.post(
        f"/sessions/{window.pk}/pin/",
        {"on": "1", "csrfmiddlewaretoken": str(token)},
        headers={"Origin": origin, "Sec-Fetch-Site": "same-origin"},
    )

    assert answer.status_code == 303


def test_every_answer_carries_the_headers(window: Window) -> None:
    urls = [*addresses(window).values(), "/static/css/tokens.css", "/static/nothing.css", "/no/such/page/"]
    for url in urls:
        for client in (Client(), signed_in()):
            for answer in (client.get(url), client.get(url, {"format": "json"}), client.post(url)):
                assert not MUST_HAVE.items() - answer.headers.items(), url
                policy = answer.headers["Content-Security-Policy"]
                assert "unsafe" not in policy, url
                assert "frame-ancestors 'none'" in policy, url
                assert "default-src 'none'" in policy, url
                assert "Access-Control-Allow-Origin" not in answer.headers, url


def test_no_page_has_inline_style_or_script(window: Window) -> None:
    for url in addresses(window).values():
        page = signed_in().get(url)
        text = page.content.decode() if not page.streaming else ""
        assert " style=" not in text, url
        assert "<style" not in text, url
        assert " onclick=" not in text, url
        assert all("src=" in part[: part.index(">")] for part in text.split("<script")[1:]), url
        assert "http://" not in text.replace('xmlns="http://www.w3.org/2000/svg"', "").replace(
            "http://testserver", ""
        ), url


PATHS = [
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e%2f",
    "..\\..\\windows",
    "%00",
    "a%00b",
    "/etc/passwd",
    "-1",
    "1e9",
    "9" * 40,
    "a" * 4096,
    "$(id);`id`",
    "%0aSet-Cookie:x=1",
    "\u202e",
    "%ff%fe",
]


@pytest.mark.parametrize("part", PATHS, ids=lambda part: part[:20])
@pytest.mark.parametrize(
    "frame", ["/sessions/{}/", "/sessions/by-id/{}/", "/companions/{}/name/", "/runs/{}/", "/static/{}"]
)
def test_an_odd_address_is_a_plain_not_found(frame: str, part: str) -> None:
    answer = signed_in().get(frame.format(part))

    assert answer.status_code in {302, 400, 404, 405}
    assert "Set-Cookie" not in answer.headers
    assert b"root:" not in answer.content


@pytest.mark.parametrize("part", ["%00", "a%00b", "%25", "_", "'", "%5C", "%ED%A0%80", "%FF", "%F0%9F%99%82" * 60])
def test_an_odd_search_is_no_error(window: Window, part: str) -> None:
    client = signed_in()

    assert client.get(f"/sessions/?q={part}").status_code in {200, 422}
    assert client.get(f"/sessions/{window.pk}/?q={part}").status_code in {200, 422}


def test_health_says_nothing_but_that_it_lives(window: Window) -> None:
    assert Client().get("/healthz").json() == {"status": "ok"}


def test_tasks_are_json_only() -> None:
    from companion.celery import app

    assert app.conf.accept_content == ["json"]
    assert app.conf.task_serializer == "json"


def test_a_companion_that_is_not_there_cannot_be_changed() -> None:
    make_companion()

    assert signed_in().post("/companions/999999/confirm/", {"on": "1"}).status_code == 404
