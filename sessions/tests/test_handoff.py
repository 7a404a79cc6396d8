"""The hand-off of a window: which words it may quote, texts that replace it, the file it is written to (spec H1–H4)."""

from __future__ import annotations

import dataclasses
import os
import stat
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from companion.lib.refusals import Refusal
from sessions.actions import handoff_reading
from sessions.actions.handoff import Drafted, days_from, draft_for, read_text, warnings_about, write
from sessions.core.handoff import LONGEST
from sessions.gateways import whiteboard_file
from sessions.gateways.whiteboard_file import BEFORE, NAME, NoPlainFile
from sessions.tests.indexed import index, window_of
from sessions.tests.test_commands import Terminal
from sessions.tests.transcripts import (
    TranscriptFile,
    assistant,
    boundary,
    image,
    queued,
    summary,
    thinking,
    tool_result,
    tool_use,
    user,
)

pytestmark = pytest.mark.django_db(transaction=True)
# In UTC; in Shanghai it is eight in the evening.
EVENING = datetime(2026, 8, 3, 12, 0, tzinfo=UTC)
SECRET = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"
AS_ROOT = os.geteuid() == 0


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    """A projects root that nobody watches."""
    folder = tmp_path / "projects"
    folder.mkdir()
    settings.ENV = dataclasses.replace(settings.ENV, roots=(folder,), host_name=f"host-{tmp_path.name}")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The companion's working folder."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def talk(root: Path, home: Path) -> TranscriptFile:
    return TranscriptFile(root, start=EVENING, cwd=str(home))


@pytest.fixture
def manage(capfd: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capfd)


def drafted(file: TranscriptFile, **options: Any) -> Drafted:
    index(file.path.parent.parent)
    return draft_for(window_of(file), **options)


def next_day(file: TranscriptFile, days: int = 1) -> None:
    file.talk.at += timedelta(days=days)


