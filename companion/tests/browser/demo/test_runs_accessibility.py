"""axe-core on the pages of runs in each of their states: both languages, day and night, desk and phone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from companion.tests.browser.conftest import Looks, Place
from companion.tests.browser.demo.conftest import RAIN, session_path
from companion.tests.browser.demo.test_runs import shell
from companion.tests.browser.test_accessibility import faults

# A plan whose thinking is asked about, one under way, one that failed, and one that is done.
ROWS = """
from sessions.actions import carry_out, propose
from sessions.models import Run, Window
window = Window.objects.get(title=%r)
runs = [propose.propose(window, propose.Wish("forge", force=True)) for _ in range(4)]
steps = [{"name": "lock", "status": "ok", "seconds": 0.1, "detail": {}}, {"name": "quiet", "seconds": 2}]
runs[0].plan["thinking_dropped"] = 12
Run.objects.filter(pk=runs[0].pk).update(plan=runs[0].plan, warnings=[{"code": "mid-turn"}, {"code": "no-such-code"}])
running = [{**step, "status": "running"} for step in steps]
Run.objects.filter(pk=runs[1].pk).update(status="running", host="elsewhere", steps=running)
Run.objects.filter(pk=runs[2].pk).update(
    status="failed", steps=[{**step, "status": "failed"} for step in steps], error={"code": "not-quiet", "seconds": 5, "wait": 175},
    rehearsal={"status": "failed", "detail": "Another request.", "difference": "- a"},
)
carry_out.carry_out(runs[3].pk)
print(*(run.pk for run in runs))
"""


@pytest.fixture(scope="module")
def runs(place: Place, loaded: None) -> Iterator[list[str]]:
    yield [f"/runs/{row}/" for row in shell(place, ROWS % RAIN).split()]
    shell(
        place,
        "from sessions.actions import demo; from sessions.models import Run\n"
        "demo.remove_demo(); Run.objects.all().delete()",
    )


@pytest.mark.parametrize("language", ["zh-CN", "en-US"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(look: Looks, runs: list[str], axe: str, language: str, scheme: str, width: int) -> None:
    looks = {"language": language, "scheme": scheme, "width": width}
    session = session_path(look, RAIN)

    for path in ["/", "/runs/", "/runs/?status=odd", "/runs/?kind=diet", session, f"{session}plan/?kind=forge", *runs]:
        assert_clean(look(path, **looks), axe, width)


@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing_with_everything_open(look: Looks, runs: list[str], axe: str, width: int) -> None:
    page = look(runs[3], width=width, language="en-US")
    for summary in page.locator("main details > summary").all():
        summary.click()
    assert_clean(page, axe, width)
    page.get_by_role("button", name=re.compile("…$")).click()
    assert_clean(page, axe, width)


def assert_clean(page: Page, axe: str, width: int) -> None:
    assert not faults(page, axe), page.url
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
