"""How PostgreSQL is run for root: in a user namespace, or as another user where those are blocked."""

import os
from pathlib import Path

import pytest

from companion.tests.consoles import short_folder
from companion.up.guard import Guard
from companion.up.postgres import Postgres
from companion.up.rootless import DEMOTED, NOBODY, UNSHARED, Disguise

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
]


def started_and_stopped(folder: Path, disguise: Disguise) -> int:
    """The owner of the data after one life of the server."""
    server = Postgres(folder / "data", folder / "run")
    # What `disguise()` would have found on another machine.
    server.__dict__["disguise"] = disguise
    guard = Guard(server)
    server.prepare()
    try:
        guard.start()
    finally:
        guard.stop()
    return server.folder.stat().st_uid


def test_both_ways_open_the_same_folder_in_turn() -> None:
    with short_folder() as folder:
        (folder / "run").mkdir(mode=0o700)
        (folder / "data").mkdir(mode=0o700)

        owners = [
            started_and_stopped(folder, disguise)
            for disguise in (Disguise(DEMOTED, NOBODY), Disguise(UNSHARED, 0), Disguise(DEMOTED, NOBODY))
        ]

    assert owners == [NOBODY, 0, NOBODY]
