"""What a window and its companion become by what is read (spec S1-S5)."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db.models import Sum

from sessions.actions import mark
from sessions.models import Companion, Event, UsagePoint, Window
from sessions.tests.indexed import anchors, index, transcript_of, window_of
from sessions.tests.transcripts import (
    TranscriptFile,
    agent_file,
    ai_title,
    assistant,
    boundary,
    custom_title,
    last_prompt,
    progress,
    queued,
    summary,
    tool_result,
    tool_use,
    user,
)  # fmt: skip

pytestmark = pytest.mark.django_db


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
