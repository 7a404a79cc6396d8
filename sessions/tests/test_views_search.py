"""The search page: what was found and where it leads, filters in the address, exports, refusals, hostile text."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companion.tests.rows import HOSTILE, make_companion, make_window, say, signed_in
from sessions.core.words import search_words, writable
from sessions.models import Event, Window, WordsCursor
from sessions.models.words import Saying, replace_utterances
from sessions.tests.test_views_sessions import csv_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in()


def talk(window: Window, *words: str, kind: str = "h", live: bool = True, until: datetime | None = None) -> list[Event]:
    """Messages with their words kept, as the index and its follower would have left them."""
    events = say(window, *map(writable, words), kind=kind, until=until or timezone.now())
    for event in events:
        event.live = live
        event.idx = event.idx if live else None
        event.save()
        kept = Saying(
            event.seq,
            event.uuid,
            event.at or timezone.now(),
            kind,
            event.preview or "",
            search_words(event.preview or ""),
        )
        replace_utterances(window.transcript_id, event.seq, event.seq + 1, [kept])
    return events


def page(client: Client, query: str, **headers: str) -> str:
    return client.get(f"/search/{query}", headers=headers).content.decode()


def items(client: Client, query: str) -> list[dict[str, Any]]:
    answer = client.get(f"/search/{query}")
    document = json.loads(b"".join(answer.streaming_content))  # type: ignore[attr-defined]
    assert document["count"] == len(document["items"])
    found: list[dict[str, Any]] = document["items"]
    return found


def test_a_hit_says_who_where_and_leads_to_its_place(client: Client) -> None:
    window = make_window(make_companion("小满"), title="雨夜")
    event = talk(window, "昨晚又失眠了，数到三百只羊")[0]

    text = page(client, "?q=失眠")

    assert "昨晚又<mark>失眠</mark>了" in text
    assert f'href="/sessions/{window.pk}/?at={event.uuid}#e{event.seq}"' in text
    assert "1 条" in text
    assert "雨夜" in text
    assert '<p class="words" lang="zh-CN">' in text


def test_an_answer_is_not_set_as_a_persons_words(client: Client) -> None:
    talk(make_window(make_companion("小满")), "失眠就来找我", kind="a")

    text = page(client, "?q=失眠")

    assert "<b>小满</b>" in text
    assert '<p class="prose" lang' in text
    assert '<p class="words" lang' not in text


def test_english_is_found_by_word_and_by_its_start(client: Client) -> None:
    talk(make_window(), "the Insomnia is back")

    assert "<mark>Insomnia</mark>" in page(client, "?q=insomnia")
    assert "<mark>Inso" in page(client, "?q=inso")


def test_what_was_taken_back_is_marked_and_can_be_left_out(client: Client) -> None:
    window = make_window()
    talk(window, "失眠的事不说了", live=False)

    assert '<span class="tag">撤回的</span>' in page(client, "?q=失眠")
    assert "没说过这样的话" in page(client, "?q=失眠&live=1")


def test_what_an_earlier_window_holds_is_marked_as_dropped(client: Client) -> None:
    companion = make_companion()
    talk(make_window(companion, last_activity=timezone.now() - timedelta(days=2)), "失眠一")
    talk(make_window(companion), "失眠二")

    text = page(client, "?q=失眠")

    assert text.count("已不在它眼前") == 1


def test_a_companion_and_a_session_narrow_it(client: Client) -> None:
    one, two = make_window(make_companion("甲")), make_window(make_companion("乙"))
    talk(one, "失眠，甲的")
    talk(two, "失眠，乙的")

    assert [hit["companion"] for hit in items(client, f"?q=失眠&companion={one.companion_id}&format=json")] == ["甲"]
    assert [hit["session_id"] for hit in items(client, f"?q=失眠&session={two.pk}&format=json")] == [two.session_id]
    text = page(client, f"?q=失眠&session={two.pk}")
    assert "在这个会话里" in text
    assert f'<option value="{two.pk}" selected>' in text


def test_more_goes_on_where_the_reader_left_off(client: Client) -> None:
    window = make_window()
    talk(window, *[f"失眠第{number}晚" for number in range(70)])

    first = page(client, "?q=失眠")
    more = first.partition('class="more-hits"><a href="')[2].partition('"')[0].replace("&amp;", "&")
    second = page(client, more, **{"HX-Request": "true"})
    alone = page(client, more)

    assert first.count('class="hit"') == 50
    assert second.count('class="hit"') == 20
    assert "more-hits" not in second
    assert "<html" not in second
    assert "从第一条看起" in alone
    seen = {part.partition('"')[0] for part in (first + second).split('class="plain" href="')[1:]}
    assert len(seen) == 70


def test_exports_have_every_hit(client: Client) -> None:
    window = make_window()
    talk(window, *[f"失眠第{number}晚" for number in range(70)])

    rows = items(client, "?q=失眠&format=json")

    assert len(rows) == 70
    assert rows[0]["url"].startswith(f"/sessions/{window.pk}/?at=")
    assert len(csv_rows(client, "/search/?q=失眠&format=csv")) == 70


def test_an_empty_question_teaches(client: Client) -> None:
    for query in ("", "?q=", "?q=%20"):
        assert "能搜到什么" in page(client, query)


def test_nothing_found_says_what_was_looked_through(client: Client) -> None:
    companion = make_companion("小满")
    make_window(companion)

    text = page(client, f"?q=大海&companion={companion.pk}")

    assert "在小满的所有窗口里找了“大海”" in text
    assert 'href="?q=%E5%A4%A7%E6%B5%B7"' in text


def test_words_that_are_still_being_read_are_said(client: Client) -> None:
    window = make_window()
    window.transcript.lines = 5
    window.transcript.save()

    assert "还有 1 个会话的字句正在读" in page(client, "?q=失眠")
    WordsCursor.objects.create(transcript=window.transcript, lines=5)
    assert "正在读" not in page(client, "?q=失眠")


@pytest.mark.parametrize(
    "query", ["?q=x&companion=9999", "?q=x&session=9999", "?q=x&session=../etc", "?q=" + "长" * 201]
)
def test_a_filter_that_will_not_do_is_refused_in_words(client: Client, query: str) -> None:
    answer = client.get(f"/search/{query}")

    assert answer.status_code == 422
    assert "这样没法搜" in answer.content.decode()
    assert client.get(f"/search/{query}&format=json").json()["error"]["code"] == "bad-filter"


@pytest.mark.parametrize("after", ["x", "W10", "~", "a" * 300, "eyJ9"])
def test_a_place_that_is_none_is_refused(client: Client, after: str) -> None:
    talk(make_window(), "失眠")

    for more in ("", "&format=json"):
        assert client.get(f"/search/?q=失眠&after={after}{more}").status_code == 422


@pytest.mark.parametrize(
    "asked",
    ["' OR 1=1 --", "a & !b | c:*", "\\", "''", "<->", "(((", "%00失眠", "%FF", "失眠 " * 40, ":*", "🙂", "\u202e"],
)
def test_a_hostile_question_is_a_question(client: Client, asked: str) -> None:
    talk(make_window(), "失眠")

    assert client.get("/search/", {"q": asked}).status_code in {200, 422}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words(client: Client, text: str) -> None:
    talk(make_window(make_companion(text), title=text), f"{text} 失眠 {text}", f"失眠{text}")

    for found in (
        page(client, "?q=失眠"),
        page(client, "", q=text),
        client.get("/search/", {"q": text}).content.decode(),
    ):
        assert "<script>" not in found
        assert "<img" not in found
        assert "<iframe" not in found
        assert "\u202e" not in found.replace(f'value="{text}', "")
        assert "\x1b" not in found.replace(f'value="{text}', "")
        assert "<div hx-get=/doctor/" not in found


def test_secrets_are_covered(client: Client) -> None:
    talk(make_window(), "失眠 ghp_0123456789abcdefghijABCDEFGHIJ012345")

    assert "ghp_******" in page(client, "?q=失眠")
    assert "0123456789abcdefghij" not in items(client, "?q=失眠&format=json")[0]["preview"]


@pytest.mark.parametrize("text", ["=失眠", "+失眠", "@失眠", "-失眠"])
def test_a_cell_is_never_a_formula(client: Client, text: str) -> None:
    talk(make_window(), text)

    assert csv_rows(client, "/search/?q=失眠&format=csv")[0]["preview"].startswith("'")


def test_five_and_forty_hits_cost_the_same_queries(client: Client) -> None:
    counts = []
    for number in (5, 35):
        for _ in range(number):
            talk(make_window(), "失眠")
        with CaptureQueriesContext(connection) as queries:
            client.get("/search/?q=失眠")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 12


@pytest.mark.parametrize("path", ["/", "/sessions/", "/doctor/", "/search/"])
def test_every_page_has_the_search_field(client: Client, path: str) -> None:
    text = client.get(path).content.decode()

    assert text.count('id="search" type="search" name="q"') == 1
    assert 'action="/search/"' in text


def test_both_languages(client: Client) -> None:
    assert "What can be found" in page(client, "", **{"Accept-Language": "en"})
