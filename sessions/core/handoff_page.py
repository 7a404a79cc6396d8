"""A hand-off as a page of Markdown with fixed headings, in the language the person writes (spec H1, H4, W14)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo

from sessions.core.handoff_fields import Handoff, Item, Language
from sessions.core.handoff_frame import harmless
from sessions.core.sentences import cut, own_words

# Characters of all summaries together, and how many are shown: the newest.
SUMMARIES = 1_200
MOST_SUMMARIES = 2
# Of one entry, as shown.
LONGEST_SHOWN = 200

# The client's own first words in a summary, and where its notes end and the summary begins.
_OPENING = re.compile(r"\A\s*This session is being continued from a previous conversation[^\n]*\n")
_NOTES = re.compile(r"\A.*?^\s*(?:<summary>|Summary:)\s*$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Words:
    title: str
    source: str
    topic: str
    state: str
    promises: str
    never: str
    cues: str
    excerpts: str
    summaries: str
    none: str
    no_time: str
    human: str
    companion: str
    evidence: str
    comma: str
    missing: str
    more: str


_LANGUAGES: dict[str, _Words] = {
    "zh": _Words(
        title="交接",
        source="取自窗口 {session}，时间按 {zone}。引号里都是原话，后面是出处。",
        topic="眼下的话题",
        state="对方的心情和身体",
        promises="没了结的约定和待办",
        never="红线",
        cues="想起来用的词",
        excerpts="最近几句原话",
        summaries="压缩时客户端自己写的摘要（不是谁的原话，可能有错）",
        none="（没有）",
        no_time="时间不明",
        human="对方",
        companion="陪伴者",
        evidence="“{text}”（{at}，{who}，#{idx}）",
        comma="、",
        missing="（这里省去 {count} 字）",
        more="（还有 {count} 份更早的，没放进来）",
    ),
    "en": _Words(
        title="Hand-off",
        source="From window {session}; times in {zone}. What is quoted was said so; where it stands follows.",
        topic="Subject now",
        state="The person's mood and body",
        promises="Open promises and to-dos",
        never="Red lines",
        cues="Words to find it by",
        excerpts="Last words, as said",
        summaries="The client's own summary at a compaction (nobody's words; it may be wrong)",
        none="(none)",
        no_time="time unknown",
        human="the person",
        companion="the companion",
        evidence="“{text}” ({at}, {who}, #{idx})",
        comma=", ",
        missing="({count} characters left out here)",
        more="({count} earlier ones left out)",
    ),
}


def markdown(handoff: Handoff, *, language: Language, zone: tzinfo, session_id: str) -> str:
    """The page; every line harmless. Times are shown in `zone`. Empty fields say so."""
    words = _LANGUAGES[language]
    lines = [f"# {words.title}", "", _source(words, zone, session_id)]
    fields = (
        (words.topic, [handoff.topic] if handoff.topic is not None else []),
        (words.state, handoff.state),
        (words.promises, handoff.promises),
        (words.never, handoff.never),
    )
    for title, items in fields:
        lines += ["", f"## {title}", *_listed(items, words, zone)]
    lines += ["", f"## {words.cues}", f"- {words.comma.join(handoff.cues) or words.none}"]
    lines += ["", f"## {words.excerpts}", *_listed(handoff.excerpts, words, zone)]
    if handoff.summaries:
        lines += ["", f"## {words.summaries}", *_summaries(handoff.summaries, words)]
    return harmless("\n".join(lines)) + "\n"


def _source(words: _Words, zone: tzinfo, session_id: str) -> str:
    return words.source.format(session=_in_one_line(session_id), zone=getattr(zone, "key", None) or str(zone))


def _listed(items: list[Item], words: _Words, zone: tzinfo) -> list[str]:
    return [f"- {_quoted(item, words, zone)}" for item in items] or [f"- {words.none}"]


def _quoted(item: Item, words: _Words, zone: tzinfo) -> str:
    at = item.at.astimezone(zone).strftime("%Y-%m-%d %H:%M") if item.at is not None else words.no_time
    who = words.human if item.speaker == "human" else words.companion
    # Hidden characters take more room once they are shown.
    text = cut(harmless(_in_one_line(item.text)), LONGEST_SHOWN)
    return words.evidence.format(text=text, at=at, who=who, idx=item.idx)


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _summaries(summaries: list[str], words: _Words) -> Iterator[str]:
    """The newest summaries, cut where they are long, with a note of what is missing; every line of them a quotation."""
    shown = summaries[-MOST_SUMMARIES:]
    if len(shown) < len(summaries):
        yield words.more.format(count=len(summaries) - len(shown))
    for summary in shown:
        yield ""
        whole = _plain(summary)
        kept = cut(harmless(whole), SUMMARIES // len(shown))
        yield from (f"> {line}" for line in kept.splitlines() if line.strip())
        if len(kept) < len(whole):
            yield "> " + words.missing.format(count=len(whole) - len(kept) + 1)


def _plain(summary: str) -> str:
    """A summary without what the client puts around it."""
    return _NOTES.sub("", _OPENING.sub("", own_words(summary)), count=1).strip()
