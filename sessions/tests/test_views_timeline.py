"""A session's timeline as pages and parts (spec S6, security rows 6, 7, 8, 12)."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext

from companion.tests.rows import HOSTILE, make_window, say, signed_in
from sessions.actions.index import index_all
from sessions.models import Event, Window
from sessions.tests.transcripts import (
    Record,
    TranscriptFile,
    agent_file,
    assistant,
    attachment,
    boundary,
    image,
    progress,
    queued,
    summary,
    thinking,
    tool_result,
    user,
)

pytestmark = pytest.mark.django_db
PART = {"HX-Request": "true"}
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 40
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"


@pytest.fixture
def client() -> Client:
    return signed_in()


@pytest.fixture
def talk(tmp_path: Path) -> TranscriptFile:
    return TranscriptFile(tmp_path)


def indexed(talk: TranscriptFile) -> Window:
    index_all([talk.path.parent.parent])
    return Window.objects.select_related("transcript").get(session_id=talk.session)


def asked(call: str, name: str = "Look", **arguments: Any) -> Record:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def long_talk(talk: TranscriptFile, turns: int = 200) -> Window:
    for turn in range(turns):
        talk.add(user(f"第{turn}句。"), assistant(f"回{turn}。"))
    return indexed(talk)


def text_of(client: Client, url: str, **headers: str) -> str:
    return client.get(url, headers=headers).content.decode()


def link_of(page: str, way: str) -> str:
    found = re.search(rf'data-way="{way}"><a class="button small" href="([^"]+)"', page)
    return found[1].replace("&amp;", "&") if found else ""


def entries_of(page: str) -> list[int]:
    return [int(seq) for seq in re.findall(r'data-entry data-seq="(\d+)"', page)]


def test_a_session_opens_at_its_end(client: Client, talk: TranscriptFile) -> None:
    window = long_talk(talk)

    page = text_of(client, f"/sessions/{window.pk}/").partition('id="pages"')[2]

    assert "第199句。" in page
    assert "第0句。" not in page
    assert 'id="end"' in page


@pytest.mark.parametrize("way", ["up", "down"])
def test_the_links_lead_over_every_message_once(client: Client, talk: TranscriptFile, way: str) -> None:
    window = long_talk(talk)
    base = f"/sessions/{window.pk}/"
    start = base if way == "up" else f"{base}?since=-1"

    parts = [text_of(client, start)]
    while link := link_of(parts[-1].split('<template id="more-up">')[0], way):
        parts.append(text_of(client, base + link, **PART))

    seqs = sorted(seq for part in parts for seq in entries_of(part))
    assert seqs == list(range(400))
    assert len(parts) > 3


def test_a_part_holds_only_the_link_of_its_own_way(client: Client, talk: TranscriptFile) -> None:
    window = long_talk(talk)
    base = f"/sessions/{window.pk}/"

    above, below = text_of(client, f"{base}?until=200", **PART), text_of(client, f"{base}?since=100", **PART)

    assert (bool(link_of(above, "up")), bool(link_of(above, "down"))) == (True, False)
    assert (bool(link_of(below, "up")), bool(link_of(below, "down"))) == (False, True)
    assert "<html" not in above
    assert text_of(client, f"{base}?until=200").count("<html") == 1


@pytest.mark.parametrize(
    ("show", "there", "not_there"),
    [
        ("all", ["薄荷呢", "晒着太阳", "mint likes shade", "Look"], []),
        ("human", ["薄荷呢"], ["晒着太阳", "mint likes shade"]),
        ("tools", ["Look"], ["薄荷呢", "晒着太阳"]),
        ("thinking", ["mint likes shade"], ["薄荷呢", "晒着太阳"]),
    ],
)
def test_a_filter_shows_its_own(
    client: Client, talk: TranscriptFile, show: str, there: list[str], not_there: list[str]
) -> None:
    talk.add(user("薄荷呢"), assistant([thinking()], message="m1"), assistant([asked("t1")], message="m1"))
    talk.add(tool_result("t1"), assistant("晒着太阳", message="m2"))
    window = indexed(talk)

    page = text_of(client, f"/sessions/{window.pk}/?show={show}").partition('id="pages"')[2]

    assert [word for word in there if word not in page] == []
    assert [word for word in not_there if word in page] == []


def test_links_keep_the_filter(client: Client, talk: TranscriptFile) -> None:
    window = long_talk(talk)

    page = text_of(client, f"/sessions/{window.pk}/?show=human&branches=1")

    assert link_of(page, "up").startswith("?show=human&branches=1&until=")


def test_a_jump_leads_to_the_lasting_address(client: Client, talk: TranscriptFile) -> None:
    window = long_talk(talk)
    row = Event.objects.get(transcript=window.transcript, idx=100)

    answer = client.get(f"/sessions/{window.pk}/?to={quote('#100')}")
    part = client.get(f"/sessions/{window.pk}/?to={quote('#100')}", headers=PART)

    assert answer.headers["Location"] == f"/sessions/{window.pk}/?at={row.uuid}#e{row.seq}"
    assert part.headers["HX-Redirect"] == answer.headers["Location"]


def test_the_message_that_was_asked_for_is_marked(client: Client, talk: TranscriptFile) -> None:
    window = long_talk(talk)
    row = Event.objects.get(transcript=window.transcript, idx=100)

    page = text_of(client, f"/sessions/{window.pk}/?at={row.uuid}")

    assert page.count(' chosen"') == 1
    assert f'chosen" id="e{row.seq}"' in page
    assert link_of(page, "up")
    assert link_of(page, "down")


def test_every_message_has_an_address_that_leads_back_to_it(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("一"), user("二", uuid="<b>&\"'strange"), assistant("三"))
    window = indexed(talk)
    page = text_of(client, f"/sessions/{window.pk}/")

    links = [link.replace("&amp;", "&") for link in re.findall(r'class="permalink" href="([^"]+)"', page)]

    assert len(links) == 3
    for link in links:
        there, _, anchor = link.partition("#")
        assert f'chosen" id="{anchor}"' in text_of(client, there)


@pytest.mark.parametrize(
    "where", ["昨天晚上", "#99999", "ffffffff", "%_%", "<script>alert(1)</script>", "'; drop table", "x" * 150]
)
def test_a_place_that_is_none_is_refused_in_words(client: Client, talk: TranscriptFile, where: str) -> None:
    talk.add(user("一"))
    window = indexed(talk)

    part = client.get(f"/sessions/{window.pk}/?to={quote(where)}", headers=PART)
    page = client.get(f"/sessions/{window.pk}/?to={quote(where)}")

    assert (part.status_code, page.status_code) == (422, 422)
    assert 'id="t-to-wrong"' in part.content.decode()
    assert "<section" not in part.content.decode()
    assert "一</p>" in page.content.decode()
    assert "<script>alert" not in page.content.decode()


@pytest.mark.parametrize("query", ["until=x", "since=-9", "line=-1", "show=bogus", "until=99999999999999999999"])
def test_a_bad_address_is_said_and_still_shows_the_end(client: Client, talk: TranscriptFile, query: str) -> None:
    talk.add(user("一"))
    window = indexed(talk)

    answer = client.get(f"/sessions/{window.pk}/?{query}")

    assert answer.status_code == 422
    assert "一</p>" in answer.content.decode()


def test_a_call_and_its_answer_are_one_slip_and_open_in_full(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("看看"), assistant([asked("t1", "Read", file_path="/notes/mint.md")], message="m1"))
    talk.add(tool_result("t1", "四盆 " * 1000))
    window = indexed(talk)
    page = text_of(client, f"/sessions/{window.pk}/")

    opens = re.search(r'hx-get="([^"]+/call/[^"]+)"', page)
    assert opens
    part = text_of(client, opens[1], **PART)

    assert "/notes/mint.md" in page
    assert "3,000" in page
    assert page.count("四盆") == 0
    assert "file_path" in part
    assert part.count("四盆") == 1000
    assert 'href="' + opens[1] in page


def test_a_tool_that_failed_and_one_that_has_not_answered_are_told_apart(client: Client, talk: TranscriptFile) -> None:
    failing = {"type": "tool_result", "tool_use_id": "t1", "content": "no such file", "is_error": True}
    talk.add(user("看看"), assistant([asked("t1"), asked("t2")], message="m1"), user([failing]))
    window = indexed(talk)

    page = text_of(client, f"/sessions/{window.pk}/")

    assert page.count('class="state fail"') == 1
    assert page.count('class="state todo"') >= 1
    assert "data-waits" in page


def test_a_long_text_opens_in_steps_and_says_how_much_is_left(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("字" * 45_000), assistant("好"))
    window = indexed(talk)
    page = text_of(client, f"/sessions/{window.pk}/").partition('id="pages"')[2].partition("<footer")[0]
    url = f"/sessions/{window.pk}/text/0/0/"

    first, last = text_of(client, url, **PART), text_of(client, f"{url}?from=40000", **PART)

    assert page.count("字字") == 3_000
    assert "39,000" in page
    assert url in page
    assert first.count("字字") == 10_000
    assert "from=20000" in first
    assert last.count("字字") == 2_500
    assert "from=" not in last


def test_a_secret_is_covered_over_the_end_of_a_step(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("x" * 19_990 + " ghp_0123456789abcdefghijABCDEFGHIJ012345 end"))
    window = indexed(talk)

    steps = [text_of(client, f"/sessions/{window.pk}/text/0/0/?from={start}", **PART) for start in (0, 20_000)]

    assert "0123456789abc" not in "".join(steps)
    assert "ABCDEFGHIJ" not in "".join(steps)


def test_a_line_too_large_says_its_size_and_opens_in_parts(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("前"), user("y" * 5_000_000), user("后"))
    window = indexed(talk)
    page = text_of(client, f"/sessions/{window.pk}/")

    opened = text_of(client, f"/sessions/{window.pk}/line/1/")
    raw = text_of(client, f"/sessions/{window.pk}/raw/1/?from=49152")

    assert "4.8 MB" in page
    assert f"/sessions/{window.pk}/line/1/" in page
    assert len(page) < 200_000
    assert "4,980,000" in opened
    assert "from=98304" in raw
    assert len(raw) < 200_000


def test_a_file_that_is_gone_shows_what_the_index_kept(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("别忘了薄荷"), assistant("不会"))
    window = indexed(talk)
    talk.path.unlink()

    page = text_of(client, f"/sessions/{window.pk}/")

    assert "别忘了薄荷" in page
    assert 'class="note fail"' in page
    assert client.get(f"/sessions/{window.pk}/text/0/0/").status_code == 422


def test_what_no_person_sent_is_marked_and_set_apart(client: Client, talk: TranscriptFile) -> None:
    talk.add(user('[Harness: Task t-weather "天气早报"]\n午后有雷阵雨', promptSource="system"))
    window = indexed(talk)

    page = text_of(client, f"/sessions/{window.pk}/").partition('id="pages"')[2]

    assert '<span class="state skip">' in page
    assert '<span class="ident">[Harness: Task t-weather &quot;天气早报&quot;]</span>' in page
    assert 'class="words"' not in page


def test_the_clients_own_lines_are_quiet(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("早"), user("<command-name>/model</command-name><command-args>opus</command-args>"))
    talk.add(user("[Request interrupted by user]"), progress(), attachment("skill_listing"), queued("等等"))
    talk.add({"type": "system", "subtype": "turn_duration", "durationMs": 1})
    window = indexed(talk)

    page = text_of(client, f"/sessions/{window.pk}/").partition('id="pages"')[2]

    assert '<span class="ident">/model opus</span>' in page
    assert '<span class="state hold">' in page
    assert len(entries_of(page)) == 4
    assert page.count('class="says"') == 1


def test_a_compaction_says_how_much_there_was_and_is(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("早"), boundary(after=19_300), summary("此前：浇过水"), user("接着说"))
    window = indexed(talk)

    page = text_of(client, f"/sessions/{window.pk}/")

    assert "166k → 19.3k" in page
    assert "早</p>" in page
    assert "<details><summary>" in page


def test_an_error_answer_is_a_failure(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("在吗"), assistant("API Error: 529", model="<synthetic>", isApiErrorMessage=True))
    window = indexed(talk)

    page = text_of(client, f"/sessions/{window.pk}/")

    assert 'class="state fail"' in page
    assert "&lt;synthetic&gt;" in page


def test_a_rewound_branch_is_shown_on_demand_and_marked(client: Client, talk: TranscriptFile) -> None:
    first, gone = talk.add(user("一"), user("丢掉的"))
    talk.add(user("留下的", parentUuid=first["uuid"]))
    window = indexed(talk)
    base = f"/sessions/{window.pk}/"

    assert "丢掉的" not in text_of(client, base).partition('id="pages"')[2]
    assert text_of(client, f"{base}?branches=1").count(' branch"') == 1
    assert ' chosen branch"' in text_of(client, f"{base}?at={gone['uuid']}")


def test_a_subagent_unfolds_under_its_call(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("查"), assistant([asked("t1", "Task", description="薄荷过冬")], message="m1"))
    talk.add(tool_result("t1", "剪短", toolUseResult={"agentId": "a1b2c3d"}))
    agent_file(talk.path.parent.parent, talk.session, user("薄荷怎么过冬"), assistant("剪到十厘米"), user([image()]))
    window = indexed(talk)
    page = text_of(client, f"/sessions/{window.pk}/")

    part = text_of(client, f"/sessions/{window.pk}/subagent/a1b2c3d/", **PART)

    assert f'hx-get="/sessions/{window.pk}/subagent/a1b2c3d/"' in page
    assert "剪到十厘米" not in page
    assert "剪到十厘米" in part
    assert f"/sessions/{window.pk}/subagent/a1b2c3d/picture/2/0/" in part
    assert "data-entry" not in part


def test_a_subagent_whose_file_is_gone_says_so(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("查"))
    window = indexed(talk)

    answer = client.get(f"/sessions/{window.pk}/subagent/a1b2c3d/", headers=PART)

    assert answer.status_code == 422
    assert 'class="state fail"' in answer.content.decode()


def test_an_older_subagent_unfolds_from_the_same_file(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("查"), assistant([asked("t1", "Task", description="薄荷过冬")], message="m1"))
    talk.add(
        user("薄荷怎么过冬", isSidechain=True), assistant("剪到十厘米", isSidechain=True), tool_result("t1", "剪短")
    )
    window = indexed(talk)
    page = text_of(client, f"/sessions/{window.pk}/")

    opens = re.search(r'hx-get="([^"]+/aside/[^"]+)"', page)

    assert opens
    assert "剪到十厘米" not in page
    assert "剪到十厘米" in text_of(client, opens[1], **PART)


def test_both_ends_lead_to_the_windows_beside(client: Client, tmp_path: Path) -> None:
    files = [TranscriptFile(tmp_path, start=TranscriptFile(tmp_path).talk.at.replace(day=day)) for day in (2, 3, 4)]
    for number, file in enumerate(files):
        file.add(user(f"窗口{number}"), assistant("嗯"))
    windows = [indexed(file) for file in files]

    page = text_of(client, f"/sessions/{windows[1].pk}/").partition('id="pages"')[2]

    assert f'href="/sessions/{windows[0].pk}/"' in page
    assert f'href="/sessions/{windows[2].pk}/"' in page


def picture(data: bytes) -> Record:
    return image(base64.b64encode(data).decode())


def shown_picture(client: Client, window: Window, seq: int = 0, at: int = 0, known: str = "") -> HttpResponse:
    headers = {"If-None-Match": known}
    return client.get(f"/sessions/{window.pk}/picture/{seq}/{at}/", headers=headers)  # type: ignore[return-value]


def test_a_picture_is_served_harmless_and_kept_by_its_tag(client: Client, talk: TranscriptFile) -> None:
    talk.add(user([picture(PNG), {"type": "text", "text": "看"}]))
    window = indexed(talk)

    answer = shown_picture(client, window)
    again = shown_picture(client, window, known=answer.headers["ETag"])

    assert answer.content == PNG
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"] == "inline"
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    assert "private" in answer.headers["Cache-Control"]
    assert again.status_code == 304
    assert f'src="/sessions/{window.pk}/picture/0/0/"' in text_of(client, f"/sessions/{window.pk}/")


@pytest.mark.parametrize(
    "data", [SVG, b"<html><script>alert(1)</script>", b"", b"\x00\x01"], ids=["svg", "html", "none", "noise"]
)
def test_what_is_no_safe_picture_is_not_served(client: Client, talk: TranscriptFile, data: bytes) -> None:
    talk.add(user([picture(data)]))
    window = indexed(talk)

    assert shown_picture(client, window).status_code == 404


def test_a_picture_needs_a_sign_in_and_its_own_window(client: Client, tmp_path: Path) -> None:
    one, two = TranscriptFile(tmp_path), TranscriptFile(tmp_path)
    one.add(user([picture(PNG)]))
    two.add(user("没有图"))
    window, other = indexed(one), indexed(two)

    assert shown_picture(Client(), window).status_code in {302, 303, 401}
    assert shown_picture(client, other).status_code == 404
    assert shown_picture(client, window, at=1).status_code == 404
    assert shown_picture(client, window, seq=10**9 * 5).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "picture/-1/0/", "picture/0/0x0/", "picture/../../etc/", "text/0/", "text/0/9/", "text/9/0/", "line/9/", "raw/99999999999/",
        "subagent/none/", "subagent/a.b/", "subagent/..%2f..%2fx/", "subagent/%25/", "call/0/0/9/",
    ],
)  # fmt: skip
def test_only_what_is_there_can_be_opened(client: Client, talk: TranscriptFile, path: str) -> None:
    talk.add(user("一"))
    window = indexed(talk)

    assert client.get(f"/sessions/{window.pk}/{path}").status_code in {404, 422}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_every_field(client: Client, talk: TranscriptFile, text: str) -> None:
    first, *_ = talk.add(
        user(text, uuid=text),
        assistant([{"type": "thinking", "thinking": text, "signature": "x"}], message="m1", model=text),
        assistant(
            [{"type": "tool_use", "id": text, "name": text, "input": {text: text, "file_path": text}}], message="m1"
        ),
        user([{"type": "tool_result", "tool_use_id": text, "content": text}], toolUseResult={"agentId": text}),
        assistant(f"{text}\n\n[a]({text}) ![b](https://evil.test/x.png) `{text}`", message="m1"),
        assistant(text, model="<synthetic>"),
        user(text, promptSource="system"),
        user(f"[Harness: Task {text}]\n{text}", promptSource="system"),
        user(f"<command-name>{text}</command-name>"),
        user(text, isMeta=True),
        {"type": "system", "subtype": text[:60] or "x"},
        queued(text),
    )
    talk.add(user(text, parentUuid=first["uuid"]))
    window = indexed(talk)
    base = f"/sessions/{window.pk}/"

    urls = [
        base,
        f"{base}?branches=1",
        f"{base}?at={quote(text[:150])}",
        f"{base}text/0/0/",
        f"{base}call/2/0/?answer=3.0",
    ]
    urls += [f"{base}line/{seq}/" for seq in range(6)] + [f"{base}raw/{seq}/" for seq in range(6)]
    pages = [text_of(client, url) for url in urls] + [text_of(client, url, **PART) for url in urls]

    for page in pages:
        assert wrongs(page) == []
        assert not set("\x1b\x07\u202e\u2066\u200b\ufeff") & set(re.sub(r'value="[^"]*"', "", page))


class Reader(HTMLParser):
    """Collects what a browser would act on and nobody but the console may have written."""

    def __init__(self) -> None:
        super().__init__()
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        acts = [name for name in given if name.startswith("on") or name in {"style", "srcdoc", "formaction"}]
        asks = [
            name
            for name in given
            if name in {"hx-get", "hx-post", "action", "ws-connect"} and given[name][:1] not in "/?"
        ]
        leads = "href" in given and not re.match(r"/(?!/)|#|\?|https?://|mailto:", given["href"])
        loads = "src" in given and not re.match(r"/(static|sessions)/", given["src"])
        if (
            tag in {"iframe", "object", "embed", "base"}
            or acts
            or asks
            or leads
            or loads
            or (tag == "script" and "src" not in given)
        ):
            self.wrong.append(f"<{tag} {given}>")


def wrongs(page: str) -> list[str]:
    reader = Reader()
    reader.feed(page)
    return reader.wrong


def test_links_of_a_companion_lead_out_without_a_trace(client: Client, talk: TranscriptFile) -> None:
    talk.add(user("看"), assistant("[这里](https://example.cn/)"))
    window = indexed(talk)

    page = text_of(client, f"/sessions/{window.pk}/")

    assert '<a href="https://example.cn/" rel="noopener noreferrer nofollow">' in page


def test_a_longer_session_costs_no_more_queries(client: Client, tmp_path: Path) -> None:
    short, long = TranscriptFile(tmp_path), TranscriptFile(tmp_path)
    windows = [long_talk(short, 100), long_talk(long, 200)]
    counts = []

    for window in windows:
        for query in ("?since=9", "?at=%2340", "?until=100", "?show=human&until=100"):
            client.get(f"/sessions/{window.pk}/{query}")
            with CaptureQueriesContext(
                connection,
            ) as queries:
                client.get(f"/sessions/{window.pk}/{query}")
            counts.append((query, len(queries)))

    assert counts[:4] == counts[4:]
    assert max(count for _, count in counts) <= 20


def test_a_session_without_a_word_says_so(client: Client) -> None:
    window = make_window()

    page = text_of(client, f"/sessions/{window.pk}/")

    assert 'class="empty"' in page


def test_the_list_of_anchors_has_its_own_address(client: Client) -> None:
    window = make_window()
    say(window, "给薄荷换盆", "早")

    assert "给薄荷换盆" in text_of(client, f"/sessions/{window.pk}/words/?q=薄荷")
    assert 'id="anchors"' in text_of(client, f"/sessions/{window.pk}/words/", **PART)
    assert f"/sessions/{window.pk}/words/" in text_of(client, f"/sessions/{window.pk}/?show=human")
