"""Transcripts into rows: what is new is read once, whatever happens to the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db.models import Sum

from sessions.actions import mark
from sessions.actions.index import Indexed, index_all
from sessions.models import Companion, Event, Transcript, UsagePoint, Window
from sessions.tests.transcripts import (
    TranscriptFile,
    agent_file,
    ai_title,
    as_bytes,
    assistant,
    boundary,
    custom_title,
    encoded,
    last_prompt,
    progress,
    queued,
    summary,
    tool_result,
    tool_use,
    user,
)  # fmt: skip

pytestmark = pytest.mark.django_db


def window_of(file: TranscriptFile) -> Window:
    return Window.objects.get(transcript__path=str(file.path))


def transcript_of(path: Path) -> Transcript:
    return Transcript.objects.get(path=str(path))


def anchors(file: TranscriptFile) -> list[tuple[int | None, str | None]]:
    found = Event.objects.filter(transcript__path=str(file.path)).anchors().order_by("idx")
    return [(event.idx, event.preview) for event in found]


def index(root: Path) -> Indexed:
    return index_all([root])


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


def test_a_subagents_file_is_linked_to_its_session_and_not_listed(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user(), assistant(used=80_000))
    beside = file.path.with_name("agent-0a1b2c3.jsonl")
    agent = agent_file(tmp_path, file.session, user("dig"), assistant(used=30_000))
    beside.write_bytes(agent.read_bytes())

    index(tmp_path)

    assert [window.session_id for window in Window.objects.all()] == [file.session]
    for path in (agent, beside):
        assert (transcript_of(path).kind, transcript_of(path).parent_session_id) == ("subagent", file.session)
    assert window_of(file).used_tokens == 80_000


@pytest.mark.parametrize(
    "records",
    [
        [],
        [custom_title("Herbs"), {"type": "summary", "summary": "of another", "leafUuid": "x"}],
        [user("dig", isSidechain=True), assistant("dug", isSidechain=True, used=9_000)],
        [{"type": "queue-operation", "operation": "enqueue"}, {"type": "moon-phase", "uuid": "x", "full": True}],
        [{"type": "system", "subtype": "session_start"}],
    ],
    ids=["empty", "metadata", "side-chain", "unknown-types", "system"],
)
def test_a_file_without_a_turn_of_its_own_is_not_listed(tmp_path: Path, records: list[dict[str, object]]) -> None:
    file = TranscriptFile(tmp_path)
    file.add(*records)

    index(tmp_path)

    assert not Window.objects.exists()
    assert transcript_of(file.path).events == len(records)
    assert index(tmp_path).new_events == 0


def test_a_file_of_rubbish_is_not_listed_and_harms_nothing(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add_bytes(b"\x00\xff\n" * 3 + b"[1]\n")
    good = TranscriptFile(tmp_path)
    good.add(user("first"))

    index(tmp_path)

    assert [window.session_id for window in Window.objects.all()] == [good.session]
    assert transcript_of(file.path).bad_lines == 4


def test_unknown_records_are_events_and_nothing_else(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("first"), {"type": "moon-phase", "uuid": "m1"}, {"type": "ended-by-model"}, assistant(used=5_000))

    index(tmp_path)

    assert (window_of(file).events, window_of(file).dialogue_events) == (4, 2)


def test_a_session_that_begins_with_metadata_is_listed_once_it_speaks(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(custom_title("Herbs"))
    index(tmp_path)

    file.add(user("first"))
    index(tmp_path)

    assert (window_of(file).title, window_of(file).is_estimated) == ("Herbs", True)


def test_a_message_on_several_lines_and_passes_counts_once(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user(), assistant([tool_use("t1")], message="m1", used=80_000))
    index(tmp_path)

    file.add(assistant([tool_use("t2")], message="m1", used=80_000))
    index(tmp_path)

    assert UsagePoint.objects.values_list("message_id", "seq").get() == ("m1", 2)
    assert window_of(file).used_tokens == 80_000


def test_after_a_compaction_the_window_holds_what_the_client_left_and_says_it_is_an_estimate(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user(), assistant(used=160_000), boundary(9_000), summary())

    index(tmp_path)

    window = window_of(file)
    assert (window.used_tokens, window.is_estimated, window.compactions) == (9_000, True, 1)


def test_the_first_answer_after_a_compaction_is_no_estimate(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("before"), assistant(used=160_000), boundary(9_000), summary())
    index(tmp_path)

    file.add(user("after"), assistant(used=31_000))
    index(tmp_path)

    window = window_of(file)
    assert (window.used_tokens, window.is_estimated) == (31_000, False)
    assert anchors(file) == [(0, "before"), (2, "after")]


def test_a_rewind_in_a_later_pass_moves_idx_live_and_counts(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    first = file.add(user("one"), assistant(used=20_000), user("two"), assistant(used=30_000), user("three"))
    index(tmp_path)

    file.add(user("two, better", parentUuid=first[1]["uuid"]))
    index(tmp_path)

    assert anchors(file) == [(0, "one"), (2, "two, better")]
    assert list(Event.objects.order_by("seq").values_list("live", "idx")) == [
        (True, 0), (True, 1), (False, None), (False, None), (False, None), (True, 2)
    ]  # fmt: skip
    window = window_of(file)
    assert (window.human_messages, window.dialogue_events, window.used_tokens, window.is_estimated) == (
        2,
        3,
        20_000,
        False,
    )
    assert list(UsagePoint.objects.order_by("seq").values_list("is_live", flat=True)) == [True, False]


def test_after_a_rewind_the_talk_goes_on_with_the_next_idx(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    first = file.add(user("one"), assistant(used=20_000), user("two"))
    index(tmp_path)
    file.add(user("two, better", parentUuid=first[1]["uuid"]))
    index(tmp_path)

    file.add(assistant(used=21_000), user("three"))
    index(tmp_path)

    assert anchors(file) == [(0, "one"), (2, "two, better"), (4, "three")]


def test_a_repeated_uuid_counts_by_its_last_line_over_passes_too(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("one", uuid="u1"), assistant(uuid="a1"), user("two", uuid="u2"))
    index(tmp_path)

    file.add(user("two, said again", uuid="u2", parentUuid="a1"))
    index(tmp_path)

    assert anchors(file) == [(0, "one"), (2, "two, said again")]


def test_a_pin_in_a_later_pass_moves_the_thread(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(
        user("one", uuid="u1"), assistant(uuid="a1"), user("two", uuid="u2"), user("other", uuid="u3", parentUuid="a1")
    )
    index(tmp_path)
    before = anchors(file)

    file.add(last_prompt("u2"))
    index(tmp_path)

    assert before == [(0, "one"), (2, "other")]
    assert anchors(file) == [(0, "one"), (2, "two")]


def test_a_message_queued_beside_parallel_results_is_an_anchor(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    calls = file.add(
        user("one"), assistant([tool_use("t1")], message="m1"), progress(), assistant([tool_use("t2")], message="m1")
    )
    file.add(
        tool_result("t1", parentUuid=calls[1]["uuid"]),
        queued("two"),
        tool_result("t2", parentUuid=calls[3]["uuid"]),
        assistant(),
    )

    index(tmp_path)

    assert anchors(file) == [(0, "one"), (4, "two")]


def test_titles_come_by_rank(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    titles = []
    for record in (user("first words"), ai_title("A guess"), custom_title("The file's")):
        file.add(record)
        index(tmp_path)
        titles.append(window_of(file).title)
    mark.retitle(window_of(file), "Mine")
    titles.append(window_of(file).title)
    mark.retitle(window_of(file), "")

    assert titles == ["first words", "A guess", "The file's", "Mine"]
    assert window_of(file).title == "The file's"


def test_every_project_folder_has_a_companion_named_after_its_working_folder(tmp_path: Path) -> None:
    for project, cwd in (("-srv-a", "/srv/balcony"), ("-srv-a", "/srv/balcony"), ("-srv-b", "/home/lin/garden")):
        TranscriptFile(tmp_path, project, cwd=cwd).add(user())

    index(tmp_path)

    assert sorted(Companion.objects.values_list("project", "name", "cwd", "confirmed")) == [
        ("-srv-a", "balcony", "/srv/balcony", False), ("-srv-b", "garden", "/home/lin/garden", False)
    ]  # fmt: skip
    assert {companion.project: companion.windows.count() for companion in Companion.objects.all()} == {
        "-srv-a": 2,
        "-srv-b": 1,
    }


def test_a_companions_latest_word_is_that_of_its_windows(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user())

    index(tmp_path)

    assert Companion.objects.get().last_activity == window_of(file).last_activity is not None


def test_a_clock_ahead_does_not_reach_into_the_future(tmp_path: Path) -> None:
    TranscriptFile(tmp_path).add(user(timestamp="2999-01-01T00:00:00.000Z"))

    index(tmp_path)

    last = Window.objects.get().last_activity
    assert last is not None
    assert last.year < 2999


def test_the_tokens_of_a_file_are_those_of_its_rows(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    file.add(user("mint " * 200), assistant("basil " * 100), user("tea"))

    index(tmp_path)

    estimated = Event.objects.aggregate(sum=Sum("dialogue"))["sum"]
    assert estimated > 200
    assert window_of(file).used_tokens == estimated + 20_000
