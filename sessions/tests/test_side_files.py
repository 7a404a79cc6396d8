"""Side files come along with a copied talk, and nothing else does (transcripts.md 1.1, security row 6)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from sessions.actions.carry_out import carry_out
from sessions.gateways import disk, side_files
from sessions.gateways.disk import NotWritten
from sessions.models import Transcript
from sessions.tests.planned import (
    at,
    check_done,
    check_nothing_written,
    own_ground,
    planned,
    rest,
    side_folder,
    source_of,
    step_of,
    target_of,
)
from sessions.tests.transcripts import TranscriptFile, assistant, tool_result, tool_use, user

SESSION = "aaaa1111-0000-4000-8000-000000000001"
OTHER = "bbbb2222-0000-4000-8000-000000000002"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "-srv"
    for name in ("tool-results", "subagents"):
        (folder / SESSION / name).mkdir(parents=True)
    (folder / SESSION / "tool-results" / "toolu_1.txt").write_text("long")
    (folder / SESSION / "subagents" / "agent-a1.jsonl").write_text("{}\n")
    (folder / SESSION / "subagents" / "agent-a1.meta.json").write_text("{}")
    return folder


def below(project: Path, session: str = OTHER) -> dict[str, str]:
    folder = project / session
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


NAMES = side_files.names_of(["tool-results/toolu_1.txt"], ["a1"])


def test_side_files_come_along_privately(project: Path) -> None:
    done = side_files.carry(project, SESSION, OTHER, NAMES)

    assert below(project) == below(project, SESSION)
    assert (done.files, done.size, done.missing) == (3, 9, [])
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (project / OTHER).rglob("*") if path.is_file()}
    assert modes == {0o600}


def test_twice_is_once(project: Path) -> None:
    side_files.carry(project, SESSION, OTHER, NAMES)
    (project / OTHER / "tool-results" / "toolu_1.txt").write_text("lo")

    side_files.carry(project, SESSION, OTHER, NAMES)

    assert below(project) == below(project, SESSION)


def test_what_is_missing_is_named(project: Path) -> None:
    done = side_files.carry(project, SESSION, OTHER, side_files.names_of(["tool-results/gone.txt"], ["a1", "a2"]))

    assert done.missing == ["tool-results/gone.txt", "subagents/agent-a2.jsonl"]
    assert set(below(project)) == {"subagents/agent-a1.jsonl", "subagents/agent-a1.meta.json"}


def test_without_a_side_folder_all_is_missing(project: Path) -> None:
    done = side_files.carry(project, "cccc3333-0000-4000-8000-000000000003", OTHER, NAMES)

    assert done.missing == NAMES
    assert not (project / OTHER).exists()


@pytest.mark.parametrize(
    "name",
    [
        "tool-results/../x", "tool-results/..", "../x", "/etc/passwd", "tool-results/a/b", "tool-results/", "other/x",
        "tool-results/.x",
    ],
)  # fmt: skip
def test_a_name_that_leads_elsewhere_is_left_out(name: str) -> None:
    assert side_files.names_of([name], []) == []
    assert side_files.names_of([], [f"x/../{name}"]) == []


@pytest.mark.parametrize("what", ["file", "folder", "session", "pipe"])
def test_nothing_is_carried_from_behind_a_link(project: Path, tmp_path: Path, what: str) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "toolu_1.txt").write_text("secret")
    result = project / SESSION / "tool-results"
    result.joinpath("toolu_1.txt").unlink()
    if what == "file":
        result.joinpath("toolu_1.txt").symlink_to(secret / "toolu_1.txt")
    elif what == "folder":
        result.rmdir()
        result.symlink_to(secret)
    elif what == "session":
        (project / SESSION).rename(tmp_path / "moved")
        (tmp_path / "moved" / "tool-results" / "toolu_1.txt").write_text("secret")
        (project / SESSION).symlink_to(tmp_path / "moved")
    else:
        os.mkfifo(result / "toolu_1.txt")

    done = side_files.carry(project, SESSION, OTHER, ["tool-results/toolu_1.txt"])

    assert done.missing == ["tool-results/toolu_1.txt"]
    assert not (project / OTHER / "tool-results" / "toolu_1.txt").exists()


def test_nothing_is_written_behind_a_link(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / OTHER).symlink_to(tmp_path / "elsewhere")

    with pytest.raises(NotWritten):
        side_files.carry(project, SESSION, OTHER, NAMES)

    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_too_large_is_named_as_missing(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_files, "LARGEST", 3)

    done = side_files.carry(project, SESSION, OTHER, NAMES)

    assert done.missing == ["tool-results/toolu_1.txt"]


def test_removed_they_are_gone_with_their_folders_and_nothing_else_is(project: Path) -> None:
    side_files.carry(project, SESSION, OTHER, NAMES)
    side_files.remove(project, OTHER, NAMES)
    gone = not (project / OTHER).exists()
    side_files.carry(project, SESSION, OTHER, NAMES)
    (project / OTHER / "tool-results" / "somebody's.txt").write_text("mine")

    side_files.remove(project, OTHER, NAMES)
    side_files.remove(project, "cccc3333-0000-4000-8000-000000000003", NAMES)

    assert gone
    assert below(project) == {"tool-results/somebody's.txt": "mine"}
    assert len(below(project, SESSION)) == 3


def test_a_disk_that_fills_up_ends_the_carrying(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "RESERVE", 2**60)

    with pytest.raises(NotWritten) as refused:
        side_files.carry(project, SESSION, OTHER, NAMES)

    assert refused.value.code == "no-space"


# In a run.


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


def spilling(root: Path) -> TranscriptFile:
    """A talk whose last turn points to a spilled result and to a subagent."""
    file = TranscriptFile(root)
    folder = file.path.with_suffix("")
    spilled = folder / "tool-results" / "toolu_1.txt"
    for path, words in ((spilled, "long"), (folder / "subagents" / "agent-a1b2c3d.jsonl", "{}\n")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words)
    note = f"<persisted-output>\nFull output saved to: {spilled}\n</persisted-output>"
    file.add(
        user("看看"),
        assistant([tool_use("toolu_1")]),
        tool_result("toolu_1", note, toolUseResult={"agentId": "a1b2c3d"}),
        assistant("看过了"),
    )
    rest(file)
    return file


@pytest.mark.django_db
def test_a_run_brings_them_before_the_new_file_has_its_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = planned(root, spilling(root))

    carry_out(run.pk)

    check_done(run)
    assert set(below(source_of(run).parent, run.target_session_id)) == {
        "tool-results/toolu_1.txt", "subagents/agent-a1b2c3d.jsonl",
    }  # fmt: skip
    assert str(side_folder(run) / "tool-results" / "toolu_1.txt") in target_of(run).read_text()
    assert Transcript.objects.filter(path=run.target_path).exists()


@pytest.mark.django_db
def test_one_that_is_gone_by_then_is_a_warning(root: Path) -> None:
    file = spilling(root)
    run = planned(root, file)
    (file.path.with_suffix("") / "tool-results" / "toolu_1.txt").unlink()

    carry_out(run.pk)

    check_done(run)
    assert step_of(run, "verify")["status"] == "warning"
    assert step_of(run, "verify")["detail"]["names"] == ["tool-results/toolu_1.txt"]


@pytest.mark.django_db
@pytest.mark.parametrize("step", ["rehearse", "rebind"])
def test_a_run_that_fails_takes_them_back(root: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    file = spilling(root)
    run = planned(root, file)
    at(monkeypatch, step, lambda: file.add(user("等一下")))

    carry_out(run.pk)

    check_nothing_written(run, "stale", "grown")
    assert len(below(file.path.parent, file.session)) == 2


@pytest.mark.django_db
def test_a_run_that_cannot_write_them_takes_back_what_it_wrote(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = planned(root, spilling(root), with_backup=False)
    monkeypatch.setattr(disk, "RESERVE", 2**60)

    carry_out(run.pk)

    check_nothing_written(run, "failed", "no-space")
