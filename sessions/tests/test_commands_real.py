"""The commands as a person starts them: processes of their own, on a data folder of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.tests.consoles import manage, refusal, short_folder
from sessions.tests.transcripts import TranscriptFile, assistant, custom_title, user

pytestmark = pytest.mark.processes
A = "aaaa1111-0000-4000-8000-000000000001"
HOSTILE = "t\x00 \ud83d \u2028 \x1b[31m 盆"


@pytest.fixture(scope="module")
def data() -> Iterator[Path]:
    """A data folder beside a home with one session of a hostile title and one in another project."""
    with short_folder() as folder:
        projects = folder / "home" / "projects"
        TranscriptFile(projects, session=A).add(user("盆栽"), assistant(used=80_000), custom_title(HOSTILE))
        TranscriptFile(projects, "-srv-garden", cwd="/srv/garden").add(user("hello"))
        yield folder / "data"


def test_index_and_sessions_print_one_document_each(data: Path) -> None:
    indexed = manage(data, "index", "--json")
    listed = manage(data, "sessions", "--json")

    assert (indexed.returncode, listed.returncode) == (0, 0)
    assert json.loads(indexed.stdout)["sessions"] == 2
    assert json.loads(listed.stdout)["count"] == 2
    assert "\x00" not in listed.stdout


def test_the_document_is_the_same_where_no_language_is_set(data: Path) -> None:
    done = manage(data, "anchors", A, "--json", LC_ALL="C")

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["items"][0]["preview"] == "盆栽"


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (["usage"], 1, "which-session"), (["anchors", A, "--limit", "0"], 2, "usage"),
    ],
    ids=["which-of-two", "limit"],
)  # fmt: skip
def test_a_refusal_is_the_error_document_and_a_status(data: Path, arguments: list[str], status: int, code: str) -> None:
    done = manage(data, *arguments, "--json")

    assert (done.returncode, refusal(done)["code"]) == (status, code)
