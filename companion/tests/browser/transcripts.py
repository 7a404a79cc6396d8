"""Transcripts for the browser tests: invented talk in the shape that Claude Code writes."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path


@dataclass
class Talk:
    """One session file that can be talked on in."""

    root: Path
    project: str
    model: str = "claude-opus-4-6"
    session_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    last: str | None = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC) - timedelta(hours=2))

    @property
    def path(self) -> Path:
        return self.root / self.project / f"{self.session_id}.jsonl"

    def turn(self, words: str, used: int, answer: str = "嗯，我在。") -> None:
        """A person's message and the reply, after which `used` tokens fill the window."""
        self.write("user", {"role": "user", "content": words})
        usage = {
            "input_tokens": 10,
            "cache_creation_input_tokens": 990,
            "cache_read_input_tokens": used - 1000,
            "output_tokens": 40,
        }
        content = [{"type": "text", "text": answer}]
        reply = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": self.model}
        self.write("assistant", {**reply, "content": content, "stop_reason": "end_turn", "usage": usage})

    def write(self, kind: str, message: dict[str, object]) -> None:
        self.at += timedelta(seconds=20)
        own = str(uuid.uuid4())
        record = {
            "parentUuid": self.last,
            "isSidechain": False,
            "userType": "external",
            "cwd": f"/home/lin/{self.project.rpartition('-')[2]}",
            "sessionId": self.session_id,
            "version": "2.1.332",
            "type": kind,
            "message": message,
            "uuid": own,
            "timestamp": self.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        }
        self.line(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
        self.last = own

    def title(self, text: str) -> None:
        self.line(json.dumps({"type": "custom-title", "customTitle": text, "sessionId": self.session_id}))

    def line(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{text}\n")


def lay_out(root: Path) -> list[Talk]:
    """Three companions; the first one's window is past the diet mark."""
    first = Talk(root, "-home-lin-xiaoman")
    for number, words in enumerate(
        ("早。外面下了一夜，薄荷没事吧", "晚上还下吗？我想走回家", "这周改成周四吧，之后也周四。")
    ):
        first.turn(words, 100_000 + number * 11_400)
    first.title("雨夜和阳台的薄荷")
    first.line('{"type":"user","message":{"role":"user","content":"half a li')
    second = Talk(root, "-home-lin-bailu", model="claude-sonnet-4-6")
    second.turn("早安和一杯拿铁", 76_000)
    second.title("早安和一杯拿铁")
    third = Talk(root, "-home-lin-guyu")
    third.turn("<img src=x onerror=alert(1)> \u202egnp.exe", 20_000)
    third.title("<script>alert(1)</script>")
    return [first, second, third]
