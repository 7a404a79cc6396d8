"""Which run a person means by an id or the beginning of one."""

from __future__ import annotations

from uuid import UUID

import pytest

from companion.lib.refusals import Refusal
from sessions.actions.find_runs import run_for
from sessions.models import Run

pytestmark = pytest.mark.django_db
A, A2, B = (
    UUID("aaaa1111-0000-4000-8000-000000000001"), UUID("aaaa2222-0000-4000-8000-000000000002"),
    UUID("bbbb1111-0000-4000-8000-000000000003"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def three_runs() -> None:
    for pk in (A, A2, B):
        Run.objects.create(
            pk=pk, kind="diet", host="h", source_session_id="5e551011-1", source_path="/a", source_size=1
        )


@pytest.mark.parametrize(
    ("given", "meant"), [(str(A), A), (str(A).upper(), A), ("aaaa1", A), ("AAAA2", A2), (" b ", B), ("bbbb1111-0", B)]
)
def test_an_id_or_a_prefix_of_one_run_means_it(given: str, meant: UUID) -> None:
    assert run_for(given).pk == meant


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("aaaa", "ambiguous-run"), ("cccc", "unknown-run"), ("", "bad-run"), ("aaaa%", "bad-run"), ("xyz", "bad-run"),
        (str(A) + "0", "bad-run"), ("a a", "bad-run"), ("a" * 5_000, "bad-run"), ("aaaa\x00", "bad-run"),
    ],
)  # fmt: skip
def test_what_means_no_one_run_is_refused(given: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        run_for(given)

    assert refused.value.code == code
    assert len(refused.value.message) < 600
    assert refused.value.hint


def test_candidates_are_named_with_kind_and_session() -> None:
    with pytest.raises(Refusal) as refused:
        run_for("aaaa")

    assert str(A) in refused.value.message
    assert str(A2) in refused.value.message
    assert "diet 5e551011" in refused.value.message
    assert str(B) not in refused.value.message
