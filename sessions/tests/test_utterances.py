"""Words kept of what was indexed: each once, on top of each other, whatever happens to the file (spec S9)."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from redis.exceptions import ConnectionError as Gone

from sessions import tasks
from sessions.actions import health, utterances
from sessions.actions.index import index_all, index_path
from sessions.actions.search import search
from sessions.actions.utterances import CaughtUp, catch_up_words
from sessions.gateways.transcripts import opened
from sessions.management.commands import watch
from sessions.models import Event, Transcript, Utterance, WordsCursor
from sessions.models.words import replace_utterances
from sessions.tests.transcripts import (
    TranscriptFile,
    agent_file,
    assistant,
    custom_title,
    encoded,
    image,
    queued,
    summary,
    thinking,
    tool_result,
    tool_use,
    user,
)  # fmt: skip

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    """The console's own root, empty."""
    folder = tmp_path / "projects"
    folder.mkdir()
    settings.ENV = dataclasses.replace(settings.ENV, roots=(folder,))
    return folder


def keep() -> int:
    index_all()
    return catch_up_words().utterances


def kept() -> list[tuple[int, str, str]]:
    return list(Utterance.objects.order_by("transcript_id", "seq").values_list("seq", "kind", "text"))


def found(text: str) -> list[str]:
    return [hit.snippet.text for hit in search(text).hits]


def test_what_was_said_is_kept_and_nothing_else(root: Path) -> None:
    TranscriptFile(root).add(
        user("water the mint"),
        assistant(
            [thinking("hm"), {"type": "text", "text": "I will"}, {"type": "text", "text": "now"}, tool_use("t1")]
        ),
        tool_result("t1"),
        assistant([tool_use("t2")]),
        queued("and basil"),
        user([image()]),
        assistant("  \n"),
        summary("so far"),
        user("aside", isSidechain=True),
        custom_title("Herbs"),
        assistant("done"),
    )
    agent_file(root, "aaaa1111-0000-4000-8000-000000000001", user("look at pots"))

    assert keep() == 5
    assert kept() == [
        (0, "h", "water the mint"),
        (1, "a", "I will\nnow"),
        (4, "q", "and basil"),
        (5, "h", ""),
        (10, "a", "done"),
    ]


def test_only_what_was_appended_is_read_again(root: Path, monkeypatch: Any) -> None:
    file = TranscriptFile(root)
    file.add(user("one"), assistant("two"))
    assert keep() == 2

    file.add(user("three"))

    assert keep() == 1
    assert [text for _, _, text in kept()] == ["one", "two", "three"]
    assert keep() == 0


