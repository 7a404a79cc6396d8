"""One line of a transcript: what the client reads is read, what it refuses is a bad line."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.core.lines import BadLine, Line, coerce, read_line
from sessions.tests.transcripts import assistant, encoded, queued, thinking, tool_result, tool_use, usage, user

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
WHOLE = [
    user("water", uuid="u1", parentUuid=None, timestamp="2026-03-01T08:00:00.000Z", isSidechain=False, cwd="/srv"),
    assistant([thinking(), tool_use("t1")], message="m1", used=12_345, uuid="a1", parentUuid="u1", version="2.1.332"),
    tool_result("t1", [{"type": "text", "text": "four"}], uuid="r1", parentUuid="a1", toolUseResult={"x": [1, 2]}),
    queued([{"type": "text", "text": "basil"}], uuid="q1", parentUuid="r1", origin={"kind": "human"}),
    {"type": "last-prompt", "leafUuid": "a1", "unknown": {"deep": [1, {"a": None}]}},
]


def read(text: str | bytes) -> Line:
    line = read_line(text.encode() if isinstance(text, str) else text)
    assert line is not None
    return line


def words_of(line: Line) -> Any:
    assert line.message is not None
    return line.message.content


@pytest.mark.parametrize("record", WHOLE, ids=lambda record: str(record["type"]))
def test_the_patient_way_reads_what_the_typed_way_reads(record: dict[str, Any]) -> None:
    typed = read(encoded(record))

    # A byte-order mark sends a line the patient way.
    patient = read(b"\xef\xbb\xbf" + encoded(record))

    assert plain(patient) == plain(typed)


@given(st.dictionaries(st.sampled_from(["type", "uuid", "message", "origin", "isMeta", "compactMetadata", "x"]), JSON))
def test_any_object_is_a_line(value: dict[str, Any]) -> None:
    line = read(json.dumps(value))

    assert isinstance(line, Line)
    assert line.uuid == (value["uuid"] if isinstance(value.get("uuid"), str) else None)


def plain(line: Line) -> Any:
    return msgspec.to_builtins(line, enc_hook=lambda raw: json.loads(bytes(raw)))


@pytest.mark.parametrize(
    "raw", [b"", b"  \t", b"\r", b"\xef\xbb\xbf", b"\xef\xbb\xbf \r"], ids=["empty", "blank", "cr", "mark", "mark-cr"]
)
def test_a_blank_line_is_none(raw: bytes) -> None:
    assert read_line(raw) is None


def test_a_line_may_end_in_a_carriage_return() -> None:
    assert read(b'{"type":"user","uuid":"u1"}\r').uuid == "u1"


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\u0085", "\x7f", "\ufeff"])
def test_separators_that_stand_raw_in_a_text_stay(char: str) -> None:
    line = read(encoded(user(f"mint{char}basil")))

    assert words_of(line) == f"mint{char}basil"


def test_a_lone_surrogate_costs_no_line() -> None:
    line = read(rb'{"type":"user","uuid":"u1","message":{"content":"pot \ud83d here"}}')

    assert line.uuid == "u1"
    assert words_of(line) == "pot \ud83d here"


def test_a_pair_of_surrogates_is_one_character() -> None:
    line = read(rb'{"type":"user","message":{"content":"\ud83c\udf3f \ud83d"}}')

    assert words_of(line) == "\U0001f33f \ud83d"


def test_bad_bytes_become_replacement_characters() -> None:
    line = read(b'{"type":"user","message":{"content":"pot \xff\xc3 here"}}')

    assert words_of(line) == "pot \ufffd\ufffd here"


def test_a_zero_character_is_read_where_it_is_escaped() -> None:
    assert words_of(read(rb'{"type":"user","message":{"content":"a\u0000b"}}')) == "a\x00b"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"type":"user","x":NaN}', "NaN"),
        (b'{"type":"user","x":Infinity}', "Infinity"),
        (b'{"type":"user","x":-Infinity}', "Infinity"),
        (b'{"type":"user","uuid":"u', "unterminated"),
        (b'{"type":"user",}', "not JSON"),
        (b'{"type":"user"} {"type":"user"}', "extra data"),
        (b'{"type":"us\x00er"}', "control character"),
        (b'{"type":"us\ter"}', "control character"),
        (b"{'type':'user'}", "not JSON"),
        (b"\x00\x00\x00", "not JSON"),
        (b"12", "not a JSON object"),
        (b'"user"', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"true", "not a JSON object"),
        (b'[{"type":"user"}]', "not a JSON object"),
    ],
    ids=[
        "nan", "infinity", "minus-infinity", "half", "comma", "two", "raw-nul", "raw-tab", "single-quotes", "nul-bytes",
        "number", "string", "null", "true", "array",
    ],
)  # fmt: skip
def test_what_the_client_refuses_is_a_bad_line_with_a_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(BadLine, match=reason):
        read_line(raw)


@pytest.mark.parametrize("depth", [200, 2_000, 100_000])
def test_a_deeply_nested_line_keeps_its_place_in_the_chain(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    raw = f'{{"parentUuid":"p1","uuid":"u1","type":"user","message":{{"content":"x"}},"toolUseResult":{deep}}}'

    line = read(raw)

    assert (line.type, line.uuid, line.parentUuid) == ("user", "u1", "p1")


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_nesting_inside_a_field_that_is_read_keeps_the_place_too(depth: int) -> None:
    deep = '{"a":' * depth + "1" + "}" * depth
    block = f'{{"type":"tool_use","id":"t1","input":{deep}}}'

    line = read(f'{{"parentUuid":"p1","uuid":"a1","type":"assistant","message":{{"content":[{block}]}}}}')

    assert (line.type, line.uuid, line.parentUuid) == ("assistant", "a1", "p1")


def test_a_nested_answer_is_no_less_an_answer_where_its_message_comes_first() -> None:
    deep = '{"type":' * 2_000 + '"x"' + "}" * 2_000
    message = f'{{"type":"message","content":[{{"type":"tool_use","uuid":"no","input":{deep}}}]}}'

    line = read(f'{{"parentUuid":"p1","isSidechain":true,"message":{message},"type":"assistant","uuid":"a1"}}')

    assert (line.type, line.uuid, line.parentUuid, line.isSidechain) == ("assistant", "a1", "p1", True)


@pytest.mark.parametrize("depth", range(880, 1000, 8))
def test_nesting_at_the_very_limit_of_a_parser_is_no_error(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    raw = f'{{"type":"assistant","uuid":"a1","message":{{"content":[{{"type":"tool_use","input":{deep}}}]}}}}'

    line = read(b"\xef\xbb\xbf" + raw.encode())

    assert (line.type, line.uuid) == ("assistant", "a1")


def test_a_nested_line_that_breaks_off_is_a_bad_line() -> None:
    with pytest.raises(BadLine, match="brackets"):
        read_line(b'{"type":"user","x":' + b"[" * 100_000 + b"}")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("uuid", 7), ("parentUuid", ["p"]), ("timestamp", 1_700_000_000), ("message", "words"), ("message", []),
        ("isMeta", "yes"), ("isSidechain", 1), ("origin", "human"), ("attachment", 5), ("compactMetadata", "auto"),
    ],
    ids=lambda value: str(value),
)  # fmt: skip
def test_a_field_of_a_wrong_type_is_left_out_and_the_rest_stays(field: str, value: Any) -> None:
    line = read(encoded({"type": "user", "version": "2.1.332", field: value}))

    assert getattr(line, field) is None
    assert (line.type, line.version) == ("user", "2.1.332")


def test_a_bare_string_among_blocks_is_text() -> None:
    content = words_of(read(encoded(user(["mint", {"type": "text", "text": "basil"}, 7, None]))))

    assert [(block.type, block.text) for block in content] == [
        ("text", "mint"),
        ("text", "basil"),
        (None, None),
        (None, None),
    ]


def test_wrong_figures_of_usage_are_left_out_one_by_one() -> None:
    record = assistant(message="m1") | {"message": {"usage": usage(1000) | {"input_tokens": "3", "output_tokens": 1.5}}}

    message = read(encoded(record)).message

    assert message is not None
    assert message.usage is not None
    assert (message.usage.input_tokens, message.usage.output_tokens) == (None, None)
    assert message.usage.cache_read_input_tokens == 898


@pytest.mark.parametrize("digits", [25, 400, 6_000])
def test_a_number_of_any_length_is_no_bad_line(digits: int) -> None:
    line = read(f'{{"type":"user","uuid":"u1","toolUseResult":1,"compactMetadata":{{"preTokens":{"9" * digits}}}}}')

    assert line.uuid == "u1"


@pytest.mark.parametrize("number", ["1e999", "-1e999"])
def test_a_number_beyond_all_bounds_is_left_out(number: str) -> None:
    line = read(f'{{"type":"system","uuid":"b1","compactMetadata":{{"trigger":"auto","postTokens":{number}}}}}')

    assert line.compactMetadata is not None
    assert (line.compactMetadata.trigger, line.compactMetadata.postTokens) == ("auto", None)


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    assert read(b'{"uuid":"u1","uuid":"u2"}').uuid == "u2"


def test_an_object_of_wrong_shapes_throughout_is_an_empty_line() -> None:
    line = coerce({"type": {}, "uuid": 1, "message": {"content": 9, "usage": "x", "id": []}, "origin": {"kind": 3}})

    assert (line.type, line.uuid) == (None, None)
    assert line.message is not None
    assert (line.message.content, line.message.usage, line.message.id) == (None, None, None)
