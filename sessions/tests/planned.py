"""Planned runs on transcripts of their own, and what must hold whatever became of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from sessions.actions.propose import Wish, propose
from sessions.actions.run_progress import Progress
from sessions.core.invariants import Checker
from sessions.core.selection import Mode, Selection
from sessions.models import Backup, Metric, Run
from sessions.tests.indexed import index, window_of
from sessions.tests.transcripts import TranscriptFile, assistant, thinking, tool_result, tool_use, user

LONG_AGO = 1_760_000_000_123_456_789
STEPS = ["lock", "quiet", "digest", "hold", "backup", "write", "verify", "rehearse", "rebind", "metrics"]


def own_ground(folder: Path, test_settings: Any, **more: Any) -> Path:
    """A data folder and a projects root below `folder`; answers the root."""
    root = folder / "projects"
    root.mkdir(exist_ok=True)
    (folder / "data").mkdir(mode=0o700, exist_ok=True)
    values: dict[str, Any] = {
        "data": folder / "data",
        "roots": (root,),
        "host_name": f"host-{folder.name}"[:60],
        "rehearse": False,
    }
    test_settings.ENV = replace(settings.ENV, **(values | more))
    return root


def talk(root: Path, turns: int = 6, **more: Any) -> TranscriptFile:
    """A session of some turns, each with a call and its long result, silent for months."""
    file = TranscriptFile(root, **more)
    for number in range(turns):
        call = f"toolu_{number}"
        file.add(
            user(f"第{number}天：给薄荷浇水"),
            assistant([thinking(), tool_use(call)], message=f"msg_{number}a", used=20_000 + number * 1_000),
            tool_result(call, f"pot {number} " * 900),
            assistant(f"浇好了，第{number}盆", message=f"msg_{number}b", used=20_500 + number * 1_000),
        )
    rest(file)
    return file


def rest(file: TranscriptFile) -> None:
    """Nothing has happened to this file for long."""
    os.utime(file.path, ns=(LONG_AGO, LONG_AGO))


def planned(root: Path, file: TranscriptFile | None = None, *, kind: str = "diet", **wish: Any) -> Run:
    """A planned run that keeps about half of a talk."""
    file = file or talk(root)
    index(root)
    wish.setdefault("selection", Selection(Mode.TAIL, retain=2_500))
    return propose(window_of(file), Wish(kind, **wish))


def source_of(run: Run) -> Path:
    return Path(run.source_path)


def target_of(run: Run) -> Path:
    return Path(run.target_path)


def seen(path: Path) -> tuple[bytes, int, int]:
    """What must not change of a source: its bytes, its time of change, its mode."""
    return path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode


def transcripts_beside(run: Run) -> list[Path]:
    return sorted(path for path in source_of(run).parent.glob("*.jsonl") if path != source_of(run))


def leftovers(run: Run) -> list[Path]:
    """Whatever was begun and not finished: hidden files beside the source and below the data folder."""
    beside = [path for path in source_of(run).parent.rglob("*") if path.name.startswith(".") or ".tmp" in path.name]
    inside = [path for path in settings.ENV.data.rglob("*") if path.name.startswith(".") or path.name.endswith(".part")]
    return beside + inside


def side_folder(run: Run) -> Path:
    return target_of(run).with_suffix("")


def again(run: Run) -> Run:
    return Run.objects.select_related("window", "companion").get(pk=run.pk)


def check_done(run: Run) -> None:
    """One new file, whole, as the row says, and nothing else."""
    run = again(run)
    data = target_of(run).read_bytes()
    assert run.status in {"done", "exported"}, (run.status, run.error, run.steps)
    assert transcripts_beside(run) == [target_of(run)]
    assert (hashlib.sha256(data).hexdigest(), len(data)) == (run.target_sha256, run.target_size)
    assert Checker(run.target_session_id).faults(data.splitlines(keepends=True)) == []
    assert target_of(run).stat().st_mode & 0o777 == 0o600
    assert leftovers(run) == []
    assert [step["name"] for step in run.steps] == STEPS
    assert not {step["status"] for step in run.steps} & {"running", "failed"}
    assert run.finished_at is not None
    assert run.error == {}
    assert events_of(run) == ["trigger", "ok"]


def check_nothing_written(run: Run, status: str, code: str) -> None:
    """Over, and as if it had never been begun."""
    run = again(run)
    assert (run.status, run.error.get("code")) == (status, code), (run.error, run.steps)
    assert transcripts_beside(run) == []
    assert leftovers(run) == []
    assert not side_folder(run).exists()
    assert "running" not in {step["status"] for step in run.steps}
    assert run.finished_at is not None
    assert events_of(run) in (["trigger", "fail"], ["trigger", "skip"])


def events_of(run: Run) -> list[str]:
    return list(Metric.objects.filter(run=run).order_by("pk").values_list("event", flat=True))


def step_of(run: Run, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(step for step in again(run).steps if step["name"] == name)
    return found


def age(backup: Backup, days: float) -> None:
    """Makes a row look older."""
    type(backup).objects.filter(pk=backup.pk).update(created_at=timezone.now() - timedelta(days=days))


def at(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object], *, when: str = "running") -> None:
    """Does `act` once at the moment a step begins, or has become what `when` says."""
    put = Progress.put
    done: list[object] = []

    def watched(self: Progress, step: str, status: str, *rest: Any, **more: Any) -> None:
        put(self, step, status, *rest, **more)
        if (step, status) == (name, when) and not done:
            done.append(act())

    monkeypatch.setattr(Progress, "put", watched)
