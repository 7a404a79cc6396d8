"""Transcripts as nobody would write them: every kind of line, linked, torn, doubled and spelled in every way."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from sessions.core.batches import RawLine
from sessions.core.events import HANDOFF_ORIGIN
from sessions.tests.surgeries import SOURCE
from sessions.tests.transcripts import (
    Record,
    Talk,
    assistant,
    attachment,
    boundary,
    custom_title,
    encoded,
    image,
    last_prompt,
    progress,
    queued,
    raw_lines,
    summary,
    thinking,
    tool_use,
    user,
)

WORDS = [
    "how is the mint?", "薄荷\u2028怎么样", "line\u2029and\x85line\r\n", "half a pair \ud83d", "\U0001f33f", "\x00", " \n", "",
    "<command-name>/clear</command-name>", "[Request interrupted by user]", "[Harness: Task 7]", "<task-notification>",
    "x" * 700, f"/p/{SOURCE}/tool-results/b1.txt",
]  # fmt: skip
TIMES = [
    None, "", "soon", 7, "20260301T080000Z", "2026-03-01 09:00", "2035-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
]  # fmt: skip
ODD: list[Any] = [
    None, "", [], {}, 7, "plain", ["bare", None, 3], [{"type": ["x"]}], [{"text": "no type"}], [{"type": "text"}], [[]],
]  # fmt: skip
SPELLINGS = [b"", b"\r", b" ", b"\t \r"]
NOISE: list[Record | bytes | None] = [
    b'{"type":"user', b"", b"\r", b"NaN", b'{"type":"user","uuid":"nan","x":NaN}', b"[1,2]", b"\xff\xfe", None,
    {"type": "moon-phase", "uuid": "x"}, {"type": "ended-by-model"}, {"type": "summary", "summary": "pots", "leafUuid": "x"},
    custom_title("mint"), {"type": "system", "subtype": "turn_duration"}, {"uuid": "typeless"},
]  # fmt: skip


class Writer:
    """Writes one file; every step has a chance of its own, so that a shorter file is the beginning of a longer one."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.talk = Talk(SOURCE)
        self.lines: list[Record | bytes | None] = []
        self.linked: list[Record] = []
        self.calls = 0

    def put(self, *records: Record) -> None:
        for record in self.talk.link(*records):
            if self.chance.random() < 0.04:
                record["timestamp"] = self.chance.choice(TIMES)
            if self.chance.random() < 0.03:
                record["sessionId"] = "another"
            self.linked.append(record)
            self.lines.append(self.spelled(record))

    def spelled(self, record: Record) -> bytes:
        raw = encoded(record)
        if self.chance.random() < 0.06:
            raw = b'{"uuid":"doubled","type":7,"n":1e400,"m":' + b"9" * 30 + b"," + raw[1:]
        if self.chance.random() < 0.03:
            raw = b"\xef\xbb\xbf" + raw
        return raw + self.chance.choice(SPELLINGS)

    def some(self) -> str:
        """The uuid of an earlier line, or one that nobody has."""
        return self.chance.choice(self.linked)["uuid"] if self.linked and self.chance.random() < 0.8 else "gone"

    def content(self) -> Any:
        words: list[Any] = [
            {"type": "text", "text": self.chance.choice(WORDS)} for _text in range(self.chance.randint(1, 2))
        ]
        extra = [
            image(),
            {"type": "document", "source": {}},
            tool_use("stray"),
            {"type": "tool_result", "tool_use_id": "stray"},
        ]
        if self.chance.random() < 0.3:
            words.insert(self.chance.randint(0, len(words)), self.chance.choice(extra))
        return self.chance.choice([words, words[0].get("text", ""), words])

    def say(self) -> None:
        self.put(user(self.content() if self.chance.random() < 0.5 else "so how is it?"))

    def queue(self) -> None:
        self.put(queued(self.content()))

    def answer(self) -> None:
        """A message of some lines with calls, and whatever came of them."""
        message = self.chance.choice(["", "same", *[f"m{self.calls}"] * 8])
        blocks: list[Record] = [thinking()] if self.chance.random() < 0.5 else []
        blocks += [{"type": "text", "text": self.chance.choice(WORDS)}] if self.chance.random() < 0.6 else []
        names = [f"t{self.calls + number}" for number in range(self.chance.randint(0, 3))]
        self.calls += len(names) + 1
        names += (
            [self.chance.choice([f"t{self.chance.randint(0, self.calls)}", ""])] if self.chance.random() < 0.15 else []
        )
        blocks += [tool_use(name) for name in names]
        together = self.chance.random() < 0.3
        for part in [blocks] if together else [[block] for block in blocks]:
            record = assistant(part, message=message or "-", used=self.chance.randint(1, 9_000))
            if not message:
                del record["message"]["id"]
            self.put(record)
        self.results(names)

    def results(self, names: list[str]) -> None:
        wanted = [name for name in names if self.chance.random() < 0.9]
        wanted += [self.chance.choice([*names, "never"])] if names and self.chance.random() < 0.15 else []
        self.chance.shuffle(wanted)
        while wanted:
            taken = [wanted.pop() for _one in range(min(len(wanted), self.chance.choice([1, 1, 1, 2])))]
            blocks: list[Any] = [
                {"type": "tool_result", "tool_use_id": name, "content": self.result()} for name in taken
            ]
            if self.chance.random() < 0.15:
                blocks.append(
                    self.chance.choice([image(), {"type": "text", "text": "beside"}, {"type": "text", "text": ""}])
                )
            more: Record = (
                {"toolUseResult": self.chance.choice(["s", {}, {"agentId": "a1"}])}
                if self.chance.random() < 0.5
                else {}
            )
            if self.chance.random() < 0.3 and self.linked:
                more["parentUuid"] = self.chance.choice(self.linked[-4:])["uuid"]
            self.put(user(blocks, **more))
            if self.chance.random() < 0.15:
                self.chance.choice([self.queue, self.helper, self.note])()

    def result(self) -> Any:
        long = "pot " * self.chance.choice([1, 200])
        texts = [{"type": "text", "text": long}, image(), {"type": "tool_reference"}, "bare", None, {"type": ["image"]}]
        return self.chance.choice([long, long, texts, [], None, 7, self.chance.choice(WORDS)])

    def helper(self) -> None:
        self.put(
            self.chance.choice(
                [attachment("file"), attachment("hook_additional_context"), progress(), {"type": "system"}]
            )
        )

    def note(self) -> None:
        delivered = {"origin": {"kind": "task-notification"}}
        marked = {"origin": {"kind": HANDOFF_ORIGIN}, "isMeta": True}
        more: Record = self.chance.choice([{"isMeta": True}, delivered, marked, {"promptSource": "system"}, {}])
        self.put(user(self.chance.choice(WORDS), **more))

    def odd(self) -> None:
        odd = self.chance.choice(ODD)
        kinds: list[Record] = [
            {"type": "assistant", "message": {"id": "odd", "role": "assistant", "content": odd}}, user(odd), queued(odd),
            {"type": "user", "message": odd}, {"type": "assistant", "message": odd}, {"type": "attachment", "attachment": odd},
        ]  # fmt: skip
        self.put(self.chance.choice(kinds))

    def compaction(self) -> None:
        more: Record = {"parentUuid": self.some()} if self.chance.random() < 0.3 else {}
        if self.chance.random() < 0.5:
            kept = {"headUuid": self.some(), "anchorUuid": self.some(), "tailUuid": self.some()}
            more["compactMetadata"] = {"trigger": "auto", "preservedSegment": kept}
        self.put(boundary(**more), *([summary()] if self.chance.random() < 0.9 else []))

    def rewind(self) -> None:
        self.put(user("no, the other pot", parentUuid=self.some()))

    def root(self) -> None:
        self.put(user("from the start", parentUuid=None))

    def circle(self) -> None:
        self.put(assistant("round", parentUuid="c2", uuid="c1"), user("and round", parentUuid="c1", uuid="c2"))

    def double(self) -> None:
        if self.linked:
            self.put(self.chance.choice(self.linked) | {"n": len(self.lines)})

    def side(self) -> None:
        self.put(user("subtask", isSidechain=True), assistant("found", isSidechain=True))

    def pin(self) -> None:
        self.lines.append(last_prompt(self.some()))

    def noise(self) -> None:
        self.lines.append(self.chance.choice(NOISE))


COMMON = ("say", "answer", "answer", "answer", "say", "queue", "helper", "note")
RARE = ("odd", "compaction", "rewind", "root", "circle", "double", "side", "pin", "noise")


def written(steps: list[str], seed: int) -> list[RawLine]:
    """The lines of a file in which those things happened, as `seed` would have them."""
    writer = Writer(seed)
    for step in steps:
        getattr(writer, step)()
    return raw_lines(*writer.lines)


def talks() -> st.SearchStrategy[list[RawLine]]:
    """Files of up to some sixty lines; what is common happens more often than what is rare."""
    steps = st.lists(st.sampled_from([*COMMON, *COMMON, *RARE]), min_size=1, max_size=20)
    return st.builds(written, st.builds(_begun, steps), st.integers(0, 2**32))


def _begun(steps: list[str]) -> list[str]:
    """Most talks are begun by a person."""
    return steps if len(steps) % 5 == 0 else ["say", *steps]