def test_long_sessions_are_kept_batch_by_batch(root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(utterances, "EVENTS_PER_BATCH", 4)
    TranscriptFile(root).add(*(user(f"word {number}") for number in range(10)))

    assert keep() == 10
    assert WordsCursor.objects.get().lines == 10
    assert [text for _, _, text in kept()] == [f"word {number}" for number in range(10)]


def test_long_texts_make_short_batches(root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(utterances, "CHARACTERS_PER_BATCH", 20)
    TranscriptFile(root).add(*(user(f"0123456789 {number}") for number in range(5)))

    assert keep() == 5
    assert len(kept()) == 5


def test_a_pass_ends_when_its_time_is_over_and_the_next_goes_on(root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(utterances, "EVENTS_PER_BATCH", 4)
    TranscriptFile(root).add(*(user(f"word {number}") for number in range(10)))
    index_all()

    first = catch_up_words(0.0)
    rest = catch_up_words()

    assert (first.utterances, first.is_done) == (4, False)
    assert (rest.utterances, rest.is_done) == (6, True)
    assert len(kept()) == 10


def test_a_killed_pass_leaves_whole_batches(root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(utterances, "EVENTS_PER_BATCH", 4)
    TranscriptFile(root).add(*(user(f"word {number}") for number in range(10)))
    index_all()
    real, calls = replace_utterances, list[Any]()

    def die(*arguments: Any) -> None:
        calls.append(arguments)
        real(*arguments)
        if len(calls) == 2:
            raise SystemExit

    monkeypatch.setattr(utterances, "replace_utterances", die)
    with pytest.raises(SystemExit):
        catch_up_words()
    assert len(kept()) == WordsCursor.objects.get().lines == 4

    monkeypatch.undo()
    assert catch_up_words().utterances == 6
    assert len(kept()) == 10


def test_a_second_follower_changes_nothing(root: Path) -> None:
    TranscriptFile(root).add(user("one"))
    index_all()
    transcript = Transcript.objects.get()
    cursor = WordsCursor.objects.create(transcript=transcript)
    with opened(Path(transcript.path)) as reader:
        batch = utterances._read(transcript, cursor, reader)

        assert utterances._store(transcript, cursor, batch)
        assert not utterances._store(transcript, cursor, batch)

    assert len(kept()) == 1


def test_what_was_read_before_the_file_was_read_anew_is_not_written_after(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("old words"))
    index_all()
    transcript = Transcript.objects.get()
    cursor = WordsCursor.objects.create(transcript=transcript)
    with opened(file.path) as reader:
        batch = utterances._read(transcript, cursor, reader)
    index_all(full=True)

    assert not utterances._store(transcript, cursor, batch)
    assert kept() == []


def test_a_file_that_is_gone_keeps_its_words(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("昨晚又失眠了"))
    keep()
    file.path.unlink()

    keep()

    assert Transcript.objects.get().missing_since is not None
    assert found("失眠") == ["昨晚又失眠了"]


def test_a_file_that_was_emptied_keeps_its_words(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("昨晚又失眠了"))
    keep()
    file.path.write_bytes(b"")

    keep()

    assert Event.objects.count() == 0
    assert found("失眠") == ["昨晚又失眠了"]


def test_a_file_that_was_replaced_has_the_new_words_only(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("old one"), user("old two"), user("old three"))
    keep()
    file.path.write_bytes(b"")
    file.talk.last = None
    file.add(user("new one"), user("new two"))

    keep()

    assert [text for _, _, text in kept()] == ["new one", "new two"]
    assert found("old") == []


def test_words_stay_until_those_of_the_new_reading_take_their_place(root: Path) -> None:
    TranscriptFile(root).add(user("mint one"), user("mint two"))
    keep()

    index_all(full=True)
    assert found("mint") == ["mint two", "mint one"]

    assert catch_up_words().utterances == 2
    assert found("mint") == ["mint two", "mint one"]


def test_a_line_that_is_no_longer_what_was_indexed_waits_until_it_is_indexed_again(root: Path) -> None:
    file = TranscriptFile(root)
    lines = file.add(user("first"), user("second"))
    index_all()
    other = {**lines[0], "uuid": lines[0]["uuid"][::-1], "message": {"role": "user", "content": "FIRST"}}
    file.path.write_bytes(encoded(other) + b"\n" + encoded(lines[1]) + b"\n")

    assert catch_up_words() == CaughtUp(0, is_done=True)
    assert kept() == []

    keep()
    assert [text for _, _, text in kept()] == ["FIRST", "second"]


def test_a_file_cut_short_after_it_was_indexed_waits(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("first"), user("second"))
    index_all()
    file.path.write_bytes(file.path.read_bytes()[:100])

    assert catch_up_words() == CaughtUp(0, is_done=True)


def test_a_file_that_cannot_be_opened_does_not_hold_up_the_others(root: Path) -> None:
    gone, other = TranscriptFile(root), TranscriptFile(root)
    gone.add(user("gone"))
    other.add(user("here"))
    index_all()
    gone.path.unlink()

    assert catch_up_words().utterances == 1
    assert found("here") == ["here"]


def test_the_latest_file_comes_first(root: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(utterances, "EVENTS_PER_BATCH", 2)
    old, new = TranscriptFile(root), TranscriptFile(root)
    old.add(*(user("old") for _ in range(9)))
    index_all()
    new.add(user("new"))
    index_path(new.path)

    catch_up_words(0.0)

    assert [text for _, _, text in kept()] == ["new"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a\x00b 失眠", id="NUL"),
        pytest.param("a\ud800b 失眠", id="a lone surrogate"),
        pytest.param("失眠\\N\t\n\r\\.\n", id="what COPY would understand"),
        pytest.param("失眠 '\"' \\' :1A", id="what a tsvector would understand"),
        pytest.param("失眠" + "".join(map(chr, range(0x20000, 0x2A000))) * 3, id="more words than a tsvector holds"),
        pytest.param("失眠" + "的" * 1_000_000, id="a million characters"),
    ],
)
def test_hostile_text_is_kept_and_found(root: Path, text: str) -> None:
    TranscriptFile(root).add(user(text), user("after"))

    assert keep() == 2
    assert len(search("失眠").hits) == 1
    assert len(kept()[0][2]) <= 100_000
    if len(text) < 100:
        assert kept()[0][2] == text.replace("\x00", "\ufffd").replace("\ud800", "\ufffd") or "\ud800" in text


def test_a_line_without_a_time_has_that_of_the_line_before(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("one"), user("two", timestamp=None))
    keep()
    file.add(user("three", timestamp="never"))
    keep()

    assert len(set(Utterance.objects.values_list("at", flat=True))) == 1


def test_a_rewind_changes_no_words_and_shows_at_once(root: Path) -> None:
    file = TranscriptFile(root)
    first = file.add(user("mint"), assistant("yes"), user("mint, then"))
    keep()
    file.add(user("basil", parentUuid=first[1]["uuid"]))

    index_all()

    assert {hit.snippet.text: hit.is_branch for hit in search("mint").hits} == {"mint": False, "mint, then": True}


@pytest.fixture
def queued_passes(monkeypatch: Any) -> list[str]:
    """Asks for a pass, as they come; no sign of life stays for other tests to see."""
    asked: list[str] = []
    monkeypatch.setattr(health, "beat", lambda name: None)
    monkeypatch.setattr(tasks.catch_up_words, "delay", lambda: asked.append("pass"))
    cache.delete(tasks.WORDS_QUEUED)
    return asked


def test_many_changes_queue_one_pass(root: Path, queued_passes: list[str]) -> None:
    file = TranscriptFile(root)
    for number in range(3):
        file.add(user(f"mint {number}"))
        watch.take({file.path})

    assert queued_passes == ["pass"]

    tasks.catch_up_words()
    assert len(kept()) == 3

    file.add(user("mint again"))
    watch.take({file.path})
    assert queued_passes == ["pass", "pass"]


def test_the_sweep_asks_too_and_a_pass_that_is_not_done_asks_again(
    root: Path, queued_passes: list[str], monkeypatch: Any
) -> None:
    tasks.index_all()
    assert queued_passes == ["pass"]

    monkeypatch.setattr(utterances, "catch_up_words", lambda limit: CaughtUp(4, is_done=False))
    tasks.catch_up_words()

    assert queued_passes == ["pass", "pass"]


def test_a_change_without_news_queues_nothing(root: Path, queued_passes: list[str]) -> None:
    watch.take({root / "-srv-balcony" / "notes.jsonl"})

    assert queued_passes == []


def test_a_broker_that_is_down_costs_a_log_line(root: Path, monkeypatch: Any) -> None:
    def down(*arguments: Any, **options: Any) -> None:
        raise Gone("no broker")

    monkeypatch.setattr(cache, "add", down)

    tasks.queue_words()


def test_a_worker_knows_every_task_it_is_sent() -> None:
    """In a process of its own: here the tasks were imported anyway."""
    told = "from companion.celery import app; app.loader.import_default_modules(); print(*app.tasks)"

    done = subprocess.run(
        [sys.executable, "-c", told], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    )

    assert {"sessions.tasks.catch_up_words", "sessions.tasks.index_all"} <= set(done.stdout.split())
