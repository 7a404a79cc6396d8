"""The demo companion as files: read by the product itself, carried on by a client, every planted case in its place."""

from __future__ import annotations

import json
import struct
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest

from sessions.core.demo import words
from sessions.core.demo.files import PROJECT, TALKS, files
from sessions.core.demo.picture import png
from sessions.core.demo.script import Calendar, NotAPlay, read_play
from sessions.core.events import Kind
from sessions.tests.demos import NOW, SESSIONS, WINDOWS, ZONE, made
from sessions.tests.readings import Reading, read
from sessions.tests.transcripts import raw_lines

SERVICE_PHRASES = (
    "很高兴为您",
    "请问还有",
    "希望对您",
    "有什么可以帮",
    "作为一个",
    "您",
    "随时为你服务",
    "祝你生活愉快",
)


@cache
def reading(window: str) -> Reading:
    """What the product's own reader makes of a window."""
    return read(raw_lines(*made()[f"{PROJECT}/{SESSIONS[window]}.jsonl"].split(b"\n")[:-1]))


def records(window: str) -> list[dict[str, Any]]:
    lines = made()[f"{PROJECT}/{SESSIONS[window]}.jsonl"].split(b"\n")
    return [json.loads(line) for line in lines if line.endswith(b"}")]


def said(window: str, *kinds: Kind, live: bool = True) -> list[str]:
    """Whole texts of lines of these kinds, in order."""
    rows = [row for row in reading(window).rows.values() if row.kind in kinds and row.live == live]
    wanted = {row.uuid for row in rows}
    return [text_of(record) for record in records(window) if record.get("uuid") in wanted]


def text_of(record: dict[str, Any]) -> str:
    content = record["attachment"]["prompt"] if "attachment" in record else record["message"]["content"]
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content if block["type"] == "text")


def blocks(window: str, kind: str) -> list[dict[str, Any]]:
    messages = [record["message"]["content"] for record in records(window) if "message" in record]
    return [block for content in messages if isinstance(content, list) for block in content if block["type"] == kind]


# What is read of it


@pytest.mark.parametrize("window", WINDOWS)
def test_every_window_reads_with_its_human_messages_and_only_the_planted_faults(window: str) -> None:
    found = reading(window).state

    assert (found.humans, found.compactions, len(reading(window).bad)) == WINDOWS[window]
    assert found.leaf is not None
    assert found.model == "claude-opus-4-6"


def test_the_files_are_the_same_for_the_same_moment_and_modest() -> None:
    again = {file.path: file.data for file in files(NOW, ZONE)}

    assert again == made()
    assert sum(map(len, again.values())) < 3_000_000
    assert len([path for path in again if path.count("/") == 1]) == 6


@pytest.mark.parametrize(
    "now",
    [
        NOW,
        datetime(2026, 12, 1, 0, 2, tzinfo=ZONE),
        datetime(2028, 2, 29, 15, 0, tzinfo=ZONE),
        datetime(2027, 1, 3, 6, 30, tzinfo=ZONE),
        *(NOW + timedelta(days=day) for day in range(1, 7)),
    ],
    ids=str,
)
def test_the_newest_window_is_at_61_percent_and_minutes_old(now: datetime) -> None:
    path = f"{PROJECT}/{SESSIONS['rain']}.jsonl"
    found = read(raw_lines(*made(now)[path].split(b"\n")[:-1])).state

    assert 60.5 <= found.used / 2_000 <= 62
    assert found.last_at is not None
    assert timedelta(minutes=2) < now - found.last_at < timedelta(minutes=10)


@pytest.mark.parametrize("day", range(7))
def test_time_runs_forward_over_all_windows_about_four_weeks_back(day: int) -> None:
    now = NOW + timedelta(days=day)
    stamps = [
        record["timestamp"]
        for talk in TALKS
        for record in map(
            json.loads,
            filter(lambda line: line.endswith(b"}"), made(now)[f"{PROJECT}/{talk.session}.jsonl"].split(b"\n")),
        )
        if "uuid" in record
    ]

    assert stamps == sorted(stamps)
    assert 21 <= (now - datetime.fromisoformat(stamps[0])).days <= 33


def test_week_days_that_are_spoken_of_are_the_days_they_are_spoken_on() -> None:
    calendar = Calendar(NOW, ZONE)

    assert calendar.tuesday.weekday() == 1
    assert calendar.named["复查"].weekday() == 0
    assert calendar.named["复诊"].weekday() < 5
    assert calendar.named["复诊"] > calendar.today


# What a client would carry on from


