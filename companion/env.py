"""The environment, read once and typed: every variable of the console, and no other file reads one.

A wrong value stops the start and names the variable (contract, "Environment").
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

LONGEST_SOCKET_PATH = 100
SHORTEST_PASSWORD = 10


def wrong(name: str, value: str, wanted: str) -> ImproperlyConfigured:
    """The one sentence for a bad variable: its name, its value, and what would do."""
    return ImproperlyConfigured(f"{name}={value!r} is not usable: {wanted}.")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def whole_number(name: str, default: int, low: int, high: int) -> int:
    value = text(name, str(default))
    if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
        raise wrong(name, value, f"give a whole number from {low} to {high}")
    return int(value)


def switch(name: str, default: bool) -> bool:
    value = text(name, "1" if default else "0").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise wrong(name, value, "give 1 or 0")


def folder(name: str, default: Path) -> Path:
    path = Path(text(name, str(default))).expanduser()
    if not path.is_absolute():
        raise wrong(name, str(path), "give an absolute path, or one that starts with ~")
    return path


def time_zone(name: str, default: str) -> ZoneInfo:
    value = text(name, default)
    try:
        return ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise wrong(name, value, "give an IANA time zone such as Asia/Shanghai") from None


def url(name: str, schemes: set[str]) -> str:
    value = text(name)
    if value and urlsplit(value).scheme not in schemes:
        raise wrong(name, value, f"give a URL that starts with {' or '.join(sorted(schemes))}")
    return value


def projects_roots() -> tuple[Path, ...]:
    """Where transcripts are looked for: one or more folders, `:` between (contract)."""
    config = Path(text("CLAUDE_CONFIG_DIR", "~/.claude")).expanduser()
    given = text("COMPANION_PROJECTS_ROOT", str(config / "projects"))
    roots = tuple(Path(part).expanduser() for part in given.split(":") if part)
    for root in roots:
        if not root.is_absolute():
            raise wrong("COMPANION_PROJECTS_ROOT", given, "give absolute paths with : between")
    return roots


def run_folder(data: Path) -> Path:
    """Where sockets and locks live: in the data folder, or a short one of its own where that path is too long."""
    inside = data / "run"
    if len(os.fsencode(inside / ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH:
        return inside
    tag = format(hash_of(str(data)), "08x")
    return Path(tempfile.gettempdir()) / f"companion-{os.getuid()}-{tag}"


def hash_of(value: str) -> int:
    """A short stable number for a text (FNV-1a, 32 bits)."""
    number = 2166136261
    for byte in value.encode(errors="surrogateescape"):
        number = (number ^ byte) * 16777619 & 0xFFFFFFFF
    return number


@dataclass(frozen=True, slots=True)
class Environment:
    """Every setting that the environment decides."""

    data: Path
    run: Path
    roots: tuple[Path, ...]
    zone: ZoneInfo
    host: str
    port: int
    public_url: str
    password: str
    host_name: str
    database_url: str
    redis_url: str
    diet_percent: int
    forge_percent: int
    context_window: int
    # Seconds of silence before a window may be changed; tokens that stay, characters of a tool result (0: uncut).
    idle_seconds: int
    forge_retain: int
    forge_squash: int
    # None: 0.65 of the window.
    diet_retain: int | None
    diet_squash: int
    forge_hold: bool
    bridge_rebind: bool
    rehearse: bool
    claude_bin: str
    debug: bool
    insecure: bool


def read() -> Environment:
    """The environment as the console understands it. Raises ImproperlyConfigured by name."""
    data = folder("COMPANION_DATA", Path("~/.local/share/companion-console").expanduser())
    password = os.environ.get("COMPANION_PASSWORD", "")
    if password and len(password) < SHORTEST_PASSWORD:
        raise ImproperlyConfigured(f"COMPANION_PASSWORD is too short: give at least {SHORTEST_PASSWORD} characters.")
    public_url = url("COMPANION_PUBLIC_URL", {"https", "http"}).rstrip("/")
    return Environment(
        data=data,
        run=run_folder(data),
        roots=projects_roots(),
        zone=time_zone("COMPANION_TZ", "Asia/Shanghai"),
        host=text("COMPANION_HOST", "127.0.0.1"),
        port=whole_number("COMPANION_PORT", 8765, 1, 65535),
        public_url=public_url,
        password=password,
        host_name=text("COMPANION_HOST_NAME", "local"),
        database_url=url("DATABASE_URL", {"postgres", "postgresql"}),
        redis_url=url("REDIS_URL", {"redis", "rediss", "unix"}),
        diet_percent=whole_number("AUTO_FORGE_DIET_PCT", 55, 1, 100),
        forge_percent=whole_number("AUTO_FORGE_PCT", 70, 1, 100),
        context_window=whole_number("AUTO_FORGE_CONTEXT_WINDOW", 0, 0, 10_000_000),
        idle_seconds=whole_number("AUTO_FORGE_IDLE_SECS", 180, 0, 86_400),
        forge_retain=whole_number("AUTO_FORGE_RETAIN", 60_000, 1, 10_000_000),
        forge_squash=whole_number("AUTO_FORGE_SQUASH", 2_000, 0, 10_000_000),
        diet_retain=whole_number("AUTO_FORGE_DIET_RETAIN", 0, 0, 10_000_000) or None,
        diet_squash=whole_number("AUTO_FORGE_DIET_SQUASH", 2_000, 0, 10_000_000),
        forge_hold=switch("FORGE_OMBRE_HOLD", True),
        bridge_rebind=switch("BRIDGE_REBIND", True),
        rehearse=switch("REHEARSE", True),
        claude_bin=text("CLAUDE_BIN"),
        debug=switch("COMPANION_DEBUG", False),
        insecure=switch("COMPANION_ALLOW_INSECURE", False),
    )
