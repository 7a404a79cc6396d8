"""The clients under test: from the folder COMPANION_TEST_CLIENTS names (v2.1.332 and so on in it), else from npm."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from sessions.gateways.claude_client import Client
from sessions.tests.realclient.clients import VERSIONS, NotInstalled, install, program

WANTED = b"COMPANION_TEST_CLIENTS="


def _given() -> Path | None:
    """The variable as this process got it: the suite's ground has taken it out of the environment since."""
    try:
        first = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        first = []
    found = [os.fsdecode(each.removeprefix(WANTED)) for each in first if each.startswith(WANTED)]
    return Path(found[0]) if found and found[0] else None


@pytest.fixture(scope="session", params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def client(version: str, pytestconfig: pytest.Config) -> Client:
    """The client of this version, installed once into pytest's own cache."""
    given = _given()
    folder = (given or pytestconfig.cache.mkdir("clients")) / f"v{version}"
    if program(folder, version) is None:
        _install(folder, version, given)
    return Client(program(folder, version) or ())


def _install(folder: Path, version: str, given: Path | None) -> None:
    if given is not None:
        pytest.fail(f"COMPANION_TEST_CLIENTS has no client {version} in {folder}")
    if shutil.which("npm") is None:
        pytest.skip("no real client: npm is not installed")
    try:
        install(folder, version)
    except NotInstalled as fault:
        if os.environ.get("CI") == "true":
            pytest.fail(f"client {version} could not be installed: {fault}")
        pytest.skip(f"client {version} could not be installed: {fault}")
