from collections.abc import Callable
from typing import Any

class POEntry:
    msgid: str
    msgctxt: str | None
    msgid_plural: str
    msgstr: str
    msgstr_plural: dict[int, str]
    obsolete: bool
    fuzzy: bool
    flags: list[str]
    occurrences: list[tuple[str, str]]
    comment: str
    def __init__(
        self, *, msgid: str = ..., msgstr: str = ..., msgctxt: str | None = ..., msgid_plural: str = ...
    ) -> None: ...
    def translated(self) -> bool: ...

class POFile(list[POEntry]):
    metadata: dict[str, str]
    def save(self, fpath: str | None = ...) -> None: ...
    def save_as_mofile(self, fpath: str) -> None: ...
    def sort(self, *, key: Callable[[POEntry], Any] | None = ..., reverse: bool = ...) -> None: ...
    def find(self, st: str, by: str = ...) -> POEntry | None: ...

class MOFile(list[POEntry]):
    metadata: dict[str, str]

def pofile(pofile: str, *, wrapwidth: int = ..., encoding: str = ...) -> POFile: ...
def mofile(mofile: str) -> MOFile: ...
