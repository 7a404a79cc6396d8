"""A real console with invented talk, and a Chromium that looks at it.

The browser lives in this process and the console in others: Playwright's synchronous API and Django's rows do not go
together in one. Without a Chromium the tests are skipped, loudly; where CI is true that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from companion.tests.browser.transcripts import Talk, lay_out
from companion.tests.consoles import console, manage, short_folder, until

SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AXE = "axe-core@4.14.0"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/browser/" in str(item.path):
            item.add_marker(pytest.mark.browser)


def missing(what: str) -> None:
    """Skips where something is not to be had; in CI nothing may be missing."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{what}, and CI is true")
    pytest.skip(f"*** {what}: the browser tests are SKIPPED")


@dataclass
class Place:
    """The running console and the talks it reads."""

    url: str
    data: Path
    talks: list[Talk]

    def link(self) -> str:
        """A new sign-in link."""
        done = manage(self.data, "login", "--json")
        assert done.returncode == 0, done.stderr
        url: str = json.loads(done.stdout)["url"]
        return url


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    with short_folder() as folder:
        talks = lay_out(folder / "home" / "projects")
        with console(folder / "data") as running:
            base = running.url.partition("/sign-in/")[0]
            assert until(running.is_healthy)
            assert until(lambda: indexed(running.data) == len(talks), 60), "the talks were not read; see the logs of up"
            yield Place(base, running.data, talks)


def indexed(data: Path) -> int:
    done = manage(data, "sessions", "--json")
    return int(json.loads(done.stdout)["count"]) if done.returncode == 0 else 0


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        missing("No Chromium was found")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=SWITCHES)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def state(chromium: Browser, place: Place) -> object:
    """The cookies of a browser that went through the sign-in."""
    context = chromium.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(place.link())
    page.get_by_role("button", name="登录").click()
    page.wait_for_url(f"{place.url}/")
    kept = context.storage_state()
    context.close()
    return kept


def is_complaint(message: ConsoleMessage) -> bool:
    """Errors and warnings, a policy that was broken among them; a refusal that the test asked for is none."""
    return message.type in {"error", "warning"} and "status of 4" not in message.text


Looks = Callable[..., Page]


@pytest.fixture
def look(chromium: Browser, place: Place, state: object) -> Iterator[Looks]:
    """Opens a page of the console as the operator, and fails the test for anything the browser complained of."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_page(path: str = "/", *, width: int = 1440, scheme: str = "light", language: str = "zh-CN") -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            locale=language,
            color_scheme=scheme,  # type: ignore[arg-type]
            storage_state=state,  # type: ignore[arg-type]
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if is_complaint(message) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(place.url + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture(scope="session")
def axe(pytestconfig: pytest.Config) -> str:
    """The source of axe-core, fetched once by npm and kept in pytest's cache folder; never part of the repository."""
    kept = pytestconfig.cache.mkdir("axe") / f"{AXE}.js"
    if not kept.exists():
        fetch_axe(kept)
    return kept.read_text(encoding="utf-8")


def fetch_axe(kept: Path) -> None:
    npm = shutil.which("npm")
    if not npm:
        missing("axe-core is checked with npm's package, and there is no npm")
    with short_folder() as folder:
        command = [
            str(npm),
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
            str(folder),
            AXE,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
        source = folder / "node_modules" / "axe-core" / "axe.min.js"
        if done.returncode or not source.exists():
            missing(f"npm could not fetch axe-core ({done.stderr.strip()[:200]})")
        shutil.copy(source, kept)
