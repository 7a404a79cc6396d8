"""Words of texts and of questions: whatever contains what was asked for is found (spec S9)."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.core.marks import highlight, snippet
from sessions.core.words import (
    LONGEST_TEXT,
    MOST_BYTES,
    Query,
    Term,
    fold,
    query_words,
    search_words,
    writable,
)  # fmt: skip

# Invented; a dictionary knows few of them.
ALL_NAMES = (
    "林夕月 苏棠梨 顾北笙 沈知意 陆拾柒 江予安 许愿晨 温如许 白露生 谢小满 周清让 秦时雨 方未晚 叶知秋 宋归棹 程暮云 夏栀子 冯乐游 "
    "褚云栖 卫长风 蒋南浔 韩照野 杨柳青 朱砂痣 秦观止 尤溪午 何以宁 吕岸芷 施半夏 张拾光 孔雀蓝 曹渡口 严冬青 华胥引 金风玉 魏紫陌 "
    "陶然亭 姜花海 戚薇薇 谢桥月 邹雨眠 喻言之 柏舟行 水禾田 章鱼丸"
)
NAMES = ALL_NAMES.split()


def finds(question: str, text: str) -> bool:
    """Would the database find the text?"""
    words = search_words(text)
    query = query_words(question)
    return bool(query) and all(
        term.text in words or (term.is_start and any(word.startswith(term.text) for word in words.strong))
        for term in query.terms
    )


def marked(text: str, question: str) -> list[str]:
    return [text[start:end] for start, end in highlight(text, query_words(question))]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        pytest.param("失眠", "昨晚又失眠了。", id="a word of two characters"),
        pytest.param("眠", "昨晚又失眠了。", id="one character"),
        pytest.param("眠了", "昨晚又失眠了。", id="two characters that are no word"),
        pytest.param("昨晚失眠", "我失眠了，就在昨晚", id="words in another order"),
        pytest.param("没关系等会儿", "没关系，等会儿再说", id="words with signs between them"),
        pytest.param("gpt-4o很好", "GPT-4o 真的很好用", id="Chinese and English mixed"),
        pytest.param("GPT很快", "gpt很快啊", id="without a space"),
        pytest.param("ＡＢＣ１２", "abc12", id="full width"),
        pytest.param("cafe\u0301", "Café au lait", id="a combining accent"),
        pytest.param("sleep", "Sleeping badly again", id="the start of a word"),
        pytest.param("👩‍👩‍👧", "我们三个👩‍👩‍👧在家", id="an emoji of several"),
        pytest.param("😴", "困了😴😴", id="an emoji"),
        pytest.param("ねこ", "黒いねこがいる", id="kana"),
        pytest.param("고양이", "고양이가 있어", id="hangul"),
        pytest.param("𠮷野", "去𠮷野家", id="a character beyond 16 bits"),
        pytest.param("don't", "I don't know", id="an apostrophe"),
        pytest.param("2026", "在2026年", id="a number between Chinese"),
        pytest.param("foo_bar", "call foo_bar()", id="a name in code"),
        pytest.param("失 \x00眠", "失\x00眠", id="a NUL"),
    ],
)
def test_a_text_is_found(question: str, text: str) -> None:
    assert finds(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        pytest.param("失眠", "眠失", id="the other way round"),
        pytest.param("失眠", "失去睡眠", id="apart"),
        pytest.param("林夕月", "月下林中的夕阳", id="a name's characters apart"),
        pytest.param("it", "sitting with item", id="two letters inside and at the start of words"),
        pytest.param("失眠 咖啡", "昨晚失眠", id="only one of two words"),
    ],
)
def test_a_text_is_not_found(question: str, text: str) -> None:
    assert not finds(question, text)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_found_wherever_it_stands(name: str) -> None:
    for text in (name, f"今天和{name}去看电影", f"{name}说好的", f"是不是{name}？她没来", f"把{name}的书还了"):
        assert finds(name, text)
        assert marked(text, name) == [name]


def test_there_are_as_many_names_as_were_once_measured() -> None:
    assert len(set(NAMES)) == 45


@pytest.mark.parametrize(
    "question",
    [
        "",
        "   ",
        "'",
        "&",
        "!",
        ":*",
        "\\",
        "' & ! :* \\ ( ) | <->",
        "？！。",
        "\x00",
        "\ud800",
        "\u0301",
        "\u200b\u202e",
    ],
    ids=repr,
)
def test_a_question_without_a_word_asks_for_nothing(question: str) -> None:
    assert not query_words(question)


def test_signs_of_a_query_language_are_no_words() -> None:
    assert query_words("!失眠:* & 'b\\' | (c)").terms == query_words("失眠 b c").terms


def test_pairs_that_are_words_rank_and_those_that_are_none_only_a_little() -> None:
    words = search_words("头发现在很长")

    assert "头发" in words.strong
    assert "发现" in words.weak


def test_single_characters_find_but_do_not_rank() -> None:
    assert query_words("眠") == Query(terms=(Term("眠"),), ranked=(), marks=(Term("眠"),))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("的" * 1_000_000, id="one character a million times"),
        pytest.param("a" * 1_000_000, id="one letter a million times"),
        pytest.param("\x00" * 1_000_000, id="NUL"),
        pytest.param("\ud83d" * 1_000_000, id="lone surrogates"),
        pytest.param("e\u0301" * 500_000, id="accents"),
        pytest.param("\u0301" * 1_000_000, id="marks on nothing"),
        pytest.param("\ufdfa" * 1_000_000, id="one character that is eighteen"),
        pytest.param("".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(1_000_000)), id="all of Chinese"),
        pytest.param("".join(map(chr, range(0x20000, 0x2A000))) * 3, id="characters beyond 16 bits"),
        pytest.param(" ".join(f"{number:x}" for number in range(200_000)), id="a hundred thousand numbers"),
    ],
)
def test_a_huge_text_has_bounded_words_soon(text: str) -> None:
    started = time.perf_counter()

    words = search_words(text)
    found = snippet(writable(text), query_words("的 abc"))

    assert (
        sum(len(word.encode()) + 8 for word in words.strong) + sum(len(word.encode()) for word in words.weak)
        <= MOST_BYTES
    )
    assert max(map(len, words.strong | words.weak), default=0) <= 64
    assert len(found.text) <= 200
    assert time.perf_counter() - started < 20


def test_a_text_is_kept_up_to_its_bound_without_what_no_database_takes() -> None:
    assert writable("a\x00b\ud800c") == "a\ufffdb\ufffdc"
    assert len(writable("x" * 200_000)) == LONGEST_TEXT


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        pytest.param("昨晚失眠，今天又失眠", "失眠", ["失眠", "失眠"], id="each time"),
        pytest.param("昨晚失眠了", "昨晚失眠", ["昨晚失眠"], id="as asked"),
        pytest.param("失眠是昨晚的事", "昨晚失眠", ["失眠", "昨晚"], id="word by word"),
        pytest.param("ＧＰＴ and gpt", "GPT", ["ＧＰＴ", "gpt"], id="full width and small"),
        pytest.param("a ﬃ b Oﬃce", "office", ["Oﬃce"], id="a ligature"),
        pytest.param("cafe\u0301s", "café", ["cafe\u0301"], id="a combining accent"),
        pytest.param("İstanbul", "istanbul", [], id="a letter that grows in lower case"),
        pytest.param("it sits, it", "it", ["it", "it"], id="short words whole only"),
        pytest.param("sleeping asleep", "sleep", ["sleep"], id="the start of a word only"),
        pytest.param("我很好我", "我", ["我", "我"], id="one character"),
        pytest.param(
            "我失眠了，我不想动了", "我失眠了", ["我失眠了"], id="single characters beside words are not marked"
        ),
        pytest.param("nothing", "失眠", [], id="nothing"),
    ],
)
def test_what_was_asked_for_is_marked(text: str, question: str, expected: list[str]) -> None:
    assert marked(text, question) == expected


def test_a_snippet_stands_around_the_first_place_in_one_line() -> None:
    text = "前言。\n" * 100 + "昨晚\t又失眠了。" + "\n后记。" * 100

    found = snippet(text, query_words("失眠"))

    assert [found.text[start:end] for start, end in found.spans] == ["失眠"]
    assert (found.starts_inside, found.ends_inside) == (True, True)
    assert "\n" not in found.text
    assert len(found.text) <= 160


def test_a_snippet_of_a_short_text_is_the_text() -> None:
    found = snippet("昨晚又失眠了", query_words("失眠"))

    assert (found.text, found.spans, found.starts_inside, found.ends_inside) == (
        "昨晚又失眠了",
        ((3, 5),),
        False,
        False,
    )


@pytest.mark.parametrize("cluster", ["👩‍👩‍👧‍👦", "👍🏽", "🇨🇳", "e\u0301\u0323", "☁️"], ids=repr)
def test_a_snippet_is_never_cut_through_what_a_reader_sees_as_one(cluster: str) -> None:
    for shift in range(len(cluster) + 1):
        text = "x" * shift + cluster * 60 + " 失眠 " + cluster * 120

        found = snippet(text, query_words("失眠"))

        rest = found.text.replace(" 失眠 ", "").replace("失眠", "").strip()
        assert rest.lstrip("x").replace(cluster, "").strip() == ""


chinese = st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1, max_size=12)
anything = st.text(max_size=200)


@given(before=anything, asked=chinese, after=anything)
def test_whatever_stands_in_a_text_is_found_in_it(before: str, asked: str, after: str) -> None:
    assert finds(asked, f"{before} {asked} {after}")


@given(before=anything, asked=st.from_regex(r"[a-zA-Z0-9]{1,20}", fullmatch=True), after=anything)
def test_every_latin_word_of_a_text_is_found(before: str, asked: str, after: str) -> None:
    assert finds(asked, f"{before} {asked} {after}")


@given(text=anything, question=anything)
def test_marks_are_in_order_apart_and_inside(text: str, question: str) -> None:
    spans = highlight(text, query_words(question))

    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(start < end for start, end in spans)
    assert all(0 <= edge <= len(text) for edge in edges)


@given(text=anything, question=anything)
def test_a_snippet_marks_what_it_shows(text: str, question: str) -> None:
    found = snippet(text, query_words(question), before=10, length=30)

    assert all(0 <= start < end <= len(found.text) for start, end in found.spans)
    assert len(found.text) <= 60


@given(text=anything)
def test_words_can_be_written(text: str) -> None:
    words = search_words(text)

    for word in words.strong | words.weak:
        word.encode()
        assert "\x00" not in word
        assert word == fold(word)
        assert unicodedata.is_normalized("NFKC", word)