@pytest.mark.parametrize("window", WINDOWS)
def test_calls_and_results_are_whole_pairs_right_behind_each_other(window: str) -> None:
    uses = [block["id"] for block in blocks(window, "tool_use")]
    results = [block["tool_use_id"] for block in blocks(window, "tool_result")]

    assert uses == results
    assert len(set(uses)) == len(uses)


@pytest.mark.parametrize("window", WINDOWS)
def test_people_and_companion_take_turns(window: str) -> None:
    """Each answer has something of a user's before it, as the API wants it."""
    last_message = ""
    for record in records(window):
        if "message" not in record and record.get("type") != "attachment":
            continue
        if record["type"] == "assistant" and "isApiErrorMessage" not in record:
            assert last_message in {"", record["message"]["id"]}
            last_message = record["message"]["id"]
        else:
            last_message = ""


@pytest.mark.parametrize("window", WINDOWS)
def test_every_chain_line_hangs_on_one_before_it(window: str) -> None:
    seen: set[str] = set()
    for record in records(window):
        if "uuid" not in record:
            continue
        parent = record["parentUuid"] or record.get("logicalParentUuid")
        assert parent in seen or not seen
        assert record["uuid"] not in seen
        seen.add(record["uuid"])


@pytest.mark.parametrize("window", WINDOWS)
def test_one_message_reports_one_context_on_every_line_and_the_whole_output_last(window: str) -> None:
    by_message: dict[str, list[dict[str, Any]]] = {}
    for record in records(window):
        if record["type"] == "assistant" and "requestId" in record:
            by_message.setdefault(record["message"]["id"], []).append(record["message"]["usage"])

    for reports in by_message.values():
        assert len({report["cache_read_input_tokens"] for report in reports}) == 1
        assert max(report["output_tokens"] for report in reports) == reports[-1]["output_tokens"]


def test_usage_grows_with_the_window_and_the_cache_is_lost_over_night() -> None:
    points = [point.usage for point in reading("thursday").points.values()]
    contexts = [point.context for point in points]

    assert contexts == sorted(contexts)
    assert points[1].cache_read > points[1].cache_creation
    assert sum(point.cache_read == 0 for point in points) >= 3


def test_the_compaction_comes_at_the_clients_own_point_and_the_talk_goes_on() -> None:
    boundary = next(record for record in records("stocktaking") if record.get("subtype") == "compact_boundary")
    state = reading("stocktaking").state

    assert boundary["compactMetadata"]["trigger"] == "auto"
    assert 165_000 < boundary["compactMetadata"]["preTokens"] < 170_000
    assert state.most_used > 165_000
    assert 23_000 < state.used < 30_000


# Planted cases

CASES = [
    ("mint", words.VOICE_WEDNESDAY),
    ("mint", words.WAKE_AT_SEVEN),
    ("mint", words.RAINY_MORNINGS),
    ("mint", words.NAME_AT_HOME),
    ("mint", words.NOODLES),
    ("mint", words.RICE),
    ("exception", words.VOICE_ONCE_FRIDAY),
    ("exception", words.NO_BEDTIME),
    ("exception", words.MOOD),
    ("exception", words.MOOD_PASSED),
    ("exception", words.NO_CHEERING),
    ("stocktaking", words.BEDTIME_WHILE_COUNTING),
    ("stocktaking", words.MISQUOTE_CORRECTED),
    ("stocktaking", words.JOKE),
    ("stocktaking", words.JOKE_OVER),
    ("family", words.NAME_WITH_FAMILY),
    ("thursday", words.WAKE_WITHDRAWN),
    ("rain", words.MINT_DAY),
]


@pytest.mark.parametrize(("window", "text"), CASES, ids=[text for _, text in CASES])
def test_the_person_says_it_once_and_whole(window: str, text: str) -> None:
    assert said(window, Kind.HUMAN).count(text) == 1


DATED = [
    ("stocktaking", words.CHECK_UP),
    ("thursday", words.CHECK_UP_AGAIN),
    ("thursday", words.SHOP_BIRTHDAY),
    ("thursday", words.BIRTHDAY),
    ("mint", words.ALLERGY),
    ("mint", words.COFFEE),
]


@pytest.mark.parametrize(("window", "text"), DATED, ids=[text for _, text in DATED])
def test_it_is_part_of_a_message_of_the_person_with_its_date_filled_in(window: str, text: str) -> None:
    filled = Calendar(NOW, ZONE).fill(text)

    assert "{" not in filled
    assert sum(filled in message for message in said(window, Kind.HUMAN)) == 1


