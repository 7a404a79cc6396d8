"""A database of an earlier version opens with this one: its rows are all there after the migrations."""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

from companion.tests.consoles import manage
from companion.up import postgres

DUMPS = sorted((Path(__file__).parent / "data").glob("database-*.sql.gz"))
SESSIONS, HUMAN_MESSAGES = 6, 213


@pytest.mark.parametrize("dump", DUMPS, ids=lambda dump: dump.name)
def test_an_older_database_keeps_every_session(dump: Path, embedded_servers: None, tmp_path: Path) -> None:
    name = dump.name.removesuffix(".sql.gz").replace("-", "_").replace(".", "_")
    psql(f'CREATE DATABASE "{name}"', "companion")
    psql(gzip.decompress(dump.read_bytes()).decode(), name)
    address = f"postgres://companion@/{settings.ENV.run}/{name}"

    done = manage(tmp_path / "data", "sessions", "--json", DATABASE_URL=address, REDIS_URL=settings.REDIS_URL)

    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["count"] == SESSIONS
    assert sum(row["human_messages"] for row in found["items"]) == HUMAN_MESSAGES


def psql(statements: str, database: str) -> None:
    """Runs statements as a person restoring a dump would."""
    where = ["--host", str(settings.ENV.run), "--username", "companion", "--dbname", database]
    command = [str(postgres.binary("psql")), *where, "--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1"]
    done = subprocess.run(command, input=statements, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
