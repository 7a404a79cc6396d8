"""Random secrets of the data folder: made at first use, readable by their owner only."""

import os
import secrets
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

SHORTEST = 32


def secret_key(data: Path) -> str:
    """Django's SECRET_KEY for this data folder; makes the folder and the key at first use."""
    return _read_or_make(data / "secret.key")


def token(data: Path, name: str) -> str:
    """The bearer token `name` (`hook`, `mcp`), kept in `<name>.token`."""
    return _read_or_make(data / f"{name}.token")


def renew_token(data: Path, name: str) -> str:
    """Replaces a token; the old one stops working at once."""
    path = data / f"{name}.token"
    os.replace(_written_aside(path), path)
    return token(data, name)


def _read_or_make(path: Path) -> str:
    try:
        if not path.exists():
            _make(path)
        return _checked(path)
    except OSError as error:
        raise ImproperlyConfigured(
            f"The data folder {path.parent} cannot be used ({error.strerror or error}): "
            "make it writable for this user or set COMPANION_DATA to another folder."
        ) from None


def _make(path: Path) -> None:
    """A link, unlike a rename, fails when another process was first: then its secret counts."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = _written_aside(path)
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    finally:
        aside.unlink()


def _written_aside(path: Path) -> Path:
    aside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(48) + "\n")
        file.flush()
        os.fsync(descriptor)
    return aside


def _checked(path: Path) -> str:
    value = path.read_text(encoding="ascii", errors="replace").strip()
    if len(value) < SHORTEST:
        raise ImproperlyConfigured(f"{path} holds no usable secret: remove it, and a new one is made.")
    if path.stat().st_mode & 0o077:
        path.chmod(0o600)
    return value
