"""Search in a browser: Chinese, English, hostile text, an input method, and the way to a message."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from companion.tests.browser.conftest import Looks, Place
from companion.tests.browser.test_accessibility import faults
from companion.tests.browser.transcripts import Talk
from companion.tests.consoles import manage
from companion.tests.rows import HOSTILE

pytestmark = pytest.mark.usefixtures("loaded")


@pytest.fixture(scope="module", autouse=True)
def talk(place: Place, loaded: None) -> Iterator[Talk]:
    """A companion of the operator's own beside the demo, with words that strangers would write."""
    talk = Talk(place.data.parent / "home" / "projects", "-home-lin-guyu")
    talk.turn("昨晚又失眠了，数到三百只羊", 20_000, answer="Insomnia again？我陪你数。")
    for number, text in enumerate(HOSTILE):
        talk.turn(f"恶意{number} {text.replace(chr(0), '')}", 21_000 + number)
    talk.title("失眠的夜")
    assert manage(place.data, "search", "失眠", "--json").returncode == 0
    yield talk
    talk.path.unlink()


def test_a_chinese_word_leads_to_its_message(look: Looks) -> None:
    page = look("/")

    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.type("失眠")
    page.keyboard.press("Enter")
    expect(page.locator(".hit mark").first).to_have_text("失眠")
    page.locator(".hit a.plain").first.click()

    expect(page).to_have_url(re.compile(r"/sessions/\d+/\?at=.*#e\d+$"))
    expect(page.locator("li.chosen")).to_contain_text("昨晚又失眠了")
    expect(page.locator("li.chosen")).to_be_in_viewport()


def test_an_english_word_is_found_whatever_its_case(look: Looks) -> None:
    page = look("/search/?q=insomnia")

    expect(page.locator(".hit mark")).to_have_text("Insomnia")


def test_filters_change_the_hits_and_the_address(look: Looks) -> None:
    page = look("/search/?q=薄荷")
    before = page.locator(".hit").count()
    assert before > 2

    page.get_by_label("不算撤回的").check()

    expect(page.locator(".hit")).to_have_count(before - 1)
    expect(page).to_have_url(re.compile("live=1"))
    page.locator("#s-companion").select_option(label="guyu")
    expect(page.locator("#hits")).to_contain_text("没说过这样的话")
    page.go_back()
    expect(page.locator(".hit")).to_have_count(before - 1)


def test_inside_one_session_from_its_own_field(look: Looks) -> None:
    page = look("/search/?q=薄荷")
    page.locator(".hit small a").first.click()

    field = page.locator("#timeline").get_by_role("searchbox").first
    field.fill("薄荷")
    field.press("Enter")

    expect(page).to_have_url(re.compile(r"/search/\?session=\d+&q="))
    expect(page.locator("#hits")).to_contain_text("在这个会话里")


def test_nothing_is_asked_while_an_input_method_composes(look: Looks) -> None:
    page = look("/search/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "q=" in request.url else None)
    page.locator("#s-q").click()
    input_method = page.context.new_cdp_session(page)

    input_method.send("Input.imeSetComposition", {"text": "shimian", "selectionStart": 7, "selectionEnd": 7})
    page.wait_for_timeout(600)
    assert asked == []
    input_method.send("Input.insertText", {"text": "失眠"})
    page.wait_for_timeout(600)
    assert asked == []
    page.keyboard.press("Enter")

    expect(page.locator(".hit mark").first).to_have_text("失眠")
    assert len(asked) == 1


def test_hostile_words_do_nothing(look: Looks) -> None:
    page = look("/search/?q=恶意")
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))

    expect(page.locator(".hit")).to_have_count(len(HOSTILE))
    assert page.locator("main .hit :is(script, img, iframe, form, svg)").count() == 0
    assert "U+202E" in page.locator("#hits").inner_text()
    for text in HOSTILE:
        look(f"/search/?q={re.sub(r'[^ -~]', '', text).replace('%', '%25').replace('#', '%23').replace('&', '%26')}")


@pytest.mark.parametrize("language", ["zh-CN", "en-US"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(look: Looks, axe: str, language: str, scheme: str, width: int) -> None:
    for path in ("/search/", "/search/?q=薄荷", "/search/?q=zzz", "/search/?q=x&companion=999999"):
        page = look(path, language=language, scheme=scheme, width=width)
        assert not faults(page, axe), path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
