"""A line as a whole record: what is read, what is written, what neither can be (transcripts.md 1.3, fact 12)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from sessions.core.lines import BadLine, read_line
from sessions.core.records import TooDeep, read_record, write_record


@pytest.mark.parametrize(
    ("raw", "record"),
    [
        pytest.param(b'{"a":1}', {"a": 1}, id="plain"),
        pytest.param(b'{"a":1}\r', {"a": 1}, id="a line that ended in CRLF"),
        pytest.param(b'\xef\xbb\xbf{"a":1}', {"a": 1}, id="a byte order mark"),
        pytest.param(b' \t{"a":1} ', {"a": 1}, id="white space around"),
        pytest.param(b'{"a":1,"a":2}', {"a": 2}, id="a key twice: the last wins"),
        pytest.param('{"a":"\u2028\u2029\x85"}'.encode(), {"a": "\u2028\u2029\x85"}, id="raw line separators"),
        pytest.param(b'{"a":"\\ud83d\\udc8c"}', {"a": "\U0001f48c"}, id="a pair of surrogates"),
        pytest.param(b'{"a":"x\\ud83d"}', {"a": "x\ufffd"}, id="half a pair"),
        pytest.param(b'{"a":"\\udc8c\\ud83d"}', {"a": "\ufffd\ufffd"}, id="a pair the wrong way round"),
        pytest.param(b'{"\\ud83d":1}', {"\ufffd": 1}, id="half a pair in a key"),
        pytest.param(b'{"a":"\xff\xfe"}', {"a": "\ufffd\ufffd"}, id="bytes that are no UTF-8"),
        pytest.param(b'{"a":"\\u0000"}', {"a": "\x00"}, id="a NUL"),
        pytest.param(b'{"a":1e400,"b":-1e400}', {"a": None, "b": None}, id="beyond any number: null, as the client"),
        pytest.param(b'{"a":' + b"9" * 30 + b"}", {"a": 1e30}, id="thirty digits: as near as the client"),
        pytest.param(b'{"a":' + b"9" * 5_000 + b"}", {"a": None}, id="five thousand digits"),
        pytest.param(b'{"a":9007199254740993}', {"a": 9007199254740993}, id="sixteen digits stay"),
        pytest.param(b'{"a":1.0,"b":1e3,"c":-0.5}', {"a": 1.0, "b": 1000.0, "c": -0.5}, id="fractions"),
        pytest.param(b"{}", {}, id="nothing in it"),
    ],
)
def test_what_the_client_reads_is_read(raw: bytes, record: dict[str, Any]) -> None:
    assert read_record(raw) == record


@pytest.mark.parametrize(
    "raw",
    [
        b"", b" ", b"[1]", b'"a"', b"null", b"1", b'{"a":1', b'{"a":1}}', b'{"a":1} x', b'{"a":NaN}', b'{"a":Infinity}',
        b'{"a":-Infinity}', b'{"a":01}', b'{"a":1.}', b'{"a":"\t"}', b'{"a":"\\x"}', b"{'a':1}", b'{"a":1,}',
        '\u00a0{"a":1}'.encode(), b'\x00{"a":1}',
    ],
)  # fmt: skip
def test_what_the_client_cannot_read_is_a_bad_line(raw: bytes) -> None:
    with pytest.raises(BadLine):
        read_record(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":"\\ud83d"}',
        b'{"a":"\xff"}',
        b'{"a":1e400}',
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":NaN}',
        b'{"a":"\t"}',
        b'{"a":01}',
    ],
)
def test_the_index_and_the_copy_read_the_same_lines(raw: bytes) -> None:
    def is_read(reader: Any) -> bool:
        try:
            return reader(raw) is not None
        except BadLine:
            return False

    assert is_read(read_record) == is_read(read_line)


def test_the_order_of_the_fields_stays() -> None:
    raw = b'{"parentUuid":null,"z":1,"a":{"y":2,"b":3},"m":[]}'

    assert write_record(read_record(raw)) == raw + b"\n"


def test_a_line_is_compact_and_not_escaped_where_it_need_not_be() -> None:
    record = {"a": "薄荷\U0001f33f\u2028", "b": ["\x7f", '\n"\\', "\x00"]}

    assert write_record(record) == '{"a":"薄荷\U0001f33f\u2028","b":["\x7f","\\n\\"\\\\","\\u0000"]}\n'.encode()


@pytest.mark.parametrize(
    ("value", "written"),
    [
        pytest.param("\ud83d", '"\ufffd"', id="half a pair of surrogates"),
        pytest.param(2**70, str(2**70), id="a number of more than 64 bits"),
        pytest.param(1e30, "1e+30", id="a large fraction"),
        pytest.param(True, "true", id="a truth"),
        pytest.param(None, "null", id="nothing"),
    ],
)
def test_whatever_is_in_a_record_can_be_written(value: Any, written: str) -> None:
    assert write_record({"a": value}).decode() == f'{{"a":{written}}}\n'


def nested(depth: int) -> bytes:
    return b'{"a":' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize("depth", [10, 200, 300, 600])
def test_nested_records_are_copied(depth: int) -> None:
    raw = nested(depth)

    assert write_record(read_record(raw)) == raw + b"\n"


@pytest.mark.parametrize("depth", [2_000, 100_000])
def test_a_record_nested_too_deeply_is_refused_by_name(depth: int) -> None:
    with pytest.raises(TooDeep):
        read_record(nested(depth))


def test_a_record_that_cannot_be_written_is_refused_by_name() -> None:
    record: dict[str, Any] = {}
    inner = record
    for _depth in range(5_000):
        inner["a"] = {}
        inner = inner["a"]

    with pytest.raises(TooDeep):
        write_record(record)


def test_a_line_of_twenty_megabytes_is_copied_in_a_moment() -> None:
    raw = json.dumps({"a": "薄荷" * 3_400_000}, ensure_ascii=False, separators=(",", ":")).encode()
    began = time.process_time()

    copied = write_record(read_record(raw))

    assert len(raw) > 20_000_000
    assert copied == raw + b"\n"
    assert time.process_time() - began < 5


def test_a_long_line_with_half_a_pair_of_surrogates_is_copied_in_a_moment() -> None:
    raw = b'{"a":"' + b"x" * 5_000_000 + b'\\ud83d"}'
    began = time.process_time()

    assert read_record(raw)["a"].endswith("x\ufffd")
    assert time.process_time() - began < 5