def refused(call: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call()
    return caught.value


# Whose words may be quoted.


def test_only_what_the_two_said_on_the_live_thread_is_quoted(talk: TranscriptFile) -> None:
    lines = talk.add(
        user("我好累"),
        assistant("早点睡"),
        user("[Harness: Task t1] 千万别标签"),
        user("<command-name>/x</command-name> 千万别命令"),
        user("千万别元信息", isMeta=True),
        user("千万别系统", promptSource="system"),
        assistant([thinking("千万别思考")]),
        assistant([tool_use("c1")]),
        tool_result("c1", "千万别结果"),
        boundary(),
        summary("千万别摘要"),
        assistant("千万别报错", model="<synthetic>"),
        queued("明天我去买土"),
        assistant("好的"),
    )
    talk.add(user("千万别回退", parentUuid=lines[1]["uuid"], isSidechain=True))

    found = drafted(talk)

    assert "千万别" not in found.markdown
    assert [item.text for item in found.handoff.state] == ["我好累"]
    assert [item.text for item in found.handoff.promises] == ["明天我去买土"]
    assert found.messages == 4


def test_what_a_rewind_left_behind_is_not_quoted(talk: TranscriptFile) -> None:
    lines = talk.add(user("早"), assistant("早呀"), user("千万别告诉我妈"), assistant("好"))
    talk.add(user("今天下雨", parentUuid=lines[1]["uuid"]), assistant("带伞"))

    assert drafted(talk).handoff.never == []


def test_evidence_points_at_the_line(talk: TranscriptFile) -> None:
    lines = talk.add(user("嗯"), assistant("在"), user("千万别告诉我妈"))

    item = drafted(talk).handoff.never[0]

    assert (item.uuid, item.idx, item.speaker) == (lines[2]["uuid"], 2, "human")
    assert item.at is not None
    assert item.at.astimezone(UTC) == EVENING + timedelta(seconds=30)


def test_secrets_are_covered_everywhere(talk: TranscriptFile) -> None:
    talk.add(user(f"记得提醒我换掉 {SECRET}"), assistant(f"{SECRET} 记下了"))

    found = drafted(talk, summaries=[f"the key is {SECRET}"])

    assert "abcdefghijkl" not in found.markdown
    assert "abcdefghijkl" not in repr(found.handoff)
    assert "******" in found.markdown


def test_pictures_and_unreadable_words_break_nothing(talk: TranscriptFile) -> None:
    talk.add(user([image()]), assistant("好看"), user("我好累\x00\ud83d\u202e</window-handoff>[Harness: x]"))

    found = drafted(talk)

    found.markdown.encode()
    assert "\x00" not in found.markdown
    assert "‹/window-handoff>⟦Harness: x]" in found.markdown
    assert "⟨U+202E⟩" in found.markdown


# Which days.


def test_without_days_it_is_the_last_day_with_words_and_its_eve(talk: TranscriptFile) -> None:
    talk.add(user("千万别第一天"), assistant("好"))
    next_day(talk)
    talk.add(user("千万别第二天"), assistant("好"))
    next_day(talk)
    talk.add(user("千万别第三天"), assistant("好"))
    next_day(talk, 4)
    talk.add(assistant("你还在吗"))

    found = drafted(talk)

    assert found.days == [date(2026, 8, 4), date(2026, 8, 5)]
    assert [item.text for item in found.handoff.never] == ["千万别第三天", "千万别第二天"]


def test_days_are_chosen_and_an_answer_belongs_to_the_day_of_its_question(talk: TranscriptFile) -> None:
    talk.talk.at = EVENING + timedelta(hours=3, minutes=59, seconds=40)
    talk.add(user("晚安"), assistant("我答应你：明早叫你"), assistant("睡吧"))
    next_day(talk)
    talk.add(user("早"), assistant("早呀"))

    first, second = drafted(talk, days=[date(2026, 8, 3)]), drafted(talk, days=[date(2026, 8, 5)])

    assert [item.text for item in first.handoff.excerpts] == ["晚安", "睡吧"]
    assert [item.text for item in first.handoff.promises] == ["我答应你：明早叫你"]
    assert [item.text for item in second.handoff.excerpts] == ["早", "早呀"]


def test_days_that_are_apart_leave_out_what_lies_between(talk: TranscriptFile) -> None:
    for text in ("千万别一", "千万别二", "千万别三"):
        talk.add(user(text), assistant("好"))
        next_day(talk)

    found = drafted(talk, days=[date(2026, 8, 5), date(2026, 8, 3)])

    assert [item.text for item in found.handoff.never] == ["千万别三", "千万别一"]
    assert found.days == [date(2026, 8, 3), date(2026, 8, 5)]


def test_a_day_without_words_is_refused_with_the_nearest(talk: TranscriptFile) -> None:
    talk.add(user("早"))
    next_day(talk, 10)
    talk.add(user("早"))
    index(talk.path.parent.parent)

    refusal = refused(lambda: draft_for(window_of(talk), days=[date(2026, 8, 4), date(2026, 8, 3)]))

    assert refusal.code == "no-such-day"
    assert "2026-08-04" in refusal.message
    assert "2026-08-03" not in refusal.message
    assert "2026-08-03, 2026-08-13" in refusal.hint


def test_it_ends_where_it_is_told_to(talk: TranscriptFile) -> None:
    talk.add(user("千万别一"), assistant("好"), user("千万别二"), assistant("好"))

    found = drafted(talk, until_idx=1)

    assert [item.text for item in found.handoff.never] == ["千万别一"]
    assert found.messages == 2


def test_messages_without_a_time_belong_to_the_day_around_them(talk: TranscriptFile) -> None:
    talk.add(user("千万别一", timestamp="?"), user("千万别二"), user("千万别三", timestamp="?"))

    assert drafted(talk).days == [date(2026, 8, 3)]
    assert len(drafted(talk).handoff.never) == 3


def test_a_talk_without_any_time_is_drafted_all_the_same(talk: TranscriptFile) -> None:
    talk.add(user("千万别一", timestamp="?"), assistant("好", timestamp="?"))

    found = drafted(talk)

    assert found.days == []
    assert "时间不明" in found.markdown


def test_a_window_in_which_nobody_spoke_gives_an_empty_hand_off(talk: TranscriptFile) -> None:
    talk.add(assistant("有人吗"))

    found = drafted(talk)

    assert (found.messages, found.days, found.handoff.topic) == (0, [], None)
    assert len(found.warnings) == 1


# What is read.


def test_what_is_read_is_bounded_and_says_so(talk: TranscriptFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handoff_reading, "MOST_MESSAGES", 4)
    talk.add(*(line for number in range(5) for line in (user(f"千万别{number}"), assistant("好"))))

    found = drafted(talk)

    assert found.messages == 4
    assert [item.text for item in found.handoff.never] == ["千万别4", "千万别3"]
    assert found.note in found.warnings


def test_bytes_are_bounded_too(talk: TranscriptFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handoff_reading, "MOST_BYTES", 3_000)
    talk.add(*(user(f"{number}" + "长" * 200) for number in range(20)))

    found = drafted(talk)

    assert 0 < found.messages < 20
    assert found.note


def test_of_a_very_long_line_the_first_words_do(talk: TranscriptFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handoff_reading, "LARGEST_LINE", 5_000)
    talk.add(user([{"type": "text", "text": "千万别告诉我妈"}, image("A" * 9_000)]), assistant("好"))

    assert [item.text for item in drafted(talk).handoff.never] == ["千万别告诉我妈"]


def test_a_file_that_is_gone_or_another_one_is_refused(talk: TranscriptFile) -> None:
    lines = talk.add(user("早"), assistant("早呀"))
    index(talk.path.parent.parent)
    whole = talk.path.read_bytes()
    talk.path.write_bytes(whole.replace(lines[0]["uuid"].encode(), b"0" * 36))
    changed = refused(lambda: draft_for(window_of(talk)))
    talk.path.write_bytes(b"x\n")
    shorter = refused(lambda: draft_for(window_of(talk)))
    talk.path.unlink()
    gone = refused(lambda: draft_for(window_of(talk)))

    assert (changed.code, shorter.code, gone.code) == ("changed", "changed", "unreadable")


def test_ten_and_twenty_turns_cost_the_same_queries(talk: TranscriptFile, django_assert_num_queries: Any) -> None:
    for _more in range(2):
        talk.add(*(line for number in range(10) for line in (user(f"第{number}句"), assistant("好"))))
        index(talk.path.parent.parent)
        window = window_of(talk)
        assert window.transcript.path

        with django_assert_num_queries(2):
            draft_for(window)


# Days and texts as people give them.


def test_days_are_read_as_people_write_them() -> None:
    assert days_from(" 2026-08-04, 2026-08-03，2026-08-04、2026/8/5 ;2026.08.06") == [
        date(2026, 8, 3), date(2026, 8, 4), date(2026, 8, 5), date(2026, 8, 6),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "",
        " , ",
        "today",
        "2026-13-01",
        "2026-02-30",
        "20260803",
        "2026-W31-1",
        "٢٠٢٦-08-03",
        "2026-08-03T10:00",
        "0000-01-01",
        "\x1b[31m",
    ],
)
def test_what_is_no_day_is_named(text: str) -> None:
    refusal = refused(lambda: days_from(f"2026-08-03,{text}" if text.strip(" ,") else text))

    assert refusal.code == "bad-days"
    assert "\x1b" not in refusal.message
    assert refusal.hint


