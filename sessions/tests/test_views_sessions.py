import csv
import io
import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from companion.tests.rows import HOSTILE, make_companion, make_window, signed_in
from sessions.actions import documents

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in()


def titles(client: Client, query: str = "") -> list[str]:
    return [item["title"] for item in exported(client, f"?{query}&format=json")["items"]]


def exported(client: Client, query: str) -> dict[str, Any]:
    answer = client.get(f"/sessions/{query}")
    found: dict[str, Any] = json.loads(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
    return found


def csv_rows(client: Client, url: str) -> list[dict[str, str]]:
    text = b"".join(client.get(url).streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]
    return list(csv.DictReader(io.StringIO(text)))


def test_the_filters_stand_in_the_address(client: Client) -> None:
    xiaoman, bailu = make_companion("小满"), make_companion("白露")
    make_window(xiaoman, 61.4, title="雨夜和阳台的薄荷")
    make_window(xiaoman, 12.0, title="书店排班")
    make_window(bailu, 80.0, title="早安和一杯拿铁", is_pinned=True)
    make_window(bailu, 20.0, title="收起来的", is_archived=True)

    assert titles(client, "q=薄荷") == ["雨夜和阳台的薄荷"]
    assert titles(client, f"companion={bailu.pk}") == ["早安和一杯拿铁"]
    assert titles(client, "state=pinned") == ["早安和一杯拿铁"]
    assert titles(client, "state=archived") == ["收起来的"]
    assert len(titles(client, "state=all")) == 4
    assert titles(client, "used=60&sort=used") == ["早安和一杯拿铁", "雨夜和阳台的薄荷"]
    assert titles(client, "q=排班&used=60") == []


def test_a_filter_that_makes_no_sense_is_said_and_the_list_stays(client: Client) -> None:
    make_window(title="还在")

    page = client.get("/sessions/?used=abc")

    assert page.status_code == 422
    assert "还在" in page.content.decode()
    assert 'aria-invalid="true"' in page.content.decode()
    assert client.get("/sessions/?used=abc&format=json").json()["error"]["code"] == "bad-filter"


def test_htmx_gets_the_list_alone_and_a_new_socket(client: Client) -> None:
    window = make_window()

    part = client.get("/sessions/", headers={"HX-Request": "true"}).content.decode()

    assert "<html" not in part
    assert part.lstrip().startswith('<section class="card" id="sessions"')
    assert f"row-{window.pk}" in part.partition('id="socket"')[2]
    assert "HX-Request" in client.get("/sessions/").headers["Vary"]


def test_fifty_are_on_a_page(client: Client) -> None:
    companion = make_companion()
    for number in range(55):
        make_window(companion, title=f"第 {number} 个")

    assert client.get("/sessions/").content.count(b'class="session"') == 50
    assert client.get("/sessions/?page=2").content.count(b'class="session"') == 5
    assert client.get("/sessions/?page=99").content.count(b'class="session"') == 5
    assert b"page=2" in client.get("/sessions/?sort=used").content


def test_a_list_costs_the_same_queries_for_ten_and_twenty(client: Client) -> None:
    companion = make_companion()
    counts = []
    for _ in range(2):
        for _ in range(10):
            make_window(companion)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get("/sessions/")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 9


def test_the_json_has_the_contract_fields(client: Client) -> None:
    window = make_window(percent=61.4, human_messages=7, events=20, bad_lines=1)

    document = exported(client, "?format=json")

    assert document["count"] == 1
    assert document["items"] == [
        {
            "session_id": window.session_id,
            "path": window.transcript.path,
            "project": window.companion.project,
            "title": window.title,
            "model": "claude-opus-4-6",
            "window": 200_000,
            "used_tokens": 122_800,
            "used_pct": 61.4,
            "estimated": False,
            "human_messages": 7,
            "events": 20,
            "bad_lines": 1,
            "last_activity": documents.utc(window.last_activity),
            "bound_to": None,
            "companion": "小满",
        }
    ]


@pytest.mark.parametrize("title", ["=1+1", "+cmd|' /C calc'!A0", "-2", "@SUM(A1)", "\t=1", "  =1+1", "＝1+1"])
def test_no_cell_of_the_csv_is_a_formula(client: Client, title: str) -> None:
    make_window(title=title)

    (row,) = csv_rows(client, "/sessions/?format=csv")

    assert row["title"].startswith("'")


def test_exports_cover_secrets_and_show_hidden_characters(client: Client) -> None:
    make_window(title="key sk-ant-api03-AbCdEf0123456789AbCdEf0123456789 \u202e")

    (row,) = csv_rows(client, "/sessions/?format=csv")

    assert row["title"] == "key sk-ant-api03-****** ⟨U+202E⟩"
    assert "AbCdEf" not in json.dumps(exported(client, "?format=json"))


def test_pin_and_put_away_are_the_same_twice(client: Client) -> None:
    window = make_window()
    for _ in range(2):
        client.post(f"/sessions/{window.pk}/pin/", {"on": "1"})
        client.post(f"/sessions/{window.pk}/archive/", {"on": "1"})

    window.refresh_from_db()

    assert (window.is_pinned, window.is_archived) == (True, True)
    client.post(f"/sessions/{window.pk}/archive/", {"on": "0"})
    window.refresh_from_db()
    assert not window.is_archived


def test_a_mark_answers_htmx_with_the_row_and_a_form_with_its_page(client: Client) -> None:
    window = make_window()
    url = f"/sessions/{window.pk}/pin/"

    row = client.post(url, {"on": "1"}, headers={"HX-Request": "true"})
    page = client.post(url, {"on": "1", "next": "/sessions/?q=%E9%9B%A8"})
    astray = client.post(url, {"on": "1", "next": "//evil.test/"})

    assert row.content.decode().lstrip().startswith(f'<li class="session" id="session-{window.pk}"')
    assert (page.status_code, page.headers["Location"]) == (303, "/sessions/?q=%E9%9B%A8")
    assert astray.headers["Location"] == f"/sessions/{window.pk}/"


def test_an_own_title_wins_and_an_empty_one_gives_the_earlier_back(client: Client) -> None:
    window = make_window(title="猜的", guessed_title="猜的")
    url = f"/sessions/{window.pk}/title/"

    client.post(url, {"title": "  我起的\n名字 "})
    window.refresh_from_db()
    assert (window.title, window.own_title) == ("我起的 名字", "我起的 名字")

    client.post(url, {"title": ""})
    window.refresh_from_db()
    assert window.title == "猜的"


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "htmx"])
def test_a_title_that_is_too_long_is_refused_and_kept_in_the_field(client: Client, headers: dict[str, str]) -> None:
    window = make_window()

    answer = client.post(f"/sessions/{window.pk}/title/", {"title": "长" * 201}, headers=headers)

    window.refresh_from_db()
    assert answer.status_code == 422
    assert "长" * 201 in answer.content.decode()
    assert window.own_title == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_the_list(client: Client, text: str) -> None:
    companion = make_companion(text)
    make_window(companion, title=text, model=text[:100], cwd=text, first_words=text, path=f"/p/{text}.jsonl")

    for headers in ({}, {"HX-Request": "true"}):
        assert "<script>" not in client.get("/sessions/", {"q": text}, headers=headers).content.decode()
        assert_harmless(client.get("/sessions/", headers=headers).content.decode())


def assert_harmless(page: str) -> None:
    assert "<script>" not in page
    assert "<img" not in page
    assert "<iframe" not in page
    assert "onload=alert" not in page.replace("&quot;&gt;&lt;svg/onload=alert", "")
    assert "onmouseover='" not in page
    assert "hx-get=/doctor/ " not in page.replace("&lt;div hx-get=/doctor/ hx-trigger", "")
    assert "<form action=https" not in page
    assert not set("\x1b\x07\u202e\u2066\u200b\ufeff") & set(page.partition("<main")[2])


def test_an_empty_console_teaches_where_it_looked(client: Client) -> None:
    from django.conf import settings

    page = client.get("/sessions/").content.decode()

    assert str(settings.ENV.roots[0]) in page
    assert "COMPANION_PROJECTS_ROOT" in page
