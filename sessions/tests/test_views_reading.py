from dataclasses import replace

import pytest
from django.utils import translation

from sessions.views.reading import Fill, Reading, fullness, label, tenths

BASE = Reading(used=0, window=200_000, percent=0.0, is_estimate=False, diet=55, forge=70, compacts=87.3)


@pytest.mark.parametrize(
    ("percent", "fills"),
    [
        (0.0, []),
        (38.0, [Fill("fill", 0, 38.0)]),
        (55.0, [Fill("fill", 0, 55.0)]),
        (61.0, [Fill("fill", 0, 55), Fill("over", 55, 6.0)]),
        (76.0, [Fill("fill", 0, 55), Fill("over", 55, 15), Fill("beyond", 70, 6.0)]),
        (140.0, [Fill("fill", 0, 55), Fill("over", 55, 15), Fill("beyond", 70, 30.0)]),
    ],
)
def test_the_bar_is_coloured_by_zone(percent: float, fills: list[Fill]) -> None:
    assert replace(BASE, percent=percent).fills == fills


def test_marks_in_an_odd_order_do_not_break_the_bar() -> None:
    assert replace(BASE, percent=90.0, diet=80, forge=60).fills == [Fill("fill", 0, 80), Fill("beyond", 60, 30)]


def test_a_point_that_is_not_known_is_not_drawn() -> None:
    assert replace(BASE, compacts=0.0).hatch == 0
    assert BASE.hatch == pytest.approx(12.7)


@pytest.mark.parametrize(
    ("percent", "words"),
    [
        (0, "不到一成"),
        (9.9, "不到一成"),
        (10, "一成"),
        (19.9, "一成多"),
        (61.4, "六成"),
        (69.9, "六成多"),
        (99.9, "九成多"),
    ],
)
def test_tenths_are_never_rounded_up(percent: float, words: str) -> None:
    with translation.override("zh-hans"):
        assert tenths(percent) == words


@pytest.mark.parametrize(
    ("percent", "sentence"),
    [
        (12.0, "窗口用了一成，离瘦身线还远。"),
        (54.9, "窗口用了五成多，快到瘦身线了。"),
        (55.0, "窗口用了五成多，刚过瘦身线。"),
        (69.9, "窗口用了六成多，已过瘦身线。"),
        (70.0, "窗口用了七成，已过换窗线。"),
        (88.0, "窗口已经过了客户端自己压缩的那一点。"),
        (120.0, "窗口满了。"),
    ],
)
def test_the_sentence_never_says_more_than_the_number(percent: float, sentence: str) -> None:
    with translation.override("zh-hans"):
        assert fullness(replace(BASE, percent=percent)) == sentence


def test_the_label_names_every_mark_in_english_too() -> None:
    with translation.override("en"):
        text = label(replace(BASE, percent=12.1, is_estimate=True))

    assert (
        text
        == "Window about 12.1% full, an estimate, 42.9 points below the 55% diet mark, the client compacts at 87.3%"
    )