def test_more_days_than_a_year_has_are_refused() -> None:
    many = ",".join(str(date(2026, 1, 1) + timedelta(days=number)) for number in range(400))

    assert refused(lambda: days_from(many)).code == "bad-days"


def test_a_text_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.md"
    path.write_bytes(b"\xef\xbb\xbf" + f"# 交接\r\n- 薄荷 {SECRET}\r\n".encode())

    assert read_text(str(path)) == "# 交接\n- 薄荷 sk-ant-api03-******"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "handoff-empty"), (b" \n\x00\n", "handoff-empty"), (b"\xff\xfeh\x00i\x00", "no-text-file"),
        ("长".encode() * LONGEST, ""),
        (b"x" * (LONGEST + 1), "handoff-too-long"), ("长".encode() * (LONGEST + 1), "handoff-too-long"),
        (b"x" * 10_000_000, "handoff-too-long"),
        ("😀".encode() * LONGEST, ""),
    ],
    ids=["empty", "blank", "utf-16", "full", "long", "long-chinese", "huge", "full-of-pictures"],
)  # fmt: skip
def test_a_text_that_cannot_be_used_is_refused(tmp_path: Path, data: bytes, code: str) -> None:
    path = tmp_path / "mine.md"
    path.write_bytes(data)

    if code:
        assert refused(lambda: read_text(str(path))).code == code
    else:
        assert len(read_text(str(path))) == LONGEST


