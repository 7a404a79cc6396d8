"""Every check of the doctor can warn or fail, and says what to do."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from companion.tests.rows import make_companion, make_run, make_window
from sessions.actions import doctor, health
from sessions.actions.doctor import Check, run_checks
from sessions.actions.index import index_all
from sessions.models import Backup, Companion, Run, Transcript
from sessions.tests.people import as_nobody
from sessions.tests.transcripts import TranscriptFile, user

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("console")]


@pytest.fixture
def console(tmp_path: Path, settings: Any) -> None:
    """A console where all is well."""
    data, root = tmp_path / "data", tmp_path / "projects"
    data.mkdir(mode=0o700)
    root.mkdir()
    settings.ENV = dataclasses.replace(settings.ENV, data=data, roots=(root,), host_name=f"host-{tmp_path.name}")
    health.beat("watcher")
    health.beat("worker")


def found(check: str) -> Check:
    return next(row for row in run_checks() if row.check == check)


def statuses() -> dict[str, str]:
    return {row.check: row.status for row in run_checks()}


def test_a_console_where_all_is_well_passes_everything() -> None:
    assert set(statuses().values()) == {"pass"}


def test_a_database_without_vectors_fails() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION vector CASCADE")

    assert (found("database").status, bool(found("database").fix)) == ("fail", True)


@pytest.mark.parametrize("name", ["watcher", "worker"])
def test_a_silent_process_is_a_warning(settings: Any, name: str) -> None:
    settings.ENV = dataclasses.replace(settings.ENV, host_name=settings.ENV.host_name + name)
    health.beat("worker" if name == "watcher" else "watcher")

    assert (found(name).status, bool(found(name).fix)) == ("warn", True)


def test_a_broker_that_does_not_answer_fails_and_the_round_goes_on(settings: Any, tmp_path: Path) -> None:
    health._broker.cache_clear()
    settings.REDIS_URL = f"unix://{tmp_path}/nothing.sock"

    seen = statuses()

    health._broker.cache_clear()
    assert (seen["broker"], seen["watcher"], seen["disk"]) == ("fail", "warn", "pass")


def test_a_root_that_is_not_there_is_a_warning(settings: Any, tmp_path: Path) -> None:
    settings.ENV = dataclasses.replace(settings.ENV, roots=(tmp_path / "none",))

    assert (found("projects-root").status, bool(found("projects-root").fix)) == ("warn", True)


def test_a_root_that_may_not_be_read_fails(settings: Any, open_folder: Path) -> None:
    root = open_folder / "projects"
    root.mkdir(mode=0)
    settings.ENV = dataclasses.replace(settings.ENV, roots=(root,))

    with as_nobody():
        check = next(iter(doctor.roots()))

    assert (check.status, bool(check.fix)) == ("fail", True)


def test_every_root_is_looked_at(settings: Any, tmp_path: Path) -> None:
    settings.ENV = dataclasses.replace(settings.ENV, roots=(tmp_path / "projects", tmp_path / "none"))

    assert [row.status for row in run_checks() if row.check == "projects-root"] == ["pass", "warn"]


def transcript(name: str, settings: Any, **fields: Any) -> Transcript:
    return Transcript.objects.create(host=settings.ENV.host_name, root="/p", path=f"/p/-a/{name}.jsonl", **fields)


def test_files_that_cannot_be_read_fail_by_name(settings: Any) -> None:
    for number in range(5):
        transcript(f"t{number}", settings, kind="main", trouble="permission denied")

    check = found("unreadable-transcripts")

    assert (check.status, check.detail) == ("fail", "t0.jsonl, t1.jsonl, t2.jsonl …")


def test_a_file_that_was_never_readable_is_named_too(settings: Any, open_folder: Path) -> None:
    file = TranscriptFile(open_folder)
    file.add(user())
    file.path.chmod(0)
    with as_nobody():
        index_all([open_folder])

    assert (found("unreadable-transcripts").status, found("unreadable-transcripts").detail) == ("fail", file.path.name)


def test_sessions_whose_files_are_gone_are_a_warning_and_other_files_are_not(settings: Any) -> None:
    transcript("agent-1", settings, kind="subagent", missing_since="2026-03-01T00:00Z")
    before = found("missing-transcripts").status
    transcript("gone", settings, kind="main", missing_since="2026-03-01T00:00Z")

    assert before == "pass"
    assert (found("missing-transcripts").status, found("missing-transcripts").detail) == ("warn", "gone.jsonl")


def test_files_of_another_host_are_that_hosts_business(settings: Any) -> None:
    Transcript.objects.create(
        host="elsewhere", root="/p", path="/p/-a/x.jsonl", kind="main", trouble="permission denied"
    )

    assert found("unreadable-transcripts").status == "pass"


def test_sessions_with_bad_lines_are_a_warning(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path / "projects")
    file.add(user())
    file.add_bytes(b"{half\n")
    index_all()

    assert Companion.objects.count() == 1
    assert (found("bad-lines").status, bool(found("bad-lines").fix)) == ("warn", True)


def test_a_disk_that_is_almost_full_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE", 2**60)

    assert (found("disk").status, bool(found("disk").fix)) == ("fail", True)


def test_a_data_folder_that_others_may_look_into_is_a_warning(settings: Any) -> None:
    settings.ENV.data.chmod(0o755)

    assert (found("data-folder").status, found("data-folder").fix) == ("warn", f"chmod 700 {settings.ENV.data}")


def test_a_check_that_breaks_is_a_failed_check_and_the_round_goes_on(settings: Any) -> None:
    settings.ENV.data.rmdir()

    seen = run_checks()

    assert [row.status for row in seen if row.check == "data_folder"] == ["fail"]
    assert "database" in {row.check for row in seen}


def test_a_run_that_nobody_works_on_is_a_warning(settings: Any) -> None:
    window = make_window(make_companion())
    Run.objects.filter(pk=make_run(window).pk).update(status="running", host=settings.ENV.host_name)

    check = found("unfinished-runs")

    assert (check.status, check.detail) == ("warn", str(Run.objects.get().pk)[:8])
    assert check.fix


def test_what_was_set_aside_is_a_warning_until_somebody_takes_it_away(settings: Any) -> None:
    (settings.ENV.data / "set-aside").mkdir()
    (settings.ENV.data / "set-aside" / "one.jsonl").touch()

    assert (found("set-aside").status, found("set-aside").detail) == ("warn", "one.jsonl")


def test_a_last_backup_that_took_harm_fails(settings: Any, tmp_path: Path) -> None:
    Backup.objects.create(session_id="s", source_path="/p", path=str(tmp_path / "gone"), sha256="0" * 64, size=1)

    check = found("last-backup")

    assert (check.status, bool(check.fix)) == ("fail", True)
    assert check.detail.endswith("gone: gone")
