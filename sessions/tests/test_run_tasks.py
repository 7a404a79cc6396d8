"""Runs over the queue: handed over once, nudged when nobody works on them, killed with their worker and taken up again."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.cache import cache
from redis.exceptions import ConnectionError as NoBroker

from companion.tests.consoles import console, manage, short_folder, until
from sessions import tasks
from sessions.actions import health
from sessions.gateways import locks
from sessions.models import Run
from sessions.tests.planned import again, check_done, own_ground, planned, seen, talk, target_of
from sessions.tests.transcripts import TranscriptFile

needs_rows = pytest.mark.django_db


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The messages that would reach the worker."""
    found: list[str] = []
    monkeypatch.setattr(tasks.carry_out_run, "delay", found.append)
    return found


@needs_rows
def test_a_planned_run_is_handed_to_a_living_worker_once(root: Path, sent: list[str]) -> None:
    run = planned(root)
    health.beat("worker")

    handed = tasks.queue_run(run), tasks.queue_run(run), tasks.queue_run(again(run))

    assert handed == (True, True, True)
    assert (sent, again(run).status) == ([str(run.pk)], "queued")


@needs_rows
def test_without_a_worker_it_stays_planned(root: Path, sent: list[str]) -> None:
    run = planned(root)

    assert not tasks.queue_run(run)
    assert (sent, again(run).status) == ([], "planned")


@needs_rows
def test_a_broker_that_fails_leaves_it_planned(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = planned(root)
    health.beat("worker")

    def fail(_id: str) -> None:
        raise NoBroker("gone")

    monkeypatch.setattr(tasks.carry_out_run, "delay", fail)

    assert not tasks.queue_run(run)
    assert again(run).status == "planned"


@needs_rows
def test_a_run_that_is_over_is_not_handed_over(root: Path, sent: list[str]) -> None:
    run = planned(root)
    health.beat("worker")
    Run.objects.update(status="cancelled")

    assert not tasks.queue_run(run)
    assert sent == []


@needs_rows
def test_the_task_carries_out_and_a_second_message_changes_nothing(root: Path) -> None:
    run = planned(root)
    Run.objects.update(status="queued")

    tasks.carry_out_run(str(run.pk))
    done = seen(target_of(run))
    tasks.carry_out_run(str(run.pk))

    check_done(run)
    assert seen(target_of(run)) == done


@needs_rows
def test_a_message_for_a_busy_session_waits_for_the_sweep(root: Path, settings: Any) -> None:
    run = planned(root)
    Run.objects.update(status="queued")

    with locks.held(settings.ENV.data, run.source_session_id):
        tasks.carry_out_run(str(run.pk))

    assert again(run).status == "queued"


@needs_rows
@pytest.mark.parametrize("status", ["queued", "running"])
def test_a_run_that_nobody_works_on_is_nudged_once_in_a_while(root: Path, sent: list[str], status: str) -> None:
    run = planned(root)
    Run.objects.update(status=status)

    tasks.nudge_runs()
    tasks.nudge_runs()
    tasks.nudge_runs(at_once=True)

    assert sent == [str(run.pk)] * 2
    cache.delete(f"run-nudged-{run.pk}")


@needs_rows
def test_plans_and_what_is_over_are_not_nudged(root: Path, sent: list[str]) -> None:
    file = talk(root)
    planned(root, file)
    Run.objects.filter(pk=planned(root, file).pk).update(status="done")

    tasks.nudge_runs(at_once=True)

    assert sent == []


@pytest.fixture
def data() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder / "data"


@pytest.mark.processes
def test_a_worker_killed_amid_a_run_is_no_harm(data: Path) -> None:
    """The client of the rehearsal holds the run up, the worker's process is killed, and the next one ends the run."""
    projects = data.parent / "home" / "projects"
    projects.mkdir(parents=True)
    file = talk(projects)
    slow = slow_client(data.parent)

    with console(data, CLAUDE_BIN=str(slow)) as running:
        before = seen(file.path)
        run_id = dry_run(data, file)
        applied = manage_in_the_background(data, "apply", run_id, "--json")
        rehearsing = until(lambda: child_that_rehearses(running.process.pid, slow), 30)
        assert rehearsing
        slow.with_name("gone").touch()
        os.kill(rehearsing.ppid(), signal.SIGKILL)
        applied.wait(60)
        document = json.loads(applied.stdout.read() if applied.stdout else "")

    assert document["status"] == "done", document
    assert len(list(file.path.parent.glob("*.jsonl"))) == 2
    assert seen(file.path) == before
    assert list(file.path.parent.rglob(".*")) == []
    assert [step["name"] for step in document["steps"] if step["status"] == "failed"] == []


def slow_client(folder: Path) -> Path:
    """A client that says its version and then waits, until a file says that it is gone: then it says nothing any more."""
    path = folder / "claude"
    path.write_text(
        f"#!{sys.executable}\nimport pathlib, sys, time\n"
        f"gone = pathlib.Path({str(folder / 'gone')!r})\n"
        "if '--version' in sys.argv: sys.exit(0 if gone.exists() else print('2.1.332'))\n"
        "while not gone.exists(): time.sleep(0.1)\n"
    )
    path.chmod(0o755)
    return path


def dry_run(data: Path, file: TranscriptFile) -> str:
    done = manage(data, "diet", file.session, "--retain", "2500", "--dry-run", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    run_id: str = json.loads(done.stdout)["run_id"]
    return run_id


def manage_in_the_background(data: Path, *arguments: str) -> Any:
    import subprocess

    from companion.tests.consoles import MANAGE, ROOT, environment

    return subprocess.Popen(
        [*MANAGE, *arguments],
        cwd=ROOT,
        env=environment(data),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def child_that_rehearses(supervisor: int, client: Path) -> psutil.Process | None:
    for process in psutil.Process(supervisor).children(recursive=True):
        try:
            if str(client) in process.cmdline() and "--resume" in process.cmdline():
                return process
        except psutil.Error:
            continue
    return None
