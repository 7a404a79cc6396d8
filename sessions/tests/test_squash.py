"""Long tool results and old pictures become a line that says what stood there; words never do (spec W1)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from sessions.core.squash import Squashed, squash
from sessions.tests.transcripts import image, thinking, tool_use

SOURCE = "0b5a7c1e"
LONG = "".join(chr(0x4E00 + number % 5_000) for number in range(9_000))


def result(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": "t1", "content": content, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def squashed(block: Any, *, cap: int = 1_000, pictures: bool = True) -> tuple[Any, Squashed]:
    """What one block becomes, and what was counted."""
    done = Squashed()
    (left,) = squash([block], cap=cap, pictures=pictures, source=SOURCE, done=done)
    return left, done


def test_a_long_result_keeps_its_beginning_and_its_end() -> None:
    left, done = squashed(result(LONG))
    words = left["content"]

    assert words.startswith(LONG[:600])
    assert words.endswith(LONG[-200:])
    assert "9,000 characters" in words
    assert SOURCE in words
    assert done == Squashed(results=1, characters=9_000 - len(words))


@pytest.mark.parametrize("cap", [150, 200, 500, 2_000, 8_999])
def test_what_is_left_of_a_result_is_no_longer_than_the_cap(cap: int) -> None:
    left, _done = squashed(result(LONG), cap=cap)

    assert len(left["content"]) == cap


@pytest.mark.parametrize("length", [0, 999, 1_000])
def test_a_result_within_the_cap_stays_as_it_is(length: int) -> None:
    block = result(LONG[:length], is_error=True)

    assert squashed(block) == (block, Squashed())


@pytest.mark.parametrize("cap", [1, 10, 50])
def test_a_cut_never_makes_a_result_longer(cap: int) -> None:
    short = result("x" * 60)
    several = result([text("x" * 30), text("y" * 30)])

    assert squashed(short, cap=cap) == (short, Squashed())
    assert squashed(several, cap=cap) == (several, Squashed())


def test_a_tiny_cap_leaves_no_more_than_the_mark() -> None:
    left, done = squashed(result(LONG), cap=1)

    assert "9,000 characters" in left["content"]
    assert len(left["content"]) < 200
    assert done.results == 1


def test_without_a_cap_results_stay_whole() -> None:
    assert squashed(result(LONG), cap=0) == (result(LONG), Squashed())


def test_the_texts_of_one_result_share_its_cap_and_the_mark_speaks_for_those_that_go() -> None:
    left, done = squashed(result([text("a" * 900), text("b" * 5_000), text("c" * 5_000), text("d")]))
    first, second = left["content"]

    assert first == text("a" * 900)
    assert "10,901 characters" in second["text"]
    assert done.results == 1
    assert done.characters == 10_901 - 900 - len(second["text"])


@pytest.mark.parametrize("cap", [1, 100, 199, 200, 1_000])
def test_a_result_of_texts_is_never_emptied_without_a_mark(cap: int) -> None:
    left, _done = squashed(result([text("a" * 3_000), text("b" * 3_000)]), cap=cap)

    (only,) = left["content"]
    assert "6,000 characters" in only["text"]


def test_a_cut_between_texts_that_fit_is_marked_too() -> None:
    left, _done = squashed(result([text("a" * 1_000), text("b" * 1_000)]))

    assert left["content"][0] == text("a" * 1_000)
    assert "2,000 characters" in left["content"][1]["text"]


def test_what_is_no_text_stays_in_a_result_that_is_cut() -> None:
    reference = {"type": "tool_reference", "tool_name": "Look"}

    left, _done = squashed(result([text(LONG), reference, text("rest")]))

    assert [block["type"] for block in left["content"]] == ["text", "tool_reference"]


@pytest.mark.parametrize("kind", ["image", "document"])
def test_a_picture_becomes_a_line_that_says_where_it_is(kind: str) -> None:
    left, done = squashed(image() | {"type": kind})

    assert left["type"] == "text"
    assert kind in left["text"]
    assert SOURCE in left["text"]
    assert done == Squashed(images=1)


def test_a_picture_in_a_result_is_squashed_with_it() -> None:
    left, done = squashed(result([image(), text("a pot")]))

    assert [block["type"] for block in left["content"]] == ["text", "text"]
    assert left["content"][1] == text("a pot")
    assert done == Squashed(images=1)


def test_pictures_stay_where_they_are_wanted() -> None:
    for block in (image(), result([image()])):
        assert squashed(block, pictures=False) == (block, Squashed())


@pytest.mark.parametrize(
    "block",
    [
        pytest.param(text(LONG), id="words"),
        pytest.param(thinking(LONG), id="thinking"),
        pytest.param(tool_use("t1", words=LONG), id="the input of a call"),
        pytest.param({"type": "web_search_tool_result", "content": LONG}, id="a block nobody knows"),
        pytest.param(result(None), id="a result without content"),
        pytest.param(result({"odd": LONG}), id="a result of another shape"),
        pytest.param(LONG, id="a bare text"),
        pytest.param(None, id="nothing"),
        pytest.param({"type": ["image"]}, id="a type that is none"),
        pytest.param({"text": LONG}, id="no type"),
    ],
)
def test_everything_else_is_left_alone(block: Any) -> None:
    before = copy.deepcopy(block)

    assert squashed(block) == (before, Squashed())


@pytest.mark.parametrize("content", ["words", None, {"a": 1}, 7])
def test_a_content_that_is_no_list_of_blocks_is_left_alone(content: Any) -> None:
    assert squash(content, cap=10, pictures=True, source=SOURCE, done=Squashed()) == content


def test_the_blocks_that_were_read_are_not_changed() -> None:
    content = [result(LONG), result([text(LONG), image()]), image(), text(LONG)]
    before = copy.deepcopy(content)

    squash(content, cap=100, pictures=True, source=SOURCE, done=Squashed())

    assert content == before


def test_a_squashed_content_is_not_squashed_again() -> None:
    content = [result(LONG), result([text("a" * 900), text("b" * 5_000)]), image()]
    once = squash(content, cap=2_000, pictures=True, source=SOURCE, done=Squashed())
    again = Squashed()

    assert squash(once, cap=2_000, pictures=True, source="another", done=again) == once
    assert again == Squashed()


def test_counts_of_several_turns_add_up() -> None:
    total = Squashed(1, 2, 3)

    total.add(Squashed(10, 20, 30))

    assert total == Squashed(11, 22, 33)
