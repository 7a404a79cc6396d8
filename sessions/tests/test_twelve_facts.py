"""The dozen things that decide the design, as they are numbered in what is known of transcripts: one test for each."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest

from sessions.actions.propose import DIET_SHARE
from sessions.core.events import ANCHORS, kind_of
from sessions.core.lines import coerce
from sessions.core.plan import warnings_of
from sessions.core.records import read_record, write_record
from sessions.core.selection import Chosen
from sessions.core.surgery import TOKEN_FIELDS, preserves_thinking, stamp
from sessions.core.tokens import OVERHEAD
from sessions.core.usage import compaction_point
from sessions.gateways.transcripts import recognise
from sessions.tests.surgeries import HANDOFF, NOW, SOURCE, TARGET, Copied, copy, source, talk, words
from sessions.tests.transcripts import (
    Talk,
    assistant,
    attachment,
    boundary,
    custom_title,
    last_prompt,
    progress,
    queued,
    summary,
    thinking,
    tool_result,
    tool_use,
    user,
)


def everything() -> Copied:
    """The copy of a talk in which all of it happens."""
    lines = Talk(SOURCE).link(
        {"type": "summary", "summary": "pots", "leafUuid": "x"},
        user("how is the mint?"), attachment("prompt_snapshot"), progress(),
        assistant([thinking()], message="m1", used=195_000),
        assistant([tool_use("t1")], message="m1", used=195_000),
        assistant([tool_use("t2")], message="m1", used=195_000),
        tool_result("t2", toolUseResult="a string"), queued("and the basil?"),
        tool_result("t1", toolUseResult={}), {"type": "system", "subtype": "stop_hook_summary"},
        assistant("both are well", message="m2", used=196_000), boundary(), summary(),
        user("good"), assistant("it is", message="m3", used=40_000),
        {"type": "file-history-snapshot", "messageId": "x"}, {"type": "worktree-state"}, {"type": "api-request"},
        custom_title("mint"), {"type": "ended-by-model", "reason": "done"},
    )  # fmt: skip
    copied = copy(source(*lines, last_prompt(lines[-2].get("uuid", "none"))), handoff=HANDOFF, title="mint")
    assert copied.faults == []
    return copied


def test_fact_1_stale_usage_would_make_the_client_compact_so_the_four_figures_are_zero() -> None:
    answers = [record["message"] for record in everything().records if record["type"] == "assistant"]

    assert len(answers) == 5
    for message in answers:
        assert {message["usage"][name] for name in TOKEN_FIELDS} == {0}


def test_fact_2_a_message_sent_while_a_turn_runs_is_an_anchor_and_survives() -> None:
    (record,) = [record for record in everything().records if record["type"] == "attachment"]

    assert record["attachment"] == {"type": "queued_command", "prompt": "and the basil?", "commandMode": "prompt"}
    assert kind_of(coerce(record)) in ANCHORS


@pytest.mark.parametrize("model", ["claude-opus-4-7", "claude-opus-5-5"])
def test_fact_3_thinking_stays_verbatim_or_goes_whole(model: str) -> None:
    block = thinking("", signature="c2lnbmF0dXJl")
    whole = talk(
        user("one"), assistant([block], message="m1", model=model), assistant("two", message="m1", model=model)
    )

    copied = copy(whole, drop_thinking=preserves_thinking(model))

    blocks = [block for record in copied.records[1:] for block in record["message"]["content"]]
    assert blocks == ([] if preserves_thinking(model) else [block]) + [{"type": "text", "text": "two"}]


def test_fact_4_the_new_chain_is_strictly_linear_with_results_right_behind_their_calls() -> None:
    chain = [record for record in everything().records if "uuid" in record]

    assert [record["parentUuid"] for record in chain] == [None, *(record["uuid"] for record in chain[:-1])]
    assert [words(record) for record in chain[2:7]] == ["~", ">t1", ">t2", "<t1", "<t2"]
    assert all(next(iter(record)) == "parentUuid" for record in chain)


def test_fact_5_every_line_of_the_chain_has_a_time_that_every_client_reads() -> None:
    odd = [None, "soon", "2026-W09-7", 7, "20260301T080000Z"]
    records = [user("one"), assistant("two"), user("three"), assistant("four"), user("five")]

    copied = copy(talk(*(record | {"timestamp": at} for record, at in zip(records, odd, strict=True))))

    assert copied.faults == []
    assert all(len(record["timestamp"]) == len("2026-03-01T08:00:00.000Z") for record in copied.records)


def test_fact_6_the_last_line_has_the_time_of_now_and_no_other_is_as_new() -> None:
    chain = [record["timestamp"] for record in everything().records if "uuid" in record]

    assert chain[-1] == stamp(NOW)
    assert max(chain[:-1]) < chain[-1]


def test_fact_7_calls_and_results_go_together_and_the_first_message_is_a_persons() -> None:
    copied = copy(
        talk(assistant("hello"), tool_result("t0"), user("one"), assistant([tool_use("t1")]), assistant([tool_use("t2")]),
             tool_result("t2"), tool_result("t3"), assistant("two"))
    )  # fmt: skip

    assert copied.words() == ["one", ">t2", "<t2", "two"]
    assert copied.tally.unpaired == 2


def test_fact_8_every_line_names_the_new_session_as_its_file_does_and_keeps_the_ids_of_its_message() -> None:
    copied = everything()
    found = recognise(Path("/projects"), Path(f"/projects/-srv/{TARGET}.jsonl"))

    assert found is not None
    assert found.session == str(uuid.UUID(TARGET))
    assert {record["sessionId"] for record in copied.records} == {TARGET}
    assert [record["message"]["id"] for record in copied.records if record["type"] == "assistant"] == [
        "m1", "m1", "m1", "m2", "m3",
    ]  # fmt: skip


def test_fact_9_only_the_talk_and_a_title_of_its_own_are_copied() -> None:
    types = [record["type"] for record in everything().records]

    assert set(types) == {"user", "assistant", "attachment", "custom-title"}
    assert types.index("custom-title") == len(types) - 1


def test_fact_10_what_the_screens_of_the_client_use_is_taken_out_not_emptied() -> None:
    results = [record for record in everything().records if words_of_result(record)]

    assert len(results) == 2
    assert not any("toolUseResult" in record for record in results)


def words_of_result(record: dict[str, object]) -> bool:
    return record["type"] == "user" and words(record).startswith("<")


@pytest.mark.parametrize("version", ["2.0.76", "2.1.112", "2.1.332"])
def test_fact_11_what_a_diet_keeps_fits_below_the_compaction_of_every_client(version: str) -> None:
    compacts_at = compaction_point(window=200_000, version=version)
    whole = talk(user("one"), assistant("two"))
    figures = {"floor": 0, "used_before": 190_000, "window": 200_000, "compacts_at": compacts_at, "thinking_dropped": 0}

    def told(kept: int) -> set[str]:
        chosen = Chosen(whole.turns, kept)
        return {one["code"] for one in warnings_of(chosen, whole.steps, used_after=kept + OVERHEAD, **figures)}

    assert round(200_000 * DIET_SHARE) + OVERHEAD < compacts_at
    assert "near-compaction" in told(150_000)


def test_fact_12_lines_end_at_newlines_only_and_half_pairs_of_surrogates_are_replaced() -> None:
    raw = json.dumps(user("a\u2028b\u2029c\x85d"), ensure_ascii=False)[:-1].encode() + b',"note":"\\ud83d"}'

    written = write_record(read_record(raw))

    assert written.count(b"\n") == 1
    assert "a\u2028b\u2029c\x85d".encode() in written
    assert json.loads(written)["note"] == "\ufffd"
    assert len(written.decode().splitlines()) > 1
