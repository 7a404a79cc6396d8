"""Whatever a file holds, it is read, or said to be unreadable, and the files beside it are read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions.actions.index import index_all
from sessions.models import Event, Transcript, Window
from sessions.tests.transcripts import (
    Record,
    TranscriptFile,
    ai_title,
    assistant,
    boundary,
    custom_title,
    last_prompt,
    tool_use,
    user,
)  # fmt: skip

pytestmark = pytest.mark.django_db
NASTY = "a\x00b\\N\\. \t\n\r\x08\x0b \ud83d \u2028 '\"; DROP TABLE x; %s {} \U0010ffff"
HUGE = 10**30


def nasty(kind: str) -> list[Record]:
    reported = assistant(used=5_000)
    reported["message"] |= {"id": NASTY, "model": NASTY}
    reported["message"]["usage"] |= {"input_tokens": HUGE, "output_tokens": -HUGE}
    return {
        "words": [user(NASTY), user([{"type": "text", "text": NASTY}])],
        "ids": [
            user(uuid=NASTY),
            user(uuid=NASTY * 50),
            user(uuid="\\N"),
            user(uuid="\\."),
            assistant(parentUuid=NASTY),
        ],
        "facts": [user(cwd=NASTY * 100, version=NASTY, sessionId=NASTY * 100, timestamp=NASTY)],
        "titles": [user(), custom_title(NASTY * 100), ai_title(NASTY * 100)],
        "usage": [user(), reported],
        "boundary": [user(), boundary(HUGE), boundary(-HUGE), user()],
        "pin": [user(), last_prompt(NASTY)],
        "times": [
            user(timestamp=at) for at in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-02-30", "0", "١")
        ],
        "blocks": [
            user([None, 7, [], NASTY, {"type": NASTY, "text": NASTY}]),
            assistant([tool_use(NASTY), {"type": "image"}]),
        ],
        "long-id": [assistant(message="m" * 5_000, used=5_000)],
        "cycle": [user(uuid="u1", parentUuid="u2"), user(uuid="u2", parentUuid="u1")],
    }[kind]


@pytest.mark.parametrize(
    "kind", ["words", "ids", "facts", "titles", "usage", "boundary", "pin", "times", "blocks", "long-id", "cycle"]
)
def test_hostile_fields_are_stored_as_harmless_text_and_figures(tmp_path: Path, kind: str) -> None:
    records = nasty(kind)
    file = TranscriptFile(tmp_path)
    file.add(*records)

    index_all([tmp_path])
    file.add(user("goes on"))
    index_all([tmp_path])

    row = Transcript.objects.get()
    assert (row.events, row.bad_lines, row.trouble) == (len(records) + 1, 0, "")
    assert Event.objects.filter(preview="goes on").exists()
    assert 0 <= Window.objects.get().used_tokens <= 300_000_000


def test_a_number_beyond_all_bounds_harms_nothing(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user())
    file.add_bytes(
        b'{"type":"system","subtype":"compact_boundary","uuid":"b1","parentUuid":null,"compactMetadata":{"postTokens":1e999}}\n'
    )

    index_all([tmp_path])

    assert Transcript.objects.get().events == 2


def test_a_line_nested_without_end_keeps_its_place(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("one"), user("two", toolUseResult="DEEP", uuid="u2"), user("three", parentUuid="u2"))
    file.path.write_bytes(file.path.read_bytes().replace(b'"DEEP"', b"[" * 50_000 + b"]" * 50_000))

    index_all([tmp_path])

    assert list(Event.objects.order_by("seq").values_list("idx", flat=True)) == [0, 1, 2]


@pytest.mark.parametrize("name", [b"-p\xff", b"-p\xed\xa0\x80"])
def test_a_folder_whose_name_is_no_text_is_told_and_the_others_are_read(tmp_path: Path, name: bytes) -> None:
    TranscriptFile(tmp_path, os.fsdecode(name)).add(user("hidden"))
    TranscriptFile(tmp_path).add(user("hello"))

    done = index_all([tmp_path])

    assert len(done.troubles) == 1
    assert Window.objects.count() == 1


def test_a_pipe_in_place_of_a_transcript_does_not_hold_anything_up(tmp_path: Path) -> None:
    good = TranscriptFile(tmp_path)
    good.add(user("hello"))
    os.mkfifo(good.path.with_name("00000000-0000-4000-8000-000000000000.jsonl"))

    index_all([tmp_path])

    assert Window.objects.count() == 1


def test_a_link_out_of_the_root_is_not_read(tmp_path: Path) -> None:
    outside = TranscriptFile(tmp_path / "outside")
    outside.add(user("private"))
    (tmp_path / "root" / "-p").mkdir(parents=True)
    (tmp_path / "root" / "-p" / outside.path.name).symlink_to(outside.path)

    index_all([tmp_path / "root"])

    assert not Event.objects.exists()
