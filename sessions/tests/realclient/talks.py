"""A talk that a real client had: what was said and handed out in it, and the file it left."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sessions.tests.realclient.api import Api, Cue, Json, playing
from sessions.tests.realclient.clients import Seat

# A red square, 16 by 16.
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mP4z8BAEmIY1TCqYfhqAACQ+f8Bf5xZ7QAAAABJRU5ErkJggg=="
DIARY = "今天给薄荷浇了水。" * 900
QUEUED = "插话：先别急"
TOOLS = ("--allowedTools", "Bash(seq:*)", "Bash(sleep:*)", "Bash(echo:*)", "Read")
# The client that keeps no message sent meanwhile, where it is started as a bridge does.
FORGETFUL = frozenset({"2.0.76"})
# Tokens that the API reports at the end: a copy that carried them would be compacted at once.
FULL = 190_000


@dataclass(frozen=True)
class Talk:
    """A finished talk. `prompts` by cue, in order; `session` is the id of its file."""

    seat: Seat
    api: Api
    session: str
    prompts: dict[str, str]

    @property
    def path(self) -> Path:
        return self.seat.transcript(self.session)

    def calls(self, *words: str) -> list[str]:
        """The ids of the calls that these cues led to."""
        return [each for word in words for each in self.api.cues[word].ids]

    def signatures(self, *words: str) -> list[str]:
        return [each for word in words for each in self.api.cues[word].signatures]


def cues(work: Path) -> list[Cue]:
    diary = work / "diary.md"
    return [
        Cue("leaves", "I count.", (("Bash", {"command": "seq 1 2500", "description": "count"}),)),
        Cue("diary", "", (("Read", {"file_path": str(diary)}),)),
        Cue("picture", "一片红色的叶子。"),
        Cue("forbidden", "I try.", (("Bash", {"command": f"touch {work}/forbidden", "description": "try"}),)),
        Cue("waiting", "I wait.", (("Bash", {"command": "sleep 1.5", "description": "wait"}),)),
        Cue("twice", "", tuple(("Bash", {"command": f"echo {it}", "description": it}) for it in ("one", "two"))),
        Cue("good night", "好的，晚安。", used=FULL),
    ]


PROMPTS = {
    "leaves": "first: the leaves 数叶子",
    "diary": "second: read the diary 日记",
    "picture": "third: a picture",
    "forbidden": "fourth: what is forbidden",
    "waiting": "fifth: while you are waiting",
    "twice": "sixth: twice at once",
    "good night": "seventh: good night 晚安",
}


@contextmanager
def finished(command: tuple[str, ...], version: str, folder: Path) -> Iterator[Talk]:
    """Has the talk with a client in `folder`, then gives it."""
    work = folder / "work"
    work.mkdir(parents=True)
    (work / "diary.md").write_text(DIARY)
    with playing(*cues(work)) as api:
        seat = Seat(command, version, folder, api.url)
        with seat.talk(*TOOLS) as conversation:
            for word, prompt in PROMPTS.items():
                is_joined = word == "waiting" and version not in FORGETFUL
                conversation.say(_content(word, prompt), meanwhile=QUEUED if is_joined else "")
            assert conversation.end() == 0
        assert api.refusals == []
        yield Talk(seat, api, conversation.session, PROMPTS)


def _content(word: str, prompt: str) -> str | list[Json]:
    if word != "picture":
        return prompt
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    return [{"type": "text", "text": prompt}, {"type": "image", "source": source}]
