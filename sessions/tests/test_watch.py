"""The watcher's part in indexing: what it hears of, and what it does then (spec S4)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from watchfiles import Change

from sessions.management.commands import watch
from sessions.models import Window
from sessions.tests.transcripts import TranscriptFile, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Iterator[Path]:
    """A project folder below the root that this run watches."""
    folder = settings.ENV.roots[0] / "-srv-watched"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_a_transcript_that_changed_is_read_on(project: Path) -> None:
    talk = TranscriptFile(settings.ENV.roots[0], project.name)
    talk.add(user("one"))

    watch.take({talk.path})

    assert Window.objects.get().human_messages == 1


def test_a_new_folder_is_looked_through_for_what_was_there_before_it_was_watched(project: Path) -> None:
    talk = TranscriptFile(settings.ENV.roots[0], project.name)
    talk.add(user("one"))

    watch.take({project})

    assert Window.objects.get().session_id == talk.session


@pytest.mark.parametrize(
    ("change", "name", "wanted"),
    [
        pytest.param(Change.modified, "a.jsonl", True, id="a transcript"),
        pytest.param(Change.deleted, "gone.jsonl", True, id="a transcript that is gone"),
        pytest.param(Change.added, "folder", True, id="a new folder"),
        pytest.param(Change.modified, "folder", False, id="a folder that only changed"),
        pytest.param(Change.added, "notes.txt", False, id="some other file"),
    ],
)
def test_only_transcripts_and_new_folders_wake_the_watcher(
    tmp_path: Path, change: Change, name: str, wanted: bool
) -> None:
    (tmp_path / "folder").mkdir()

    assert watch._concerns_us(change, str(tmp_path / name)) is wanted
