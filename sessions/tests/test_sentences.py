"""Codes become sentences, in both languages, whatever their values hold; selections that cannot be taken are explained."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from companion.tests.rows import HOSTILE
from sessions.actions.sentence_table import SENTENCES
from sessions.actions.sentences import REFUSALS, refusal_of, sentence
from sessions.core.ranges import BadSelection
from sessions.core.turns import Step
from sessions.gateways import disk

ROOT = Path(__file__).parent.parent
CODE = re.compile(
    r"""(?:"code": |\bnote\.(?:ok|warn|skip)\(|progress\.warn\(|Stop\([\w.]+, |NotWritten\(|NoBridge\()"([a-z-]+)\""""
)
LANGUAGES = ("en", "zh-hans")
AT = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
# Every value that a code may need.
TEXTS: dict[str, Any] = {
    "bytes": 4_200_000, "path": "/srv/a.jsonl", "reason": "no", "names": ["a", "b"], "faults": ["line 1: x"], "detail": "so",
    "difference": "here", "why": {"code": "no-bridge"}, "text": "KeyError",
    "version": "2.1.332", "exit": "3", "words": "no such session",
}  # fmt: skip
NUMBERS = (
    "turns", "tokens", "first", "last", "events", "blocks", "compacts_at", "before", "after", "window", "seconds", "count",
    "characters", "times", "wait", "lines", "line", "sides",
)  # fmt: skip
VALUES: dict[str, Any] = dict.fromkeys(NUMBERS, 1_234_567)


def step(idx: int, preview: str = "water the mint", uuid: str = "") -> Step:
    return Step(idx, idx, 0, 10, uuid or f"abcd{idx:04d}-0000", "h", AT, preview, 10, 0, 0, 0)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_every_code_has_a_sentence_with_readable_numbers(language: str, code: str) -> None:
    with translation.override(language):
        said = sentence({"code": code, **VALUES, **TEXTS})

    assert said != code
    assert "%(" not in said
    assert "1234567" not in said.replace("#1234567", "").replace("Line 1234567", "").replace("第 1234567", "")


def test_one_and_many_are_told_apart() -> None:
    with translation.override("en"):
        assert sentence({"code": "bad-lines", "count": 1}) == "1 line that nobody can read is left behind."
        assert sentence({"code": "bad-lines", "count": 1200}) == "1,200 lines that nobody can read are left behind."


@pytest.mark.parametrize(
    "coded",
    [
        {"code": "never-heard-of", "x": 1}, {"code": "bad-lines"}, {}, {"code": None}, {"code": "no-gain", "before": {}},
        {"code": "bad-lines", "count": "many"},
    ],
    ids=["unknown", "no-value", "empty", "null", "half", "text-for-number"],
)  # fmt: skip
def test_what_cannot_be_said_is_the_code_itself_and_never_an_error(coded: dict[str, Any]) -> None:
    assert sentence(coded) in {str(coded.get("code", "")), "many lines that nobody can read are left behind."}


def emitted() -> set[str]:
    """The codes that plans, steps and ends of runs write onto their rows."""
    places = [*ROOT.glob("actions/*.py"), ROOT / "core" / "plan.py", *ROOT.glob("gateways/bridges/*.py")]
    found = {code for place in places for code in CODE.findall(place.read_text(encoding="utf-8"))}
    return found | set(disk.CODES.values())


def test_every_code_that_is_written_onto_a_run_has_a_sentence() -> None:
    assert {"grown", "claimed", "no-gain", "no-space", "no-bridge"} <= emitted()
    assert emitted() - set(SENTENCES) == set()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_previews_are_bounded_and_visible_in_refusals(text: str) -> None:
    fault = BadSelection("ambiguous-uuid", text="abcd", side="from", candidates=[step(1, text), step(2, text * 400)])

    refusal = refusal_of(fault)

    assert len(refusal.message) < 500
    assert not {"\x1b", "\x07", "\u202e", "\u200b", "\ufeff"} & set(refusal.message)


def test_a_secret_in_a_preview_is_covered() -> None:
    fault = BadSelection("from-after-to", start=step(9, "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"), end=step(2))

    assert "abcdefghijkl" not in refusal_of(fault).message


def test_an_ambiguous_prefix_names_the_candidates_with_idx_local_time_and_words() -> None:
    fault = BadSelection("ambiguous-uuid", text="abcd", side="to", candidates=[step(3, "薄荷"), step(7, "basil")])

    with translation.override("en"):
        message = refusal_of(fault).message

    assert "#3 (abcd0003-0000, 2026-03-01 16:00:00) 薄荷" in message
    assert "#7" in message
    assert "basil" in message
    assert message.startswith("The end of the range")


def test_a_day_without_words_names_the_nearest_ones() -> None:
    refusal = refusal_of(BadSelection("no-such-day", missing=[date(2026, 3, 2)], days=[date(2026, 3, 1)]))

    assert "2026-03-02" in refusal.message
    assert "2026-03-01" in refusal.hint


def test_ends_that_cross_are_both_named() -> None:
    message = refusal_of(BadSelection("from-after-to", start=step(9, "later"), end=step(2, "earlier"))).message

    assert all(word in message for word in ("#9", "later", "#2", "earlier"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("code", "values"),
    [
        ("bad-idx", {"text": "x", "side": "from"}),
        ("no-such-idx", {"idx": 9, "last": 3, "side": "to"}),
        ("short-prefix", {"text": "ab", "least": 4, "side": "from"}),
        ("no-such-uuid", {"text": "abcd", "side": "from"}),
        ("ambiguous-uuid", {"text": "abcd", "side": "from", "candidates": [step(1)]}),
        ("bad-time", {"text": "soon", "side": "to"}),
        ("no-turn", {}),
        ("no-turn-since-compaction", {}),
        ("no-such-day", {"missing": [date(2026, 3, 2)], "days": []}),
        ("from-after-to", {"start": step(9), "end": step(2)}),
        ("empty-range", {"first": 4}),
        ("never-heard-of", {}),
    ],
)
def test_every_bad_selection_is_a_refusal_with_its_code(language: str, code: str, values: dict[str, Any]) -> None:
    with translation.override(language):
        refusal = refusal_of(BadSelection(code, **values))

    assert refusal.code == code
    assert "%(" not in refusal.message + refusal.hint
    assert refusal.hint or code not in REFUSALS
