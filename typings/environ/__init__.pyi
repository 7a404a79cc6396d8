from typing import Any
from urllib.parse import ParseResult, urlparse as urlparse

class Env:
    @classmethod
    def db_url_config(cls, url: str | ParseResult, engine: str | None = ...) -> dict[str, Any]: ...
