"""Search as the page and the command ask for it: over rows of the real database (spec S8, S9)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from companion.lib.refusals import Refusal
from sessions.actions.index import index_all
from sessions.actions.search import Found, Hit, search
from sessions.actions.utterances import catch_up_words
from sessions.models import Companion, Window
from sessions.tests.transcripts import START, TranscriptFile, assistant, queued, summary, tool_result, tool_use, user

pytestmark = pytest.mark.django_db
Keep = Callable[[], None]


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    """The console's own root, empty."""
    folder = tmp_path / "projects"
    folder.mkdir()
    settings.ENV = dataclasses.replace(settings.ENV, roots=(folder,))
    return folder


def keep() -> None:
    """Everything indexed, and its words kept."""
    index_all()
    assert catch_up_words().is_done


def texts(found: Found) -> list[str]:
    return [hit.snippet.text for hit in found.hits]


def test_a_word_is_found_in_every_window_and_says_where(root: Path) -> None:
    one, other = TranscriptFile(root), TranscriptFile(root, project="-srv-attic", cwd="/srv/attic")
    said = one.add(user("昨晚又失眠了"), assistant("喝点热牛奶"))
    other.add(user("hello"), assistant("你失眠的时候，我在"))
    keep()

    found = search("失眠")

    assert sorted((hit.session_id, hit.kind, hit.idx) for hit in found.hits) == sorted(
        [(one.session, "h", 0), (other.session, "a", 1)]
    )
    hit = next(hit for hit in found.hits if hit.session_id == one.session)
    window = Window.objects.get(session_id=one.session)
    assert (hit.window, hit.transcript, hit.seq, hit.uuid) == (window.pk, window.transcript_id, 0, said[0]["uuid"])
    assert (hit.at, hit.who, hit.companion_name) == (START + timedelta(seconds=10), "human", "balcony")
    assert (hit.snippet.text, hit.snippet.spans) == ("昨晚又失眠了", ((3, 5),))
    assert (found.count, found.is_capped, found.count_shown, found.after) == (2, False, "2", None)


def test_words_that_are_no_dialogue_are_not_found(root: Path) -> None:
    TranscriptFile(root).add(
        user("mint", isSidechain=True), user("mint", isMeta=True), user("<command-name>mint</command-name>"),
        summary("mint"), assistant([tool_use("t1", where="mint")]), tool_result("t1", "mint"),
        user("mint", origin={"kind": "task-notification"}),
    )  # fmt: skip
    keep()

    assert search("mint").hits == []


def test_all_the_words_have_to_be_there(root: Path) -> None:
    TranscriptFile(root).add(user("失眠 and coffee"), user("失眠"), user("coffee"))
    keep()

    assert texts(search("coffee 失眠")) == ["失眠 and coffee"]


def test_a_word_comes_before_two_characters_that_happen_to_meet(root: Path) -> None:
    TranscriptFile(root).add(user("我发现这里很美"), user("头发现在很长"))
    keep()

    assert texts(search("发现")) == ["我发现这里很美", "头发现在很长"]


def test_what_was_asked_as_it_stands_comes_first(root: Path) -> None:
    TranscriptFile(root).add(user("昨晚失眠"), user("失眠了，昨晚"))
    keep()

    assert texts(search("昨晚失眠")) == ["昨晚失眠", "失眠了，昨晚"]


def test_of_equals_the_newest_comes_first(root: Path) -> None:
    TranscriptFile(root).add(*(user("失眠") for _ in range(5)))
    keep()

    assert [hit.idx for hit in search("失眠").hits] == [4, 3, 2, 1, 0]


def test_inside_one_window_or_one_companion(root: Path) -> None:
    files = [TranscriptFile(root), TranscriptFile(root), TranscriptFile(root, project="-srv-attic")]
    for number, file in enumerate(files):
        file.add(user(f"薄荷 {number}"))
    keep()
    window = Window.objects.get(session_id=files[0].session)

    assert texts(search("薄荷", window=window)) == ["薄荷 0"]
    assert sorted(texts(search("薄荷", companion=window.companion))) == ["薄荷 0", "薄荷 1"]
    assert search("薄荷", companion=Companion()).hits == []


def test_what_a_rewind_left_behind_is_found_and_marked(root: Path) -> None:
    file = TranscriptFile(root)
    first = file.add(user("薄荷 one"), assistant("yes"))[0]
    file.add(user("薄荷 two", parentUuid=first["uuid"]))
    file.add(user("薄荷 three", parentUuid=first["parentUuid"]))
    keep()

    found = {hit.snippet.text: hit for hit in search("薄荷").hits}

    assert {text: (hit.is_branch, hit.dropped, hit.idx) for text, hit in found.items()} == {
        "薄荷 one": (True, True, None),
        "薄荷 two": (True, True, None),
        "薄荷 three": (False, False, 0),
    }
    assert texts(search("薄荷", live_only=True)) == ["薄荷 three"]


