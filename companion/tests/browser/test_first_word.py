"""A console without any conversation, and the first word that is said."""

from playwright.sync_api import Browser, expect

from companion.tests.browser.conftest import Place
from companion.tests.browser.transcripts import Talk
from companion.tests.consoles import console, short_folder, until


def test_the_empty_page_fills_itself_with_the_first_word(chromium: Browser) -> None:
    with short_folder() as folder:
        root = folder / "home" / "projects"
        root.mkdir(parents=True)
        with console(folder / "data") as running:
            assert until(running.is_healthy)
            empty = Place(running.url.partition("/sign-in/")[0], running.data, [])
            page = chromium.new_context(locale="zh-CN").new_page()
            page.goto(running.url)
            page.get_by_role("button", name="登录").click()
            expect(page.get_by_text(str(root))).to_be_visible()
            expect(page.locator("#live .state")).to_have_text("实时")

            talk = Talk(root, "-home-lin-xiaoman")
            talk.turn("早。外面下了一夜，薄荷没事吧", 40_000)

            expect(page.locator(".dial")).to_contain_text("20.0", timeout=10_000)
            expect(page.locator("#who")).to_contain_text("xiaoman")
            expect(page.get_by_role("heading", level=1)).to_have_text("xiaoman安好")
            talk.turn("晚上还下吗", 60_000)
            expect(page.locator(".dial")).to_contain_text("30.0", timeout=10_000)
            assert page.url == f"{empty.url}/"
            page.context.close()