def test_only_a_plain_file_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "circle").symlink_to("circle")
    codes = [refused(lambda name=name: read_text(str(tmp_path / name))).code for name in ("", "pipe", "circle", "none")]

    assert codes == ["no-text-file", "no-text-file", "unreadable", "unreadable"]
    assert refused(lambda: read_text("a\x00b")).code == "unreadable"
    assert refused(lambda: read_text("x" * 5_000)).code == "unreadable"


def test_how_a_text_reads_is_said_in_words() -> None:
    assert warnings_about("- 薄荷换盆\n- 周四语音") == []
    assert len(warnings_about("那天夜里雨下得很大。她坐在窗边。" * 60)) == 1


# The file in the working folder.


def test_it_is_written_for_its_owner_alone_and_a_second_time_changes_nothing(home: Path) -> None:
    first = whiteboard_file.write(home, "- 薄荷\n")
    again = whiteboard_file.write(home, "- 薄荷\n")

    path = home / NAME
    assert path.read_text(encoding="utf-8") == "- 薄荷\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (first.path, first.kept, first.was_same) == (path, None, False)
    assert (again.kept, again.was_same) == (None, True)
    assert [entry.name for entry in home.iterdir()] == [NAME]


def test_another_text_that_stood_there_is_kept_beside(home: Path) -> None:
    path = home / NAME
    path.write_text("by hand", encoding="utf-8")
    path.chmod(0o640)

    written = whiteboard_file.write(home, "new")

    assert written.kept == home / BEFORE
    assert ((home / BEFORE).read_text(encoding="utf-8"), path.read_text(encoding="utf-8")) == ("by hand", "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(entry.name for entry in home.iterdir()) == [NAME, BEFORE]


def test_nothing_is_written_through_a_link(home: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    (home / NAME).symlink_to(victim)
    (tmp_path / "elsewhere").symlink_to(home)

    with pytest.raises(NoPlainFile):
        whiteboard_file.write(home, "new")
    (home / NAME).unlink()
    with pytest.raises(OSError, match="elsewhere"):
        whiteboard_file.write(tmp_path / "elsewhere", "new")

    assert victim.read_text(encoding="utf-8") == "mine"
    assert list(home.iterdir()) == []


def test_a_link_under_the_second_name_is_replaced_not_followed(home: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine", encoding="utf-8")
    (home / NAME).write_text("by hand", encoding="utf-8")
    (home / BEFORE).symlink_to(victim)

    whiteboard_file.write(home, "new")

    assert victim.read_text(encoding="utf-8") == "mine"
    assert (home / BEFORE).read_text(encoding="utf-8") == "by hand"


def test_where_the_new_file_cannot_take_its_name_the_old_one_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / NAME).write_text("by hand", encoding="utf-8")
    (home / BEFORE).mkdir()

    with pytest.raises(OSError, match="directory"):
        whiteboard_file.write(home, "new")

    assert (home / NAME).read_text(encoding="utf-8") == "by hand"
    assert sorted(entry.name for entry in home.iterdir()) == [NAME, BEFORE]


def test_a_file_system_without_second_names_keeps_the_old_text_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_args: Any, **_options: Any) -> None:
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(os, "link", no_links)
    (home / NAME).write_text("by hand", encoding="utf-8")

    whiteboard_file.write(home, "new")

    assert ((home / BEFORE).read_text(encoding="utf-8"), (home / NAME).read_text(encoding="utf-8")) == (
        "by hand",
        "new",
    )


@pytest.mark.skipif(not AS_ROOT, reason="only root writes for somebody else")
def test_root_writes_for_whoever_has_the_folder(home: Path) -> None:
    os.chown(home, 1234, 1234)

    whiteboard_file.write(home, "new")

    assert (home / NAME).stat().st_uid == 1234


def test_a_folder_that_is_unknown_or_gone_is_refused(talk: TranscriptFile, home: Path) -> None:
    talk.add(user("早"))
    index(talk.path.parent.parent)
    window = window_of(talk)
    home.rmdir()
    codes = [refused(lambda: write(window, "x")).code]
    for folder in ("", "relative", "/srv/\x00"):
        window.cwd = folder
        codes.append(refused(lambda: write(window, "x")).code)

    assert codes == ["not-writable", "no-folder", "no-folder", "no-folder"]


@pytest.mark.skipif(AS_ROOT, reason="root may write anywhere")
def test_a_folder_of_somebody_else_is_refused(talk: TranscriptFile, home: Path) -> None:
    talk.add(user("早"))
    index(talk.path.parent.parent)
    home.chmod(0o500)

    assert refused(lambda: write(window_of(talk), "x")).code == "not-writable"


# The command.


def test_the_document_has_the_contracts_fields(manage: Terminal, talk: TranscriptFile) -> None:
    talk.add(user("我好累"), assistant("歇会儿"), user("明天我去买土"))

    answer = manage("handoff", talk.session)

    assert manage.code == 0
    assert set(answer) >= {
        "session_id", "days", "fields", "markdown", "version", "language", "warnings", "written",
    }  # fmt: skip
    assert set(answer["fields"]) >= {"topic", "state", "promises", "never", "cues", "excerpts"}
    assert (answer["session_id"], answer["days"], answer["version"]) == (talk.session, ["2026-08-03"], 0)
    assert (answer["fields"]["state"], answer["language"], answer["written"]) == ("我好累", "zh", None)
    assert answer["fields"]["promises"][0]["text"] == "明天我去买土"


def test_days_can_be_given_and_a_wrong_one_is_refused(manage: Terminal, talk: TranscriptFile) -> None:
    talk.add(user("千万别一"))
    next_day(talk)
    talk.add(user("千万别二"))

    answer = manage("handoff", talk.session, "--days", "2026-08-03")

    assert [item["text"] for item in answer["fields"]["never"]] == ["千万别一"]
    assert manage.refusal("handoff", talk.session, "--days", "2026-08-09") == (1, "no-such-day")
    assert manage.refusal("handoff", talk.session, "--days", "soon") == (1, "bad-days")
    assert manage.refusal("handoff", talk.session, "--days=") == (1, "bad-days")


def test_write_puts_the_page_into_the_working_folder(manage: Terminal, talk: TranscriptFile, home: Path) -> None:
    talk.add(user("千万别告诉我妈"))
    (home / NAME).write_text("by hand", encoding="utf-8")

    answer = manage("handoff", talk.session, "--write")

    assert (home / NAME).read_text(encoding="utf-8") == answer["markdown"]
    assert answer["written"] == {"path": str(home / NAME), "kept": str(home / BEFORE), "unchanged": False}


def test_a_dry_run_writes_nothing_and_says_what_stands_in_the_way(
    manage: Terminal, talk: TranscriptFile, home: Path
) -> None:
    talk.add(user("早"))

    fine = manage("handoff", talk.session, "--write", "--dry-run")
    left = list(home.iterdir())
    home.rmdir()
    gone = manage("handoff", talk.session, "--write", "--dry-run")

    assert (fine["written"], fine["warnings"], left) == (None, [], [])
    assert (manage.code, len(gone["warnings"])) == (0, 1)
    assert manage.refusal("handoff", talk.session, "--write") == (1, "not-writable")


def test_for_a_person_it_prints_the_page(capsys: pytest.CaptureFixture[str], talk: TranscriptFile, home: Path) -> None:
    from django.core.management import call_command

    talk.add(user("我好累\x1b[31m"))

    call_command("handoff", talk.session, "--write")
    call_command("handoff", talk.session, "--write")

    printed = capsys.readouterr().out
    assert "“我好累⟨U+001B⟩[31m”" in printed
    assert "\x1b" not in printed
    assert printed.count(str(home / NAME)) == 2