def test_what_stands_in_an_earlier_window_is_dropped(root: Path) -> None:
    TranscriptFile(root).add(user("薄荷 then"))
    TranscriptFile(root, start=START + timedelta(days=1)).add(user("薄荷 now"))
    keep()

    assert {hit.snippet.text: hit.dropped for hit in search("薄荷").hits} == {"薄荷 then": True, "薄荷 now": False}


@pytest.mark.parametrize("many", [False, True], ids=["by rank", "by time"])
def test_a_message_copied_into_a_later_window_is_one_hit(root: Path, monkeypatch: Any, many: bool) -> None:
    monkeypatch.setattr("sessions.actions.search.MOST_RANKED", 0 if many else 1_000)
    old, new = TranscriptFile(root), TranscriptFile(root, start=START + timedelta(days=1))
    kept = old.add(user("薄荷 left"), user("薄荷 kept"))[1]
    new.add({**kept, "parentUuid": None, "sessionId": new.session}, user("hello"))
    keep()

    found = search("薄荷")

    assert {hit.snippet.text: (hit.session_id, hit.dropped) for hit in found.hits} == {
        "薄荷 left": (old.session, True),
        "薄荷 kept": (new.session, False),
    }
    assert many or found.count == 2
    assert len(search("薄荷", window=Window.objects.get(session_id=old.session)).hits) == 2


def test_the_same_message_with_two_companions_is_two_hits(root: Path) -> None:
    one, other = TranscriptFile(root), TranscriptFile(root, project="-srv-attic")
    said = one.add(user("薄荷"))[0]
    other.add({**said, "sessionId": other.session})
    keep()

    assert len(search("薄荷").hits) == 2


def pages(text: str, **where: Any) -> list[Hit]:
    found = search(text, **where)
    hits = list(found.hits)
    while found.after:
        found = search(text, after=found.after, **where)
        hits += found.hits
    return hits


@pytest.mark.parametrize("many", [False, True], ids=["by rank", "by time"])
@pytest.mark.parametrize("inside", [False, True], ids=["everywhere", "inside one window"])
def test_pages_show_each_hit_once_in_one_order(root: Path, monkeypatch: Any, many: bool, inside: bool) -> None:
    monkeypatch.setattr("sessions.actions.search.MOST_RANKED", 3 if many else 1_000)
    file = TranscriptFile(root)
    # Many at one time, so that only row by row they have an order.
    file.add(*(user("失眠 " * (number % 3 + 1), timestamp="2026-03-01T08:00:00Z") for number in range(23)))
    keep()
    where: dict[str, Any] = {"window": Window.objects.get()} if inside else {}

    at_once = search("失眠", limit=100, **where)
    in_pages = pages("失眠", limit=4, **where)

    assert [hit.seq for hit in in_pages] == [hit.seq for hit in at_once.hits]
    assert len({hit.seq for hit in in_pages}) == 23
    assert at_once.is_by_rank is not many
    assert at_once.count_shown == ("3+" if many else "23")


@pytest.mark.parametrize("many", [False, True], ids=["by rank", "by time"])
def test_a_message_that_comes_while_pages_are_turned_moves_none(root: Path, monkeypatch: Any, many: bool) -> None:
    monkeypatch.setattr("sessions.actions.search.MOST_RANKED", 1 if many else 1_000)
    file = TranscriptFile(root)
    file.add(*(user("失眠") for _ in range(6)))
    keep()
    first = search("失眠", limit=3)

    file.add(user("失眠"))
    keep()

    assert [hit.idx for hit in first.hits] == [5, 4, 3]
    assert [hit.idx for hit in search("失眠", limit=3, after=first.after).hits] == [2, 1, 0]


def test_words_that_became_common_between_two_pages_go_on_by_time(root: Path, monkeypatch: Any) -> None:
    TranscriptFile(root).add(*(user("失眠") for _ in range(6)))
    keep()
    first = search("失眠", limit=3)

    monkeypatch.setattr("sessions.actions.search.MOST_RANKED", 2)
    found = search("失眠", limit=3, after=first.after)

    assert (len(found.hits), found.is_by_rank) == (3, False)


