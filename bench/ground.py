"""A console of its own to measure on: temporary folders, the real embedded servers, never the operator's data."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FOREIGN = ("COMPANION_", "AUTO_FORGE", "CLAUDE_", "DATABASE_URL", "REDIS_URL", "FORGE_", "ASYNC_DISTILL", "ANTHROPIC_")
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, slots=True)
class Ground:
    """`config` is what Claude Code would call its configuration folder; transcripts lie in its `projects`."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def config(self) -> Path:
        return self.folder / "claude"

    @property
    def projects(self) -> Path:
        return self.config / "projects"


@contextmanager
def folders() -> Iterator[Ground]:
    """Short, because the paths of sockets lie below it. The environment of this process points there from now on."""
    ground = Ground(Path(tempfile.mkdtemp(prefix="cc-bench-")))
    ground.projects.mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        del os.environ[name]
    os.environ["HOME"] = str(ground.folder)
    os.environ["COMPANION_DATA"] = str(ground.data)
    os.environ["COMPANION_PROJECTS_ROOT"] = str(ground.projects)
    os.environ["DJANGO_SETTINGS_MODULE"] = "companion.settings"
    try:
        yield ground
    finally:
        shutil.rmtree(ground.folder, ignore_errors=True)


@contextmanager
def database() -> Iterator[None]:
    """Embedded servers and migrations, as a command of the console has them."""
    import django

    django.setup()
    from companion.up.commandline import database_ready

    with database_ready():
        yield
