"""The live thread of a file: the lines the client would carry on from (transcripts.md 1.5, 1.6)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sessions.core.thread import live_thread
from sessions.tests.transcripts import (
    START,
    Record,
    Talk,
    assistant,
    attachment,
    boundary,
    image,
    links_of,
    progress,
    queued,
    stamp,
    summary,
    tool_result,
    tool_use,
    user,
)  # fmt: skip


def talk(*records: Record) -> list[Record]:
    """Linked one after another, except where a record names its parent."""
    return Talk().link(*records)


def live(records: list[Record], version: str = "2.1.332", pinned: str | None = None) -> list[str]:
    """The uuids of the live thread, in its order."""
    return [link.uuid for link in live_thread(links_of(records), version=version, pinned=pinned).links]


def at(seconds: float) -> str:
    return stamp(START + timedelta(seconds=seconds))


def split(uuid: str, parent: str, message: str = "m1", call: str = "") -> Record:
    """One line of an answer that stands on several."""
    return assistant([tool_use(call or f"t-{uuid}")], message=message, uuid=uuid, parentUuid=parent)


def result(uuid: str, parent: str) -> Record:
    return tool_result(f"t-{parent}", uuid=uuid, parentUuid=parent)


def test_an_empty_file_has_no_thread() -> None:
    thread = live_thread([])

    assert (thread.leaf, thread.links) == (None, [])


def test_a_straight_talk_is_live_from_its_first_line_to_its_last() -> None:
    records = talk(user(uuid="u1"), assistant(uuid="a1"), user(uuid="u2"), assistant(uuid="a2"))

    assert live(records) == ["u1", "a1", "u2", "a2"]


def test_the_leaf_is_the_end_of_the_thread() -> None:
    thread = live_thread(links_of(talk(user(uuid="u1"), assistant(uuid="a1"))))

    assert thread.leaf is not None
    assert thread.leaf.uuid == "a1"


def test_a_rewind_leaves_the_old_branch_behind() -> None:
    records = talk(
        user(uuid="u1"), assistant(uuid="a1"), user(uuid="u2"), assistant(uuid="a2"),
        user(uuid="u3", parentUuid="a1"), assistant(uuid="a3"),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "u3", "a3"]


def test_an_edited_first_prompt_is_a_thread_of_its_own() -> None:
    records = talk(user(uuid="u1"), assistant(uuid="a1"), user(uuid="u2", parentUuid=None), assistant(uuid="a2"))

    assert live(records) == ["u2", "a2"]


def test_a_new_root_alone_makes_the_thread_as_soon_as_it_is_there() -> None:
    records = talk(user(uuid="u1"), assistant(uuid="a1"), user(uuid="u2", parentUuid=None))

    assert live(records) == ["u2"]


def test_going_back_to_an_old_branch_makes_it_live_again() -> None:
    records = talk(
        user(uuid="u1"), assistant(uuid="a1"), user(uuid="u2", parentUuid=None), assistant(uuid="a2"),
        user(uuid="u3", parentUuid="a1"),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "u3"]


@pytest.mark.parametrize("onto", ["r1", "r2"])
def test_parallel_calls_and_results_are_live_whichever_of_them_the_talk_goes_on_from(onto: str) -> None:
    records = talk(
        user(uuid="u1"), split("a1", "u1"), split("a2", "a1"), result("r1", "a1"), result("r2", "a2"),
        assistant(uuid="a3", parentUuid=onto), user(uuid="u2"),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "a2", "r1", "r2", "a3", "u2"]


def test_three_parallel_calls_with_late_results_are_all_live() -> None:
    records = talk(
        user(uuid="u1"), split("a1", "u1"), split("a2", "a1"), split("a3", "a2"),
        result("r3", "a3"), result("r1", "a1"), result("r2", "a2"), assistant(uuid="a4", parentUuid="r2"),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "a2", "a3", "r3", "r1", "r2", "a4"]


def test_a_message_queued_beside_parallel_results_is_not_lost() -> None:
    records = talk(
        user(uuid="u1"), split("a1", "u1"), split("a2", "a1"), result("r1", "a1"), queued(uuid="q1", parentUuid="r1"),
        result("r2", "a2"), assistant(uuid="a3", parentUuid="r2"),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "a2", "r1", "q1", "r2", "a3"]


def test_two_messages_queued_one_behind_the_other_beside_the_path_are_not_lost() -> None:
    records = talk(
        user(uuid="u1"), split("a1", "u1"), split("a2", "a1"), result("r1", "a1"), queued(uuid="q1", parentUuid="r1"),
        queued(uuid="q2", parentUuid="q1"), result("r2", "a2"), assistant(uuid="a3", parentUuid="r2"),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "a2", "r1", "q1", "q2", "r2", "a3"]


def test_a_rewind_to_a_tool_result_does_not_bring_its_old_answer_along() -> None:
    records = talk(
        user(uuid="u1"), split("a1", "u1"), result("r1", "a1"), assistant(uuid="a2", message="m2"),
        assistant(uuid="a3", parentUuid="r1", message="m3"),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "r1", "a3"]


def test_a_dead_branch_that_repeats_a_message_id_is_not_pulled_in() -> None:
    records = talk(
        user(uuid="u1"), assistant(uuid="a1", message="m1"),
        user(uuid="u1b", parentUuid=None), assistant(uuid="a1b", message="m1"), user(uuid="u2"),
    )  # fmt: skip

    assert live(records) == ["u1b", "a1b", "u2"]


def test_a_prompt_repeated_under_one_parent_with_one_message_id_is_not_pulled_in() -> None:
    records = talk(
        user(uuid="u0"), assistant(uuid="a0", message="m0"),
        user(uuid="u1", parentUuid="a0"), assistant(uuid="a1", message="m1"),
        user(uuid="u2", parentUuid="a0"), assistant(uuid="a2", message="m1"),
    )  # fmt: skip

    assert live(records) == ["u0", "a0", "u2", "a2"]


def test_progress_inside_the_chain_is_walked_through() -> None:
    records = talk(user(uuid="u1"), progress(uuid="p1"), progress(uuid="p2"), assistant(uuid="a1"))

    assert [uuid for uuid in live(records) if uuid[0] != "p"] == ["u1", "a1"]


@pytest.mark.parametrize(("gap", "thread"), [(5.0, ["u1", "a1", "u2"]), (5.1, ["u2"])], ids=["within", "beyond"])
def test_a_missing_parent_is_bridged_over_five_seconds_and_no_more(gap: float, thread: list[str]) -> None:
    records = talk(
        user(uuid="u1", timestamp=at(0)), assistant(uuid="a1", timestamp=at(1)),
        user(uuid="u2", parentUuid="never-written", timestamp=at(1 + gap)),
    )  # fmt: skip

    assert live(records) == thread


def test_a_bridge_leads_to_an_older_line_of_the_file_only() -> None:
    records = talk(
        user(uuid="u1", timestamp=at(0)), assistant(uuid="a1", timestamp=at(1)),
        user(uuid="u2", parentUuid="lost", timestamp=at(2)), assistant(uuid="a2", timestamp=at(2)),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "u2", "a2"]


def test_a_line_without_a_time_is_not_bridged() -> None:
    records = talk(
        user(uuid="u1"),
        assistant(uuid="a1"),
        user(uuid="u2", parentUuid="lost", timestamp="soon"),
        assistant(uuid="a2"),
    )

    assert live(records) == ["u2", "a2"]


@pytest.mark.parametrize(
    "records",
    [
        talk(user(uuid="u1", parentUuid="a1"), assistant(uuid="a1", parentUuid="u1")),
        talk(user(uuid="u1"), assistant(uuid="a1", parentUuid="a1")),
        talk(user(uuid="u1", parentUuid="a2"), assistant(uuid="a1"), user(uuid="u2"), assistant(uuid="a2")),
    ],
    ids=["pair", "self", "ring"],
)
def test_a_cycle_ends_the_walk(records: list[Record]) -> None:
    thread = live(records)

    assert thread[-1] == records[-1]["uuid"]
    assert len(thread) == len(set(thread))


def test_a_file_whose_lines_all_have_one_uuid_keeps_the_last() -> None:
    assert live([{**record, "uuid": "same", "parentUuid": "same"} for record in talk(user(), assistant(), user())]) == [
        "same"
    ]


def test_of_two_lines_with_one_uuid_the_last_counts() -> None:
    records = talk(user(uuid="u1"), assistant(uuid="a1"), user(uuid="u2"), assistant(uuid="u2", parentUuid="u1"))

    thread = live_thread(links_of(records)).links

    assert [(link.uuid, link.kind, link.seq) for link in thread] == [("u1", "h", 0), ("u2", "a", 3)]


@pytest.mark.parametrize(
    ("version", "thread"),
    [
        ("2.0.76", ["u1", "a1", "u2"]),
        ("2.1.112", ["u1", "a1", "u3"]),
        ("2.1.332", ["u1", "a1", "u3"]),
        ("", ["u1", "a1", "u3"]),
    ],
    ids=["2.0-by-time", "2.1-by-order", "2.1.332-by-order", "unknown-by-order"],
)
def test_which_branch_is_newest_is_for_time_to_say_in_2_0_and_for_the_file_later(
    version: str, thread: list[str]
) -> None:
    records = talk(
        user(uuid="u1", timestamp=at(0)), assistant(uuid="a1", timestamp=at(1)),
        user(uuid="u2", parentUuid="a1", timestamp=at(90)), user(uuid="u3", parentUuid="a1", timestamp=at(60)),
    )  # fmt: skip

    assert live(records, version) == thread


@pytest.mark.parametrize("jump", [-86_400, 86_400], ids=["back", "ahead"])
@pytest.mark.parametrize("version", ["2.0.76", "2.1.332"])
def test_a_clock_that_jumps_does_not_part_a_straight_talk(version: str, jump: int) -> None:
    records = talk(
        user(uuid="u1", timestamp=at(0)), assistant(uuid="a1", timestamp=at(jump)), user(uuid="u2", timestamp=at(5)),
    )  # fmt: skip

    assert live(records, version) == ["u1", "a1", "u2"]


BRANCHES = (
    user(uuid="u1"), assistant(uuid="a1"), user(uuid="u2"), assistant(uuid="a2"),
    user(uuid="u3", parentUuid="a1"), assistant(uuid="a3"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("pinned", "thread"),
    [
        (None, ["u1", "a1", "u3", "a3"]),
        ("a3", ["u1", "a1", "u3", "a3"]),
        ("a1", ["u1", "a1", "u3", "a3"]),
        ("nowhere", ["u1", "a1", "u3", "a3"]),
        ("a2", ["u1", "a1", "u2", "a2"]),
        ("u2", ["u1", "a1", "u2"]),
    ],
    ids=["none", "newest", "ancestor", "unknown", "other-branch", "inside-other-branch"],
)
def test_a_pinned_line_decides_where_the_newest_does_not_descend_from_it(pinned: str | None, thread: list[str]) -> None:
    assert live(talk(*BRANCHES), pinned=pinned) == thread


def test_the_thread_crosses_a_compaction() -> None:
    records = talk(
        user(uuid="u1"), assistant(uuid="a1"), boundary(uuid="b1"), summary(uuid="s1"), user(uuid="u2"), assistant(uuid="a2"),
    )  # fmt: skip

    assert live(records) == ["u1", "a1", "b1", "s1", "u2", "a2"]


def test_a_subagents_lines_inside_the_file_are_no_part_of_the_thread() -> None:
    records = talk(
        user(uuid="u1"), assistant(uuid="a1"), user(uuid="x1", isSidechain=True, parentUuid="a1"), user(uuid="u2")
    )

    assert live(records) == ["u1", "a1", "u2"]


def test_a_file_of_nothing_but_side_lines_has_no_thread() -> None:
    assert live(talk(user(isSidechain=True), assistant(isSidechain=True))) == []


def test_lines_that_nothing_links_stand_in_the_order_of_the_file() -> None:
    records = talk(
        user(uuid="u1", parentUuid=None), assistant(uuid="a1", parentUuid=None), user(uuid="u2", parentUuid="lost")
    )

    assert live(records) == ["u1", "a1", "u2"]


def test_a_last_line_without_any_talk_behind_it_does_not_hide_the_talk() -> None:
    records = talk(user(uuid="u1"), assistant(uuid="a1"), {"type": "system", "uuid": "y1", "parentUuid": None})

    assert live(records) == ["u1", "a1"]


def test_helpers_on_the_path_are_live_and_those_beside_a_prompt_are_not() -> None:
    records = talk(
        user([image()], uuid="u1"), attachment("file", uuid="x1"), assistant(uuid="a1"), attachment("date", uuid="x2"),
        user(uuid="u2", parentUuid="a1"),
    )  # fmt: skip

    assert live(records) == ["u1", "x1", "a1", "u2"]


def test_a_hostile_file_of_lost_parents_is_worked_out_in_time() -> None:
    records = [
        user(uuid=f"u{number}", parentUuid=f"lost{number}", timestamp=at(number / 100)) for number in range(1_000)
    ]

    assert len(live([*records, user(uuid="end", parentUuid="u999", timestamp=at(11))])) == 1_001