@pytest.mark.parametrize(
    "after",
    [
        "x",
        "!!!",
        "W10",
        "é",
        "eyJhIjoxfQ",
        "WyJiIiwxLCIyMDI2IiwxLDFd" * 3,
        "WyJ6IiwxLCIyMDI2LTAxLTAxIiwxLDFd",
        "[" * 9_000,
    ],
)
def test_a_place_to_go_on_from_that_is_none_is_refused(after: str) -> None:
    with pytest.raises(Refusal) as refused:
        search("失眠", after=after)

    assert refused.value.code == "bad-cursor"


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "'", "''", "\\", "\\'", "&", "!失眠", "失眠:*", "a:*b", "失眠 & !眠", "(((", "'; DROP TABLE x; --", "%", "_",
        "失\x00眠", "\ud800失眠", "失眠" * 50_000, "的" * 1_000_000, "a" * 1_000_000, "\u0301", "%s %(x)s {0}",
        "1e5 -1.5 2026-01-01", "http://a.b/c?d=e",
    ],
    ids=lambda text: repr(text[:12]),
)  # fmt: skip
def test_a_hostile_question_breaks_nothing(root: Path, text: str) -> None:
    TranscriptFile(root).add(user(f"失眠 a b {text[:1_000]}"), user("失\x00眠 ' \\ & ! :*"))
    keep()

    assert search(text).count <= 2


def test_a_number_or_an_address_is_found_as_it_was_written(root: Path) -> None:
    TranscriptFile(root).add(user("1e5 -1.5 2026-01-01 http://a.example/c?d=e a@b.example v2.1.332"))
    keep()

    for asked in ("1e5", "1.5", "2026-01-01", "a.example/c", "a@b.example", "v2.1.332"):
        assert len(search(asked).hits) == 1, asked


def test_the_word_index_is_used(root: Path) -> None:
    TranscriptFile(root).add(*(user(f"第{number}天") for number in range(50)), user("失眠"))
    keep()

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        with CaptureQueriesContext(connection) as asked:
            search("失眠")
        plans = []
        for query in asked.captured_queries:
            cursor.execute("EXPLAIN " + query["sql"])
            plans.append("\n".join(row[0] for row in cursor.fetchall()))

    assert len(plans) == 2
    assert all("Bitmap Index Scan on utterance_words" in plan for plan in plans)


def test_a_page_of_hits_costs_the_same_however_many(root: Path) -> None:
    TranscriptFile(root).add(*(user("失眠") for _ in range(20)))
    keep()

    counts = []
    for limit in (10, 20):
        with CaptureQueriesContext(connection) as asked:
            search("失眠", limit=limit)
        counts.append(len(asked))

    assert counts == [2, 2]


def test_a_secret_in_a_snippet_is_covered(root: Path) -> None:
    key = "sk-ant-api03-" + "A1b2" * 20
    TranscriptFile(root).add(user(f"my key is {key} 失眠"), user("x" * 9_000 + f" 失眠 {key} " + "y" * 9_000))
    keep()

    for hit in search("失眠").hits:
        assert "A1b2A1b2" not in hit.snippet.text
        assert [hit.snippet.text[start:end] for start, end in hit.snippet.spans] == ["失眠"]


def documents(capsys: Any, *arguments: str, **options: Any) -> dict[str, Any]:
    call_command(*arguments, json=True, **options)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_command_finds_what_was_just_said(root: Path, capsys: Any) -> None:
    file = TranscriptFile(root)
    said = file.add(queued("昨晚又失眠了"), assistant("嗯"))[0]

    found = documents(capsys, "search", "失眠")

    assert (found["count"], found["total"]) == (1, 1)
    (item,) = found["items"]
    assert item == {
        "session_id": file.session,
        "uuid": said["uuid"],
        "idx": 0,
        "timestamp": "2026-03-01T08:00:10Z",
        "local_time": "2026-03-01 16:00:10",
        "who": "queued",
        "preview": "昨晚又失眠了",
        "dropped": False,
        "branch": False,
        "companion": "balcony",
    }


def test_the_command_looks_where_it_is_told_and_shows_so_many(root: Path, capsys: Any) -> None:
    file = TranscriptFile(root)
    file.add(*(user("失眠") for _ in range(5)))
    TranscriptFile(root, project="-srv-attic", cwd="/srv/attic").add(user("失眠"))

    assert documents(capsys, "search", "失眠")["count"] == 6
    assert documents(capsys, "search", "失眠", companion="attic")["count"] == 1
    assert documents(capsys, "search", "失眠", session=file.session[:8])["count"] == 5
    limited = documents(capsys, "search", "失眠", limit=2)
    assert (limited["count"], limited["total"], limited["more_than_total"]) == (2, 6, False)


def test_the_command_shows_hostile_text_as_marks(root: Path, capsys: Any) -> None:
    TranscriptFile(root).add(user("失眠 \x1b]52;c;Zm9v\x07 \u202egnp"))

    call_command("search", "失眠")

    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "⟨ESC⟩" in shown


def test_nothing_found_is_an_answer(root: Path, capsys: Any) -> None:
    assert documents(capsys, "search", "失眠") == {"items": [], "count": 0, "total": 0, "more_than_total": False}


@pytest.mark.parametrize(
    ("options", "code"), [({"companion": "nobody"}, "unknown-companion"), ({"session": "ffff"}, "unknown-session")]
)
def test_who_or_what_is_not_there_is_refused(root: Path, options: dict[str, str], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        call_command("search", "失眠", **options)

    assert refused.value.code == code
