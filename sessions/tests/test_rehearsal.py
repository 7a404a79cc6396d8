"""A rehearsal with clients that behave in every way a program can: what it says, and what it leaves behind.

The clients here are small programs of the test; the real ones are in realclient/.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.utils import translation

from companion.tests.consoles import until
from sessions.actions.sentences import sentence
from sessions.gateways import rehearsal_room
from sessions.gateways.claude_client import Client, Rehearsal, find_client, rehearse
from sessions.tests.transcripts import TranscriptFile, assistant, custom_title, user

SESSION = "aaaa1111-0000-4000-8000-000000000001"
HEAD = f"""#!{sys.executable}
import glob, json, os, subprocess, sys, time, urllib.request
if "--version" in sys.argv:
    print("9.9.9 (a client of the test)")
    sys.exit()
NOTES = {{notes!r}}
def post(messages):
    body = json.dumps({{{{"model": "m", "tools": [{{{{}}}}], "messages": messages}}}}).encode()
    key = os.environ["ANTHROPIC_API_KEY"]
    request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body, {{{{"x-api-key": key}}}})
    return json.loads(urllib.request.urlopen(request, timeout=10).read())
(path,) = glob.glob(os.environ["CLAUDE_CONFIG_DIR"] + "/projects/*/*.jsonl")
lines = [json.loads(line) for line in open(path, encoding="utf-8")]
talk = [line["message"] for line in lines if line["type"] in ("user", "assistant")]
prompt = json.loads(sys.stdin.readline())["message"]
"""
GOOD = "post([*talk, prompt])"


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    with translation.override("en"):
        yield


@pytest.fixture
def rooms(tmp_path: Path) -> Path:
    """Where rooms are made, and nothing else is."""
    folder = tmp_path / "rooms"
    folder.mkdir()
    return folder


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    file = TranscriptFile(tmp_path, session=SESSION)
    file.add(user("water the mint 盆栽"), assistant("done"), user("and now"), assistant("rest"), custom_title("Mint"))
    return file.path


@pytest.fixture
def client(tmp_path: Path) -> Callable[[str], Client]:
    """Writes a client that does `deed` once it has read the session."""

    def write(deed: str) -> Client:
        path = tmp_path / "client"
        path.write_text(HEAD.format(notes=str(tmp_path / "notes")) + deed)
        path.chmod(0o755)
        return Client((str(path),))

    return write


@pytest.fixture
def held(rooms: Path, transcript: Path, client: Callable[[str], Client]) -> Callable[..., Rehearsal]:
    """Holds a rehearsal with a client that does `deed`."""

    def hold(deed: str, *, model: str = "", seconds: float = 20) -> Rehearsal:
        return rehearse(client(deed), transcript, SESSION, model=model, seconds=seconds, within=rooms)

    return hold


def test_a_request_as_planned_is_ok_and_nothing_is_left(
    held: Callable[..., Rehearsal], rooms: Path, transcript: Path
) -> None:
    before = (transcript.read_bytes(), transcript.stat().st_mtime_ns)

    found = held(GOOD)

    assert (found.status, found.difference) == ("ok", "")
    assert "9.9.9" in sentence(found.detail)
    assert 0 < found.seconds < 20
    assert list(rooms.iterdir()) == []
    assert (transcript.read_bytes(), transcript.stat().st_mtime_ns) == before


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("post([*talk[:-1], prompt])", "would not send what was planned"),
        ("post([{'role': 'user', 'content': 'So far: water.'}, prompt])", "would not send what was planned"),
        ("post([*talk, prompt]); post([*talk, prompt])", "2 requests instead of one"),
        ("post([*talk, prompt]); [post([prompt]) for _ in range(30)]", "31 requests"),
        ("post([*talk[:1], {'role': 'assistant', 'content': ''}, *talk[1:], prompt])", "an empty text"),
        ("pass", "sent nothing"),
        ("sys.exit('No conversation found')", "No conversation found"),
        ("print(json.dumps({'type': 'result', 'result': 'Image too large'})); sys.exit(1)", "Image too large"),
        ("sys.stdout.buffer.write(bytes(range(256)) * 1000)", "sent nothing"),
    ],
    ids=["less", "a summary", "twice", "often", "refused", "nothing", "not found", "its own words", "rubbish"],
)
def test_another_request_fails_with_the_reason(held: Callable[..., Rehearsal], deed: str, words: str) -> None:
    found = held(deed)

    assert (found.status, words in sentence(found.detail)) == ("failed", True), found.detail
    assert bool(found.difference) == ("would not send" in sentence(found.detail))


def test_trouble_after_the_right_request_is_a_warning(held: Callable[..., Rehearsal]) -> None:
    found = held(f"{GOOD}; sys.exit(3)")

    assert found.status == "warning"
    assert "status 3" in sentence(found.detail)


@pytest.mark.parametrize("deed", ["time.sleep(60)", f"{GOOD}; time.sleep(60)"], ids=["at once", "after the request"])
def test_a_client_that_comes_to_no_end_is_stopped_and_nothing_is_known(
    held: Callable[..., Rehearsal], rooms: Path, deed: str
) -> None:
    found = held(deed, seconds=1)

    assert found.status == "warning"
    assert found.seconds < 5
    assert list(rooms.iterdir()) == []


def test_a_client_that_prints_without_end_is_stopped(held: Callable[..., Rehearsal], rooms: Path) -> None:
    found = held("while True: print('x' * 100_000)")

    assert (found.status, list(rooms.iterdir())) == ("warning", [])


@pytest.mark.parametrize("end", [GOOD, "time.sleep(60)"], ids=["after a good end", "when time is up"])
def test_children_of_the_client_do_not_stay_behind(held: Callable[..., Rehearsal], tmp_path: Path, end: str) -> None:
    child = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])"

    held(f"open(NOTES, 'w').write(str({child}.pid)); {end}", seconds=2)

    number = int((tmp_path / "notes").read_text())
    assert until(lambda: not is_alive(number), 5)


def is_alive(number: int) -> bool:
    """One that has ended may wait for its parent to notice."""
    return psutil.pid_exists(number) and psutil.Process(number).status() != psutil.STATUS_ZOMBIE


def test_the_environment_is_made_from_scratch(
    held: Callable[..., Rehearsal], tmp_path: Path, rooms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "AWS_SECRET_ACCESS_KEY", "NODE_OPTIONS"):
        monkeypatch.setenv(name, "of the operator")

    held(f"json.dump([dict(os.environ), os.getcwd(), os.stat('..').st_mode], open(NOTES, 'w')); {GOOD}")
    environment, folder, mode = json.loads((tmp_path / "notes").read_text())

    assert "of the operator" not in environment.values()
    assert Path(folder).is_relative_to(rooms)
    assert stat.S_IMODE(mode) == 0o700
    for name in ("HOME", "CLAUDE_CONFIG_DIR", "TMPDIR"):
        assert Path(environment[name]).is_relative_to(rooms)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", environment["ANTHROPIC_BASE_URL"])
    assert environment["NO_PROXY"] == "127.0.0.1"
    assert environment["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"


def test_nothing_but_loopback_can_be_reached(held: Callable[..., Rehearsal], tmp_path: Path) -> None:
    asking = """
