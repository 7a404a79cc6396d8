"""What is in the way of `up` and of commands is said in one sentence, before anything starts."""

import socket
from pathlib import Path

import pytest

from companion.tests.consoles import manage, refusal

pytestmark = pytest.mark.processes


def test_a_taken_port_is_named_and_nothing_is_started(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        done = manage(tmp_path / "data", "up", "--json", "--port", str(port))

    error = refusal(done)
    assert (done.returncode, error["code"]) == (1, "port-taken")
    assert str(port) in error["message"]
    assert "--port" in error["hint"]
    assert not (tmp_path / "data" / "postgres").exists()


def test_an_open_address_without_password_and_encryption_is_refused(tmp_path: Path) -> None:
    done = manage(tmp_path / "data", "up", "--json", COMPANION_HOST="0.0.0.0")

    error = refusal(done)
    assert (done.returncode, error["code"]) == (1, "exposed")
    assert "COMPANION_PASSWORD" in error["hint"]


def test_a_wrong_variable_is_named_on_one_line_without_json(tmp_path: Path) -> None:
    done = manage(tmp_path / "data", "login", COMPANION_PORT="eighty")

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "COMPANION_PORT='eighty'" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("up", "--json", "--port", "0"), "from 1 to 65535"),
        (("up", "--json", "--nonsense"), "--nonsense"),
        (("logn", "--json"), "logn"),
    ],
    ids=["bad-port", "unknown-option", "unknown-command"],
)
def test_a_wrong_command_line_is_status_two_with_the_error_document(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = manage(tmp_path / "data", *arguments)

    error = refusal(done)
    assert (done.returncode, error["code"]) == (2, "usage")
    assert said in error["message"]


def test_an_unreachable_database_url_is_named_without_its_password(tmp_path: Path) -> None:
    url = "postgres://someone:hush@127.0.0.1:1/companion"

    done = manage(tmp_path / "data", "login", "--json", DATABASE_URL=url, REDIS_URL="redis://127.0.0.1:1/0")

    error = refusal(done)
    assert (done.returncode, error["code"]) == (1, "database-unreachable")
    assert "127.0.0.1:1" in error["message"]
    assert "hush" not in done.stdout + done.stderr


def test_an_unusable_data_folder_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")

    done = manage(tmp_path / "file" / "data", "login", "--json")

    error = refusal(done)
    assert (done.returncode, error["code"]) == (1, "configuration")
    assert "COMPANION_DATA" in error["message"]


def test_the_hooks_twin_is_silent_in_any_trouble(tmp_path: Path) -> None:
    done = manage(tmp_path / "data", "inject", COMPANION_PORT="eighty")

    assert (done.returncode, done.stdout) == (0, "")
