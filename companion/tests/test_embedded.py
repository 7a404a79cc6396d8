"""The embedded servers: shared, stopped after the last user, and clear about what is wrong with a folder."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from companion.tests.consoles import ROOT, console, environment, manage, mentioning, refusal, short_folder, until

pytestmark = pytest.mark.processes

USER = """
import sys
from companion import env
from companion.up import embedded
with embedded.joined(env.read()):
    print("in", flush=True)
    sys.stdin.read()
"""
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
AS_NOBODY = (
    *("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
    # A Python that lies in root's home can be read, nothing more.
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--"),
)


@pytest.fixture(scope="module")
def prepared() -> Iterator[Path]:
    """A data folder with a migrated database, to be copied."""
    with short_folder() as folder:
        assert manage(folder / "data", "login").returncode == 0
        yield folder / "data"


@pytest.fixture
def data(prepared: Path) -> Iterator[Path]:
    with short_folder() as folder:
        yield shutil.copytree(prepared, folder / "data", ignore=shutil.ignore_patterns("run"))


def user(data: Path) -> subprocess.Popen[str]:
    """A process that uses the servers until its stdin is closed."""
    started = subprocess.Popen(
        [sys.executable, "-c", USER],
        cwd=ROOT,
        env=environment(data),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline() == "in\n"
    return started


def leave(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=20)


def guards(data: Path) -> list[int]:
    return sorted(process.pid for process in mentioning(str(data)) if "guard_start.py" in " ".join(process.cmdline()))


def test_two_users_share_one_server_and_the_last_one_out_stops_it(data: Path) -> None:
    first, second = user(data), user(data)
    shared = guards(data)
    leave(first)
    after_first = guards(data)
    command = manage(data, "login", "--json")
    leave(second)

    assert len(shared) == 2
    assert after_first == shared
    assert command.returncode == 0
    assert mentioning(str(data)) == []


def test_users_that_start_at_once_agree_on_one_guard(data: Path) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "manage.py", "login", "--json"],
            cwd=ROOT,
            env=environment(data),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]

    answers = [(process.communicate(timeout=60)[0], process.returncode) for process in processes]

    assert all(code == 0 and "/sign-in/" in text for text, code in answers)
    assert until(lambda: not mentioning(str(data)), 5)


def test_a_killed_user_leaves_nothing(data: Path) -> None:
    killed = user(data)

    killed.kill()
    killed.communicate()

    assert until(lambda: not mentioning(str(data)), 10)


def test_a_killed_guard_takes_its_server_along_and_the_next_user_starts_both(data: Path) -> None:
    first = user(data)
    for number in guards(data):
        os.kill(number, signal.SIGKILL)
    second = user(data)
    renewed = guards(data)
    leave(first)
    leave(second)

    assert len(renewed) == 2
    assert mentioning(str(data)) == []


def test_a_killed_server_comes_back_though_a_query_of_it_still_runs(data: Path) -> None:
    kept = user(data)
    number = int((data / "run" / "postgres.pid").read_text())
    counting = "SELECT count(*) FROM generate_series(1, 100000000) n WHERE n % 7 = length(md5(n::text))"
    line = psycopg.connect(host=str(data / "run"), user="companion", dbname="companion")
    line.pgconn.send_query(counting.encode())
    time.sleep(0.2)

    os.kill(number, signal.SIGKILL)

    answered = until(lambda: manage(data, "login", "--json").returncode == 0, 10)
    line.close()
    leave(kept)
    assert answered


def test_a_stale_pid_file_with_a_number_in_use_is_no_obstacle(data: Path) -> None:
    (data / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{data}/postgres\n")

    assert manage(data, "login", "--json").returncode == 0


def test_given_urls_are_used_and_nothing_embedded_starts(embedded_servers: None, tmp_path: Path) -> None:
    run = Path(os.environ["COMPANION_DATA"]) / "run"
    urls = {"DATABASE_URL": f"postgres://companion@/{run}/companion", "REDIS_URL": f"unix://{run}/valkey.sock"}

    with console(tmp_path / "data", **urls) as started:
        family = [" ".join(process.cmdline()) for process in started.family()]
        healthy = started.is_healthy()

    assert healthy
    assert not any("guard_start" in line or "valkey-server" in line or "postgres -D" in line for line in family)
    assert not (tmp_path / "data" / "postgres").exists()


@ROOT_ONLY
def test_a_normal_user_needs_no_disguise() -> None:
    with short_folder() as folder:
        os.chown(folder, 65534, 65534)

        done = manage(folder / "data", "login", "--json", before=AS_NOBODY)

        owner = (folder / "data" / "postgres").stat().st_uid
    assert done.returncode == 0, done.stderr
    assert owner == 65534


def damage_version(folder: Path) -> None:
    (folder / "PG_VERSION").write_text("garbage\n")


def drop_version(folder: Path) -> None:
    (folder / "PG_VERSION").unlink()


def make_older(folder: Path) -> None:
    (folder / "PG_VERSION").write_text("16\n")


def damage_control(folder: Path) -> None:
    (folder / "global" / "pg_control").write_bytes(b"\0" * 8192)


@pytest.mark.parametrize(
    ("damage", "code", "said"),
    [
        (damage_version, "database-corrupt", "PG_VERSION"),
        (drop_version, "database-corrupt", "PG_VERSION"),
        (make_older, "database-version", "PostgreSQL 16"),
        (damage_control, "database-start", "postgres.log"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_damaged_folder_is_refused_and_left_alone(data: Path, damage: object, code: str, said: str) -> None:
    assert callable(damage)
    damage(data / "postgres")
    before = sorted(str(path) for path in (data / "postgres").rglob("*"))

    done = manage(data, "login", "--json")

    error = refusal(done)
    assert (done.returncode, error["code"]) == (1, code)
    assert said in error["message"]
    assert str(data / "postgres") in error["message"]
    assert sorted(str(path) for path in (data / "postgres").rglob("*")) == before
    assert until(lambda: not mentioning(str(data)), 5)


def test_a_damaged_queue_is_refused_by_name(data: Path) -> None:
    for path in (data / "valkey" / "appendonlydir").glob("*.manifest"):
        path.write_text("garbage\n")

    done = manage(data, "login", "--json")

    error = refusal(done)
    assert error["code"] == "broker-start"
    assert str(data / "valkey") in error["hint"]


@ROOT_ONLY
def test_a_full_disk_is_named(data: Path) -> None:
    with short_folder() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)], capture_output=True)
        if mounted.returncode != 0:
            pytest.skip("no tmpfs can be mounted here")
        try:
            done = manage(folder / "data", "login", "--json")
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)

    error = refusal(done)
    assert (done.returncode, error["code"]) == (1, "disk-full")


def test_an_unfinished_first_start_is_done_again() -> None:
    with short_folder() as folder:
        (folder / "data" / "postgres.new-killed").mkdir(parents=True)
        (folder / "data" / "postgres").mkdir()

        done = manage(folder / "data", "login", "--json")

        left = [path.name for path in (folder / "data").glob("postgres.new-*")]
    assert done.returncode == 0, done.stderr
    assert left == []


def test_a_long_data_path_gets_a_short_folder_for_its_sockets(data: Path) -> None:
    long = data.parent / ("long" * 30)
    data.rename(long)

    done = manage(long, "login", "--json")

    assert done.returncode == 0, done.stderr
    assert (long / "run").exists() is False
