import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from companion.tests.rows import HOSTILE, make_companion, make_window, say, signed_in
from sessions.tests.test_views_sessions import assert_harmless, csv_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in()


def text_of(client: Client, url: str) -> str:
    return client.get(url).content.decode()


def test_the_page_shows_the_reading_and_the_words(client: Client) -> None:
    window = make_window(percent=61.4, human_messages=2)
    say(window, "晚上还下吗？我想走回家")
    say(window, "这周改成周四吧", kind="q")

    page = text_of(client, f"/sessions/{window.pk}/")

    assert "61.4" in page
    assert "窗口用了 61.4%，已过 55% 瘦身线，离 70% 换窗线 8.6 个点，客户端压缩点 87.3%" in page
    assert "晚上还下吗？我想走回家" in page
    assert page.count("小满回话时插进来的") == 1


def test_an_estimate_is_marked_twice(client: Client) -> None:
    window = make_window(percent=12.1, is_estimated=True)

    page = text_of(client, f"/sessions/{window.pk}/")

    assert "<small>≈</small>12.1" in page
    assert '<line class="guess" x2="12.1%"' in page
    assert "估计值" in page


@pytest.mark.parametrize("language", ["zh-hans", "en", "de", "fr"])
def test_the_geometry_has_points_in_every_language(client: Client, language: str) -> None:
    window = make_window(percent=61.4)

    page = client.get(f"/sessions/{window.pk}/", headers={"Accept-Language": language}).content.decode()

    assert 'x="61.4%"' in page
    assert 'x="87.3%"' in page


def test_words_come_newest_first_and_go_on_by_idx(client: Client) -> None:
    window = make_window()
    say(window, *[f"第{number}句。" for number in range(150)])

    first = text_of(client, f"/sessions/{window.pk}/words/")
    say(window, "刚来的一句")
    second = text_of(client, f"/sessions/{window.pk}/words/?before=50")
    oldest = text_of(client, f"/sessions/{window.pk}/words/?order=oldest")

    assert "第149句。" in first
    assert "?before=50" in first
    assert "第49句。" in second
    assert "第50句。" not in second
    assert "第0句。" in oldest
    assert "?order=oldest&amp;after=99" in oldest


def test_words_can_be_searched(client: Client) -> None:
    window = make_window()
    say(window, "给薄荷换盆", "早")

    page = text_of(client, f"/sessions/{window.pk}/?q=薄荷")

    assert "给薄荷换盆" in page
    assert ">早<" not in page
    assert "这里没说过这样的话" in text_of(client, f"/sessions/{window.pk}/?q=大海")


def test_days_open_where_they_change_on_the_operators_clock(client: Client) -> None:
    window = make_window()
    say(window, "昨天的", until=timezone.now() - timedelta(days=1))
    say(window, "今天的")

    assert text_of(client, f"/sessions/{window.pk}/").count('<li class="day"') == 2


def test_bad_lines_are_shown_with_number_and_reason(client: Client) -> None:
    window = make_window(bad_lines=1, bad_samples=[{"line": 1204, "offset": 9, "reason": "Unterminated <string>"}])

    page = text_of(client, f"/sessions/{window.pk}/")

    assert "第 1,204 行" in page
    assert "Unterminated &lt;string&gt;" in page


def test_a_missing_file_is_said(client: Client) -> None:
    window = make_window(missing_since=timezone.now())

    assert "对话文件不见了" in text_of(client, f"/sessions/{window.pk}/")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(client: Client, text: str) -> None:
    companion = make_companion(text)
    window = make_window(
        companion,
        title=text,
        own_title=text,
        model=text[:100],
        cwd=text,
        client_version=text[:50],
        path=f"/p/{text}.jsonl",
        trouble=text,
        bad_lines=1,
        bad_samples=[{"line": 1, "offset": 0, "reason": text}],
    )
    say(window, text, kind="q")

    for url in ("/", f"/sessions/{window.pk}/", f"/sessions/{window.pk}/?q=zzz"):
        # The title field holds what the operator wrote, escaped, as it is.
        page = text_of(client, url).replace('value="', "")
        assert "<script>" not in page
        assert "<img" not in page
        assert "<iframe" not in page
    assert_harmless(client.get(f"/sessions/{window.pk}/", headers={"HX-Request": "true"}).content.decode())


def test_secrets_in_words_are_covered(client: Client) -> None:
    window = make_window()
    say(window, "我的 key 是 ghp_0123456789abcdefghijABCDEFGHIJ012345")

    assert "ghp_******" in text_of(client, f"/sessions/{window.pk}/")
    assert csv_rows(client, f"/sessions/{window.pk}/?format=csv")[0]["preview"] == "我的 key 是 ghp_******"


def test_anchors_export_oldest_first_with_the_contract_fields(client: Client) -> None:
    window = make_window()
    first, last = say(window, "一", "二")

    answer = client.get(f"/sessions/{window.pk}/?format=json")
    document = json.loads(b"".join(answer.streaming_content))  # type: ignore[attr-defined]

    assert document["count"] == 2
    assert [item["uuid"] for item in document["items"]] == [first.uuid, last.uuid]
    assert set(document["items"][0]) == {"idx", "uuid", "timestamp", "local_time", "preview", "queued"}
    assert document["items"][0]["timestamp"].endswith("Z")


def test_an_id_prefix_leads_to_its_session(client: Client) -> None:
    window = make_window(session_id="7c41e0d2-93b5-4f7e-a6c8-2d1f0b9e54a3")

    assert client.get("/sessions/by-id/7C41e0d2/").headers["Location"] == f"/sessions/{window.pk}/"


def test_two_sessions_for_one_prefix_are_named(client: Client) -> None:
    for tail in ("1", "2"):
        make_window(session_id=f"7c41e0d2-93b5-4f7e-a6c8-2d1f0b9e54a{tail}", title=f"窗口{tail}")

    answer = client.get("/sessions/by-id/7c41/")

    assert answer.status_code == 300
    assert "窗口1" in answer.content.decode()
    assert "窗口2" in answer.content.decode()


def test_an_unknown_prefix_says_so(client: Client) -> None:
    answer = client.get("/sessions/by-id/ffffffff/")

    assert answer.status_code == 404
    assert "ffffffff" in answer.content.decode()


def test_the_operator_may_say_how_large_a_window_is_and_take_it_back(client: Client) -> None:
    window = make_window(percent=50.0)
    before = window.window_tokens

    said = client.post(f"/sessions/{window.pk}/size/", {"tokens": "500000"})
    window.refresh_from_db()
    taken = (window.window_override, window.window_tokens)
    client.post(f"/sessions/{window.pk}/size/", {"tokens": ""})
    window.refresh_from_db()

    assert said.status_code == 303
    assert taken == (500_000, 500_000)
    assert (window.window_override, window.window_tokens) == (None, before)


@pytest.mark.parametrize("tokens", ["999", "10000001", "-5", "big", "1.5"])
def test_a_size_that_is_none_is_refused_and_kept_in_the_field(client: Client, tokens: str) -> None:
    window = make_window(percent=50.0)

    answer = client.post(f"/sessions/{window.pk}/size/", {"tokens": tokens})
    window.refresh_from_db()

    assert answer.status_code == 422
    assert f'value="{tokens}"' in answer.content.decode()
    assert window.window_override is None
