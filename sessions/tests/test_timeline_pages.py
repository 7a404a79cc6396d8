"""Pages of a timeline over the real file and the real index (spec S6)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from companion.lib.refusals import Refusal
from sessions.actions import timeline
from sessions.actions.index import index_all
from sessions.actions.timeline import Page, Show
from sessions.models import Window
from sessions.tests.transcripts import TranscriptFile, assistant, thinking, tool_result, tool_use, user

pytestmark = pytest.mark.django_db
TURNS = 200
Walk = Callable[[Window], list[Page]]


@pytest.fixture
def talk(tmp_path: Path) -> TranscriptFile:
    return TranscriptFile(tmp_path)


def indexed(talk: TranscriptFile) -> Window:
    index_all([talk.path.parent.parent])
    return Window.objects.select_related("transcript").get()


def long_talk(talk: TranscriptFile) -> Window:
    for turn in range(TURNS):
        talk.add(
            user(f"第{turn}句"),
            assistant([thinking()], message=f"m{turn}"),
            assistant([tool_use(f"t{turn}")], message=f"m{turn}"),
            tool_result(f"t{turn}"),
            assistant(f"回{turn}"),
        )
    return indexed(talk)


def said(page: Page) -> list[str]:
    return [cut.text for entry in page.entries for cut in entry.words]


def forward(window: Window) -> list[Page]:
    pages, seq = [], -1
    while True:
        pages.append(timeline.after(window.transcript, seq))
        if not pages[-1].has_after:
            return pages
        seq = pages[-1].last or 0


def backward(window: Window) -> list[Page]:
    pages: list[Page] = [timeline.newest(window.transcript)]
    while pages[-1].has_before:
        pages.append(timeline.before(window.transcript, pages[-1].first))
    return pages[::-1]


@pytest.mark.parametrize("walk", [forward, backward], ids=["down", "up"])
def test_every_word_is_on_exactly_one_page_whichever_way_one_scrolls(talk: TranscriptFile, walk: Walk) -> None:
    window = long_talk(talk)

    pages = walk(window)

    words = [word for page in pages for word in said(page)]
    assert words == [word for turn in range(TURNS) for word in (f"第{turn}句", f"回{turn}")]
    assert len(pages) > 3


@pytest.mark.parametrize("walk", [forward, backward], ids=["down", "up"])
def test_no_page_parts_a_call_from_its_result(talk: TranscriptFile, walk: Walk) -> None:
    window = long_talk(talk)

    pages = walk(window)

    calls = [call for page in pages for entry in page.entries for call in entry.calls]
    assert len(calls) == TURNS
    assert all(call.result is not None for call in calls)


@pytest.mark.parametrize(
    ("where", "word"),
    [
        pytest.param("#0", "第0句", id="the first idx"),
        pytest.param("#500", "第100句", id="an idx in the middle"),
        pytest.param("2026-03-01T08:00:10Z", "第0句", id="a time"),
        pytest.param("2020-01-01", "第0句", id="a time before all"),
    ],
)
def test_a_jump_lands_on_a_page_that_holds_the_place(talk: TranscriptFile, where: str, word: str) -> None:
    window = long_talk(talk)

    page = timeline.around(window.transcript, timeline.place_of(window, where))

    assert word in said(page)


def test_a_jump_by_uuid_takes_a_unique_prefix(talk: TranscriptFile) -> None:
    first, _ = talk.add(user("一"), user("二"))
    window = indexed(talk)

    assert timeline.place_of(window, first["uuid"][:8]) == 0


@pytest.mark.parametrize(
    ("where", "code"),
    [
        ("#99", "no-such-place"),
        ("ffffffff", "no-such-place"),
        ("昨天晚上", "bad-place"),
        ("", "bad-place"),
        ("%_%_%_", "bad-place"),
    ],
)
def test_a_place_that_is_none_is_refused_by_name(talk: TranscriptFile, where: str, code: str) -> None:
    talk.add(user("一"))
    window = indexed(talk)

    with pytest.raises(Refusal) as refused:
        timeline.place_of(window, where)

    assert refused.value.code == code


def test_an_ambiguous_prefix_names_the_candidates(talk: TranscriptFile) -> None:
    talk.add(user("一", uuid="abcd0001"), user("二", uuid="abcd0002"))
    window = indexed(talk)

    with pytest.raises(Refusal, match=r"abcd0001.*abcd0002"):
        timeline.place_of(window, "abcd")


def test_only_the_person_is_shown_when_asked_for(talk: TranscriptFile) -> None:
    window = long_talk(talk)

    page = timeline.newest(window.transcript, Show.HUMAN)

    assert {entry.kind for entry in page.entries} == {"h"}


def test_a_rewound_branch_is_shown_only_on_demand(talk: TranscriptFile) -> None:
    first, _ = talk.add(user("一"), user("丢掉的"))
    talk.add(user("留下的", parentUuid=first["uuid"]))
    window = indexed(talk)

    plain = timeline.newest(window.transcript)
    whole = timeline.newest(window.transcript, branches=True)

    assert said(plain) == ["一", "留下的"]
    assert [(entry.words[0].text, entry.place.live) for entry in whole.entries] == [
        ("一", True),
        ("丢掉的", False),
        ("留下的", True),
    ]


def test_a_file_that_is_gone_still_shows_what_the_index_kept(talk: TranscriptFile) -> None:
    talk.add(user("别忘了薄荷"), assistant("不会"))
    window = indexed(talk)
    talk.path.unlink()

    page = timeline.newest(window.transcript)

    assert said(page) == ["别忘了薄荷", "不会"]
    assert page.trouble


def test_a_line_that_changed_under_the_index_is_not_shown_as_something_else(talk: TranscriptFile) -> None:
    talk.add(user("原来的话"))
    window = indexed(talk)
    length = talk.path.stat().st_size
    talk.path.write_bytes(b"x" * length)

    page = timeline.newest(window.transcript)

    assert [entry.is_whole for entry in page.entries] == [False]


def test_one_huge_line_does_not_hurt_its_page(talk: TranscriptFile) -> None:
    talk.add(user("前"), assistant([tool_use("t1")], message="m1"), tool_result("t1", "y" * 6_000_000), user("后"))
    window = indexed(talk)

    page = timeline.newest(window.transcript)

    assert said(page) == ["前", "后"]
    assert [entry.is_whole for entry in page.entries] == [True, True, False, True]


def test_the_heaviest_lines_come_first(talk: TranscriptFile) -> None:
    talk.add(user("短"), assistant([tool_use("t1")], message="m1"), tool_result("t1", "word " * 4_000))
    window = indexed(talk)

    heaviest = next(timeline.fattest(window))

    assert heaviest.seq == 2
