"""Planning a run: what is chosen, what is said of it, and that the plan is the run (spec W2-W6, W14, H1)."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from companion.lib.refusals import Refusal
from sessions.actions.carry_out import carry_out
from sessions.actions.propose import Wish, preview, propose
from sessions.core.ranges import By, End, Side
from sessions.core.selection import Mode, Selection
from sessions.models import Event, Run
from sessions.tests.indexed import index, window_of
from sessions.tests.planned import own_ground, rest, seen, source_of, talk, target_of
from sessions.tests.transcripts import (
    TranscriptFile,
    assistant,
    boundary,
    encoded,
    image,
    queued,
    summary,
    thinking,
    tool_result,
    tool_use,
    user,
)

pytestmark = pytest.mark.django_db
EVERYTHING = Selection(Mode.TAIL, retain=10**9)


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


def plan(file: TranscriptFile, kind: str = "forge", **wish: Any) -> Run:
    index(file.path.parent.parent)
    return propose(window_of(file), Wish(kind, force=True, **wish))


def written(run: Run) -> list[dict[str, Any]]:
    done = carry_out(run.pk)
    assert done.status in {"done", "exported"}, done.error
    return [json.loads(line) for line in target_of(run).read_bytes().splitlines()]


def texts(records: list[dict[str, Any]]) -> str:
    return json.dumps([record.get("message") or record.get("attachment") for record in records], ensure_ascii=False)


def warned(run: Run) -> set[str]:
    return {warning["code"] for warning in run.warnings}


def test_a_plan_writes_nothing_but_its_row(root: Path) -> None:
    file = talk(root)
    before = seen(file.path)

    run = plan(file)

    assert seen(file.path) == before
    assert list(file.path.parent.iterdir()) == [file.path]
    assert (run.status, run.source_size) == ("planned", file.path.stat().st_size)
    assert run.target_path == str(file.path.with_name(f"{run.target_session_id}.jsonl"))


def test_what_is_planned_is_what_is_written(root: Path) -> None:
    file = talk(root)
    run = plan(file, "diet", selection=Selection(Mode.TAIL, retain=2_500))

    records = written(run)

    copied = [record for record in records if record["type"] != "custom-title"]
    assert len(copied) == run.plan["kept_events"]
    assert 0 < run.plan["kept_events"] < window_of(file).dialogue_events
    assert run.plan["kept_events"] + run.plan["dropped_events"] == window_of(file).dialogue_events
    assert run.plan["thinking"] == texts(records).count('"type": "thinking"')
    assert run.plan["results_squashed"] == texts(records).count("characters in all, cut here")
    assert run.plan["first_preview"] in texts(records[:1])


def test_a_preview_is_the_plan_that_is_not_stored(root: Path) -> None:
    file = talk(root)
    index(root)
    wish = Wish("forge", Selection(Mode.TAIL, retain=2_500))

    shown, stored = preview(window_of(file), wish), propose(window_of(file), wish)

    assert Run.objects.get() == stored
    assert shown.plan == stored.plan
    assert (shown.used_after, shown.handoff, shown.warnings) == (stored.used_after, stored.handoff, stored.warnings)


def test_a_preview_sees_what_was_said_since_the_last_one(root: Path) -> None:
    file = talk(root)
    index(root)
    wish = Wish("diet", EVERYTHING)
    before = preview(window_of(file), wish).plan["kept_events"]

    file.add(user("还有罗勒"), assistant("也浇了"))

    assert preview(window_of(file), wish).plan["kept_events"] == before + 2


def test_the_last_turn_stays_however_little_is_retained(root: Path) -> None:
    run = plan(talk(root), selection=Selection(Mode.TAIL, retain=1))

    assert run.plan["turns"] == 1
    assert "第5天" in run.plan["first_preview"]


def test_days_are_those_of_the_operator_and_may_have_holes(root: Path) -> None:
    file = TranscriptFile(root)
    for hour, words in [(15, "三月一号深夜"), (17, "已经是二号了"), (40, "三号下午"), (41, "还是三号")]:
        at = datetime(2026, 3, 1, tzinfo=UTC).timestamp() + hour * 3600
        stamp = datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
        file.add(user(words, timestamp=stamp), assistant(f"嗯，{words}", timestamp=stamp))
    rest(file)

    run = plan(file, selection=Selection(Mode.DAYS, days=(date(2026, 3, 1), date(2026, 3, 3))))

    assert run.plan["spans"] == [(0, 1), (4, 7)] or run.plan["spans"] == [[0, 1], [4, 7]]
    kept = texts(written(run)[1:])
    assert "已经是二号了" not in kept
    assert all(words in kept for words in ("三月一号深夜", "三号下午", "还是三号"))


def test_a_day_without_a_word_is_refused_with_the_days_there_are(root: Path) -> None:
    with pytest.raises(Refusal) as refused:
        plan(talk(root), selection=Selection(Mode.DAYS, days=(date(2020, 1, 1),)))

    assert refused.value.code == "no-such-day"
    assert "2026-03-01" in refused.value.message + refused.value.hint


def test_a_range_inside_of_turns_keeps_whole_turns_and_says_so(root: Path) -> None:
    selection = Selection(Mode.RANGE, start=End(Side.FROM, By.IDX, "5"), end=End(Side.TO, By.IDX, "9"))

    run = plan(talk(root), selection=selection)

    assert (run.plan["start"]["idx"], run.plan["end"]["idx"]) == (5, 9)
    assert tuple(run.plan["cut"]) == (4, 11)
    assert {"cut-differs", "newest-dropped"} <= warned(run)


def test_a_chosen_set_over_the_cap_loses_its_oldest_turns(root: Path) -> None:
    run = plan(talk(root), selection=Selection(Mode.RANGE, cap=1_500))

    assert run.plan["cut"][1] == 23
    assert run.plan["cut"][0] > 0
    assert "cap-cut" in warned(run)


def test_a_tail_does_not_reach_behind_a_compaction_and_carries_its_summary(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(
        user("从前的事"), assistant("记得"), boundary(3_000), summary("前情：种了薄荷"), user("现在"), assistant("在")
    )
    rest(file)

    run = plan(file, selection=EVERYTHING)

    assert "从前的事" not in run.plan["first_preview"]
    assert "前情：种了薄荷" in run.handoff
    assert "summary-carried" in warned(run)
    records = written(run)
    assert not any(record.get("isCompactSummary") for record in records)
    assert records[0]["isMeta"]


def test_even_a_diet_carries_a_summary_that_cannot_stay(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(
        user("从前的事"), assistant("记得"), boundary(3_000), summary("前情：种了薄荷"), user("现在"), assistant("在")
    )
    rest(file)

    records = written(plan(file, "diet", selection=EVERYTHING))

    assert "前情：种了薄荷" in texts(records[:1])


def test_revived_turns_are_said_and_need_no_summary(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(
        user("从前的事"), assistant("记得"), boundary(3_000), summary("前情：种了薄荷"), user("现在"), assistant("在")
    )
    rest(file)

    run = plan(file, "diet", selection=Selection(Mode.TAIL, retain=10**9, revive=True))

    assert run.plan["first_preview"] == "从前的事"
    assert run.handoff == ""
    assert "compaction-crossed" in warned(run)


def test_a_window_in_which_nobody_spoke_since_the_compaction_is_refused(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("从前的事"), assistant("记得"), boundary(3_000), summary("前情"))

    with pytest.raises(Refusal) as refused:
        plan(file)

    assert refused.value.code == "no-turn-since-compaction"


def test_a_preserved_segment_counts_as_after_the_compaction(root: Path) -> None:
    file = TranscriptFile(root)
    kept = file.add(user("刚才的话"), assistant("嗯"))
    segment = {"headUuid": kept[0]["uuid"], "anchorUuid": "x", "tailUuid": kept[1]["uuid"]}
    mark = boundary(3_000)
    mark["compactMetadata"]["preservedSegment"] = segment
    file.add(mark, summary("前情"), user("现在"), assistant("在"))
    rest(file)

    run = plan(file, "diet", selection=EVERYTHING)

    assert run.plan["first_preview"] == "刚才的话"


def test_a_forge_has_one_hand_off_before_the_first_message_and_a_second_forge_not_two(root: Path) -> None:
    first = plan(talk(root), selection=EVERYTHING, handoff="只带这一句", handoff_origin="edited")
    written(first)
    rest_of = TranscriptFile(root, session=first.target_session_id)
    rest(rest_of)

    second = plan(rest_of, selection=EVERYTHING, handoff="换成另一句", handoff_origin="edited")
    records = written(second)

    injected = [record for record in records if (record.get("origin") or {}).get("kind") == "companion-console"]
    assert [("另一句" in texts([record]), "只带这一句" in texts([record])) for record in injected] == [(True, False)]


def test_a_diet_keeps_the_hand_off_of_an_earlier_forge(root: Path) -> None:
    first = plan(talk(root), selection=EVERYTHING, handoff="别忘了薄荷", handoff_origin="edited")
    written(first)
    file = TranscriptFile(root, session=first.target_session_id)
    rest(file)

    records = written(plan(file, "diet", selection=EVERYTHING))

    assert texts(records).count("别忘了薄荷") == 1


def test_a_hand_off_that_reads_like_a_novel_is_said(root: Path) -> None:
    prose = "那天夜里雨下得很大，她站在窗边看了很久，心里想着远方的人和没有说出口的话，直到天色一点一点亮起来。" * 12

    assert "handoff-novel" in warned(plan(talk(root), handoff=prose, handoff_origin="edited"))


def test_thinking_of_a_model_that_binds_it_is_dropped_and_counted(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("早"), assistant([thinking(), {"type": "text", "text": "早"}], model="claude-opus-5-5"))
    rest(file)

    run = plan(file, "diet", selection=EVERYTHING)

    assert (run.plan["thinking"], run.plan["thinking_dropped"]) == (0, 1)
    assert "thinking-dropped" in warned(run)
    assert "signature" not in texts(written(run))


def test_pictures_stay_in_the_newest_turn_alone(root: Path) -> None:
    file = TranscriptFile(root)
    for words in ("旧照片", "新照片"):
        file.add(user([{"type": "text", "text": words}, image()]), assistant("看到了"))
    rest(file)

    run = plan(file, "diet", selection=EVERYTHING)

    assert run.plan["images_squashed"] == 1
    kept = written(run)
    assert [texts([record]).count("base64") for record in kept if record["type"] == "user"] == [0, 1]


def test_a_message_that_was_queued_survives_in_its_turn(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(
        user("浇水"),
        assistant([tool_use("t1")], message="m1"),
        queued("还有罗勒"),
        tool_result("t1"),
        assistant("好了"),
    )
    rest(file)

    run = plan(file, selection=EVERYTHING)

    assert "还有罗勒" in texts(written(run))


def test_a_spilled_result_is_carried_along_and_its_path_with_it(root: Path) -> None:
    file = TranscriptFile(root)
    spilled = file.path.with_suffix("") / "tool-results" / "r1.txt"
    spilled.parent.mkdir(parents=True)
    spilled.write_text("all of it")
    file.add(
        user("看日志"), assistant([tool_use("t1")], message="m1"), tool_result("t1", f"<persisted-output>{spilled}"),
        assistant("看完了"),
    )  # fmt: skip
    rest(file)

    run = plan(file, selection=EVERYTHING)
    kept = texts(written(run))

    there = target_of(run).with_suffix("") / "tool-results" / "r1.txt"
    assert run.plan["sides"] == ["tool-results/r1.txt"]
    assert there.read_text() == "all of it"
    assert str(there) in kept
    assert str(spilled) not in kept


def test_a_file_outside_of_the_roots_is_only_read(root: Path, tmp_path: Path) -> None:
    file = talk(tmp_path / "elsewhere")
    index(tmp_path / "elsewhere")

    with pytest.raises(Refusal) as refused:
        propose(window_of(file), Wish("diet"))

    assert refused.value.code == "outside-roots"


def test_a_line_nested_too_deeply_is_named_and_nothing_is_planned(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("深"))
    (record,) = file.talk.link(assistant("嗯"))
    deep = b"[" * 3_000 + b"]" * 3_000
    file.add_bytes(encoded(record)[:-1] + b',"more":' + deep + b"}\n")
    rest(file)

    with pytest.raises(Refusal) as refused:
        plan(file, "diet")

    assert (refused.value.code, Run.objects.count()) == ("uncopyable", 0)
    assert "2" in refused.value.message


def test_a_half_written_line_is_left_out_and_said(root: Path) -> None:
    file = talk(root)
    file.add_bytes(b'{"type":"user","mess')
    rest(file)

    run = plan(file, selection=EVERYTHING)

    assert "half-line" in warned(run)
    assert written(run)


def test_a_running_answer_and_a_live_chat_are_said(root: Path) -> None:
    file = TranscriptFile(root, start=datetime.now(UTC))
    file.add(user("还在吗"), assistant([tool_use("t1")]))

    run = plan(file, selection=EVERYTHING)

    assert {"mid-turn", "live-chat"} <= warned(run)
    assert run.plan["unpaired"] == 1


def test_the_source_is_the_same_to_the_last_bit_after_a_run(root: Path) -> None:
    file = talk(root)
    before = seen(file.path)

    written(plan(file))

    assert seen(source_of(Run.objects.get())) == before


def test_the_mark_of_a_picture_that_was_left_out_is_nobodys_words(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(
        user([{"type": "text", "text": "旧照片"}, image()]), assistant("看到了"), user("然后呢"), assistant("没了")
    )
    rest(file)

    run = plan(file, "diet", selection=EVERYTHING)
    written(run)

    copied = Event.objects.filter(transcript__path=run.target_path).anchors().order_by("idx")
    assert [event.preview for event in copied] == ["旧照片", "然后呢"]


@pytest.mark.parametrize("last", [assistant("嗯"), user("还在吗")], ids=["an answer", "a closing line of nobody"])
def test_the_new_window_is_not_taken_for_a_talk_of_now(root: Path, last: dict[str, Any]) -> None:
    file = TranscriptFile(root)
    file.add(user("早"), assistant("早"), user("去浇水"), last)
    rest(file)
    index(root)
    said = window_of(file).last_activity

    first = plan(file, "diet", selection=EVERYTHING)
    records = written(first)
    again = TranscriptFile(root, session=first.target_session_id)
    rest(again)

    assert said is not None
    assert window_of(again).last_activity == said
    assert datetime.fromisoformat(records[-1]["timestamp"]) > said
    again.talk.last = records[-1]["uuid"]
    # Copied once more, and no longer the last one, a line has its own time again.
    again.add(user("晚安"), assistant("晚安"))
    rest(again)
    twice = written(plan(again, "diet", selection=EVERYTHING))
    assert [record["timestamp"] for record in twice][:3] == [record["timestamp"] for record in records][:3]
    assert sum("keptTimestamp" in record for record in twice) == 1
