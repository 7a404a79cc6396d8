"""Reading a session of a hundred thousand events: scrolling, jumping, what arrives, and the keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from companion.tests.browser.conftest import Looks, Place, indexed
from companion.tests.browser.test_accessibility import faults
from companion.tests.consoles import console, short_folder, until
from companion.tests.rows import HOSTILE
from sessions.tests.transcripts import (
    Record,
    TranscriptFile,
    agent_file,
    assistant,
    boundary,
    custom_title,
    image,
    queued,
    summary,
    thinking,
    tool_result,
    user,
)

EVENTS = 100_000
MOST_PAGES = 6
PROJECT = "-home-lin-xiaoman"
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


@dataclass
class Talks:
    long: TranscriptFile
    rich: TranscriptFile
    growing: TranscriptFile
    hostile: TranscriptFile


TALKS: list[Talks] = []


def call(name: str, call_id: str, **arguments: str) -> Record:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def lay_out(root: Path) -> Talks:
    talks = Talks(*(TranscriptFile(root, PROJECT) for _ in range(4)))
    for start in range(0, EVENTS // 2, 5_000):
        talks.long.add(
            *(
                it
                for n in range(start, start + 5_000)
                for it in (user(f"第{n}句，雨还在下"), assistant(f"第{n}句听见了。"))
            )
        )
    talks.long.add(custom_title("十万行"))
    rich(talks.rich, root)
    for number in range(60):
        talks.growing.add(user(f"第{number}句"), assistant("嗯，我在。"))
    talks.growing.add(custom_title("还在长"))
    for text in HOSTILE:
        talks.hostile.add(
            user(text),
            assistant([thinking(text)], message="m"),
            assistant([call(text, text, file_path=text)], message="m"),
            tool_result(text, text),
            assistant(f"{text} [a]({text}) ![b](https://evil.test/x.png)"),
        )
    talks.hostile.add(custom_title("来者不善"))
    return talks


def rich(talk: TranscriptFile, root: Path) -> None:
    talk.add(
        user("早。薄荷没事吧"),
        assistant([thinking("她先问薄荷")], message="m1"),
        assistant("没事。**真的**\n\n- 一\n- 二", message="m1"),
    )
    talk.add(boundary(after=19_300), summary("此前：浇过水"), user([image(DOT), {"type": "text", "text": "看"}]))
    talk.add(
        assistant([call("Read", "t1", file_path="/notes/mint.md")], message="m2"), tool_result("t1", "四盆 " * 900)
    )
    talk.add(assistant([call("Task", "t2", description="薄荷过冬")], message="m3"))
    talk.add(tool_result("t2", "剪短", toolUseResult={"agentId": "a1b2c3d"}), queued("等等"), assistant("好"))
    talk.add(
        user('[Harness: Task t1 "早报"]\n有雨', promptSource="system"), user("<command-name>/model</command-name>")
    )
    first, *_ = talk.add(user("字" * 30_000), user("收回的"))
    talk.add(
        user("留下的", parentUuid=first["uuid"]), assistant("API Error", model="<synthetic>"), custom_title("什么都有")
    )
    agent_file(root, talk.session, user("怎么过冬"), assistant("剪到十厘米"), project=PROJECT)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with short_folder() as folder:
        TALKS.append(lay_out(folder / "home" / "projects"))
        with console(folder / "data") as running:
            assert until(running.is_healthy)
            assert until(lambda: indexed(running.data) == 4, 90)
            yield Place(running.url.partition("/sign-in/")[0], running.data, [])


@pytest.fixture(scope="module")
def state(chromium: Browser, place: Place) -> object:
    context = chromium.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(place.link())
    page.locator("button.main").click()
    page.wait_for_url(f"{place.url}/")
    kept = context.storage_state()
    context.close()
    return kept


def path_of(look: Looks, title: str) -> str:
    href = look("/sessions/").get_by_role("link", name=title).first.get_attribute("href")
    assert href
    return href


def pages(page: Page) -> int:
    return int(page.evaluate("document.querySelectorAll('#pages > ol').length"))


def seqs(page: Page) -> list[int]:
    found: list[int] = page.evaluate(
        "[...document.querySelectorAll('#pages li[data-entry]')].map(it => Number(it.dataset.seq))"
    )
    return found


def scroll(page: Page, step: int, times: int) -> None:
    for _ in range(times):
        page.mouse.wheel(0, step)
        page.wait_for_timeout(60)
    page.wait_for_load_state("networkidle")


def is_at_end(page: Page) -> bool:
    script = "(document.getElementById('end')?.getBoundingClientRect().top ?? Infinity) < innerHeight"
    return bool(page.evaluate(script))


def test_it_opens_at_the_end_and_loads_upwards_without_growing(look: Looks) -> None:
    page = look(path_of(look, "十万行"))
    page.mouse.move(600, 500)
    expect(page.get_by_text(f"第{EVENTS // 2 - 1}句听见了。")).to_be_in_viewport()

    scroll(page, -1_200, 130)

    assert MOST_PAGES - 1 <= pages(page) <= MOST_PAGES
    found = seqs(page)
    assert found == list(range(found[0], found[-1] + 1))
    assert found[-1] < EVENTS - 500
    assert page.evaluate("document.querySelectorAll('*').length") < 12_000

    for _ in range(200):
        if is_at_end(page):
            break
        scroll(page, 1_500, 5)

    expect(page.locator("#end")).to_be_in_viewport()
    found = seqs(page)
    assert found == list(range(found[0], EVENTS))
    assert pages(page) <= MOST_PAGES


def test_what_is_being_read_stays_where_it_is_while_earlier_words_come(look: Looks) -> None:
    page = look(path_of(look, "十万行"))
    expect(page.locator("#end")).to_be_in_viewport()

    drift = page.evaluate("""async () => {
        const before = document.querySelectorAll('#pages > ol').length;
        scrollTo(0, document.getElementById('timeline').offsetTop + 1200);
        const marks = [...document.querySelectorAll('#pages li[data-entry]')];
        const mark = marks.find(it => it.getBoundingClientRect().top > 300);
        const tops = [];
        for (let frame = 0, after = 0; after < 15 && frame < 600; frame++) {
            await new Promise(requestAnimationFrame);
            tops.push(mark.getBoundingClientRect().top);
            if (document.querySelectorAll('#pages > ol').length > before) after++;
        }
        return [Math.max(...tops) - Math.min(...tops), document.querySelectorAll('#pages > ol').length - before];
    }""")

    assert drift[1] >= 1
    assert drift[0] <= 2


def test_a_jump_lands_in_the_middle_and_goes_on_both_ways(look: Looks) -> None:
    page = look(path_of(look, "十万行"))

    page.locator("#t-to").fill("#50000")
    page.locator("#t-to").press("Enter")

    page.wait_for_url(re.compile(r"at=[0-9a-f-]{36}#e50000"))
    expect(page.locator("li.chosen")).to_be_in_viewport()
    expect(page.locator("li.chosen")).to_contain_text("第25000句")
    page.mouse.move(600, 500)
    scroll(page, -1_200, 30)
    scroll(page, 1_500, 60)
    found = seqs(page)
    assert found == list(range(found[0], found[-1] + 1))
    assert pages(page) <= MOST_PAGES


def test_a_wrong_jump_says_what_would_be_right(look: Looks) -> None:
    page = look(path_of(look, "什么都有"))

    page.locator("#t-to").fill("昨天晚上")
    page.locator("#t-to").press("Enter")

    expect(page.locator("#t-to-wrong")).to_be_visible()
    expect(page.locator("#t-to")).to_have_value("昨天晚上")
    expect(page.locator("#pages > ol")).to_have_count(1)


def test_new_words_are_appended_for_a_reader_at_the_end(look: Looks, place: Place) -> None:
    page = look(path_of(look, "还在长"))
    expect(page.locator("#live .state")).to_have_text("实时")
    expect(page.locator("#end")).to_be_in_viewport()

    TALKS[0].growing.add(user("刚吹干头发"), assistant([call("Look", "g1", where="balcony")], message="g"))

    expect(page.get_by_text("刚吹干头发")).to_be_in_viewport(timeout=15_000)
    waits = page.locator("li[data-waits]")
    expect(waits).to_have_count(1)
    TALKS[0].growing.add(tool_result("g1"), assistant("听见雨了", message="g2"))
    expect(page.get_by_text("听见雨了")).to_be_in_viewport(timeout=15_000)
    expect(waits).to_have_count(0)


def test_new_words_are_only_announced_to_a_reader_further_up(look: Looks, place: Place) -> None:
    page = look(path_of(look, "还在长"))
    expect(page.locator("#live .state")).to_have_text("实时")
    page.mouse.move(600, 500)
    page.mouse.wheel(0, -2_500)
    page.wait_for_timeout(300)
    before = page.evaluate("scrollY")

    TALKS[0].growing.add(user("你在看上面吗"), assistant("在看"))

    offer = page.locator("#fresh a")
    expect(offer).to_contain_text("2", timeout=15_000)
    assert page.evaluate("scrollY") == before
    offer.click()
    expect(page.get_by_text("你在看上面吗")).to_be_in_viewport()
    expect(page.locator("#fresh")).to_be_hidden()


def test_folded_parts_open_on_demand(look: Looks) -> None:
    page = look(path_of(look, "什么都有"))

    read = page.locator("li[data-entry]").filter(has_text="/notes/mint.md")
    read.locator("summary").click()
    expect(read.locator(".dump").last).to_contain_text("四盆")
    task = page.locator("li[data-entry]").filter(has_text="薄荷过冬")
    task.locator("details.agent > summary").click()
    expect(task.get_by_text("剪到十厘米")).to_be_visible()
    page.locator(".more-text a").first.click()
    expect(page.locator(".more-text a").first).to_have_attribute("href", re.compile("from=20000"))
    page.locator(".more-text a").first.click()
    expect(page.locator(".more-text")).to_have_count(0)
    expect(page.locator(".pictures img")).to_have_js_property("naturalWidth", 1)


def test_the_keys_move_open_and_lead(look: Looks) -> None:
    page = look(path_of(look, "什么都有"))
    focused = "document.activeElement.dataset.seq"

    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("j")
    first = page.evaluate(focused)
    page.keyboard.press("j")
    second = page.evaluate(focused)
    page.keyboard.press("Enter")
    opened = page.evaluate("document.activeElement.querySelector('details').open")
    page.keyboard.press("k")

    assert (first, second, page.evaluate(focused)) == ("0", "1", "0")
    assert opened
    page.keyboard.press("/")
    field = page.locator("#search")
    expect(field).to_be_focused()
    page.keyboard.type("jk?gs")
    expect(field).to_have_value("jk?gs")
    field.blur()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("#keys-open").click()
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url(re.compile(r"/sessions/$"))
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url(re.compile(r":\d+/$"))


@pytest.mark.parametrize(
    "given", ["{isComposing: true}", "{keyCode: 229}", "{ctrlKey: true}", "{metaKey: true}", "{altKey: true}"]
)
def test_keys_rest_while_a_character_is_composed_or_a_modifier_is_held(look: Looks, given: str) -> None:
    page = look(path_of(look, "什么都有"))
    before = page.evaluate("document.activeElement.tagName + (document.activeElement.dataset.seq ?? '')")

    for key in ("j", "?"):
        page.evaluate(
            f"document.body.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true, ...{given}}}))"
        )

    assert page.evaluate("document.activeElement.tagName + (document.activeElement.dataset.seq ?? '')") == before
    expect(page.locator("#keys")).to_be_hidden()


def test_composing_in_a_field_is_left_alone(look: Looks) -> None:
    page = look(path_of(look, "什么都有"))
    page.locator("#t-q").focus()
    session = page.context.new_cdp_session(page)

    session.send("Input.imeSetComposition", {"text": "j", "selectionStart": 1, "selectionEnd": 1})
    session.send("Input.imeSetComposition", {"text": "jk", "selectionStart": 2, "selectionEnd": 2})
    session.send("Input.insertText", {"text": "就看"})

    expect(page.locator("#t-q")).to_have_value("就看")
    expect(page.locator("#t-q")).to_be_focused()


def test_there_are_no_keys_where_there_is_no_keyboard(
    chromium: Browser, place: Place, state: object, look: Looks
) -> None:
    path = path_of(look, "什么都有")
    phone = {"has_touch": True, "is_mobile": True, "viewport": {"width": 390, "height": 800}}
    context = chromium.new_context(storage_state=state, **phone)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(place.url + path)

    page.keyboard.press("?")

    expect(page.locator("#keys")).to_be_hidden()
    expect(page.locator("#keys-open")).to_be_hidden()
    context.close()


def test_without_javascript_the_links_lead_through(chromium: Browser, place: Place, state: object, look: Looks) -> None:
    path = path_of(look, "十万行")
    context = chromium.new_context(java_script_enabled=False, locale="zh-CN", storage_state=state)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(place.url + path)

    page.locator(".more[data-way=up] a").click()
    expect(page.locator(".more[data-way=down] a")).to_have_count(1)
    page.locator("#t-to").fill("#7")
    page.locator("#t-to").press("Enter")

    expect(page.locator("li.chosen")).to_contain_text("第3句听见了")
    context.close()


def test_nothing_in_a_hostile_talk_runs_or_is_fetched(look: Looks) -> None:
    page = look("/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))

    page.goto(page.url.rstrip("/") + path_of(look, "来者不善"))
    for summary_ in page.locator("#pages > ol > li details > summary").all():
        summary_.click()
    page.wait_for_load_state("networkidle")

    assert [url for url in asked if "evil.test" in url or "/doctor/" in url] == []
    assert page.evaluate("document.querySelectorAll('#pages :is(iframe, script, form, svg)').length") == 0


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_nothing_needs_a_sideways_scroll(look: Looks, width: int) -> None:
    for title in ("什么都有", "来者不善"):
        page = look(path_of(look, title), width=width)
        for each in page.locator("#pages > ol > li details > summary").all():
            each.click()
        page.wait_for_load_state("networkidle")

        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("language", ["zh-CN", "en-US"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_axe_finds_nothing(look: Looks, axe: str, language: str, scheme: str, width: int) -> None:
    path = path_of(look, "什么都有")
    page = look(path + "?branches=1", width=width, scheme=scheme, language=language)
    for each in page.locator("#pages > ol > li details > summary").all():
        each.click()
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")
    found = {"open": faults(page, axe)}
    for query in ("?to=zzz", "?show=tools", "words/", "line/0/", "raw/0/", "subagent/a1b2c3d/"):
        found[query] = faults(look(path + query, width=width, scheme=scheme, language=language), axe)
    if width == 1440:
        page.keyboard.press("?")
        found["keys"] = faults(page, axe)

    assert {where: wrong for where, wrong in found.items() if wrong} == {}
