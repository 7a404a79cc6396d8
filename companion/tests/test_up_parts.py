"""The parts of `up` that need no process."""

import dataclasses
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError
from django.db import OperationalError

from companion import env
from companion.lib.refusals import Refusal
from companion.up import address, commandline, embedded, exposure, logs, process
from companion.up.answer import explained, status_of
from companion.up.children import next_delay
from companion.up.instance import only_instance, running
from companion.up.refusal import Misused
from companion.up.secrets import renew_token, secret_key, token


def surroundings(**changes: object) -> env.Environment:
    return dataclasses.replace(env.read(), **changes)  # type: ignore[arg-type]


class TestSecrets:
    def test_the_first_use_makes_folder_and_key_for_the_owner_alone(self, tmp_path: Path) -> None:
        key = secret_key(tmp_path / "data")

        assert len(key) >= 64
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
        assert (tmp_path / "data" / "secret.key").stat().st_mode & 0o777 == 0o600
        assert secret_key(tmp_path / "data") == key

    def test_many_first_uses_at_once_agree(self, tmp_path: Path) -> None:
        with ThreadPoolExecutor(16) as pool:
            keys = set(pool.map(lambda _: secret_key(tmp_path / "data"), range(64)))

        assert len(keys) == 1
        assert [path.name for path in (tmp_path / "data").iterdir()] == ["secret.key"]

    def test_tokens_are_apart_and_can_be_renewed(self, tmp_path: Path) -> None:
        hook, mcp = token(tmp_path, "hook"), token(tmp_path, "mcp")

        renewed = renew_token(tmp_path, "hook")

        assert len({hook, mcp, renewed}) == 3
        assert token(tmp_path, "hook") == renewed

    def test_an_empty_key_file_is_refused_by_name(self, tmp_path: Path) -> None:
        (tmp_path / "secret.key").touch()

        with pytest.raises(ImproperlyConfigured, match=r"secret\.key"):
            secret_key(tmp_path)

    def test_a_key_that_others_could_read_is_closed(self, tmp_path: Path) -> None:
        secret_key(tmp_path)
        (tmp_path / "secret.key").chmod(0o644)

        secret_key(tmp_path)

        assert (tmp_path / "secret.key").stat().st_mode & 0o777 == 0o600


class TestExposure:
    @pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.53", "::1", "localhost"])
    def test_loopback_needs_nothing(self, host: str) -> None:
        exposure.check_exposure(surroundings(host=host))

    @pytest.mark.parametrize(
        "changes",
        [
            {"public_url": "https://console.example"},
            {"password": "long enough"},
            {"password": "long enough", "public_url": "http://console.example"},
            {"insecure": True},
        ],
        ids=["no-password", "no-url", "http-url", "insecure-without-password"],
    )
    def test_another_address_needs_password_and_encryption(self, changes: dict[str, object]) -> None:
        with pytest.raises(Refusal) as refused:
            exposure.check_exposure(surroundings(host="0.0.0.0", **changes))

        assert refused.value.code == "exposed"

    @pytest.mark.parametrize("changes", [{"public_url": "https://console.example"}, {"insecure": True}])
    def test_with_both_it_may(self, changes: dict[str, object]) -> None:
        exposure.check_exposure(surroundings(host="0.0.0.0", password="long enough", **changes))


class TestAddress:
    @pytest.mark.parametrize(
        ("host", "public", "expected"),
        [
            ("127.0.0.1", "", "http://127.0.0.1:8765"),
            ("0.0.0.0", "", "http://127.0.0.1:8765"),
            ("::1", "", "http://[::1]:8765"),
            ("0.0.0.0", "https://console.example", "https://console.example"),
        ],
    )
    def test_what_a_browser_calls_it(self, host: str, public: str, expected: str) -> None:
        assert address.base_url(surroundings(host=host, port=8765, public_url=public)) == expected

    def test_a_foreign_address_is_refused(self) -> None:
        with pytest.raises(Refusal) as refused:
            address.listening("192.0.2.1", 8765)

        assert refused.value.code == "address"


class TestAnswers:
    @pytest.mark.parametrize(
        ("error", "code", "status"),
        [
            (Refusal("stale", "It changed."), "stale", 1),
            (Misused("What?"), "usage", 2),
            (CommandError("No."), "refused", 1),
            (CommandError("No such.", returncode=2), "usage", 2),
            (ImproperlyConfigured("Bad."), "configuration", 1),
            (OperationalError("could not extend file: No space left on device"), "disk-full", 1),
            (OSError(28, "No space left on device"), "disk-full", 1),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, Exception) else str(value),
    )
    def test_known_errors_have_a_code_and_a_status(self, error: Exception, code: str, status: int) -> None:
        refusal = explained(error)

        assert refusal is not None
        assert (refusal.code, status_of(error)) == (code, status)

    def test_a_fault_of_our_own_is_not_explained_away(self) -> None:
        assert explained(KeyError("x")) is None

    @pytest.mark.parametrize(("name", "needs"), [("login", True), ("up", False), ("collectstatic", False)])
    def test_only_commands_that_touch_rows_start_servers(self, name: str, needs: bool) -> None:
        command = commandline._command_named(name)

        assert commandline.needs_database(command, name) is needs


def test_the_back_off_doubles_up_to_half_a_minute_and_starts_anew_after_a_healthy_minute() -> None:
    delays = [0.0]
    for _ in range(7):
        delays.append(next_delay(delays[-1], lived=0.1))

    assert delays[1:] == [1, 2, 4, 8, 16, 30, 30]
    assert next_delay(30, lived=60) == 1


def test_only_what_no_url_stands_for_is_embedded() -> None:
    asked = [
        embedded.needed(surroundings(database_url=database, redis_url=redis))
        for database in ("", "postgres://x/y")
        for redis in ("", "redis://x")
    ]

    assert asked == [["postgres", "valkey"], ["postgres"], ["valkey"], []]


def test_a_log_that_grew_keeps_one_older_generation_and_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    writer = logs.open_log(path)
    os.write(writer, b"x" * 100)

    logs.trim(path, limit=50)
    os.write(writer, b"after")
    os.close(writer)

    assert path.read_text() == "after"
    assert (tmp_path / "web.log.1").stat().st_size == 100


def test_the_running_instance_is_known_only_while_it_runs(tmp_path: Path) -> None:
    with only_instance(tmp_path, "http://127.0.0.1:1"):
        known = running(tmp_path)

    assert known == {"pid": os.getpid(), "url": "http://127.0.0.1:1"}
    assert running(tmp_path) is None


def test_a_process_number_counts_only_with_the_right_command_line() -> None:
    assert process.mentions(os.getpid(), "pytest")
    assert not process.mentions(os.getpid(), "/no/such/folder")
