"""Which session a person means by an id, a prefix, a path or nothing (contract, "Commands")."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from companion.lib.refusals import Refusal
from sessions.actions import mark
from sessions.actions.find import companion_named, window_for
from sessions.actions.index import index_all
from sessions.models import Companion, Window
from sessions.tests.people import as_nobody
from sessions.tests.transcripts import TranscriptFile, agent_file, custom_title, user

pytestmark = pytest.mark.django_db
A = "aaaa1111-0000-4000-8000-000000000001"
A2 = "aaaa2222-0000-4000-8000-000000000002"
B = "bbbb1111-0000-4000-8000-000000000003"


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    """Three sessions of one companion, under the console's own root."""
    folder = tmp_path / "projects"
    settings.ENV = dataclasses.replace(settings.ENV, roots=(folder,))
    for hour, session in enumerate((A, A2, B)):
        TranscriptFile(folder, session=session).add(user(timestamp=f"2026-03-01T0{hour}:00:00Z"))
    index_all()
    return folder


def code_of(session: str | None, companion: str | None = None) -> str:
    with pytest.raises(Refusal) as refused:
        window_for(session, companion)
    assert refused.value.message
    return refused.value.code


@pytest.mark.parametrize(("given", "meant"), [(A, A), (A.upper(), A), ("aaaa1", A), ("AAAA2", A2), ("b", B)])
def test_an_id_or_a_prefix_of_one_session_means_it(root: Path, given: str, meant: str) -> None:
    assert window_for(given).session_id == meant


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("aaaa", "ambiguous-session"), ("cccc", "unknown-session"), (A + "0", "unknown-session"), ("aaaa%", "bad-session"),
        ("aa aa", "bad-session"), ("ä", "bad-session"), ("a" * 201, "bad-session"), ("_", "unknown-session"),
        ("/nowhere/x.jsonl", "unknown-session"), ("x.jsonl", "unknown-session"), ("/" + "a" * 5_000, "unknown-session"),
        ("/", "unknown-session"),
    ],
)  # fmt: skip
def test_what_means_no_one_session_is_refused(root: Path, given: str, code: str) -> None:
    assert code_of(given) == code


def test_the_sessions_that_a_prefix_may_mean_are_named(root: Path) -> None:
    with pytest.raises(Refusal) as refused:
        window_for("aaaa")

    assert A in refused.value.message
    assert A2 in refused.value.message


def test_one_id_in_two_folders_is_ambiguous_and_the_path_decides(root: Path) -> None:
    other = TranscriptFile(root, "-srv-garden", session=A)
    other.add(user())
    index_all()

    assert code_of(A) == "ambiguous-session"
    assert window_for(str(other.path)).companion.project == "-srv-garden"


def test_an_exact_id_is_meant_though_it_begins_another(root: Path) -> None:
    Window.objects.filter(session_id=A2).update(session_id=A + "-copy")

    assert window_for(A).session_id == A


def test_a_path_inside_the_root_means_the_session_known_already(root: Path) -> None:
    path = root / "-srv-balcony" / f"{A}.jsonl"

    window = window_for(str(path))

    assert (window.session_id, Window.objects.count()) == (A, 3)


@pytest.mark.parametrize("way", ["dots", "link", "relative", "home"])
def test_a_path_by_another_way_means_the_same_session(root: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (root.parent / "link").symlink_to(root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(root.parent))
    given = {
        "dots": f"{root}/-srv-balcony/../-srv-balcony/{A}.jsonl",
        "link": f"{root.parent}/link/-srv-balcony/{A}.jsonl",
        "relative": f"-srv-balcony/{A}.jsonl",
        "home": f"~/projects/-srv-balcony/{A}.jsonl",
    }[way]

    window = window_for(given)

    assert (window.session_id, Window.objects.count()) == (A, 3)


def test_a_path_outside_of_the_root_is_read_where_it_lies(root: Path, tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path / "elsewhere", "-srv-attic")
    file.add(user("far away"))
    before = file.path.read_bytes()

    window = window_for(str(file.path))

    assert (window.session_id, window.first_words, window.companion.project) == (file.session, "far away", "-srv-attic")
    assert file.path.read_bytes() == before


def test_a_path_is_read_anew_each_time(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(user("one"))
    first = window_for(str(file.path)).human_messages

    file.add(user("two"))

    assert (first, window_for(str(file.path)).human_messages) == (1, 2)


def test_a_file_without_a_message_is_no_transcript(root: Path) -> None:
    file = TranscriptFile(root)
    file.add(custom_title("nothing said"))

    assert code_of(str(file.path)) == "no-transcript"


def test_a_subagents_file_is_no_session(root: Path) -> None:
    assert code_of(str(agent_file(root, A, user("dig")))) == "no-transcript"


def test_a_file_that_may_not_be_read_is_refused_with_the_reason(open_folder: Path) -> None:
    file = TranscriptFile(open_folder)
    file.add(user())
    file.path.chmod(0)

    with as_nobody():
        code = code_of(str(file.path))

    assert code == "unreadable"


def test_nothing_means_the_latest_session_of_the_only_companion(root: Path) -> None:
    assert window_for(None).session_id == B


def test_an_archived_session_is_not_meant_by_nothing(root: Path) -> None:
    mark.archive(Window.objects.get(session_id=B), True)

    assert window_for("").session_id == A2


def test_without_any_session_nothing_is_refused(tmp_path: Path) -> None:
    assert code_of(None) == "no-session"


def test_a_companion_whose_sessions_are_all_archived_has_none(root: Path) -> None:
    Window.objects.update(is_archived=True)

    assert code_of(None) == "no-session"


def test_between_two_companions_nothing_is_refused_until_one_is_confirmed(root: Path) -> None:
    TranscriptFile(root, "-srv-garden", cwd="/srv/garden").add(user())
    index_all()

    before = code_of(None)
    mark.confirm(Companion.objects.get(project="-srv-balcony"))

    assert before == "which-session"
    assert window_for(None).session_id == B


@pytest.mark.parametrize("name", ["balcony", "-srv-balcony", "number"])
def test_a_companion_is_known_by_name_folder_or_number(root: Path, name: str) -> None:
    wanted = str(Companion.objects.get().pk) if name == "number" else name

    assert companion_named(wanted) == Companion.objects.get()
    assert window_for(None, wanted).session_id == B


@pytest.mark.parametrize("name", ["nobody", "9" * 12, "9" * 30, "9" * 5_000, "٣", "-1"])
def test_an_unknown_companion_is_refused(root: Path, name: str) -> None:
    with pytest.raises(Refusal) as refused:
        companion_named(name)

    assert refused.value.code == "unknown-companion"


def test_two_companions_of_one_name_are_ambiguous(root: Path) -> None:
    TranscriptFile(root, "-home-balcony", cwd="/home/balcony").add(user())
    index_all()

    assert code_of(None, "balcony") == "ambiguous-companion"
