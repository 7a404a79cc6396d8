"""Now, Doctor, error pages, language, theme: what the frame promises."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companion.tests.rows import make_companion, make_window, say, signed_in, use

pytestmark = pytest.mark.django_db


def page(client: Client, url: str = "/", **headers: str) -> str:
    return client.get(url, headers=headers).content.decode()


def test_now_says_who_is_well_and_whom_to_look_at() -> None:
    make_window(make_companion("小满"))
    make_window(make_companion("谷雨"))
    make_window(make_companion("白露"), missing_since=timezone.now())

    text = page(signed_in())

    assert "<h1>两位安好，白露要看一眼</h1>" in text
    assert "白露：对话文件不见了" in text


def test_now_in_english() -> None:
    make_window(make_companion("Xiaoman"))

    text = page(signed_in(), **{"Accept-Language": "en"})

    assert "<h1>Xiaoman is well</h1>" in text
    assert "The window is six tenths full, just past the diet mark." in text


def test_now_shows_the_newest_window_of_a_companion() -> None:
    companion = make_companion()
    make_window(companion, title="新的")
    make_window(companion, title="旧的", last_activity=timezone.now() - timedelta(days=2))

    text = page(signed_in())

    assert "新的" in text
    assert "旧的" not in text


def test_now_counts_and_draws_today() -> None:
    window = make_window()
    say(window, "早", "晚安")
    say(window, "前天", until=timezone.now() - timedelta(days=2))
    use(window, 100_000, 122_800)

    text = page(signed_in())

    assert "今天</dt><dd>你说了 2 句" in text
    assert '<polyline class="line"' in text


def test_they_are_still_talking_only_while_they_are() -> None:
    window = make_window(last_activity=timezone.now() - timedelta(seconds=30))
    assert "这会儿还聊着" in page(signed_in())

    window.last_activity = timezone.now() - timedelta(minutes=10)
    window.save()

    assert "这会儿还聊着" not in page(signed_in())


def test_now_costs_the_same_queries_for_ten_and_twenty_companions() -> None:
    client, counts = signed_in(), []
    for _ in range(2):
        for _ in range(10):
            say(make_window(), "早")
        with CaptureQueriesContext(connection) as queries:
            client.get("/")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 9


def test_an_empty_console_teaches() -> None:
    text = page(signed_in())

    assert "这里还没有谁" in text
    assert "COMPANION_PROJECTS_ROOT" in text


def test_a_companion_is_named_and_confirmed() -> None:
    companion, client = make_companion("-home-x"), signed_in()

    client.post(f"/companions/{companion.pk}/name/", {"name": "小满"})
    client.post(f"/companions/{companion.pk}/confirm/", {"on": "1"})

    companion.refresh_from_db()
    assert (companion.name, companion.confirmed) == ("小满", True)


@pytest.mark.parametrize("name", ["", "   ", "长" * 121])
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "htmx"])
def test_a_name_that_will_not_do_is_refused(name: str, headers: dict[str, str]) -> None:
    companion = make_companion("小满")

    answer = signed_in().post(f"/companions/{companion.pk}/name/", {"name": name}, headers=headers)

    companion.refresh_from_db()
    assert answer.status_code == 422
    assert companion.name == "小满"


def test_the_language_is_the_cookie_then_the_browser_then_chinese() -> None:
    client = signed_in()

    assert '<html lang="zh-CN">' in page(client)
    assert '<html lang="zh-CN">' in page(client, **{"Accept-Language": "fr"})
    assert '<html lang="zh-CN">' in page(client, **{"Accept-Language": "zh-CN,en;q=0.5"})
    assert '<html lang="en">' in page(client, **{"Accept-Language": "en-GB"})
    client.post("/choices/language/", {"language": "en"})
    assert '<html lang="en">' in page(client, **{"Accept-Language": "zh-CN"})


def test_the_theme_is_kept_in_a_cookie() -> None:
    client = signed_in()

    answer = client.post("/choices/theme/", {"theme": "dark", "next": "/sessions/"})

    assert answer.headers["Location"] == "/sessions/"
    assert 'data-theme="dark"' in page(client)
    assert client.post("/choices/theme/", {"theme": "pink"}).status_code == 400


@pytest.mark.parametrize(("language", "words"), [("zh-CN", "这里什么都没有"), ("en", "There is nothing here")])
def test_the_not_found_page_speaks_both_languages(language: str, words: str) -> None:
    answer = signed_in().get("/no/such/page/", headers={"Accept-Language": language})

    assert answer.status_code == 404
    assert words in answer.content.decode()


@pytest.mark.parametrize("number", [400, 403, 404, 422, 500])
@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_error_pages_need_no_database(number: int, language: str, django_assert_num_queries: object) -> None:
    from django.template.loader import render_to_string
    from django.test import RequestFactory
    from django.utils import translation

    with translation.override(language), CaptureQueriesContext(connection) as queries:
        text = render_to_string(f"errors/{number}.html", {}, RequestFactory().get("/"))

    assert "<h1>" in text
    assert len(queries) == 0


def test_a_fault_of_ours_is_answered_with_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in(raise_request_exception=False)
    monkeypatch.setattr("companion.views.now.with_newest", None)

    answer = client.get("/")

    assert answer.status_code == 500
    assert "出错了" in answer.content.decode()


def test_a_message_that_was_copied_into_a_new_window_counts_once_today() -> None:
    old = make_window()
    new = make_window(old.companion)
    (said,) = say(old, "早")
    said.transcript = new.transcript
    said.pk = (new.transcript_id, said.seq)
    said.save(force_insert=True)
    say(new, "第二句")

    text = page(signed_in())

    assert "你说了 2 句" in text


def test_navigation_names_only_pages_that_exist() -> None:
    client = signed_in()
    make_window()

    text = page(client)

    links = {
        part.partition('"')[0]
        for part in text.partition('class="sections"')[2].partition("</nav>")[0].split('href="')[1:]
    }
    assert links == {"/", "/sessions/", "/runs/", "/doctor/"}
    assert all(client.get(link).status_code == 200 for link in links)


def test_every_text_has_its_chinese() -> None:
    from django.core.management import call_command

    call_command("check_translations")
