"""A console that begins with nothing: the demo is all there is to see, and what a test lays out beside it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from companion.tests.browser.conftest import Looks, Place
from companion.tests.consoles import console, manage, short_folder, until

RAIN = "雨夜和阳台的薄荷"
STOCKTAKING = "盘点周"


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    with short_folder() as folder:
        (folder / "home" / "projects").mkdir(parents=True)
        # A client that happens to be installed is not asked: what it says is tested elsewhere.
        with console(folder / "data", REHEARSE="0") as running:
            assert until(running.is_healthy)
            yield Place(running.url.partition("/sign-in/")[0], running.data, [])


@pytest.fixture(scope="session")
def state(chromium: Browser, place: Place) -> object:
    context = chromium.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(place.link())
    page.get_by_role("button", name="登录").click()
    page.wait_for_url(f"{place.url}/")
    kept = context.storage_state()
    context.close()
    return kept


@pytest.fixture(scope="module")
def loaded(place: Place) -> None:
    """The demo with its words, however a test before left it."""
    assert manage(place.data, "demo", "load", "--json").returncode == 0
    assert manage(place.data, "search", "薄荷", "--json").returncode == 0


def session_path(look: Looks, title: str) -> str:
    href = look("/sessions/").get_by_role("link", name=title).first.get_attribute("href")
    assert href
    return href
