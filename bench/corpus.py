"""A corpus of transcripts to measure on: made up, but with the proportions of real files.

Shares of record types, block sizes and line lengths (about 3 kB on average) follow counts over public transcripts:
a third of the lines are progress, one message spans one to three lines, tool results carry a second copy of themselves.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

ZH = "今天下班路上看见一只橘猫蹲在书店门口，像是在等谁。我停下来看了它一会儿，它也看我。晚上想吃面，你呢？"
EN = "def read(path):\n    with open(path) as stream:\n        return [line.strip() for line in stream if line]\n"
STARTED = datetime(2026, 8, 1, 9, 0, tzinfo=UTC)


@dataclass
class Writer:
    """One session's lines, linked as the client links them."""

    chance: random.Random
    session: str
    at: datetime = STARTED
    parent: str | None = None
    used: int = 18_000
    lines: list[bytes] = field(default_factory=list)

    def record(self, kind: str, **fields: Any) -> None:
        self.lines.append(orjson.dumps({"type": kind, "sessionId": self.session, **fields}))

    def link(self, kind: str, **fields: Any) -> str:
        self.at += timedelta(seconds=self.chance.uniform(0.5, 40))
        own = str(uuid.UUID(int=self.chance.getrandbits(128)))
        head = {
            "parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": "/srv/companion",
            "sessionId": self.session, "version": "2.1.332", "gitBranch": "main",
        }  # fmt: skip
        stamp = self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append(orjson.dumps({**head, "type": kind, **fields, "uuid": own, "timestamp": stamp}))
        self.parent = own
        return own

    def words(self, source: str, low: int, high: int) -> str:
        length = int(self.chance.triangular(low, high, low))
        return (source * (length // len(source) + 1))[:length]

    def chat(self) -> None:
        """A turn without tools: what a person said, and the reply."""
        self.link("user", message={"role": "user", "content": self.words(ZH, 8, 120)}, promptSource="typed")
        self._answer([{"type": "text", "text": self.words(ZH, 30, 500)}])

    def turn(self) -> None:
        self.link("user", message={"role": "user", "content": self.words(ZH, 8, 120)}, promptSource="typed")
        for _ in range(self.chance.choice((0, 1, 1, 2, 2, 3))):
            self._call()
        self._answer([{"type": "text", "text": self.words(ZH, 30, 500)}])
        backups = {f"/srv/notes/{number}.md": {"backupFileName": "a1@v1", "version": 1} for number in range(12)}
        snapshot = {"messageId": self.parent, "trackedFileBackups": backups}
        self.record("file-history-snapshot", messageId=self.parent, snapshot=snapshot, isSnapshotUpdate=False)

    def _call(self) -> None:
        call = f"toolu_{self.chance.getrandbits(64):016x}"
        thinking = {"type": "thinking", "thinking": self.words(ZH, 40, 900), "signature": "c" * 400}
        use = {"type": "tool_use", "id": call, "name": "Edit", "input": {"file_path": "/srv/a.py", "limit": 200}}
        self._answer([thinking, use])
        for _ in range(self.chance.choice((0, 1, 2, 4))):
            self._progress(call)
        text = self.words(EN, 200, 9_000)
        result = {"type": "tool_result", "tool_use_id": call, "content": text}
        self.link("user", message={"role": "user", "content": [result]}, toolUseResult=self._kept(text))
        if self.chance.random() < 0.3:
            self.link("system", subtype="turn_duration", durationMs=1234, isMeta=False)

    def _progress(self, call: str) -> None:
        """What an agent's step is told as: a copy of its whole message."""
        block = {"type": "text", "text": self.words(EN, 100, 4_000)}
        message = {"role": "assistant", "id": "msg_1", "content": [block], "usage": {"input_tokens": 4}}
        data = {"type": "agent_progress", "message": {"type": "assistant", "message": message}, "prompt": ""}
        self.link("progress", data=data, toolUseID=call, parentToolUseID=call)

    def _kept(self, text: str) -> dict[str, Any]:
        """The client's own copy of a result: the file before, and a patch line by line."""
        patch = {"oldStart": 1, "oldLines": 40, "newStart": 1, "newLines": 44, "lines": text.split("\n")}
        return {"filePath": "/srv/a.py", "originalFile": self.words(EN, 500, 14_000), "structuredPatch": [patch]}

    def _answer(self, blocks: list[dict[str, Any]]) -> None:
        self.used = self.used + 900 if self.used < 170_000 else 20_000
        usage = {
            "input_tokens": 4, "cache_creation_input_tokens": 900, "cache_read_input_tokens": self.used,
            "output_tokens": 300, "service_tier": "standard",
        }  # fmt: skip
        own = f"msg_{self.chance.getrandbits(64):016x}"
        for block in blocks:
            message = {
                "id": own,
                "type": "message",
                "role": "assistant",
                "model": "claude-opus-4-6",
                "content": [block],
            }
            self.link("assistant", message={**message, "usage": usage}, requestId="req_1")


def session(seed: int, size: int) -> Iterator[bytes]:
    """Lines of one session of about `size` bytes."""
    chance = random.Random(seed)
    writer, written = Writer(chance, str(uuid.UUID(int=chance.getrandbits(128)))), 0
    while written < size:
        writer.turn()
        for line in writer.lines:
            written += len(line) + 1
            yield line
        writer.lines.clear()


def lay_out(root: Path, *, megabytes: int, files: int) -> int:
    """Writes a corpus below `root`: `files` sessions in ten project folders. Answers its size in bytes."""
    total = 0
    for seed in range(files):
        folder = root / f"-srv-companion-{seed % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{uuid.UUID(int=random.Random(seed).getrandbits(128))}.jsonl"
        with open(path, "wb") as stream:
            for line in session(seed, megabytes * 1024 * 1024 // files):
                stream.write(line + b"\n")
        total += path.stat().st_size
    return total


def lay_out_small(root: Path, sessions: int) -> None:
    """Writes `sessions` short talks of one to four turns, each filled differently, in ten project folders."""
    for seed in range(sessions):
        chance = random.Random(seed)
        own = uuid.UUID(int=chance.getrandbits(128))
        writer = Writer(chance, str(own), at=STARTED + timedelta(minutes=seed), used=chance.randrange(5_000, 170_000))
        for _ in range(chance.randint(1, 4)):
            writer.chat()
        folder = root / f"-srv-companion-{seed % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{own}.jsonl").write_bytes(b"\n".join(writer.lines) + b"\n")
