"""The whole suite's ground: a data folder of its own, and real embedded servers once a test asks for rows.

The environment is set here, at import, before anything loads the settings. The operator's own home is never touched.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
import pytest

# Short, because the sockets lie below it.
GROUND = Path(tempfile.mkdtemp(prefix="cc-test-"))
FOREIGN = ("COMPANION_", "AUTO_FORGE", "CLAUDE_", "DATABASE_URL", "REDIS_URL", "FORGE_", "ASYNC_DISTILL", "ANTHROPIC_")


def _clean_environment() -> None:
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        del os.environ[name]
    (GROUND / "home").mkdir()
    (GROUND / "projects").mkdir()
    os.environ["HOME"] = str(GROUND / "home")
    os.environ["COMPANION_DATA"] = str(GROUND / "data")
    os.environ["COMPANION_PROJECTS_ROOT"] = str(GROUND / "projects")
    os.environ["DJANGO_SETTINGS_MODULE"] = "companion.settings"


_clean_environment()
# Here and not by pytest-django, which would read the settings before this file.
django.setup()


@pytest.fixture(scope="session")
def embedded_servers() -> Iterator[None]:
    """PostgreSQL and Valkey of this run; also for a test that needs the broker or channel layer only."""
    from companion import env
    from companion.up import embedded

    with embedded.joined(env.read()):
        yield


@pytest.fixture(scope="session")
def django_db_modify_db_settings(embedded_servers: None) -> None:
    """pytest-django asks for this before it makes the test database."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: Playwright leaves an event loop in this thread, in which no asynchronous test can run."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


def pytest_unconfigure() -> None:
    shutil.rmtree(GROUND, ignore_errors=True)
