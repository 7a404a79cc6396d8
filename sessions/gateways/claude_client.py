"""The operator's own Claude Code client: finding it, and rehearsing a new window with it (spec W13).

A rehearsal costs nothing and leaves nothing: the client resumes a copy of the file in a room of its own, against an
API on loopback that only notes what it is sent.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sessions.core.rehearsal import Atom, difference, expected, is_main, left_out, problem, sent
from sessions.gateways import rehearsal_room, stub_api
from sessions.gateways.rehearsal_room import DoesNotStart, Ended

OK, FAILED, SKIPPED, WARNING = "ok", "failed", "skipped", "warning"
PROMPT = "This is a rehearsal. Answer with ok."
# The prompt as a line of the client's input.
WORDS = json.dumps({"type": "user", "message": {"role": "user", "content": PROMPT}}) + "\n"
# Seconds to wait for the number of a version.
VERSION_SECONDS = 20.0
NUMBER = re.compile(r"\d+\.\d+\.\d+\S*")
SCRIPTS = frozenset({".js", ".mjs", ".cjs"})
ARGUMENTS = (
    "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose", "--strict-mcp-config",
    "--setting-sources", "user",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Client:
    """A client on this host: the beginning of its command line."""

    command: tuple[str, ...]

    def version(self, within: Path | None = None) -> str:
        """Its version such as 2.1.332, empty if it does not say one. Raises DoesNotStart, OSError for want of room."""
        with rehearsal_room.opened(self.command, within=within) as room:
            ended = rehearsal_room.run([*self.command, "--version"], room, seconds=VERSION_SECONDS)
        found = NUMBER.search(ended.output[:200].decode(errors="replace"))
        return found[0] if found and ended.code == 0 else ""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The end of a rehearsal.

    `status` is ok, failed (the new window would not come as planned), skipped (there was none) or warning (nothing is
    known); `detail` its reason as {"code", values…}, `difference` the first one between plan and request, `seconds` its length.
    """

    status: str
    detail: Mapping[str, Any]
    difference: str = ""
    seconds: float = 0.0


def find_client(configured: str) -> Client | None:
    """The client at `configured` (the value of CLAUDE_BIN), else `claude` on the PATH; None if there is none."""
    given = configured.strip()
    path = str(Path(given).expanduser().absolute()) if "/" in given else shutil.which(given or "claude")
    if path is None or not Path(path).is_file():
        return None
    if Path(path).suffix in SCRIPTS:
        return Client((shutil.which("node") or "node", path))
    return Client((path,))


def rehearse(
    client: Client | None, transcript: Path, session_id: str, *, model: str, seconds: float, within: Path | None = None
) -> Rehearsal:
    """Lets the client resume a copy of `transcript` as `session_id` and compares what it sends with what the file holds.

    `model` is the one that will go on (with `[1m]` where that is configured); empty leaves it to the client. It is
    ended after `seconds`. Never raises for what client or file are like.
    """
    started = time.monotonic()
    try:
        found = _rehearse(client, transcript, session_id, model, seconds, within)
    except (OSError, ValueError, RecursionError) as fault:
        found = Rehearsal(WARNING, {"code": "rehearsal-not-held", "reason": str(fault)})
    return Rehearsal(found.status, found.detail, found.difference, time.monotonic() - started)


def _rehearse(
    client: Client | None, transcript: Path, session_id: str, model: str, seconds: float, within: Path | None
) -> Rehearsal:
    if client is None:
        return Rehearsal(SKIPPED, {"code": "no-client"})
    try:
        version = client.version(within)
        if not version:
            return Rehearsal(SKIPPED, {"code": "client-without-version"})
        plan = _plan(transcript)
        with (
            stub_api.running() as stub,
            rehearsal_room.opened(client.command, url=stub.url, key=stub.key, within=within) as room,
        ):
            room.place(transcript, session_id)
            command = [*client.command, *_arguments(session_id, model)]
            ended = rehearsal_room.run(command, room, words=WORDS, seconds=seconds)
    except DoesNotStart as fault:
        return Rehearsal(SKIPPED, {"code": "client-does-not-start", "reason": str(fault)})
    return _judge(version, plan, stub, ended)


def _plan(transcript: Path) -> list[Atom]:
    with open(transcript, "rb") as stream:
        return expected(line for line in stream if line.strip())


def _arguments(session_id: str, model: str) -> list[str]:
    return [*ARGUMENTS, "--resume", session_id, *(["--model", model] if model else [])]


def _judge(version: str, plan: Sequence[Atom], stub: stub_api.StubApi, ended: Ended) -> Rehearsal:
    requests = [body for body in stub.bodies if is_main(body)]
    count = len(requests) + stub.unkept
    if count > 1:
        return Rehearsal(FAILED, {"code": "compacts-first", "version": version, "count": count})
    if len(requests) == 1:
        fault = _fault(version, plan, requests[0])
        if fault is not None:
            return fault
    if ended.code is None:
        return Rehearsal(WARNING, {"code": "client-stopped", "version": version})
    if not requests:
        return Rehearsal(FAILED, {"code": "client-silent", "version": version, "words": _said(ended)})
    if ended.code:
        return Rehearsal(
            WARNING, {"code": "client-ended-badly", "version": version, "exit": str(ended.code), "words": _said(ended)}
        )
    return Rehearsal(OK, _praise(version, left_out(plan, sent(requests[0]))))


def _fault(version: str, plan: Sequence[Atom], body: Mapping[str, Any]) -> Rehearsal | None:
    found = difference(plan, sent(body), prompt=PROMPT)
    if found:
        return Rehearsal(FAILED, {"code": "rehearsed-otherwise", "version": version}, found)
    refusal = problem(body)
    if refusal:
        return Rehearsal(FAILED, {"code": "api-would-refuse", "version": version, "reason": refusal})
    return None


def _praise(version: str, thoughts: int) -> dict[str, Any]:
    if not thoughts:
        return {"code": "rehearsed-same", "version": version}
    return {"code": "rehearsed-without-thinking", "version": version, "count": thoughts}


def _said(ended: Ended) -> str:
    """The client's own words for its failure: its closing document has them, if it came so far."""
    for line in reversed(ended.output.splitlines()):
        try:
            closing = json.loads(line)
        except (ValueError, RecursionError):
            break
        words = closing.get("result") or closing.get("errors") if isinstance(closing, dict) else None
        if words:
            return str(words)[:200]
    return ended.last_words or "–"
