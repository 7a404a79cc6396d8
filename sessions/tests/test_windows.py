"""A window's figures: its size, what fills it, and what is only an estimate (spec S3, S7)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from sessions.actions.index import index_all
from sessions.actions.usage import composition, document
from sessions.models import Window
from sessions.tests.transcripts import (
    TranscriptFile,
    assistant,
    attachment,
    boundary,
    image,
    summary,
    thinking,
    tool_result,
    tool_use,
    usage,
    user,
)  # fmt: skip

pytestmark = pytest.mark.django_db


def indexed(root: Path, *records: Any, **talk: Any) -> Window:
    file = TranscriptFile(root, **talk)
    file.add(*records)
    index_all([root])
    return Window.objects.select_related("transcript").get(transcript__path=str(file.path))


def growing(factor: float) -> list[dict[str, Any]]:
    """Talk whose reported growth is about `factor` times its estimate, with a last word that nothing answered."""
    used, records = 20_000, []
    for _ in range(6):
        used += round(factor * 1_361)
        records += [user("mint and basil " * 320), assistant("ok", used=used)]
    return records


def test_before_any_report_the_window_is_estimated_with_the_overhead_of_a_fresh_session(tmp_path: Path) -> None:
    window = indexed(tmp_path, user("hello"))

    assert window.is_estimated
    assert 20_000 < window.used_tokens < 20_010


def test_a_zeroed_copy_is_estimated(tmp_path: Path) -> None:
    zeroed = assistant("words " * 1_000) | {}
    zeroed["message"]["usage"] = usage(0)

    window = indexed(tmp_path, user("hello"), zeroed)

    assert window.is_estimated
    assert window.used_tokens > 20_500


def test_an_estimate_is_scaled_by_what_the_session_reported(tmp_path: Path) -> None:
    window = indexed(tmp_path, *growing(1.5), boundary(), user("mint and basil " * 3_000))

    plain = indexed(tmp_path, boundary(), user("mint and basil " * 3_000))
    assert window.calibration == pytest.approx(1.5, rel=0.1)
    assert window.is_estimated
    assert (window.used_tokens - 20_000) == pytest.approx((plain.used_tokens - 20_000) * window.calibration, rel=0.01)


@pytest.mark.parametrize(
    ("model", "version", "used", "window", "compacts_at"),
    [
        ("claude-opus-4-6", "2.1.332", 90_000, 200_000, 174_500),
        ("claude-opus-4-6", "2.1.332", 210_000, 1_000_000, 963_000),
        ("claude-opus-4-7", "2.1.332", 90_000, 1_000_000, 963_000),
        ("claude-opus-4-6", "2.1.112", 90_000, 200_000, 166_900),
        ("claude-opus-4-6", "2.0.76", 90_000, 200_000, 155_000),
    ],
    ids=["small", "more-than-small-was-seen", "large", "older-client", "oldest-client"],
)
def test_size_and_compaction_point_go_by_model_and_client(
    tmp_path: Path, model: str, version: str, used: int, window: int, compacts_at: int
) -> None:
    found = indexed(tmp_path, user(), assistant(used=used, model=model), version=version)

    assert (found.window_tokens, found.compacts_at) == (window, compacts_at)


def test_once_more_than_the_small_window_was_seen_it_stays_the_large_one_after_a_compaction(tmp_path: Path) -> None:
    records = [user(), assistant(used=210_000, model="claude-opus-4-6"), boundary(9_000), summary()]

    window = indexed(tmp_path, *records, assistant(used=30_000, model="claude-opus-4-6"))

    assert (window.window_tokens, window.used_percent) == (1_000_000, 3.0)


def test_the_clients_settings_tell_of_the_large_variant(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"model": "claude-opus-4-6[1m]"}')

    window = indexed(tmp_path / "projects", user(), assistant(used=50_000, model="claude-opus-4-6"))

    assert window.window_tokens == 1_000_000


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"model": 7}', "[" * 100_000], ids=["empty", "half", "list", "number", "deep"]
)
def test_unreadable_settings_of_the_client_are_none(tmp_path: Path, content: str) -> None:
    (tmp_path / "settings.json").write_text(content)

    window = indexed(tmp_path / "projects", user(), assistant(used=50_000, model="claude-opus-4-6"))

    assert window.window_tokens == 200_000


def test_the_configured_size_wins_over_the_models_and_the_operators_over_both(tmp_path: Path, settings: Any) -> None:
    settings.ENV = dataclasses.replace(settings.ENV, context_window=400_000)
    file = TranscriptFile(tmp_path)
    file.add(user(), assistant(used=100_000))
    index_all([tmp_path])
    configured = Window.objects.get().window_tokens
    Window.objects.update(window_override=125_000)

    file.add(user())
    index_all([tmp_path])

    window = Window.objects.get()
    assert configured == 400_000
    assert (window.window_tokens, window.used_percent) == (125_000, 80.0)


def test_the_parts_of_a_window_sum_up_to_what_the_client_reported(tmp_path: Path) -> None:
    window = indexed(
        tmp_path,
        user("words " * 300), user([image("")]), assistant([thinking("thought " * 300)], message="m1"),
        assistant([tool_use("t1")], message="m1"), tool_result("t1", "output " * 300), attachment("hook_additional_context"),
        assistant("so", used=60_000),
    )  # fmt: skip

    parts = composition(window)

    assert sum(parts.values()) == window.used_tokens == 60_000
    assert all(
        parts[name] > 0 for name in ("dialogue", "thinking", "tool_use", "tool_results", "images", "injected", "other")
    )


def test_parts_that_weigh_more_than_was_reported_are_scaled_down(tmp_path: Path) -> None:
    window = indexed(tmp_path, user("words " * 5_000), assistant("so", used=900))

    parts = composition(window)

    assert sum(parts.values()) == 900
    assert min(parts.values()) >= 0


def test_what_was_compacted_away_fills_nothing(tmp_path: Path) -> None:
    window = indexed(tmp_path, user([image("")]), assistant(used=160_000), boundary(9_000), summary(), user("on"))

    assert composition(window)["images"] == 0


def test_a_rewound_branch_fills_nothing(tmp_path: Path) -> None:
    window = indexed(
        tmp_path,
        user(uuid="u1"),
        assistant(uuid="a1"),
        user([image("")]),
        user("instead", parentUuid="a1"),
        assistant(used=20_000),
    )

    assert composition(window)["images"] == 0


def test_the_document_of_a_windows_usage_has_the_contracts_fields(tmp_path: Path) -> None:
    window = indexed(tmp_path, user(), assistant(used=80_000))

    answer = document(window)

    assert {name: answer[name] for name in ("used_tokens", "window", "used_pct", "estimated", "compacts_at")} == {
        "used_tokens": 80_000, "window": 1_000_000, "used_pct": 8.0, "estimated": False, "compacts_at": 963_000
    }  # fmt: skip
