"""The record: a person's own messages over all windows, each with its number for good (spec T2)."""

from __future__ import annotations

import dataclasses
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from companion.lib.refusals import Refusal
from sessions.actions.index import index_all
from sessions.actions.record import message, record
from sessions.actions.utterances import catch_up_words
from sessions.models import Companion
from sessions.tests.transcripts import START, TranscriptFile, assistant, image, queued, tool_result, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    """The console's own root, empty."""
    folder = tmp_path / "projects"
    folder.mkdir()
    settings.ENV = dataclasses.replace(settings.ENV, roots=(folder,))
    return folder


def keep() -> None:
    index_all()
    catch_up_words()


def numbered() -> list[tuple[int, str]]:
    return [(said.number, said.text) for said in record(Companion.objects.get())]


def test_a_persons_own_messages_are_numbered_over_all_windows(root: Path) -> None:
    TranscriptFile(root, start=START + timedelta(days=1)).add(user("third"), assistant("no"), queued("fourth"))
    TranscriptFile(root).add(user("first"), tool_result("t1"), user([image()]), user("<command-name>/x</command-name>"))
    keep()

    assert numbered() == [(1, "first"), (2, ""), (3, "third"), (4, "fourth")]


def test_copies_in_later_windows_share_the_number(root: Path) -> None:
    old, new = TranscriptFile(root), TranscriptFile(root, start=START + timedelta(days=1))
    lines = old.add(user("first"), user("second"), user("third"))
    new.add(*({**line, "sessionId": new.session} for line in lines[1:]), user("fourth"))
    keep()

    assert numbered() == [(1, "first"), (2, "second"), (3, "third"), (4, "fourth")]


def test_a_number_stays_when_new_messages_and_new_copies_come(root: Path) -> None:
    old = TranscriptFile(root)
    lines = old.add(*(user(f"message {number}") for number in range(5)))
    keep()
    before = {said.uuid: said.number for said in record(Companion.objects.get())}

    new = TranscriptFile(root, start=START + timedelta(days=1))
    new.add(*({**line, "sessionId": new.session} for line in lines[3:]), user("more"))
    old.add(user("said in the old window", timestamp="2026-03-03T08:00:00Z"))
    keep()

    after = {said.uuid: said.number for said in record(Companion.objects.get())}
    assert {uuid: after[uuid] for uuid in before} == before
    assert len(after) == 7


def test_what_a_rewind_left_behind_keeps_its_number(root: Path) -> None:
    file = TranscriptFile(root)
    first = file.add(user("one"), assistant("yes"), user("two"))
    keep()
    file.add(user("two, better", parentUuid=first[1]["uuid"]))
    keep()

    assert numbered() == [(1, "one"), (2, "two"), (3, "two, better")]


def test_of_a_message_written_twice_in_a_file_the_last_counts(root: Path) -> None:
    TranscriptFile(root).add(
        user("one", uuid="u1", timestamp="2026-03-01T08:00:00Z"),
        user("one, again", uuid="u1", timestamp="2026-03-01T08:00:00Z", parentUuid=None),
    )
    keep()

    assert numbered() == [(1, "one, again")]


def test_the_newest_few_and_those_before_a_number(root: Path) -> None:
    TranscriptFile(root).add(*(user(f"message {number}") for number in range(1, 8)))
    keep()
    companion = Companion.objects.get()

    assert [said.number for said in record(companion, limit=3)] == [5, 6, 7]
    assert [said.number for said in record(companion, limit=3, before=5)] == [2, 3, 4]
    assert message(companion, 4).text == "message 4"


def test_each_companion_has_numbers_of_its_own(root: Path) -> None:
    TranscriptFile(root).add(user("one"))
    TranscriptFile(root, project="-srv-attic").add(user("other"))
    keep()

    assert [[said.number for said in record(companion)] for companion in Companion.objects.all()] == [[1], [1]]


def test_a_number_that_is_not_there_is_refused(root: Path) -> None:
    TranscriptFile(root).add(user("one"))
    keep()

    with pytest.raises(Refusal) as refused:
        message(Companion.objects.get(), 2)

    assert refused.value.code == "unknown-number"


def documents(capsys: Any, **options: Any) -> dict[str, Any]:
    call_command("record", json=True, **options)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_command_lists_them_with_the_whole_text_and_secrets_covered(root: Path, capsys: Any) -> None:
    file = TranscriptFile(root)
    key = "sk-ant-api03-" + "A1b2" * 20
    lines = file.add(user("long\n" * 500), user(f"my key is {key}"))

    found = documents(capsys)

    assert found["count"] == 2
    assert found["items"][0] == {
        "number": 1,
        "timestamp": "2026-03-01T08:00:10Z",
        "local_time": "2026-03-01 16:00:10",
        "session_id": file.session,
        "uuid": lines[0]["uuid"],
        "text": "long\n" * 500,
    }
    assert found["items"][1]["text"] == "my key is sk-ant-api03-******"


def test_the_command_by_number_limit_and_companion(root: Path, capsys: Any) -> None:
    TranscriptFile(root).add(user("one"), user("two"), user("three"))
    TranscriptFile(root, project="-srv-attic", cwd="/srv/attic").add(user("other"))

    assert [row["text"] for row in documents(capsys, companion="balcony", limit=2)["items"]] == ["two", "three"]
    assert [row["text"] for row in documents(capsys, companion="balcony", number=1)["items"]] == ["one"]
    assert [row["text"] for row in documents(capsys, companion="attic")["items"]] == ["other"]
    with pytest.raises(Refusal) as refused:
        documents(capsys)
    assert refused.value.code == "which-session"


def test_the_command_shows_hostile_text_as_marks(root: Path, capsys: Any) -> None:
    TranscriptFile(root).add(user("\x1b]52;c;Zm9v\x07 \u202egnp"))

    call_command("record")

    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "⟨ESC⟩" in shown
