"""Window, compaction point and fullness by model and client (transcripts.md, section 2)."""

from __future__ import annotations

import pytest

from sessions.core.lines import Usage
from sessions.core.usage import MOST_TOKENS, compaction_point, percent, reported, version_of, window_size

SMALL, LARGE = 200_000, 1_000_000
NEW, OLD = "2.1.332", "2.1.112"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("2.1.332", (2, 1, 332)), ("2.0.76", (2, 0, 76)), ("2.1", (2, 1)), ("2", (2,)), ("2.1.3-beta.1", (2, 1, 3, 1)),
        ("2.x.3", (2,)), ("", ()), ("next", ()), ("9" * 50 + ".1", (999_999, 1)),
    ],
)  # fmt: skip
def test_a_version_is_numbers_as_far_as_it_can_be_read(text: str, numbers: tuple[int, ...]) -> None:
    assert version_of(text) == numbers


@pytest.mark.parametrize(
    ("model", "version", "window"),
    [
        ("claude-opus-4-7", NEW, LARGE), ("claude-opus-4-8", NEW, LARGE), ("claude-opus-5", NEW, LARGE),
        ("claude-opus-5-5", NEW, LARGE), ("claude-sonnet-5", NEW, LARGE), ("claude-sonnet-5-5", NEW, LARGE),
        ("claude-haiku-5-5", NEW, LARGE), ("claude-fable-5-1", NEW, LARGE), ("glm-4.6", NEW, LARGE),
        ("claude-opus-4-6", NEW, SMALL), ("claude-opus-4-5-20251101", NEW, SMALL), ("claude-sonnet-4-6", NEW, SMALL),
        ("claude-sonnet-4-5-20250929", NEW, SMALL), ("claude-haiku-4-5", NEW, SMALL), ("claude-3-5-sonnet-20241022", NEW, SMALL),
        ("claude-opus-4-20250514", NEW, SMALL), ("claude-opus-4-6[1m]", NEW, LARGE), ("", NEW, SMALL),
        ("claude-opus-4-7", OLD, SMALL), ("glm-4.6", OLD, SMALL), ("claude-opus-4-7[1m]", OLD, LARGE),
        ("claude-opus-4-7", "2.0.76", SMALL),
        ("claude-opus-4-7", "", LARGE), ("claude-opus-4-6", "", SMALL),
    ],
)  # fmt: skip
def test_the_window_goes_by_the_model_in_newer_clients_and_is_small_in_older(
    model: str, version: str, window: int
) -> None:
    assert window_size(model=model, version=version) == window


@pytest.mark.parametrize(
    ("configured", "window"),
    [
        ("claude-opus-4-6[1m]", LARGE), ("opus[1m]", LARGE), ("opus", SMALL), ("sonnet[1m]", SMALL),
        ("claude-sonnet-4-6[1m]", SMALL), ("", SMALL),
    ],
)  # fmt: skip
def test_the_configuration_alone_tells_of_the_large_variant(configured: str, window: int) -> None:
    assert window_size(model="claude-opus-4-6", version=NEW, configured=configured) == window


@pytest.mark.parametrize(("most", "window"), [(200_000, SMALL), (200_001, LARGE)])
def test_more_than_the_small_window_ever_held_proves_the_large_one(most: int, window: int) -> None:
    assert window_size(model="claude-opus-4-6", version=OLD, most_used=most) == window


def test_the_operators_word_wins() -> None:
    assert window_size(model="claude-opus-4-7[1m]", version=NEW, most_used=900_000, override=128_000) == 128_000


@pytest.mark.parametrize(
    ("version", "window", "point"),
    [
        ("2.0.76", SMALL, 155_000), ("2.1.17", SMALL, 155_000), ("2.1.20", SMALL, 166_900), ("2.1.112", SMALL, 166_900),
        ("2.1.332", SMALL, 174_500), ("2.1.332", LARGE, 963_000), ("", SMALL, 174_500), ("2.0.76", 10_000, 0),
    ],
)  # fmt: skip
def test_each_client_compacts_at_its_own_point(version: str, window: int, point: int) -> None:
    assert compaction_point(window=window, version=version) == point


def test_what_was_used_is_the_three_input_figures_without_the_output() -> None:
    usage = reported(Usage(10, 1_000, 78_990, 30_000))

    assert usage is not None
    assert (usage.context, usage.output) == (80_000, 30_000)


@pytest.mark.parametrize(
    "usage",
    [None, Usage(), Usage(0, 0, 0, 900), Usage(None, None, None, None), Usage(-5, 0, -9, 3)],
    ids=["none", "empty", "output-only", "nulls", "negative"],
)
def test_a_report_of_nothing_is_none(usage: Usage | None) -> None:
    assert reported(usage) is None


def test_absurd_figures_are_bounded() -> None:
    usage = reported(Usage(10**30, -7, 5, 10**12))

    assert usage is not None
    assert (usage.input, usage.cache_creation, usage.cache_read, usage.output) == (MOST_TOKENS, 0, 5, MOST_TOKENS)


@pytest.mark.parametrize(
    ("used", "window", "share"),
    [(80_000, 200_000, 40.0), (1, 3, 33.3), (0, 200_000, 0.0), (250_000, 200_000, 125.0), (5, 0, 0.0)],
    ids=["even", "one-decimal", "empty", "overfull", "no-window"],
)
def test_the_share_of_a_window_has_one_decimal(used: int, window: int, share: float) -> None:
    assert percent(used, window) == share
