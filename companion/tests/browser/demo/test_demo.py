"""The demo companion loaded from the empty state and removed again, by whoever has never seen a command line."""

from __future__ import annotations

import pytest
import redis
from playwright.sync_api import Page, expect

from companion.tests.browser.conftest import Looks, Place
from companion.tests.browser.demo.conftest import session_path
from companion.tests.browser.test_accessibility import faults
from companion.tests.consoles import manage

SOON = 30_000
ALIVE = "companion:alive:local:worker"


def is_empty(page: Page) -> None:
    expect(page.get_by_role("button", name="载入演示")).to_be_visible(timeout=SOON)


def say_the_worker_lives(place: Place, *, lives: bool) -> None:
    """Its sign of life, which the sweep would only give after a minute; or none, and all is done in place."""
    broker = redis.Redis(unix_socket_path=str(place.data / "run" / "valkey.sock"))
    if lives:
        broker.set(ALIVE, "now", ex=600)
    else:
        broker.delete(ALIVE)
    broker.close()


@pytest.mark.parametrize("by_worker", [False, True], ids=["in place", "by the worker"])
def test_it_is_loaded_and_removed_from_the_first_page(look: Looks, place: Place, by_worker: bool) -> None:
    manage(place.data, "demo", "remove")
    say_the_worker_lives(place, lives=by_worker)
    page = look("/")
    is_empty(page)

    page.get_by_role("button", name="载入演示").click()
    card = page.locator("article.card").filter(has_text="小满")
    expect(card.locator(".tag", has_text="演示")).to_be_visible(timeout=SOON)
    listing = look("/sessions/")
    expect(listing.locator(".session")).to_have_count(6, timeout=SOON)
    expect(listing.locator(".session .tag", has_text="演示")).to_have_count(6)

    page.goto(f"{place.url}/")
    card.get_by_role("button", name="移走演示…").click()
    dialog = page.get_by_role("dialog", name="把演示移走？")
    expect(dialog).to_contain_text("会移走的：")
    expect(dialog).to_contain_text("会留下的：")
    dialog.get_by_role("button", name="留着").click()
    expect(dialog).to_be_hidden()
    card.get_by_role("button", name="移走演示…").click()
    dialog.get_by_role("button", name="移走演示", exact=True).click()
    is_empty(page)


def test_it_is_loaded_from_the_list_and_removed_from_a_session(look: Looks, place: Place) -> None:
    manage(place.data, "demo", "remove")
    page = look("/sessions/")

    page.get_by_role("button", name="载入演示").click()
    expect(page.locator(".session")).to_have_count(6, timeout=SOON)
    session = look(session_path(look, "家里来人"))
    session.get_by_role("button", name="移走演示…").click()
    session.get_by_role("dialog").get_by_role("button", name="移走演示", exact=True).click()

    is_empty(session)
    assert session.url == f"{place.url}/"


def test_axe_finds_nothing_at_the_empty_state_and_in_the_dialog(look: Looks, place: Place, axe: str) -> None:
    manage(place.data, "demo", "remove")
    for scheme in ("light", "dark"):
        assert not faults(look("/", scheme=scheme), axe)
        assert not faults(look("/demo/", scheme=scheme, width=390), axe)
    manage(place.data, "demo", "load")
    for width in (1440, 390):
        page = look("/", width=width)
        page.get_by_role("button", name="移走演示…").click()
        assert not faults(page, axe)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
