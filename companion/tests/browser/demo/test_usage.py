"""The usage chart and the composition in a browser, under the real policy: drawn, readable in both lights, clickable."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from companion.tests.browser.conftest import Looks
from companion.tests.browser.demo.conftest import RAIN, STOCKTAKING, session_path
from companion.tests.browser.test_accessibility import faults
from companion.tests.consoles import until

pytestmark = pytest.mark.usefixtures("loaded")
LINE = "#usage-chart .scatterlayer .trace:last-child path.js-line"


def drawn(page: Page) -> Page:
    expect(page.locator("#usage-chart[data-drawn] .main-svg").first).to_be_visible(timeout=15_000)
    return page


def stroke(page: Page) -> str:
    colour: str = page.locator("#usage-chart .scatterlayer path.js-line").last.evaluate(
        "path => getComputedStyle(path).stroke"
    )
    return colour


def test_the_chart_is_drawn_and_nothing_leaves_the_machine(look: Looks) -> None:
    page = look("/sessions/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.goto(page.url + session_path(look, STOCKTAKING).removeprefix("/sessions/") + "usage/")
    drawn(page)

    text = page.locator("#usage-chart").inner_text()
    assert all(mark in text for mark in ("55 瘦身", "70 换窗", "83 系统", "客户端压缩"))
    assert page.locator("#usage-chart .scatterlayer path.js-line").count() >= 1
    assert page.locator("#usage-chart .scatterlayer .points path").count() > 10
    origin = page.url.partition("/sessions/")[0]
    assert all(url.startswith(origin) for url in asked)
    assert not page.locator(".modebar, a[href*=plotly]").count()
    # The drawing lies where the static sheet puts it, not below itself.
    assert page.locator("#usage-chart .main-svg").first.evaluate("svg => getComputedStyle(svg).position") == "absolute"


def test_the_chart_takes_the_light_at_once(look: Looks) -> None:
    page = drawn(look(session_path(look, RAIN) + "usage/"))
    day = stroke(page)

    page.get_by_role("button", name="深", exact=True).click()

    assert until(lambda: stroke(page) != day)
    assert (day, stroke(page)) == ("rgb(52, 80, 110)", "rgb(169, 196, 223)")
    with page.expect_response("**/choices/theme/"):
        page.get_by_role("button", name="跟随系统", exact=True).click()


def test_a_reply_in_the_chart_leads_to_its_place(look: Looks) -> None:
    page = drawn(look(session_path(look, RAIN) + "usage/"))
    point = page.locator("#usage-chart .scatterlayer .points path").nth(20).bounding_box()
    assert point is not None

    page.mouse.move(point["x"] + 2, point["y"] + 2)
    expect(page.locator("#usage-chart .hovertext")).to_contain_text("次回复")
    page.mouse.click(point["x"] + 2, point["y"] + 2)

    expect(page).to_have_url(re.compile(r"\?line=\d+#e\d+$"))
    expect(page.locator("li.chosen")).to_be_in_viewport()


def test_the_same_figures_are_reached_by_keyboard(look: Looks) -> None:
    page = drawn(look(session_path(look, RAIN) + "usage/"))

    page.get_by_text("看数字表").focus()
    page.keyboard.press("Enter")

    expect(page.locator("#figures table")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#figures .scrolls")).to_be_focused()
    assert page.locator("#figures tbody tr").count() > 40


def test_the_chart_fits_a_phone(look: Looks) -> None:
    page = drawn(look(session_path(look, STOCKTAKING) + "usage/", width=390))

    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert "87.2" in page.locator("#usage-chart").inner_text() or "83.5" in page.locator("#usage-chart").inner_text()
    box = page.locator("#usage-chart").bounding_box()
    svg = page.locator("#usage-chart .main-svg").first.bounding_box()
    assert box is not None
    assert svg is not None
    assert svg["width"] <= box["width"]
    page.set_viewport_size({"width": 800, "height": 900})
    # A page with this policy cannot be polled from inside: that would be an evaluated string.
    assert until(lambda: page.locator("#usage-chart .main-svg").first.evaluate("svg => svg.clientWidth > 500"))


def test_without_the_figure_the_table_is_named(look: Looks) -> None:
    path = session_path(look, RAIN) + "usage/"
    page = look("/doctor/")
    page.route("**/usage/chart/", lambda route: route.fulfill(status=404))
    page.goto(page.url.replace("/doctor/", path))

    expect(page.locator("#usage-chart")).to_contain_text("图没画出来")


@pytest.mark.parametrize(("width", "shape"), [(1440, "wide"), (390, "tall")])
def test_a_tile_leads_to_its_message(look: Looks, width: int, shape: str) -> None:
    page = look(session_path(look, RAIN) + "composition/", width=width)
    tile = page.locator(f".tree.{shape} a").first
    target = str(tile.locator("title").text_content()).partition(",")[0].partition(" ")[2]

    tile.click()

    expect(page).to_have_url(re.compile(r"\?at=[0-9a-f-]{36}#e\d+$"))
    expect(page.locator("li.chosen")).to_be_in_viewport()
    expect(page.locator("li.chosen")).to_contain_text(target)


def test_a_tile_is_reached_by_keyboard(look: Looks) -> None:
    page = look(session_path(look, RAIN) + "composition/")
    page.locator(".tree.wide a").first.focus()

    page.keyboard.press("Enter")

    expect(page.locator("li.chosen")).to_be_in_viewport()


@pytest.mark.parametrize("language", ["zh-CN", "en-US"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(look: Looks, axe: str, language: str, scheme: str, width: int) -> None:
    session = session_path(look, RAIN)
    for tab in ("usage/", "composition/"):
        page = look(session + tab, language=language, scheme=scheme, width=width)
        if tab == "usage/":
            drawn(page).locator("#figures > summary").click()
        page.evaluate("scrollTo(0, 0)")
        assert not faults(page, axe), tab
        assert page.evaluate("document.documentElement.scrollWidth") <= width, tab
