"""The demo companion as rows: loaded, loaded again, removed, and never in anybody's way."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from companion.lib.live import ANY
from companion.lib.refusals import Refusal
from companion.tests.rows import make_companion, make_window, say, use
from sessions.actions import demo
from sessions.actions.index import index_all
from sessions.actions.utterances import catch_up_words
from sessions.core.demo.files import PROJECT, File
from sessions.gateways import demo_files
from sessions.models import Companion, Event, Transcript, UsagePoint, Utterance, Window, WordsCursor
from sessions.tests.demos import NOW, SESSIONS, WINDOWS, ZONE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder for each test."""
    monkeypatch.setattr(settings, "ENV", replace(settings.ENV, data=tmp_path / "data", zone=ZONE))
    return tmp_path / "data"


def rows() -> dict[str, int]:
    catch_up_words()
    models = (Companion, Window, Transcript, Event, UsagePoint, Utterance, WordsCursor)
    return {model.__name__: model._default_manager.count() for model in models}


def test_load_makes_a_marked_companion_with_its_windows(own_data: Path) -> None:
    done = demo.load_demo(NOW)

    companion = Companion.objects.get()
    assert (companion.name, companion.is_demo, companion.confirmed) == ("小满", True, False)
    assert done == demo.Demo("小满", 6, sum(humans for humans, _, _ in WINDOWS.values()), loaded=True, changed=True)
    assert {window.session_id: window.human_messages for window in Window.objects.all()} == {
        SESSIONS[name]: humans for name, (humans, _, _) in WINDOWS.items()
    }
    assert Transcript.objects.filter(kind="subagent", parent_session_id=SESSIONS["thursday"]).count() == 1
    assert Window.objects.get(session_id=SESSIONS["rain"]).title == "雨夜和阳台的薄荷"


def test_load_twice_is_load_once_and_moves_the_days(own_data: Path) -> None:
    demo.load_demo(NOW)
    first, keys = rows(), set(Window.objects.values_list("pk", flat=True))

    done = demo.load_demo(NOW + timedelta(days=1))

    assert rows() == first
    assert set(Window.objects.values_list("pk", flat=True)) == keys
    assert done.loaded
    newest = Transcript.objects.get(window__session_id=SESSIONS["rain"])
    assert newest.state["last_at"].startswith("2026-12-01")


def test_files_are_private_and_below_the_data_folder_only(own_data: Path, tmp_path: Path) -> None:
    demo.load_demo(NOW)

    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.relative_to(own_data).parts[:2] for path in written} == {("demo", "projects")}
    assert {stat.S_IMODE(path.stat().st_mode) for path in written} == {0o600}
    assert not [path for path in written if path.name.startswith(".")]


def test_remove_takes_all_of_it_and_nothing_else(own_data: Path) -> None:
    own = make_window(make_companion("小满"))
    say(own, "早", "晚安")
    use(own, 1_000)
    (own_data / "backups").mkdir(parents=True)
    before = rows()
    demo.load_demo(NOW)

    done = demo.remove_demo()

    assert done == demo.Demo("小满", 0, 0, loaded=False, changed=True)
    assert rows() == before
    assert [path.name for path in own_data.iterdir()] == ["backups"]
    assert Companion.objects.get().pk == own.companion_id


def test_remove_without_one_changes_nothing_and_says_so(own_data: Path) -> None:
    demo.load_demo(NOW)
    demo.remove_demo()

    done = demo.remove_demo()

    assert done == demo.Demo("小满", 0, 0, loaded=False, changed=False)


def test_a_companion_of_the_operator_in_the_very_folder_is_left_alone(own_data: Path) -> None:
    own = make_companion("阿吉", project=PROJECT)

    with pytest.raises(Refusal, match=PROJECT):
        demo.load_demo(NOW)

    own.refresh_from_db()
    assert (own.name, own.is_demo) == ("阿吉", False)
    assert not own_data.exists()


