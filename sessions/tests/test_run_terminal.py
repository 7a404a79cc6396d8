"""Runs as a person follows them in a terminal: waiting for the worker, what to read, what to type; hostile words."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.tests.rows import HOSTILE
from companion.up.commandline import run as run_command
from sessions.actions import health
from sessions.actions.carry_out import carry_out
from sessions.management import carrying
from sessions.models import Run
from sessions.tests.planned import own_ground, rest, talk
from sessions.tests.test_commands import Terminal
from sessions.tests.transcripts import TranscriptFile, assistant, user

pytestmark = pytest.mark.django_db(transaction=True)
A = "aaaa1111-0000-4000-8000-000000000001"


@pytest.fixture
def manage(capfd: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(capfd)


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


@pytest.fixture
def file(root: Path) -> TranscriptFile:
    return talk(root, session=A)


class TestWorker:
    """While a worker lives it does the work; the command waits for the end."""

    @pytest.fixture
    def said(self) -> list[str]:
        return []

    def test_a_queued_run_is_waited_for_and_a_slow_step_is_told_once(
        self, manage: Terminal, file: TranscriptFile, monkeypatch: pytest.MonkeyPatch, said: list[str]
    ) -> None:
        run = Run.objects.get(pk=manage("diet", A, "--dry-run")["run_id"])
        slow = [{"name": "rehearse", "status": "running", "seconds": 0.0, "detail": {}}]
        monkeypatch.setattr(health, "is_alive", lambda name: True)
        monkeypatch.setattr(carrying, "queue_run", lambda it: it.move("planned", to="queued"))
        looks: Iterator[Callable[[], object]] = iter(
            [lambda: Run.objects.update(steps=slow), lambda: None, lambda: carry_out(run.pk)]
        )
        monkeypatch.setattr(time, "sleep", lambda seconds: next(looks)())

        done = carrying.carry_to_its_end(run, said.append)

        assert done.status == "done"
        assert len(said) == 1

    def test_a_worker_that_goes_away_leaves_the_work_to_the_command(
        self, manage: Terminal, file: TranscriptFile, monkeypatch: pytest.MonkeyPatch, said: list[str]
    ) -> None:
        run = Run.objects.get(pk=manage("diet", A, "--dry-run")["run_id"])
        monkeypatch.setattr(carrying, "queue_run", lambda it: it.move("planned", to="queued"))
        monkeypatch.setattr(health, "is_alive", lambda name: False)

        assert carrying.carry_to_its_end(run, said.append).status == "done"

    def test_patience_ends_with_a_word_about_the_run(
        self, manage: Terminal, file: TranscriptFile, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plan = manage("diet", A, "--dry-run")
        monkeypatch.setattr(carrying, "queue_run", lambda it: it.move("planned", to="queued"))
        monkeypatch.setattr(health, "is_alive", lambda name: True)
        monkeypatch.setattr(carrying, "PATIENCE", 0.0)

        assert manage.refusal("apply", plan["run_id"]) == (1, "still-running")


@pytest.mark.parametrize("language", ["en_US.UTF-8", "zh_CN.UTF-8"])
def test_a_person_reads_what_stays_and_what_to_type(
    file: TranscriptFile, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv("LC_ALL", language)

    def typed(*arguments: str) -> str:
        assert run_command(["manage.py", *arguments]) == 0
        return capfd.readouterr().out

    plan = typed("forge", A, "--dry-run", "--retain", "3000")
    run = Run.objects.get()
    done = typed("apply", str(run.pk))
    back = typed("rollback", str(run.pk))
    listed = typed("runs") + typed("backups")

    assert f"manage.py apply {str(run.pk)[:8]}" in plan
    assert "第" in plan
    assert f"claude --resume {run.target_session_id}" in done
    assert "cd /srv/balcony" in done
    assert f"manage.py rollback {str(run.pk)[:8]}" in done
    assert f"claude --resume {A}" in back
    assert str(run.pk)[:8] in listed
    assert "%(" not in plan + done + back + listed


def test_hostile_words_do_nothing_to_a_terminal(
    manage: Terminal, root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = TranscriptFile(root, session=A, cwd="/srv/\x1b[31m'; rm -rf ~")
    for text in HOSTILE:
        file.add(user(text), assistant(text))
    rest(file)

    assert run_command(["manage.py", "diet", A]) == 0
    shown = capfd.readouterr().out
    document = manage("runs")["items"][0]

    assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(shown)
    assert re.search(r"cd '.*rm -rf ~'", shown)
    assert json.dumps(document)


def test_secrets_are_covered_in_documents(manage: Terminal, root: Path) -> None:
    file = TranscriptFile(root, session=A)
    file.add(user("sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123"), assistant("noted"))
    rest(file)

    assert "abcdefghijklmnop" not in json.dumps(manage("forge", A, "--dry-run"))
