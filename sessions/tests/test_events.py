"""What a record is (transcripts.md 1.7): a person's words, and everything that only looks like them."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.core.events import ANCHORS, DIALOGUE, LONGEST_ID, Kind, bounded_id, kind_of, parent_of, text_of
from sessions.tests.transcripts import (
    Record,
    assistant,
    attachment,
    boundary,
    image,
    line_of,
    progress,
    queued,
    summary,
    thinking,
    tool_result,
    tool_use,
    user,
)  # fmt: skip

TASK = {"origin": {"kind": "task-notification"}}
TEXT = {"type": "text", "text": "look"}
DOCUMENT = {"type": "document", "source": {"type": "base64", "data": "JVBERg=="}}
BOUNDARY_LIKE = {"type": "system", "subtype": "microcompact_boundary"}
TABLE: list[tuple[str, Record, Kind]] = [
    ("words", user("good morning"), Kind.HUMAN),
    ("words-in-blocks", user([TEXT]), Kind.HUMAN),
    ("words-and-image", user([TEXT, image()]), Kind.HUMAN),
    ("images-only", user([image()]), Kind.HUMAN),
    ("document-only", user([DOCUMENT]), Kind.HUMAN),
    ("origin-human", user("hi", origin={"kind": "human"}), Kind.HUMAN),
    ("origin-channel", user("hi", origin={"kind": "channel"}), Kind.HUMAN),
    ("origin-without-kind", user("hi", origin={}), Kind.HUMAN),
    ("typed", user("hi", promptSource="typed"), Kind.HUMAN),
    ("sdk", user("hi", promptSource="sdk"), Kind.HUMAN),
    ("tag-in-the-middle", user("what does <command-name> mean"), Kind.HUMAN),
    ("other-tag", user("<b>bold</b> of you"), Kind.HUMAN),
    ("bracket", user("[Request] please"), Kind.HUMAN),
    ("meta", user("Caveat: the following", isMeta=True), Kind.META),
    ("empty", user(""), Kind.META),
    ("blank", user(" \n\t"), Kind.META),
    ("no-blocks", user([]), Kind.META),
    ("no-message", {"type": "user"}, Kind.META),
    ("thinking-only", user([thinking()]), Kind.META),
    ("command-name", user("<command-name>/compact</command-name>"), Kind.COMMAND),
    ("command-message", user("<command-message>compact</command-message>"), Kind.COMMAND),
    ("command-args", user("<command-args></command-args>"), Kind.COMMAND),
    ("command-output", user("<local-command-stdout>done</local-command-stdout>"), Kind.COMMAND),
    ("command-caveat", user("<local-command-caveat>so</local-command-caveat>"), Kind.COMMAND),
    ("shell-input", user("<bash-input>ls</bash-input>"), Kind.COMMAND),
    ("shell-output", user("<bash-stdout>pots</bash-stdout><bash-stderr></bash-stderr>"), Kind.COMMAND),
    ("shell-error", user("<bash-stderr>no</bash-stderr>"), Kind.COMMAND),
    ("reminder", user("<system-reminder>rain</system-reminder>"), Kind.COMMAND),
    ("reminder-with-attribute", user('<system-reminder kind="x">rain</system-reminder>'), Kind.COMMAND),
    ("indented-command", user("\n  <command-name>/clear</command-name>"), Kind.COMMAND),
    ("interrupted", user([{"type": "text", "text": "[Request interrupted by user]"}]), Kind.COMMAND),
    ("interrupted-tool", user("[Request interrupted by user for tool use]"), Kind.COMMAND),
    ("task-notification", user("<task-notification>\n<task-id>7</task-id>"), Kind.TAGGED),
    ("harness", user("[Harness: nightly] check the pots"), Kind.TAGGED),
    ("origin-task", user("the soil sensor is done", **TASK), Kind.TAGGED),
    ("origin-unknown", user("hello", origin={"kind": "webhook"}), Kind.TAGGED),
    ("prompt-source-system", user("go on", promptSource="system"), Kind.TAGGED),
    ("tool-result", tool_result("t1"), Kind.TOOL_RESULT),
    ("tool-result-and-words", user([{"type": "tool_result", "tool_use_id": "t1"}, TEXT]), Kind.TOOL_RESULT),
    ("meta-tool-result", tool_result("t1", isMeta=True), Kind.TOOL_RESULT),
    ("summary", summary(), Kind.SUMMARY),
    ("answer", assistant(), Kind.ASSISTANT),
    ("answer-thinking", assistant([thinking()]), Kind.ASSISTANT),
    ("answer-call", assistant([tool_use("t1")]), Kind.ASSISTANT),
    ("answer-without-message", {"type": "assistant"}, Kind.ASSISTANT),
    ("api-error", assistant("overloaded", isApiErrorMessage=True), Kind.NOTICE),
    ("synthetic", assistant("No response requested.", model="<synthetic>"), Kind.NOTICE),
    ("queued", queued("and the basil"), Kind.QUEUED),
    ("queued-blocks", queued([TEXT]), Kind.QUEUED),
    ("queued-image", queued([image()]), Kind.QUEUED),
    ("queued-by-channel", queued("hi", origin={"kind": "channel"}), Kind.QUEUED),
    ("queued-meta", queued("hi", isMeta=True), Kind.TAGGED),
    ("queued-task", queued("soil is dry", **TASK), Kind.TAGGED),
    ("queued-by-system", queued("go on", promptSource="system"), Kind.TAGGED),
    ("queued-notification", queued("<task-notification>7"), Kind.TAGGED),
    ("queued-command", queued("<command-name>/cost</command-name>"), Kind.COMMAND),
    ("queued-empty", queued(""), Kind.META),
    (
        "queued-other-mode",
        {
            "type": "attachment",
            "attachment": {"type": "queued_command", "prompt": "x", "commandMode": "task-notification"},
        },
        Kind.ATTACHMENT,
    ),
    ("hook-words", attachment("hook_additional_context"), Kind.INJECTED),
    ("hook-success", attachment("hook_success"), Kind.ATTACHMENT),
    ("file", attachment("file"), Kind.ATTACHMENT),
    ("unknown-attachment", attachment("moon_phase"), Kind.ATTACHMENT),
    ("bare-attachment", {"type": "attachment"}, Kind.ATTACHMENT),
    ("boundary", boundary(), Kind.BOUNDARY),
    ("microcompact", BOUNDARY_LIKE, Kind.SYSTEM),
    ("system", {"type": "system", "subtype": "turn_duration"}, Kind.SYSTEM),
    ("progress", progress(), Kind.PROGRESS),
]


@pytest.mark.parametrize(("record", "kind"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_every_record_has_its_kind(record: Record, kind: Kind) -> None:
    assert kind_of(line_of({"uuid": "u1", **record})) is kind


@pytest.mark.parametrize("record", [user(), assistant(), queued(), boundary()], ids=lambda record: str(record["type"]))
def test_a_record_without_a_uuid_is_no_link_of_the_chain(record: Record) -> None:
    assert kind_of(line_of(record)) is None
    assert kind_of(line_of({**record, "uuid": ""})) is None


@pytest.mark.parametrize(
    "type_", ["summary", "custom-title", "last-prompt", "queue-operation", "ended-by-model", "moon", None]
)
def test_metadata_and_unknown_types_are_no_links_even_with_a_uuid(type_: str | None) -> None:
    assert kind_of(line_of({"type": type_, "uuid": "u1"})) is None


def test_only_a_persons_words_are_anchors_and_dialogue_leaves_out_compactions() -> None:
    assert {Kind.HUMAN, Kind.QUEUED} == ANCHORS
    assert DIALOGUE.isdisjoint(
        {Kind.BOUNDARY, Kind.SUMMARY, Kind.SYSTEM, Kind.PROGRESS, Kind.ATTACHMENT, Kind.INJECTED}
    )
    assert ANCHORS < DIALOGUE


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (user("mint"), "mint"),
        (user([TEXT, image(), {"type": "text", "text": "here"}]), "look\nhere"),
        (user([{"type": "text", "text": None}]), ""),
        (user([image()]), ""),
        (assistant([thinking("secret")]), ""),
        (assistant([thinking("secret"), {"type": "text", "text": "said"}]), "said"),
        (queued("basil"), "basil"),
        (attachment("file"), ""),
        ({"type": "user"}, ""),
    ],
    ids=["string", "blocks", "no-text", "image", "thinking", "thinking-and-words", "queued", "attachment", "nothing"],
)
def test_the_words_of_a_line_are_its_text_blocks(record: Record, words: str) -> None:
    assert text_of(line_of(record)) == words


@pytest.mark.parametrize(
    ("record", "parent"),
    [
        ({"parentUuid": "p", "logicalParentUuid": "l"}, "p"),
        ({"parentUuid": None, "logicalParentUuid": "l"}, "l"),
        ({"parentUuid": None}, None),
        ({"parentUuid": ""}, None),
    ],
    ids=["parent-first", "over-a-boundary", "root", "empty"],
)
def test_the_line_before_is_the_parent_or_over_a_boundary_the_logical_one(record: Any, parent: str | None) -> None:
    assert (parent_of(line_of(record)) or None) == parent


def test_an_ordinary_id_stays_as_it_is() -> None:
    assert bounded_id("3b241101-e2bb-4255-8caf-4136c566a962") == "3b241101-e2bb-4255-8caf-4136c566a962"


@pytest.mark.parametrize(
    "value",
    ["x" * 161, "x" * 100_000, "盆" * 161, "a\x00b", "lone \ud83d", "x" * 159 + "\ud83d\x00"],
    ids=["long", "huge", "wide", "nul", "surrogate", "all"],
)
def test_any_id_fits_an_index_and_stays_itself(value: str) -> None:
    bounded = bounded_id(value)

    assert 0 < len(bounded) <= LONGEST_ID
    assert "\x00" not in bounded
    assert bounded.encode()
    assert bounded_id(value) == bounded


def test_long_ids_that_differ_at_their_ends_stay_different() -> None:
    assert bounded_id("x" * 500 + "a") != bounded_id("x" * 500 + "b")