def lose_rows(own_data: Path) -> None:
    Transcript.objects.filter(window__session_id=SESSIONS["rain"]).delete()


def lose_a_file(own_data: Path) -> None:
    (demo_files.projects_root(own_data) / PROJECT / f"{SESSIONS['mint']}.jsonl").unlink()


def lose_the_folder(own_data: Path) -> None:
    demo_files.remove(own_data)


def cut_a_file_short(own_data: Path) -> None:
    os.truncate(demo_files.projects_root(own_data) / PROJECT / f"{SESSIONS['rain']}.jsonl", 5_000)


def lose_the_companion(own_data: Path) -> None:
    Companion.objects.all().delete()


HALVES = [lose_rows, lose_a_file, lose_the_folder, cut_a_file_short, lose_the_companion]


@pytest.mark.parametrize("spoil", HALVES)
def test_a_half_done_load_heals_on_the_next_one(own_data: Path, spoil: Callable[[Path], None]) -> None:
    demo.load_demo(NOW)
    whole = rows()
    spoil(own_data)

    demo.load_demo(NOW)

    assert rows() == whole


@pytest.mark.parametrize("spoil", HALVES)
def test_a_half_done_load_can_be_removed(own_data: Path, spoil: Callable[[Path], None]) -> None:
    demo.load_demo(NOW)
    spoil(own_data)

    demo.remove_demo()

    assert set(rows().values()) == {0}
    assert not demo_files.folder(own_data).exists()


def test_a_sweep_of_the_usual_roots_leaves_the_demo_as_it_is(own_data: Path, tmp_path: Path) -> None:
    demo.load_demo(NOW)
    (tmp_path / "projects").mkdir()
    before = list(Transcript.objects.order_by("pk").values())

    index_all([tmp_path / "projects"])
    index_all([tmp_path / "projects"], full=True)

    assert list(Transcript.objects.order_by("pk").values()) == before
    assert not Transcript.objects.exclude(missing_since=None).exists()


def test_a_folder_that_leads_elsewhere_is_refused(own_data: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    own_data.mkdir()
    (own_data / "demo").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(Refusal, match=r"written|写"):
        demo.load_demo(NOW)
    with pytest.raises(Refusal, match=r"removed|删"):
        demo.remove_demo()

    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["kept"]


def test_a_path_that_climbs_out_is_refused(own_data: Path) -> None:
    with pytest.raises(demo_files.Outside):
        demo_files.write(own_data, [File("../../escaped.jsonl", b"{}")])

    assert not (own_data.parent / "escaped.jsonl").exists()


def test_open_pages_hear_of_it(
    own_data: Path, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    told: list[tuple[str, dict[str, object]]] = []
    monkeypatch.setattr("companion.lib.live.tell", told.extend)

    with django_capture_on_commit_callbacks(execute=True):
        demo.load_demo(NOW)
    companion = Companion.objects.get().pk
    loaded, told[:] = list(told), []
    with django_capture_on_commit_callbacks(execute=True):
        demo.remove_demo()

    assert {message["pk"] for _, message in loaded if message["event"] == "companion"} == {companion, ANY}
    assert {message["pk"] for _, message in told if message["event"] == "companion"} == {companion, ANY}
    assert len({message["pk"] for _, message in told if message["event"] == "window"} - {ANY}) == 6


def ran(*arguments: str) -> str:
    out = StringIO()
    call_command("demo", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_answers_with_one_document(own_data: Path) -> None:
    loaded = json.loads(ran("load", "--json"))
    removed = json.loads(ran("remove", "--json"))

    assert loaded["companion"] == "小满"
    assert (loaded["sessions"], loaded["human_messages"], loaded["loaded"]) == (6, 213, True)
    assert (removed["sessions"], removed["human_messages"], removed["loaded"]) == (0, 0, False)


def test_the_command_says_when_there_is_nothing_to_remove(own_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")

    assert ran("remove") == "There is no demo companion; nothing to remove.\n"
