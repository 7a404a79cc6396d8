"""Property tests here are the same on every run and wait for no clock; folders that anybody may enter."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("console", deadline=None, derandomize=True, database=None, max_examples=40)
settings.load_profile("console")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """pytest's own folders are closed to all but their owner."""
    folder = Path(tempfile.mkdtemp(prefix="cc-open-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
