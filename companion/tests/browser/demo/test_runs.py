"""A diet and a forge in a browser, from the plan to the end and back, on the demo companion's window."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.tests.browser.conftest import Looks, Place
from companion.tests.browser.demo.conftest import RAIN, session_path
from companion.tests.browser.demo.test_demo import SOON, say_the_worker_lives
from companion.tests.consoles import manage

pytestmark = pytest.mark.usefixtures("loaded")
RUN = re.compile(r"/runs/[0-9a-f-]{36}/$")
ENGLISH = "en-US"


@pytest.fixture(autouse=True)
def afresh(place: Place, loaded: None) -> Iterator[None]:
    """The demo as it was, without the windows that a test wrote beside it."""
    yield
    shell(
        place,
        "from sessions.actions import demo; from sessions.models import Run\n"
        "demo.remove_demo(); Run.objects.all().delete(); demo.load_demo()",
    )


def shell(place: Place, code: str) -> str:
    """Rows of the running console, changed or asked for from outside this process."""
    done = manage(place.data, "shell", "-v0", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout


def planned(look: Looks, kind: str = "Forge", **how: object) -> Page:
    """The page of a plan that does not wait for silence."""
    page = look(f"{session_path(look, RAIN)}plan/", language=ENGLISH, **how)
    page.get_by_role("navigation", name="Kind of run").get_by_role("link", name=kind).click()
    page.locator("#p-retain").fill("6,000")
    page.get_by_label("Do not wait for silence").check()
    page.get_by_role("button", name="Work out the plan").click()
    expect(page).to_have_url(RUN)
    return page


def ends_well(page: Page, kind: str = "Forge") -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{kind} done", timeout=SOON)


@pytest.mark.parametrize("by_worker", [False, True], ids=["in place", "by the worker"])
def test_a_forge_is_planned_carried_out_and_rolled_back(look: Looks, place: Place, by_worker: bool) -> None:
    say_the_worker_lives(place, lives=by_worker)
    page = planned(look)
    expect(page.get_by_text("nothing is changed yet")).to_be_visible()
    expect(page.locator("blockquote.words").first).to_contain_text("你")
    expect(page.get_by_text("The text before them")).to_be_visible()

    page.get_by_role("button", name="Forge, just so").click()
    ends_well(page)
    expect(page.locator(".steps > li")).to_have_count(10)
    assert page.locator(".steps > li.fail, .steps > li.todo").count() == 0
    expect(page.locator("#resume")).to_contain_text("claude --resume")

    page.reload()
    ends_well(page)
    page.get_by_role("link", name="Look at the new window").click()
    expect(page.locator("li.is-handoff")).to_contain_text("Hand-off, injected")
    expect(page.get_by_text("Written by a run")).to_be_visible()
    page.go_back()
    page.get_by_role("button", name="Back to the old window…").click()
    dialog = page.get_by_role("dialog", name="Back to the old window?")
    expect(dialog).to_contain_text("Nothing is deleted.")
    dialog.get_by_role("button", name="Go back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Forge rolled back")
    listing = look("/runs/", language=ENGLISH)
    expect(listing.locator(".run-row")).to_have_count(1)
    expect(listing.locator(".run-row")).to_contain_text("rolled back")


def test_a_diet_keeps_the_talk_and_hands_nothing_on(look: Looks, place: Place) -> None:
    say_the_worker_lives(place, lives=False)
    page = planned(look, "Diet")

    expect(page.get_by_text("The text before them")).to_have_count(0)
    page.get_by_role("button", name="Diet, just so").click()

    ends_well(page, "Diet")


def test_steps_come_in_by_themselves_and_survive_a_reload(look: Looks, place: Place) -> None:
    page = planned(look)
    row = page.url.rstrip("/").rpartition("/")[2]
    listing = look("/runs/", language=ENGLISH)

    set_steps(place, row, "running", "lock", "quiet", now="backup")
    expect(page.get_by_role("heading", level=1)).to_have_text("Forge under way", timeout=SOON)
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "2")
    expect(page.locator("li.run")).to_contain_text("Make a backup")
    expect(listing.locator(".run-row")).to_contain_text("under way", timeout=SOON)
    expect(page.get_by_role("button", name="Call it off")).to_be_enabled()

    page.reload()
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "2")
    set_steps(place, row, "running", "lock", "quiet", "backup", "write", "verify", now="rehearse")
    expect(page.get_by_role("progressbar")).to_have_attribute("value", "5", timeout=SOON)
    expect(page.locator("#run-cancel")).to_have_attribute("aria-disabled", "true")
    set_steps(place, row, "failed", "lock", "quiet", "backup")
    expect(page.get_by_role("heading", level=1)).to_have_text("Forge failed", timeout=SOON)
    expect(page.get_by_text("The old window is as it was")).to_be_visible()


def test_steps_come_in_without_a_socket(look: Looks, place: Place) -> None:
    page = planned(look)
    row = page.url.rstrip("/").rpartition("/")[2]
    set_steps(place, row, "running", "lock", now="quiet")
    expect(page.get_by_role("progressbar")).to_be_visible(timeout=SOON)

    # Nothing is announced: whoever works on it cannot reach the broker.
    set_steps(place, row, "done", "lock", "quiet", tell=False)

    ends_well(page)


def set_steps(place: Place, run: str, status: str, *done: str, now: str = "", tell: bool = True) -> None:
    """A run as somebody works on it, on another host: the worker here would take it up."""
    steps = [{"name": name, "status": "ok", "seconds": 0.2, "detail": {}} for name in done]
    steps += [{"name": now, "status": "running", "seconds": 0, "detail": {}}] if now else []
    shell(
        place,
        "from sessions.models import Run; from companion.lib.live import announce\n"
        f"run = Run.objects.get(pk='{run}')\n"
        f"Run.objects.filter(pk=run.pk).update(status='{status}', steps={steps!r}, host='elsewhere')\n"
        f"{tell} and announce('run', run.window_id)",
    )


def test_a_plan_is_stale_once_somebody_speaks_and_is_made_anew_with_its_values(look: Looks, place: Place) -> None:
    page = planned(look)
    path = shell(place, "from sessions.models import Run; print(Run.objects.get().source_path)").strip()
    with open(path, "ab") as transcript:
        transcript.write(b'{"type":"summary","summary":"x","leafUuid":"y"}\n')

    page.reload()
    expect(page.get_by_role("heading", name="This plan is stale")).to_be_visible()
    expect(page.get_by_role("button", name="Forge, just so")).to_have_count(0)
    page.get_by_role("link", name="Plan anew").click()

    expect(page.locator("#p-retain")).to_have_value("6,000")
    expect(page.get_by_label("Do not wait for silence")).to_be_checked()


def test_what_is_refused_keeps_what_was_written(look: Looks) -> None:
    page = look(f"{session_path(look, RAIN)}plan/?kind=forge", language=ENGLISH)
    page.locator("#p-retain").fill("plenty")
    page.locator("#p-handoff").fill("我自己写的")
    expect(page.locator("[data-counts]")).to_have_text("5")

    page.get_by_role("button", name="Work out the plan").click()

    expect(page.get_by_role("alert")).to_contain_text("“plenty” is not usable.")
    expect(page.locator("#p-retain")).to_have_value("plenty")
    expect(page.locator("#p-retain")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#p-handoff")).to_have_value("我自己写的")


def test_the_keyboard_alone_is_enough(look: Looks, place: Place) -> None:
    say_the_worker_lives(place, lives=False)
    page = look(session_path(look, RAIN), language=ENGLISH)

    def press_on(role: str, name: str) -> None:
        """Tabs on to the control and presses it."""
        wanted = page.get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
        for _ in range(120):
            page.keyboard.press("Tab")
            if wanted.evaluate("element => element === document.activeElement"):
                break
        expect(wanted).to_be_focused()
        page.keyboard.press("Space" if role == "checkbox" else "Enter")

    press_on("link", "Plan a run")
    expect(page.get_by_role("heading", level=1)).to_have_text("Plan a run")
    press_on("link", "Forge")
    expect(page.locator("#p-handoff")).to_be_visible()
    press_on("checkbox", "Do not wait for silence Otherwise nothing begins while an answer is under way, or within "
             "3 minutes of the last word. What is said meanwhile still makes the plan stale; it is never lost.")  # fmt: skip
    press_on("button", "Work out the plan")
    expect(page).to_have_url(RUN)
    press_on("button", "Forge, just so")
    ends_well(page)
    press_on("button", "Back to the old window…")
    press_on("button", "Go back")
    expect(page.get_by_role("heading", level=1)).to_have_text("Forge rolled back")


def test_it_works_without_a_script(chromium: Browser, look: Looks, place: Place, state: object) -> None:
    path = f"{session_path(look, RAIN)}plan/?kind=forge"
    say_the_worker_lives(place, lives=False)
    context = chromium.new_context(java_script_enabled=False, locale=ENGLISH, storage_state=state)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(place.url + path)

    page.get_by_label("Do not wait for silence").check()
    page.get_by_role("button", name="Work out the plan").click()
    page.get_by_role("button", name="Forge, just so").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Forge done", timeout=SOON)
    expect(page.get_by_role("button", name="Copy")).to_be_hidden()
    context.close()


def test_the_line_to_paste_is_copied(look: Looks, place: Place) -> None:
    say_the_worker_lives(place, lives=False)
    page = planned(look)
    page.get_by_role("button", name="Forge, just so").click()
    ends_well(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])

    page.get_by_role("button", name="Copy").click()

    expect(page.locator("#say")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#resume").text_content()
