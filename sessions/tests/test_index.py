"""Transcripts into rows: what is new is read once, whatever happens to the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.actions import mark
from sessions.actions.index import index_all
from sessions.models import Event, Transcript, UsagePoint, Window
from sessions.tests.indexed import anchors, index, transcript_of, window_of
from sessions.tests.transcripts import (
    TranscriptFile,
    as_bytes,
    assistant,
    custom_title,
    encoded,
    user,
)  # fmt: skip

pytestmark = pytest.mark.django_db


def test_a_session_becomes_a_window_with_its_figures(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(
        user("hello mint"), assistant(used=80_000), user("and basil"), assistant(used=90_000), custom_title("Herbs")
    )

    index(tmp_path)

    window = window_of(file)
    assert (window.session_id, window.title, window.model) == (file.session, "Herbs", "claude-opus-4-7")
    assert (window.used_tokens, window.is_estimated, window.window_tokens, window.used_percent) == (
        90_000,
        False,
        1_000_000,
        9.0,
    )
    assert (window.events, window.dialogue_events, window.human_messages, window.bad_lines) == (5, 4, 2, 0)
    assert (window.cwd, window.client_version, window.compacts_at) == ("/srv/balcony", "2.1.332", 963_000)
    assert anchors(file) == [(0, "hello mint"), (2, "and basil")]


def test_only_what_was_appended_is_read(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user(), assistant(used=80_000))
    index(tmp_path)
    first = set(Event.objects.values_list("uuid", flat=True))

    file.add(user("more"), assistant(used=81_000))
    done = index(tmp_path)

    assert done.new_events == 2
    assert set(Event.objects.values_list("uuid", flat=True)) > first
    assert (window_of(file).used_tokens, window_of(file).events) == (81_000, 4)


def test_a_second_index_does_nothing(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user(), assistant(used=80_000))
    index(tmp_path)
    before = Transcript.objects.values().get()

    done = index(tmp_path)

    assert (done.files, done.new_events) == (1, 0)
    assert Transcript.objects.values().get() == before


def test_a_full_index_reads_it_all_again_and_ends_with_the_same(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user(), assistant(used=80_000), user("more"))
    index(tmp_path)
    before = list(Event.objects.order_by("seq").values())

    done = index_all([tmp_path], full=True)

    assert done.new_events == 3
    assert list(Event.objects.order_by("seq").values()) == before


def test_a_half_written_line_waits_for_its_other_half(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("first"))
    line = encoded(file.talk.link(user("second"))[0])
    file.add_bytes(line[:40])
    index(tmp_path)
    waiting = transcript_of(file.path)

    file.add_bytes(line[40:] + b"\n")
    index(tmp_path)

    assert (waiting.lines, waiting.bad_lines) == (1, 0)
    assert anchors(file) == [(0, "first"), (1, "second")]
    assert transcript_of(file.path).bad_lines == 0


def test_a_whole_line_counts_once_though_its_newline_comes_later(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add_bytes(encoded(file.talk.link(user("first"))[0]))
    index(tmp_path)

    file.add_bytes(b"\n")
    index(tmp_path)
    file.add(user("second"))
    index(tmp_path)

    assert list(Event.objects.order_by("seq").values_list("seq", "preview")) == [(0, "first"), (1, "second")]
    assert window_of(file).events == 2


def test_a_bad_line_is_counted_shown_and_skipped(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("first"))
    file.add_bytes(b'{"type":\n')
    file.add(user("second"))

    index(tmp_path)

    row = transcript_of(file.path)
    assert (window_of(file).bad_lines, row.bad_lines, row.events) == (1, 1, 2)
    assert [(sample["line"], sample["offset"]) for sample in row.bad_samples] == [
        (2, len(file.path.read_bytes().split(b"\n")[0]) + 1)
    ]
    assert len(anchors(file)) == 2


def test_of_many_bad_lines_all_are_counted_and_a_few_shown(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("first"))
    file.add_bytes(b"x\n" * 80)

    index(tmp_path)

    row = transcript_of(file.path)
    assert (row.bad_lines, len(row.bad_samples)) == (80, 50)


@pytest.mark.parametrize("grown", [False, True], ids=["shorter", "shorter-then-longer"])
def test_a_truncated_file_is_read_anew(tmp_path: Path, grown: bool) -> None:
    file = TranscriptFile(tmp_path)
    kept = file.add(user("first"), assistant(used=80_000))
    file.add(user("gone"), assistant(used=90_000))
    index(tmp_path)

    file.path.write_bytes(
        as_bytes([*kept, *(file.talk.link(user("x" * 5_000, parentUuid=kept[-1]["uuid"])) if grown else [])])
    )
    index(tmp_path)

    assert [preview for _, preview in anchors(file)][:1] == ["first"]
    assert not Event.objects.filter(preview="gone").exists()
    assert window_of(file).used_tokens == 80_000
    assert UsagePoint.objects.count() == 1


@pytest.mark.parametrize("same_inode", [True, False], ids=["same-inode", "other-inode"])
def test_a_replaced_file_is_read_anew_and_keeps_what_the_operator_noted(tmp_path: Path, same_inode: bool) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("old words"), assistant(used=80_000))
    index(tmp_path)
    mark.retitle(window_of(file), "Mine")
    mark.pin(window_of(file), True)

    other = TranscriptFile(tmp_path / "elsewhere", session=file.session)
    other.add(user("new words, and more of them"), assistant(used=50_000), user("again"))
    if same_inode:
        file.path.write_bytes(other.path.read_bytes())
    else:
        other.path.replace(file.path)
    index(tmp_path)

    window = window_of(file)
    assert [preview for _, preview in anchors(file)] == ["new words, and more of them", "again"]
    assert (window.used_tokens, window.title, window.is_pinned) == (50_000, "Mine", True)
    assert Window.objects.count() == 1


def test_a_renamed_file_keeps_its_rows_its_title_and_its_pin(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path, "-srv-old")
    file.add(user("first"), assistant(used=80_000))
    index(tmp_path)
    mark.retitle(window_of(file), "Mine")
    mark.pin(window_of(file), True)
    known = window_of(file).pk

    (tmp_path / "-srv-new").mkdir()
    file.path = file.path.rename(tmp_path / "-srv-new" / file.path.name)
    done = index(tmp_path)

    window = Window.objects.get()
    assert (window.pk, window.title, window.is_pinned, window.companion.project) == (known, "Mine", True, "-srv-new")
    assert (window.transcript.path, window.transcript.missing_since) == (str(file.path), None)
    assert done.new_events == 0


def test_a_deleted_file_keeps_its_rows_and_is_marked(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("first"), assistant(used=80_000))
    index(tmp_path)

    file.path.unlink()
    index(tmp_path)
    index(tmp_path)

    assert transcript_of(file.path).missing_since is not None
    assert len(anchors(file)) == 1


def test_a_file_that_is_back_is_no_longer_missing(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("first"))
    data = file.path.read_bytes()
    index(tmp_path)
    file.path.unlink()
    index(tmp_path)

    file.path.write_bytes(data)
    index(tmp_path)

    assert transcript_of(file.path).missing_since is None
    assert Event.objects.count() == 1


def test_a_root_that_is_away_marks_nothing_missing(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path / "root")
    file.add(user("first"))
    index(tmp_path / "root")

    (tmp_path / "root").rename(tmp_path / "unmounted")
    done = index(tmp_path / "root")

    assert [trouble.reason for trouble in done.troubles] == ["no such file or directory"]
    assert transcript_of(file.path).missing_since is None
