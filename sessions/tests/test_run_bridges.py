"""The chat moves last, and only if nothing was said in the old window meanwhile; whatever is bound is never taken away (W8, W9)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.actions import run_steps
from sessions.actions.carry_out import carry_out
from sessions.gateways.bridges import Binding, Bridge, Rebound, bridge_for
from sessions.gateways.bridges.bridge import Rebinding
from sessions.models import Metric
from sessions.tests.killed import around, carry_out_and_die
from sessions.tests.planned import (
    again,
    check_done,
    check_nothing_written,
    own_ground,
    planned,
    step_of,
    talk,
    target_of,
    transcripts_beside,
)
from sessions.tests.transcripts import TranscriptFile, user


class FileBridge:
    """A bridge that keeps its binding in a file, and does in the middle of a rebinding what it is told."""

    name = "file"

    def __init__(self, store: Path, bound: str) -> None:
        self.store = store
        self.store.write_text(bound)
        self.meanwhile: Callable[[], object] = lambda: None
        self.answer = Rebinding.BOUND

    def binding(self) -> Binding | None:
        return Binding(self.store.read_text(), str(self.store))

    def rebind(self, before: str, after: str, *, digest_holds: Callable[[], bool]) -> Rebound:
        self.meanwhile()
        if not digest_holds() or self.answer is Rebinding.UNCHANGED:
            return Rebound(Rebinding.UNCHANGED, before, before, {"code": "unchanged"})
        self.store.write_text(after)
        return Rebound(self.answer, before, after)

    def restore(self, before: str, after: str) -> Rebound:
        self.store.write_text(before)
        return Rebound(Rebinding.BOUND, after, before)


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


@pytest.fixture
def file(root: Path) -> TranscriptFile:
    return talk(root)


@pytest.fixture
def bridge(tmp_path: Path, file: TranscriptFile, monkeypatch: pytest.MonkeyPatch) -> FileBridge:
    found = FileBridge(tmp_path / "binding", file.session)
    monkeypatch.setattr(run_steps, "bridge_for", lambda _companion: found)
    return found


def stays_on_the_old(bridge: FileBridge, file: TranscriptFile) -> bool:
    return bridge.store.read_text() == file.session


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("answer", "status"), [("bound", "ok"), ("bound-unproven", "warning"), ("needs-hand", "warning")]
)
def test_the_chat_moves_into_the_new_window(
    root: Path, file: TranscriptFile, bridge: FileBridge, answer: str, status: str
) -> None:
    bridge.answer = Rebinding(answer)
    run = planned(root, file)

    carry_out(run.pk)

    check_done(run)
    assert step_of(run, "rebind")["status"] == status
    assert again(run).rebind == {
        "status": answer, "before": file.session, "after": run.target_session_id, "detail": {},
    }  # fmt: skip
    assert Metric.objects.filter(run=run, event="ok").get().rebind == answer


@pytest.mark.django_db
def test_a_word_that_arrives_while_the_bridge_stops_keeps_the_chat_in_the_old_window(
    root: Path, file: TranscriptFile, bridge: FileBridge
) -> None:
    run = planned(root, file)
    bridge.meanwhile = lambda: file.add(user("等一下"))

    carry_out(run.pk)

    check_nothing_written(run, "stale", "grown")
    assert stays_on_the_old(bridge, file)
    assert again(run).rebind["status"] == "unchanged"


@pytest.mark.django_db
def test_a_bridge_that_could_not_move_leaves_the_new_file_for_later(
    root: Path, file: TranscriptFile, bridge: FileBridge
) -> None:
    bridge.answer = Rebinding.UNCHANGED
    run = planned(root, file)

    carry_out(run.pk)

    assert (again(run).status, again(run).error["code"]) == ("failed", "rebind-failed")
    assert stays_on_the_old(bridge, file)
    assert transcripts_beside(run) == [target_of(run)]
    assert target_of(run).stat().st_mtime_ns < file.path.stat().st_mtime_ns


@pytest.mark.django_db
@pytest.mark.parametrize("fault", [OSError(5, "input/output error"), RuntimeError("a gear")])
def test_a_bridge_that_breaks_leaves_the_new_file_for_it_may_be_bound(
    root: Path, file: TranscriptFile, bridge: FileBridge, fault: Exception
) -> None:
    run = planned(root, file)

    def break_down() -> None:
        bridge.store.write_text(run.target_session_id)
        raise fault

    bridge.meanwhile = break_down

    carry_out(run.pk)

    code = "bridge-failed" if isinstance(fault, OSError) else "unexpected"
    assert (again(run).status, again(run).error["code"]) == ("failed", code)
    assert transcripts_beside(run) == [target_of(run)]


@pytest.mark.django_db(transaction=True)
def test_killed_behind_the_move_the_new_window_stays_bound_though_the_old_one_has_grown(
    root: Path, file: TranscriptFile, bridge: FileBridge
) -> None:
    run = planned(root, file)
    assert carry_out_and_die(run, around(FileBridge, "rebind"))
    file.add(user("一句迟到的话"))
    bridge_says_nothing_was_said(bridge)

    carry_out(run.pk)

    check_done(run)
    assert bridge.store.read_text() == run.target_session_id


def bridge_says_nothing_was_said(bridge: FileBridge) -> None:
    """What every bridge does that finds a rebinding done: nothing."""

    def found_done(before: str, after: str, *, digest_holds: Callable[[], bool]) -> Rebound:
        assert bridge.store.read_text() == after
        return Rebound(Rebinding.BOUND, before, after)

    bridge.rebind = found_done  # type: ignore[method-assign]


@pytest.mark.django_db
def test_an_export_does_not_ask_the_bridge(root: Path, file: TranscriptFile, bridge: FileBridge) -> None:
    run = planned(root, file, export_only=True)

    carry_out(run.pk)

    check_done(run)
    assert stays_on_the_old(bridge, file)


def test_without_a_bridge_nothing_is_bound() -> None:
    found: Bridge = bridge_for(None)

    assert (found.name, found.binding()) == ("none", None)
    assert found.rebind("a", "b", digest_holds=lambda: True).status == "none"
    assert found.restore("a", "b").status == "none"
