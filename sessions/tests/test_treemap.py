import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.core.treemap import Box, squarified

BOX = Box(10, 20, 600, 400)


def test_the_example_of_the_paper() -> None:
    placed = squarified([6, 6, 4, 3, 2, 2, 1], Box(0, 0, 6, 4))

    assert (placed[0].width, placed[0].height) == pytest.approx((3, 2))
    assert (placed[2].width, placed[2].height) == pytest.approx((12 / 7, 7 / 3))


@given(st.lists(st.integers(1, 1_000_000), min_size=1, max_size=40))
def test_areas_are_shares_and_nothing_leaves_the_box(values: list[int]) -> None:
    placed = squarified(sorted(values, reverse=True), BOX)

    for value, box in zip(sorted(values, reverse=True), placed, strict=True):
        assert box.width * box.height == pytest.approx(BOX.width * BOX.height * value / sum(values), rel=1e-3, abs=1e-3)
        assert box.x >= BOX.x - 1e-6
        assert box.y >= BOX.y - 1e-6
        assert box.x + box.width <= BOX.x + BOX.width + 1e-6
        assert box.y + box.height <= BOX.y + BOX.height + 1e-6


@pytest.mark.parametrize(
    ("values", "box"), [([], BOX), ([0, 0], BOX), ([1], Box(0, 0, 0, 5))], ids=["none", "zeros", "flat"]
)
def test_nothing_to_draw_is_drawn_as_nothing(values: list[int], box: Box) -> None:
    assert all(it.width * it.height == 0 for it in squarified(values, box))
