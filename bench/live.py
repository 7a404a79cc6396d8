"""One appended line until the gauge of an open page shows it: a real `up`, a real Chromium, loopback.

Everything is read off one clock, that of the machine: when the line was written, when its row was stored, when the
fragment came out of the socket, when the page had it, and the frame after that.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from playwright.sync_api import Page, sync_playwright

from bench.figures import Figure, milliseconds
from bench.ground import Ground, folders
from bench.measure import Size
from companion.tests.browser.conftest import NAMES, SWITCHES
from companion.tests.browser.transcripts import Talk
from companion.tests.consoles import console, until

LIMIT = 150.0
AGAINST = "limit, line to gauge"
# Seconds between two lines: longer than the pause of the socket, and never in step with it.
GAPS = (0.25, 0.7)
# Tokens that each line adds, so that the numbers beside the gauge change.
STEP = 300
PARTS = ("stored", "pushed", "in the page", "drawn")
INDEXED = "SELECT extract(epoch FROM indexed_at) FROM agent_sessions_transcript WHERE path = %s"
# Notes when a fragment came, when the gauge had changed, and the frame that showed it.
NOTE = """
window.noted = {};
document.addEventListener("htmx:wsBeforeMessage", () => { noted.came = Date.now(); });
new MutationObserver(() => {
  const words = document.querySelector("[id^=window-]")?.textContent;
  if (!words || words === noted.words) return;
  noted.words = words;
  noted.pushed = noted.came;
  noted.page = Date.now();
  requestAnimationFrame(() => requestAnimationFrame(() => { noted.drawn = Date.now(); noted.done = words; }));
}).observe(document.body, { subtree: true, childList: true, attributes: true });
"""
# Asked by the page itself: its content policy lets nobody evaluate a condition over and over.
AWAIT = """
(after) => new Promise((answer) => {
  const look = () => noted.page > after && noted.done === noted.words ? answer(noted) : setTimeout(look, 20);
  look();
})
"""


def measure(size: Size) -> list[Figure]:
    with folders() as ground:
        talk = Talk(ground.projects, "-home-lin-xiaoman")
        talk.turn("早。外面下了一夜，薄荷没事吧", 100_000)
        with console(ground.data, COMPANION_PROJECTS_ROOT=str(ground.projects)) as running:
            found = watched(ground, running.url, talk, size.lines)
    return [
        *both("until drawn", [each[-1] for each in found]),
        *(figure for number in range(len(PARTS)) for figure in both(f"part: {PARTS[number]}", part(found, number))),
    ]


def both(name: str, seconds: list[float]) -> list[Figure]:
    goal = None if name.startswith("part") else LIMIT
    return [milliseconds("live", name, seconds, share, AGAINST, goal) for share in (50, 95)]


def part(found: list[list[float]], number: int) -> list[float]:
    """Seconds from the moment before to this one."""
    return [each[number] - (each[number - 1] if number else 0) for each in found]


def watched(ground: Ground, link: str, talk: Talk, lines: int) -> list[list[float]]:
    with psycopg.connect(database(ground), autocommit=True) as rows:
        until(lambda: rows.execute(INDEXED, [str(talk.path)]).fetchone())
        with opened(link) as page:
            return [one_line(page, rows, talk, number) for number in range(1, lines + 1)]


def database(ground: Ground) -> str:
    return f"host={ground.data}/run dbname=companion user=companion"


@contextmanager
def opened(link: str) -> Iterator[Page]:
    """The Now page of the only companion, signed in, with its socket open."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        sys.exit("*** There is no Chromium: the live bench cannot run.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=SWITCHES)
        page = browser.new_page(locale="en")
        page.goto(link)
        page.locator("main button.main").click()
        page.wait_for_selector("[id^=window-] svg[aria-label]", timeout=30_000)
        page.wait_for_selector("#live .state.ok", timeout=30_000)
        page.evaluate(NOTE)
        yield page
        browser.close()


def one_line(page: Page, rows: psycopg.Connection, talk: Talk, number: int) -> list[float]:
    """Seconds after the line was written, by part."""
    time.sleep(random.uniform(*GAPS))
    written = time.time()
    talk.write("assistant", reply(100_000 + STEP * number))
    noted = page.evaluate(AWAIT, written * 1000)
    stored = rows.execute(INDEXED, [str(talk.path)]).fetchone()
    moments = [float(stored[0]) if stored else written, *(noted[name] / 1000 for name in ("pushed", "page", "drawn"))]
    return [moment - written for moment in moments]


def reply(used: int) -> dict[str, object]:
    """A message of the companion after which `used` tokens fill the window."""
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 990, "cache_read_input_tokens": used - 1000}
    text = {"type": "text", "text": "嗯，我在。"}
    own = f"msg_{uuid.uuid4().hex}"
    return {"id": own, "role": "assistant", "model": "claude-opus-4-6", "content": [text], "usage": usage}
