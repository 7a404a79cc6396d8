"""`up` from an empty folder to a clean stop, with the real processes."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from companion.tests.consoles import Console, console, manage, refusal, short_folder, until

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def running() -> Iterator[Console]:
    with short_folder() as folder, console(folder / "data") as started:
        yield started


def test_a_fresh_folder_becomes_a_console_that_answers(running: Console) -> None:
    assert running.is_healthy()
    assert running.url.startswith(f"http://127.0.0.1:{running.port}/sign-in/")
    assert running.data.stat().st_mode & 0o077 == 0


def test_every_child_lives(running: Console) -> None:
    names = ("web", "worker", "beat", "watch")

    found = [name for name in names if running.child(name)]

    assert found == list(names)


def test_a_second_instance_is_refused_and_told_where_the_first_is(running: Console) -> None:
    done = manage(running.data, "up", "--json", "--no-open")

    error = refusal(done)
    assert done.returncode == 1
    assert error["code"] == "already-running"
    assert str(running.process.pid) in error["message"]
    assert f":{running.port}" in error["message"]


def test_a_command_beside_it_joins_its_servers_and_names_its_port(running: Console) -> None:
    done = manage(running.data, "login", "--json")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["url"].startswith(f"http://127.0.0.1:{running.port}/sign-in/")
    assert running.is_healthy()


@pytest.mark.parametrize("name", ["web", "worker"])
def test_a_killed_child_comes_back(running: Console, name: str) -> None:
    first = running.child(name)
    assert first is not None
    pool = first.children(recursive=True)

    first.kill()

    assert until(lambda: (second := running.child(name)) and second.pid != first.pid)
    assert until(running.is_healthy)
    _, alive = psutil.wait_procs(pool, timeout=3)
    assert alive == []


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_a_killed_guard_is_replaced_together_with_its_server(running: Console, name: str) -> None:
    before = server_number(running.data, name)
    guard = psutil.Process(before).parent()
    assert guard is not None

    guard.kill()

    assert until(lambda: server_number(running.data, name) != before)
    assert until(lambda: status(running.data, name) == "ready")
    assert manage(running.data, "login", "--json").returncode == 0


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_a_killed_server_is_started_again_by_its_guard(running: Console, name: str) -> None:
    before = server_number(running.data, name)

    os.kill(before, signal.SIGKILL)

    assert until(lambda: server_number(running.data, name) != before)
    assert until(lambda: manage(running.data, "login", "--json").returncode == 0)


def test_the_sign_in_token_is_in_no_log(running: Console) -> None:
    token = running.url.rstrip("/").rpartition("/")[2]

    logs = "".join(path.read_text(errors="replace") for path in (running.data / "logs").iterdir())

    assert token not in logs


def test_data_outlives_a_clean_stop_and_nothing_outlives_a_killed_supervisor() -> None:
    with short_folder() as folder:
        data = folder / "data"
        with console(data) as first:
            family = first.family()
            stopped_in = first.stop(signal.SIGTERM)
            _, left_after_stop = psutil.wait_procs(family, timeout=0.5)
            code = first.process.returncode
        key = (data / "secret.key").read_text()

        with console(data) as second:
            links = count_links(data)
            family = second.family()
            second.stop(signal.SIGKILL)
            _, left_after_kill = psutil.wait_procs(family, timeout=8)

    assert (code, left_after_stop, left_after_kill) == (0, [], [])
    assert stopped_in <= 10
    assert links == 2
    assert len(key) > 40


def count_links(data: Path) -> int:
    done = manage(data, "shell", "-v0", "-c", "from companion.models import SignInLink as S; print(S.objects.count())")
    return int(done.stdout)


def server_number(data: Path, name: str) -> int:
    return int((data / "run" / f"{name}.pid").read_text() or 0)


def status(data: Path, name: str) -> str:
    return str(json.loads((data / "run" / f"{name}.status").read_text())["state"])
