"""How the supervisor sees that a child works."""

import asyncio
import time
from pathlib import Path

from companion.up.child import ready_path
from companion.up.children import Probe

ANSWER_SECONDS = 5.0
GRACE_SECONDS = 1.5


def answers_health(host: str, port: int) -> Probe:
    """`GET /healthz` is answered with 200."""

    async def probe(number: int) -> bool:
        try:
            return await asyncio.wait_for(_is_healthy(host, port), ANSWER_SECONDS)
        except (OSError, TimeoutError):
            return False

    return probe


def has_marked(run: Path, name: str) -> Probe:
    """The child has written its own number."""

    async def probe(number: int) -> bool:
        try:
            return ready_path(run, name).read_text().strip() == str(number)
        except OSError:
            return False

    return probe


def has_lived(seconds: float = GRACE_SECONDS) -> Probe:
    """The same process is still there after a while."""
    first_seen: dict[int, float] = {}

    async def probe(number: int) -> bool:
        return time.monotonic() - first_seen.setdefault(number, time.monotonic()) >= seconds

    return probe


async def _is_healthy(host: str, port: int) -> bool:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        name = f"[{host}]" if ":" in host else host
        writer.write(f"GET /healthz HTTP/1.1\r\nHost: {name}:{port}\r\nConnection: close\r\n\r\n".encode())
        return b" 200 " in await reader.readline()
    finally:
        writer.close()
