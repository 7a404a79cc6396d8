"""The console as its operator meets it: in a browser, on the real server."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, WebSocketRoute, expect

from companion.tests.browser.conftest import Looks, Place

SAME_PLACE = re.compile(r"/sessions/(\d+)/")


def session_path(look: Looks, title: str) -> str:
    href = look("/sessions/").get_by_role("link", name=title).first.get_attribute("href")
    assert href
    return href


def gauge_share(page: Page, within: str) -> float:
    """Where the needle stands, in percent of the gauge."""
    share = page.locator(f"{within} svg.pin:has(.needle)").get_attribute("x")
    assert share
    return float(share.removesuffix("%"))


def test_a_link_signs_in_once_and_signing_out_ends_it(chromium: Browser, place: Place) -> None:
    context = chromium.new_context(locale="zh-CN")
    page, link = context.new_page(), place.link()

    page.goto(f"{place.url}/sessions/")
    expect(page.get_by_role("heading", level=1)).to_have_text("用一条链接进来")
    page.goto(link)
    page.get_by_role("button", name="登录").click()
    expect(page.get_by_role("navigation", name="页面")).to_be_visible()

    again = chromium.new_context().new_page()
    again.goto(link)
    again.locator("button.main").click()
    expect(again.locator(".note.fail")).to_be_visible()
    again.context.close()

    page.get_by_role("button", name="退出").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("用一条链接进来")
    page.goto(place.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("用一条链接进来")
    context.close()


def test_an_appended_line_moves_the_gauge_on_every_open_page(look: Looks, place: Place) -> None:
    path = session_path(look, "雨夜和阳台的薄荷")
    pk = path.strip("/").rpartition("/")[2]
    now, listing, session = look("/"), look("/sessions/"), look(path)
    for page in (now, listing, session):
        expect(page.locator("#live .state")).to_have_text("实时")
    for page in (now, session):
        assert gauge_share(page, f"#window-{pk}") == 61.4

    place.talks[0].turn("刚吹干头发。窗户开着能听见雨", 143_000)

    for page in (now, session):
        expect(page.locator(f"#window-{pk} .dial")).to_contain_text("71.5")
        assert gauge_share(page, f"#window-{pk}") == 71.5
    expect(listing.locator(f"#row-{pk}")).to_contain_text("71.5")
    expect(session.locator(".who a").first).to_contain_text("71%")
    expect(now.locator(".card-body").first).to_contain_text("已过换窗线")


def test_the_change_is_spoken(look: Looks, place: Place) -> None:
    page = look("/")
    expect(page.locator("#live .state")).to_have_text("实时")

    place.talks[1].turn("今天的拿铁拉了一朵花", 90_000)

    expect(page.locator("#say")).to_contain_text("窗口用了 45%")


def test_a_lost_connection_is_said_and_made_good(look: Looks) -> None:
    page = look("/")
    cut = [True]

    def refuse_or_connect(socket: WebSocketRoute) -> None:
        if cut:
            socket.close(code=1012)
        else:
            socket.connect_to_server()

    page.route_web_socket("**/ws/live/**", refuse_or_connect)
    page.reload()
    expect(page.locator("#live .state")).to_have_text("在重连")
    expect(page.locator("#live .state")).to_contain_text("断开", timeout=15_000)
    cut.clear()

    expect(page.locator("#live .state")).to_have_text("实时", timeout=15_000)
    expect(page.locator("#say")).to_have_text("又连上了")


def test_the_filters_change_the_list_and_the_address(look: Looks) -> None:
    page = look("/sessions/")

    page.get_by_label("找").fill("拿铁")

    expect(page.locator(".session")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=%E6%8B%BF%E9%93%81"))
    page.reload()
    expect(page.locator(".session")).to_have_count(1)
    page.get_by_label("用量至少").fill("不是数")
    page.get_by_label("用量至少").blur()
    expect(page.locator(".wrong")).to_be_visible()


def test_the_list_goes_on_living_after_it_was_filtered(look: Looks, place: Place) -> None:
    page = look("/sessions/")
    page.get_by_label("找").fill("拿铁")
    expect(page.locator(".session")).to_have_count(1)
    expect(page.locator("#live .state")).to_have_text("实时")

    place.talks[1].turn("再来一杯", 110_000)

    expect(page.locator(".session .how")).to_contain_text("55.0")


def test_a_session_is_pinned_retitled_and_put_away(look: Looks) -> None:
    page = look("/sessions/")
    row = page.locator(".session").filter(has_text="拿铁")

    row.get_by_role("button", name="置顶").click()
    expect(row.get_by_role("button", name="置顶")).to_have_attribute("aria-pressed", "true")
    row.get_by_role("button", name="收起").click()
    expect(row.get_by_role("button", name="放回来")).to_be_visible()
    row.get_by_role("button", name="放回来").click()
    row.get_by_role("button", name="置顶").click()
    row.get_by_role("link").first.click()
    page.get_by_text("改标题").click()
    page.get_by_label("你起的标题").fill("拿铁和早安")
    page.get_by_role("button", name="存下标题").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("拿铁和早安")
    page.get_by_text("改标题").click()
    page.get_by_label("你起的标题").fill("")
    page.get_by_role("button", name="存下标题").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("早安和一杯拿铁")


def test_everything_works_without_javascript(chromium: Browser, place: Place, state: object) -> None:
    context = chromium.new_context(java_script_enabled=False, locale="zh-CN", storage_state=state)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{place.url}/sessions/?q=拿铁")
    row = page.locator(".session").filter(has_text="拿铁")

    row.get_by_role("button", name="置顶").click()
    expect(row.get_by_role("button", name="置顶")).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("q="))
    row.get_by_role("button", name="置顶").click()
    page.get_by_role("button", name="深").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    context.close()


def test_a_companion_is_named_and_confirmed_from_its_card(look: Looks) -> None:
    page = look("/")
    card = page.locator("article.card").filter(has_text="guyu")

    card.get_by_text("起名、确认").click()
    card.get_by_label("名字").fill("谷雨")
    card.get_by_role("button", name="改名").click()
    card = page.locator("article.card").filter(has_text="谷雨")
    expect(card.get_by_role("heading", level=2)).to_have_text("谷雨")
    card.get_by_text("起名、确认").click()
    card.get_by_role("button", name="对，是我的陪伴者").click()

    expect(card.get_by_text("还没确认")).to_have_count(0)
    expect(page.locator(".who")).to_contain_text("谷雨")


def test_the_language_is_switched_and_kept(look: Looks) -> None:
    page = look("/sessions/?sort=used")

    page.get_by_role("button", name="English").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
    expect(page).to_have_url(re.compile("sort=used"))
    expect(page.locator("#live .state")).to_have_text("Live")
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("会话")


def test_the_theme_is_switched_at_once_and_kept(look: Looks) -> None:
    page = look("/")

    with page.expect_response("**/choices/theme/"):
        page.get_by_role("button", name="深", exact=True).click()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(23, 22, 19)"
    page.reload()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_hostile_titles_and_words_do_nothing(look: Looks) -> None:
    pages = [look("/"), look("/sessions/"), look(session_path(look, "alert"))]
    for page in pages:
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))

    time.sleep(0.5)

    assert "U+202E" in pages[2].locator(".words").first.inner_text()


@pytest.mark.parametrize("width", [320, 390, 768, 1440])
def test_no_page_scrolls_sideways(look: Looks, width: int) -> None:
    session = session_path(look, "薄荷")

    for path in ("/", "/sessions/", session, "/doctor/", "/no/such/page/", "/sessions/?q=zzz"):
        for language in ("zh-CN", "en-US"):
            page = look(path, width=width, language=language)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, language)


def test_by_keyboard_alone(look: Looks) -> None:
    page = look("/")

    page.keyboard.press("Tab")
    expect(page.locator(".leap")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#main$"))
    outline: Callable[[], str] = lambda: str(page.evaluate("getComputedStyle(document.activeElement).outlineStyle"))  # noqa: E731
    for _ in range(8):
        page.keyboard.press("Tab")
        assert outline() == "solid", page.evaluate("document.activeElement.outerHTML")
