"""Copying turns into a new file: what stays of them, and what is never taken for talk (spec W7)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from sessions.core.surgery import Tally, preserves_thinking, side_names
from sessions.tests.surgeries import (
    HANDOFF,
    NOW,
    SOURCE,
    TARGET,
    copy,
    kept,
    picked,
    source,
    start,
    tail_of,
    talk,
    words,
)
from sessions.tests.transcripts import (
    Record,
    Talk,
    assistant,
    attachment,
    boundary,
    custom_title,
    image,
    last_prompt,
    progress,
    queued,
    summary,
    thinking,
    tool_result,
    tool_use,
    user,
)


def call(*names: str, message: str = "m1", **more: Any) -> Record:
    return assistant([tool_use(name) for name in names], message=message, **more)


def said(*records: Record, **order: Any) -> list[str]:
    """What the new file of one talk says; it must be one that every client takes."""
    copied = copy(talk(*records), **order)
    assert copied.faults == []
    return copied.words()


def test_what_stands_before_the_first_message_of_the_person_is_never_kept() -> None:
    lead = [user("<command-name>/model</command-name>"), user("a note", isMeta=True), assistant("hello")]

    copied = copy(talk(*lead, user("one"), assistant("two")))

    assert copied.words() == ["one", "two"]
    assert copied.faults == []


def test_the_first_line_that_stays_is_a_message_of_the_person_wherever_a_range_begins() -> None:
    records = [user("one"), call("t1"), tool_result("t1"), assistant("two"), user("three"), assistant("four")]
    whole = talk(*records)

    for step in whole.steps:
        copied = copy(whole, kept(whole, picked(start("idx", str(step.idx)))))
        assert copied.records[0]["message"]["content"] in {"one", "three"}
        assert copied.faults == []


def test_a_tail_of_turns_is_copied_word_for_word_and_nothing_else() -> None:
    whole = talk(user("one"), assistant("two"), user("three"), assistant("four"), user("five"), assistant("six"))

    assert copy(whole, tail_of(whole, 2)).words() == ["three", "four", "five", "six"]


def test_turns_with_a_hole_between_are_one_chain() -> None:
    whole = talk(user("one"), assistant("two"), user("three"), assistant("four"), user("five"), assistant("six"))

    copied = copy(whole, [whole.turns[0], whole.turns[2]])

    assert copied.words() == ["one", "two", "five", "six"]
    assert copied.faults == []


@pytest.mark.parametrize(
    "beside",
    [
        pytest.param([summary()], id="the summary of a compaction"),
        pytest.param([boundary(), summary()], id="a compaction"),
        pytest.param([attachment("file"), attachment("hook_additional_context")], id="attachments"),
        pytest.param([progress()], id="progress"),
        pytest.param([{"type": "system", "subtype": "turn_duration"}], id="what the client notes"),
        pytest.param([custom_title("mint"), {"type": "ended-by-model"}], id="metadata"),
        pytest.param([user("find pots", isSidechain=True), assistant("found", isSidechain=True)], id="a side chain"),
        pytest.param(
            [user("from before", isMeta=True, origin={"kind": "companion-console"})], id="an earlier hand-off"
        ),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2, 4])
def test_what_is_no_part_of_the_dialogue_is_left_out_wherever_it_stands(beside: list[Record], place: int) -> None:
    records = [user("one"), assistant("two"), user("three"), assistant("four")]

    assert said(*records[:place], *beside, *records[place:]) == ["one", "two", "three", "four"]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(user("<command-name>/clear</command-name>"), id="a slash command"),
        pytest.param(user("<bash-input>ls</bash-input>"), id="a shell line"),
        pytest.param(user("[Request interrupted by user]"), id="an interruption"),
        pytest.param(user("<task-notification>done", origin={"kind": "task-notification"}), id="a delivery"),
        pytest.param(user("a note", isMeta=True), id="a note of the client"),
        pytest.param(queued("while you are at it"), id="a message that was queued"),
        pytest.param(assistant("API Error", isApiErrorMessage=True), id="an error of the API"),
    ],
)
def test_what_belongs_to_a_turn_stays_with_it_and_is_never_a_cut(line: Record) -> None:
    whole = talk(user("one"), assistant("two"), line, user("three"), assistant("four"))

    assert [(turn.first, turn.last) for turn in whole.turns] == [(0, 2), (3, 4)]
    assert copy(whole, whole.turns[:1]).words() == ["one", "two", words(line)]
    assert copy(whole, whole.turns[:1]).faults == []
    assert copy(whole, whole.turns[1:]).words() == ["three", "four"]


def test_a_queued_message_survives_with_its_images() -> None:
    prompt = [{"type": "text", "text": "and this one"}, image()]

    copied = copy(talk(user("one"), call("t1"), tool_result("t1"), queued(prompt), assistant("two")))

    (message,) = [record for record in copied.records if record["type"] == "attachment"]
    assert message["attachment"] == {"type": "queued_command", "prompt": prompt, "commandMode": "prompt"}


def test_a_branch_that_a_rewind_left_behind_is_not_kept() -> None:
    one, two = Talk(SOURCE).link(user("one"), assistant("two"))
    other = Talk(SOURCE, start=NOW - timedelta(days=1))
    lines = [one, two, *other.link(user("no", parentUuid=two["uuid"]), assistant("well"))]
    lines += other.link(user("yes", parentUuid=two["uuid"]), assistant("good"))

    assert copy(source(*lines)).words() == ["one", "two", "yes", "good"]


def test_long_results_are_cut_and_the_old_window_keeps_them() -> None:
    copied = copy(talk(user("one"), call("t1"), tool_result("t1", "x" * 9_000), assistant("two")), cap=500)

    (block,) = copied.records[2]["message"]["content"]
    assert len(block["content"]) == 500
    assert SOURCE in block["content"]
    assert copied.tally.squashed.results == 1


def test_pictures_stay_in_the_last_turn_of_the_talk_only() -> None:
    whole = talk(user([image()]), assistant("two"), user([image()]), assistant("four"))

    copied = copy(whole)

    assert copied.words()[0].startswith("[image left out here")
    assert copied.words()[2] == "[image]"
    assert copied.kinds() == "haha"
    assert copied.tally.squashed.images == 1
    assert copy(whole, whole.turns[:1]).words()[0].startswith("[image left out here")


def test_nothing_is_cut_where_no_cap_is_asked_for() -> None:
    whole = talk(
        user([image()]), call("t1"), tool_result("t1", "x" * 9_000), assistant("two"), user("three"), assistant()
    )

    assert copy(whole, cap=0).tally.squashed == Tally().squashed


@pytest.mark.parametrize(
    ("record", "kind"),
    [
        pytest.param(user([image(), {"type": "text", "text": "[Request interrupted by user]"}]), "m", id="a command"),
        pytest.param(queued([image(), {"type": "text", "text": "[Harness: Task 1]"}]), "t", id="a delivery"),
        pytest.param(queued([image(), {"type": "text", "text": "look"}]), "q", id="a message of the person"),
        pytest.param(user([image(), {"type": "text", "text": "look"}], isMeta=True), "m", id="a note"),
    ],
)
def test_a_line_that_begins_with_a_picture_does_not_turn_into_talk(record: Record, kind: str) -> None:
    copied = copy(talk(user("one"), record, assistant("two"), user("three"), assistant("four")))

    assert copied.kinds() == f"h{kind}aha"
    assert copied.faults == []


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-5-5", True), ("claude-sonnet-5-5-20270101", True), ("claude-haiku-5-5", True),
        ("claude-fable-5-1", True), ("claude-mythos-5-2", True), ("anthropic.claude-opus-5-5-v1:0", True),
        ("claude-opus-5", False), ("claude-opus-4-7", False), ("claude-opus-5-50", False), ("claude-fable-5-3", False),
        ("claude-sonnet-4-5-20250929", False), ("glm-5-5", False), ("<synthetic>", False), ("", False),
    ],
)  # fmt: skip
def test_which_models_tie_their_thinking_to_the_talk_before_it(model: str, expected: bool) -> None:
    assert preserves_thinking(model) is expected


def test_thinking_that_is_tied_to_the_talk_is_left_out_and_counted() -> None:
    records = [
        assistant([thinking()], message="m1"),
        assistant("two", message="m1"),
        assistant([thinking(), tool_use("t1")], message="m2"),
    ]

    copied = copy(talk(user("one"), *records, tool_result("t1"), assistant("three")), drop_thinking=True)

    assert copied.words() == ["one", "two", ">t1", "<t1", "three"]
    assert (copied.tally.thinking, copied.tally.thinking_dropped) == (0, 2)
    assert copied.faults == []


def test_usage_is_zeroed_in_every_answer_and_stays_where_it_was() -> None:
    copied = copy(
        talk(
            user("one"),
            assistant([thinking()], message="m1", used=190_000),
            assistant("two", message="m1", used=190_000),
        )
    )

    for record in copied.records[1:]:
        assert record["message"]["usage"] == {
            "input_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0,
        }  # fmt: skip


def test_usage_is_not_invented_where_there_was_none() -> None:
    assert "usage" not in copy(talk(user("one"), assistant("two"))).records[1]["message"]


FOLDER = f"/home/yun/.claude/projects/-srv/{SOURCE}/tool-results"
MOVED = FOLDER.replace(SOURCE, TARGET)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param(f"saved to: {FOLDER}/b1.txt\n", {"tool-results/b1.txt"}, id="at the end of a line"),
        pytest.param(f"see {FOLDER}/b1.txt.", {"tool-results/b1.txt"}, id="at the end of a sentence"),
        pytest.param(f'"{FOLDER}/b1.txt" and {FOLDER}/c-2_x.json)', {"tool-results/b1.txt", "tool-results/c-2_x.json"}, id="two"),
        pytest.param(f"{FOLDER}/../../x", set(), id="out of the folder"),
        pytest.param(f"{FOLDER}/", set(), id="the folder"),
        pytest.param(FOLDER.replace(SOURCE, "another") + "/b1.txt", set(), id="another session's"),
        pytest.param("/tool-results/b1.txt", set(), id="no session's"),
    ],
)  # fmt: skip
def test_side_files_are_known_by_the_paths_in_texts(text: str, names: set[str]) -> None:
    assert side_names(text, SOURCE) == names


@pytest.mark.parametrize("shape", ["text", "blocks"])
def test_paths_of_side_files_that_are_carried_along_point_to_the_new_folder(shape: str) -> None:
    text = f"{FOLDER}/b1.txt, {FOLDER}/b1.txt.gz, {FOLDER}/gone.txt"
    content = text if shape == "text" else [{"type": "text", "text": text}, {"type": "tool_reference"}]
    whole = talk(user(f"look at {FOLDER}/b1.txt"), call("t1"), tool_result("t1", content), assistant("two"))

    copied = copy(whole, sides=frozenset({"tool-results/b1.txt"}))

    (block,) = copied.records[2]["message"]["content"]
    found = block["content"] if shape == "text" else block["content"][0]["text"]
    assert found == f"{MOVED}/b1.txt, {FOLDER}/b1.txt.gz, {FOLDER}/gone.txt"
    assert copied.words()[0] == f"look at {FOLDER}/b1.txt"


def test_the_subagent_of_a_call_is_remembered_through_one_copy_after_another() -> None:
    result = tool_result("t1", toolUseResult={"agentId": "a1b2c3d", "content": []})
    first = copy(talk(user("one"), call("t1"), result, assistant("two")))

    again = copy(source(*first.lines))

    for copied in (first, again):
        assert copied.tally.agents == {"a1b2c3d"}
        assert copied.records[2]["keptAgentId"] == "a1b2c3d"
        assert "toolUseResult" not in copied.records[2]


def test_two_copies_of_one_file_are_the_same_to_the_byte() -> None:
    whole = talk(user([image()]), assistant([thinking(), tool_use("t1")], message="m", used=9_000), tool_result("t1", "x" * 5_000),
                 assistant("two"), user("three"), call("t2"))  # fmt: skip
    before = [line.raw for line in whole.lines]

    first, second = copy(whole, handoff=HANDOFF, title="t"), copy(whole, handoff=HANDOFF, title="t")

    assert first.lines == second.lines
    assert [line.raw for line in whole.lines] == before


def test_a_copy_of_a_copy_says_the_same() -> None:
    whole = talk(
        user([image()]), call("t1"), queued("hey"), tool_result("t1", "x" * 5_000), user("three"), assistant("four")
    )
    once = copy(whole, handoff=HANDOFF, title="mint")

    twice = copy(source(*once.lines), handoff=HANDOFF, title="mint")

    assert [json.dumps(record) for record in twice.records] == [json.dumps(record) for record in once.records]


def test_fields_that_nobody_here_knows_are_carried_along_in_their_order() -> None:
    extra = {"gitBranch": "main", "zz": {"b": 1, "a": [None]}, "isSidechain": False, "aa": "…"}

    copied = copy(talk(user("one", **extra), assistant("two")))

    first = copied.records[0]
    assert {name: first[name] for name in extra} == extra
    assert next(iter(first)) == "parentUuid"
    assert list(first).index("timestamp") == list(first).index("uuid") + 1


def test_where_a_line_stood_in_the_old_chain_is_not_copied() -> None:
    copied = copy(talk(user("one", logicalParentUuid="x", toolUseResult={"a": 1}), assistant("two", toolUseResult="s")))

    assert not any({"logicalParentUuid", "toolUseResult"} & set(record) for record in copied.records)


def test_a_pinned_leaf_decides_what_is_copied_and_is_not_copied_itself() -> None:
    lines = Talk(SOURCE).link(user("one"), assistant("two"), user("three"), assistant("four"))

    copied = copy(source(*lines, *Talk(SOURCE).link(user("lost"), assistant("too")), last_prompt(lines[3]["uuid"])))

    assert copied.words() == ["one", "two", "three", "four"]
    assert {record["type"] for record in copied.records} == {"user", "assistant"}


def test_tallies_of_several_turns_add_up() -> None:
    total = Tally(1, 2, 3, 4, {"a"})

    total.add(Tally(10, 20, 30, 40, {"b"}))

    assert total == Tally(11, 22, 33, 44, {"a", "b"})