try:
    urllib.request.urlopen('http://example.com', timeout=5)
except OSError as fault:
    open(NOTES, 'w').write(str(fault))
"""

    found = held(asking + GOOD)

    assert found.status == "ok"
    assert "refused" in (tmp_path / "notes").read_text().lower()


@pytest.mark.parametrize(("model", "given"), [("", []), ("glm-4.6", ["--model", "glm-4.6"])], ids=["left", "named"])
def test_a_model_is_named_only_where_one_is_known(
    held: Callable[..., Rehearsal], tmp_path: Path, model: str, given: list[str]
) -> None:
    held(f"json.dump(sys.argv, open(NOTES, 'w')); {GOOD}", model=model)
    arguments = json.loads((tmp_path / "notes").read_text())

    assert arguments[arguments.index("--resume") + 1 :] == [SESSION, *given]


def script(text: str, mode: int = 0o755) -> Callable[[Path], str]:
    def write(folder: Path) -> str:
        path = folder / "claude"
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda folder: str(folder / "nowhere"), "not found"),
        (lambda folder: str(folder), "not found"),
        (script("#!/bin/sh\nexit 0\n", 0o644), "permission denied"),
        (script("\x7fELF nothing of the kind"), "exec format error"),
        (script("#!/no/such/interpreter\n"), "no such file"),
        (script("#!/bin/sh\necho hello\n"), "does not say its version"),
        (script("#!/bin/sh\necho 1.2.3\nexit 1\n"), "does not say its version"),
    ],
    ids=["missing", "a folder", "not executable", "exec format", "no interpreter", "no version", "exit 1"],
)
def test_without_a_client_that_starts_there_is_no_rehearsal(
    tmp_path: Path, rooms: Path, transcript: Path, write: Callable[[Path], str], words: str
) -> None:
    client = find_client(write(tmp_path))

    found = rehearse(client, transcript, SESSION, model="", seconds=5, within=rooms)

    assert found.status == "skipped"
    assert words in sentence(found.detail)
    assert list(rooms.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"{", b"[]\n"], ids=["empty", "half", "a list"])
def test_a_file_that_cannot_be_read_is_never_ok(
    client: Callable[[str], Client], rooms: Path, transcript: Path, data: bytes
) -> None:
    transcript.write_bytes(data)

    found = rehearse(client("post([prompt, prompt])"), transcript, SESSION, model="", seconds=10, within=rooms)

    assert found.status in {"failed", "warning"}


def test_a_file_that_is_gone_is_a_warning(client: Callable[[str], Client], rooms: Path, tmp_path: Path) -> None:
    found = rehearse(client(GOOD), tmp_path / "gone.jsonl", SESSION, model="", seconds=10, within=rooms)

    assert found.status == "warning"
    assert "No such file" in sentence(found.detail)


def test_a_client_is_found_by_path_by_name_and_as_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = script("#!/bin/sh\n")(tmp_path)
    (tmp_path / "cli.js").write_text("")
    (tmp_path / "node").hardlink_to(path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))

    assert find_client(path) == find_client("") == find_client("claude") == find_client("~/claude") == Client((path,))
    assert find_client(str(tmp_path / "cli.js")) == Client((str(tmp_path / "node"), str(tmp_path / "cli.js")))
    assert find_client("claude-beta") is None


def test_a_script_whose_node_is_missing_is_skipped(transcript: Path, rooms: Path, tmp_path: Path) -> None:
    client = Client(("no-such-node", str(tmp_path / "cli.js")))

    found = rehearse(client, transcript, SESSION, model="", seconds=5, within=rooms)

    assert found.status == "skipped"
    assert "no-such-node: no such file" in sentence(found.detail)


def _in_a_daemon(client: Client, transcript: Path, rooms: Path, answers: Any) -> None:
    answers.put(rehearse(client, transcript, SESSION, model="", seconds=20, within=rooms).status)


def test_it_works_in_a_process_that_may_have_no_children(
    client: Callable[[str], Client], transcript: Path, rooms: Path
) -> None:
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=_in_a_daemon, args=(client(GOOD), transcript, rooms, answers), daemon=True)

    process.start()
    process.join(30)

    assert answers.get() == "ok"


def test_rooms_that_were_left_behind_are_swept_out(rooms: Path) -> None:
    old, new, other = (rooms / name for name in (f"{rehearsal_room.PREFIX}a", f"{rehearsal_room.PREFIX}b", "mine"))
    for folder in (old, new, other):
        folder.mkdir()
    for folder in (old, other):
        os.utime(folder, (0, time.time() - 2 * rehearsal_room.LEFT_BEHIND))

    with rehearsal_room.opened(["true"], within=rooms):
        pass

    assert sorted(rooms.iterdir()) == sorted([new, other])
