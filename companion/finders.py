"""Where static files come from besides the `static` folder: Plotly's script, out of the installed package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

from companion.lib import plots


class PlotlyFinder(BaseFinder):
    """One file of one package; nothing else of it is served."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.storage = FileSystemStorage(location=plots.folder())
        self.storage.prefix = plots.prefix()  # type: ignore[attr-defined]

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        found = [self.storage.path(plots.SCRIPT)] if path == plots.script() else []
        return found if find_all else next(iter(found), [])

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        yield plots.SCRIPT, self.storage
