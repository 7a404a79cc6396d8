import pytest

from companion.lib.visible import MOST_COMBINING, calm, cut, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("\x1b]52;c;Zm9v\x07", "⟨ESC⟩]52;c;Zm9v⟨BEL⟩", id="OSC 52 writes a clipboard"),
        pytest.param("\x1b]8;;http://e\x1b\\x", "⟨ESC⟩]8;;http://e⟨ESC⟩\\x", id="OSC 8 hides a link"),
        pytest.param("pay\u202egnp", "pay⟨U+202E⟩gnp", id="bidi override"),
        pytest.param("\u2066a\u2069", "⟨U+2066⟩a⟨U+2069⟩", id="bidi isolate"),
        pytest.param("约\u200b\u200b\u200b定", "约⟨U+200B×3⟩定", id="zero width in a promise"),
        pytest.param("a\x00b", "a⟨NUL⟩b", id="NUL"),
        pytest.param("\ud83dx", "⟨U+D83D⟩x", id="lone surrogate"),
        pytest.param("\x9b31m", "⟨U+009B⟩31m", id="C1 control"),
        pytest.param("a\xadb\ufeff", "a⟨U+00AD⟩b⟨U+FEFF⟩", id="soft hyphen and byte order mark"),
        pytest.param("x\u200dy", "x⟨U+200D⟩y", id="joiner between letters"),
        pytest.param("a\U000e0041", "a⟨U+E0041⟩", id="tag characters smuggle text"),
        pytest.param("a\u2028b", "a⟨U+2028⟩b", id="line separator"),
    ],
)
def test_what_hides_or_steers_becomes_a_mark(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "两行\n\t缩进",
        "👩‍👩‍👧‍👦 一家",
        "❤️ 🏳️‍🌈 1️⃣ 👍🏽",
        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
        "می‌خواهم",
        "क्‍ष",
        "葛\U000e0100城",
        "“引号”——和省略号……",
    ],
)
def test_writing_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_the_text_read_is_bounded() -> None:
    assert visible("a" * 100, limit=10) == "a" * 10


def test_a_tower_of_combining_marks_is_cut() -> None:
    tower = "o" + "\u0301" * 500

    assert calm(tower) == "o" + "\u0301" * MOST_COMBINING


@pytest.mark.parametrize("family", ["👩‍👩‍👧‍👦", "👍🏽", "🇨🇳", "é", "葛\U000e0100"])
def test_a_cut_never_splits_what_a_reader_sees_as_one(family: str) -> None:
    for length in range(1, len(family)):
        assert cut(f"好{family}", 1 + length) == "好…"


def test_long_hostile_text_takes_no_time() -> None:
    assert visible("\u200b" * 200_000) == "⟨U+200B×200000⟩"