@pytest.mark.parametrize(
    ("window", "text"),
    [("exception", words.QUEUED_RAIN), ("thursday", words.VOICE_THURSDAY), ("rain", words.QUEUED_POT)],
)
def test_it_was_sent_while_a_turn_was_running_and_counts(window: str, text: str) -> None:
    assert said(window, Kind.QUEUED) == [text]
    assert text not in said(window, Kind.HUMAN)


@pytest.mark.parametrize(("window", "text"), [("mint", words.MINT_FIRST), ("stocktaking", words.MISQUOTE)])
def test_the_companion_says_it(window: str, text: str) -> None:
    assert text in said(window, Kind.ASSISTANT)


def test_the_summary_is_wrong_about_the_knee_and_the_person_never_was() -> None:
    assert words.SUMMARY_ERROR in said("stocktaking", Kind.SUMMARY)[0]
    assert not any("左" in text for text in said("stocktaking", Kind.HUMAN) if text != words.MISQUOTE_CORRECTED)


def test_the_rewound_branch_is_there_and_not_live() -> None:
    assert said("exception", Kind.HUMAN, live=False) == [words.REWOUND]
    assert len(said("exception", Kind.ASSISTANT, live=False)) == 1


def test_the_timer_that_speaks_for_the_person_is_no_human_word() -> None:
    text = said("family", Kind.TAGGED)[0]

    assert text.startswith(f'[Harness: Task {words.TASK_ID} "{words.TASK_NAME}"]\n')
    assert words.TASK_CLAIM in text
    assert not any(words.TASK_CLAIM in human for human in said("family", Kind.HUMAN, Kind.QUEUED))


def test_kinds_that_are_easily_forgotten_are_all_there() -> None:
    assert said("exception", Kind.NOTICE)[0].startswith("API Error: 529")
    assert any(text.startswith("<command-name>/context") for text in said("family", Kind.COMMAND))
    assert any(row.kind is Kind.INJECTED for row in reading("rain").rows.values())
    assert {record["type"] for record in records("rain")} >= {"ai-title", "custom-title", "last-prompt", "attachment"}
    assert records("rain")[-1]["customTitle"] == "雨夜和阳台的薄荷"


def test_two_calls_of_one_message_stand_side_by_side() -> None:
    lines = [record for record in records("stocktaking") if record["type"] == "assistant"]
    calls = [record for record in lines if record["message"]["content"][0]["type"] == "tool_use"]

    assert calls[0]["message"]["id"] == calls[1]["message"]["id"]
    assert all(row.live for row in reading("stocktaking").rows.values())


def test_pictures_come_with_a_prompt_and_from_a_tool() -> None:
    size = struct.unpack(">II", png("mint_yellow")[16:24])
    shown = blocks("rain", "image") + blocks("exception", "image")
    read_back = [block for block in blocks("rain", "tool_result") if isinstance(block["content"], list)]

    assert size == (480, 360)
    assert len(shown) == 2
    assert read_back[0]["content"][0]["type"] == "image"


def test_thoughts_are_signed_and_newer_ones_may_keep_their_words_back() -> None:
    thoughts = blocks("rain", "thinking")

    assert all(thought["signature"] for thought in thoughts)
    assert {bool(thought["thinking"]) for thought in thoughts} == {True, False}
    assert all(thought["thinking"] for thought in blocks("mint", "thinking"))


def test_the_subagent_has_a_file_of_its_own_and_its_answer_comes_back() -> None:
    path = next(path for path in made() if "subagents" in path and path.endswith(".jsonl"))
    lines = [json.loads(line) for line in made()[path].splitlines()]
    result = next(block for block in blocks("thursday", "tool_result") if "agentId" in str(block["content"]))

    assert path.startswith(f"{PROJECT}/{SESSIONS['thursday']}/subagents/agent-")
    assert all(line["isSidechain"] for line in lines)
    assert result["content"][0]["text"] == lines[-1]["message"]["content"][0]["text"]


def test_the_companion_has_a_voice_and_no_service_phrases() -> None:
    answers = [text for window in WINDOWS for text in said(window, Kind.ASSISTANT) if text]
    spoken = "".join(answers)

    assert sum(words.CATCH_PHRASE in text for text in answers) >= 8
    assert sum(any(particle in text for particle in "呀嘛啦喔") for text in answers) >= 50
    assert not [phrase for phrase in SERVICE_PHRASES if phrase in spoken]
    assert {text for text in answers if answers.count(text) > 1} <= {"薄荷收进来没有？"}


def test_a_line_that_nobody_can_act_is_refused_with_its_words() -> None:
    with pytest.raises(NotAPlay, match="旁白"):
        read_play("林：早\n旁白：天亮了", {})
