"""Where a talk forks: what is read on the way must agree with the tree (transcripts.md 1.5)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sessions.tests.readings import read
from sessions.tests.transcripts import Record, Talk, assistant, boundary, queued, raw_lines, thinking, usage, user

Places = dict[str, int | None]


def places(*records: Record, cuts: Sequence[int] = ()) -> tuple[Places, set[str]]:
    """(uuid → idx of what is live after the reading, uuids of the thread over the whole file)."""
    done = read(raw_lines(*Talk().link(*records)), cuts=list(cuts))
    return done.places, {link.uuid for link in done.thread().links}


def answer(uuid: str, message: str, parent: str = "", used: int = 0) -> Record:
    place = {"parentUuid": parent} if parent else {}
    return assistant("ok", uuid=uuid, message=message, used=used, **place)


def test_a_first_prompt_edited_before_any_answer_does_not_stay_live() -> None:
    records = (user(uuid="u0"), user(uuid="u1", parentUuid=None), answer("a1", "m1"))

    assert places(*records, cuts=[2]) == places(*records)


def test_of_two_retries_of_one_prompt_only_the_last_is_live() -> None:
    records = (user(uuid="u0"), answer("a1", "m1"), answer("a2", "m2", "u0"), answer("a3", "m3", "u0"))

    live, thread = places(*records, cuts=[3])

    assert set(live) == thread == {"u0", "a3"}


def test_an_api_error_beside_the_retried_answer_is_not_live() -> None:
    failed = assistant("busy", uuid="e1", isApiErrorMessage=True)

    live, thread = places(user(uuid="u0"), failed, answer("a2", "m2", "u0"))

    assert set(live) == thread == {"u0", "a2"}


def test_a_message_queued_on_a_call_under_way_is_never_lost() -> None:
    live, thread = places(user(uuid="u0"), answer("a1", "m1"), queued(uuid="q1"), answer("a2", "m1", "a1"))

    assert set(live) == thread == {"u0", "a1", "q1", "a2"}


def test_a_queued_message_that_was_edited_away_is_not_live() -> None:
    rewound = user(uuid="u3", parentUuid="a1")

    live, thread = places(user(uuid="u0"), answer("a1", "m1"), queued(uuid="q1"), answer("a2", "m2"), rewound)

    assert set(live) == thread == {"u0", "a1", "u3"}


def test_what_a_compaction_left_survives_a_rewind() -> None:
    records = (user(uuid="u0"), answer("a1", "m1"), user(), user(uuid="u3", parentUuid="a1"), boundary(9_000))

    done = read(raw_lines(*Talk().link(*records)))

    assert done.state.after_boundary == 9_000


def test_a_large_usage_that_was_rewound_still_proves_the_large_window() -> None:
    records = (
        user(uuid="u0"),
        answer("a1", "m1", used=100_000),
        user(),
        answer("a2", "m2", used=250_000),
        user(uuid="u3", parentUuid="a1"),
    )

    done = read(raw_lines(*Talk().link(*records)))

    assert done.state.most_used == 250_000


@pytest.mark.parametrize("claim", [10**12, 10**30, -5])
def test_absurd_thinking_tokens_are_bounded(claim: int) -> None:
    hidden = assistant([thinking("", signature="s" * 12)], message="m1")
    hidden["message"]["usage"] = usage(9_000) | {"output_tokens_details": {"thinking_tokens": claim}}

    done = read(raw_lines(*Talk().link(user(), hidden)))

    assert 0 <= done.rows[1].parts[1] <= 1_000_000


def test_a_million_images_do_not_overflow_a_row() -> None:
    done = read(raw_lines(*Talk().link(user([{"type": "image"}] * 1_400_000))))

    assert done.rows[0].parts[4] <= 2**31 - 1
