"""axe-core on every page: both languages, day and night, desk and phone."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Browser, Page

from companion.tests.browser.conftest import Looks, Place
from companion.tests.browser.test_console import session_path

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
PAGES = [
    "/",
    "/sessions/",
    "/sessions/?q=zzz",
    "/sessions/?used=x",
    "/doctor/",
    "session",
    "session?q=zzz",
    "session?order=oldest",
]


def faults(page: Page, axe: str) -> list[str]:
    page.evaluate(axe)
    found = page.evaluate("rules => axe.run({runOnly: rules}).then(found => JSON.stringify(found.violations))", RULES)
    return [f"{fault['id']}: {[node['html'][:160] for node in fault['nodes'][:3]]}" for fault in json.loads(found)]


@pytest.mark.parametrize("language", ["zh-CN", "en-US"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(look: Looks, axe: str, language: str, scheme: str, width: int) -> None:
    session = session_path(look, "薄荷")

    found = {
        path: wrong
        for path in PAGES
        if (
            wrong := faults(
                look(
                    path.replace("session", session, 1) if path[0] != "/" else path,
                    width=width,
                    scheme=scheme,
                    language=language,
                ),
                axe,
            )
        )
    }

    assert not found


@pytest.mark.parametrize("path", ["/sign-in/", "/sign-in/abcdefghijklmnop/"])
@pytest.mark.parametrize("language", ["zh-CN", "en-US"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_before_the_sign_in(
    chromium: Browser, place: Place, axe: str, path: str, language: str, scheme: str
) -> None:
    context = chromium.new_context(locale=language, color_scheme=scheme, viewport={"width": 390, "height": 800})  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(place.url + path)

    assert not faults(page, axe)
    context.close()


def test_axe_finds_nothing_with_the_forms_open(look: Looks, axe: str) -> None:
    page = look("/")
    page.locator("details.own summary").first.click()
    assert not faults(page, axe)

    page = look(session_path(look, "薄荷"))
    page.get_by_text("改标题").click()
    assert not faults(page, axe)
