"""Finding transcripts and reading their lines on."""

from __future__ import annotations

import os
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sessions.core.batches import RawLine
from sessions.gateways import transcripts
from sessions.gateways.transcripts import (
    CHUNK,
    LINES_PER_BATCH,
    LONGEST_LINE,
    Found,
    Trouble,
    discover,
    opened,
    recognise,
)
from sessions.tests.people import as_nobody

A = "3b241101-e2bb-4255-8caf-4136c566a962"
B = "9f1c7a52-0d1e-4a7b-8f6e-5f0f3f4c2b11"


def write(path: Path, data: bytes = b"{}\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def found(root: Path) -> list[tuple[str, str, bool, str]]:
    return [
        (str(item.path.relative_to(root)), item.session, item.is_subagent, item.parent)
        for item in discover(root)
        if isinstance(item, Found)
    ]


def troubles(root: Path) -> list[tuple[Path, str]]:
    return [(item.path, item.reason) for item in discover(root) if isinstance(item, Trouble)]


def test_a_session_lies_in_its_project_folder(tmp_path: Path) -> None:
    write(tmp_path / "-srv-balcony" / f"{A}.jsonl", b"")

    assert found(tmp_path) == [(f"-srv-balcony/{A}.jsonl", A, False, "")]


def test_subagents_are_found_in_both_places_and_name_their_session_where_the_path_does(tmp_path: Path) -> None:
    write(tmp_path / "-p" / f"{A}.jsonl")
    write(tmp_path / "-p" / A / "subagents" / "agent-77.jsonl")
    write(tmp_path / "-p" / "agent-0a1b2c3.jsonl")

    assert found(tmp_path) == [
        (f"-p/{A}/subagents/agent-77.jsonl", "agent-77", True, A),
        (f"-p/{A}.jsonl", A, False, ""),
        ("-p/agent-0a1b2c3.jsonl", "agent-0a1b2c3", True, ""),
    ]


@pytest.mark.parametrize(
    "name",
    [
        "notes.jsonl", "3b241101.jsonl", f"{A}.jsonl.bak", f"{A}.json", f"x{A}.jsonl", f"{A}\n.jsonl", f"{A}/tool-results/x.txt",
        f"{A}/subagents/agent-1.meta.json", f"{A}/subagents/{B}.jsonl", f"{A}/deeper/subagents/agent-1.jsonl",
        "memory/agent-1.jsonl",
    ],
)  # fmt: skip
def test_other_files_are_no_transcripts(tmp_path: Path, name: str) -> None:
    write(tmp_path / "-p" / name)

    assert found(tmp_path) == []


def test_a_file_beside_the_project_folders_is_no_transcript(tmp_path: Path) -> None:
    write(tmp_path / f"{A}.jsonl")

    assert found(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "known"),
    [
        (f"p/{A}.jsonl", True),
        (f"p/{A}/subagents/agent-1.jsonl", True),
        ("p/other/subagents/agent-1.jsonl", False),
        ("p/x.jsonl", False),
    ],
)
def test_one_path_is_recognised_as_a_look_at_the_folders_would(tmp_path: Path, path: str, known: bool) -> None:
    write(tmp_path / path)

    assert (recognise(tmp_path, tmp_path / path) is not None) is known
    assert bool(found(tmp_path)) is known


def test_a_link_that_leads_out_of_the_root_is_refused(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / f"{A}.jsonl")
    root = tmp_path / "root"
    (root / "-p").mkdir(parents=True)
    (root / "-p" / f"{A}.jsonl").symlink_to(outside)
    (root / "-linked").symlink_to(outside.parent)
    (root / "-p" / B).mkdir()
    (root / "-p" / B / "subagents").symlink_to(outside.parent)
    write(outside.parent / "agent-1.jsonl")

    assert found(root) == []


def test_a_link_inside_the_root_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "-p" / f"{A}.jsonl")
    (tmp_path / "-p" / f"{B}.jsonl").symlink_to(tmp_path / "-p" / f"{A}.jsonl")

    assert [session for _, session, _, _ in found(tmp_path)] == [A, B]


@pytest.mark.parametrize(
    "name", ["-loop", f"-p/{B}.jsonl", f"-p/{A}/subagents"], ids=["project", "session", "subagents"]
)
def test_a_link_to_itself_hides_nothing_else(tmp_path: Path, name: str) -> None:
    write(tmp_path / "-p" / f"{A}.jsonl")
    loop = tmp_path / name
    loop.parent.mkdir(exist_ok=True)
    loop.symlink_to(loop)

    assert [session for _, session, _, _ in found(tmp_path)] == [A]


@pytest.mark.parametrize("name", [f"-p/{B}.jsonl", "-gone"])
def test_a_link_to_nothing_is_passed_over(tmp_path: Path, name: str) -> None:
    (tmp_path / "-p").mkdir()
    (tmp_path / name).symlink_to(tmp_path / "nothing")

    assert list(discover(tmp_path)) == []


def test_a_root_that_is_not_there_is_a_trouble(tmp_path: Path) -> None:
    assert troubles(tmp_path / "none") == [(tmp_path / "none", "no such file or directory")]


@pytest.mark.parametrize(
    "closed", ["-closed", f"-p/{A}/subagents", f"-p/{A}"], ids=["project", "subagents", "side-folder"]
)
def test_a_closed_folder_is_a_trouble_and_hides_nothing_else(open_folder: Path, closed: str) -> None:
    write(open_folder / "-p" / f"{B}.jsonl")
    write(open_folder / closed / "agent-1.jsonl")
    (open_folder / closed).chmod(0)

    with as_nobody():
        items = list(discover(open_folder))

    (open_folder / closed).chmod(0o755)
    assert [item.session for item in items if isinstance(item, Found)] == [B]
    assert [item.reason for item in items if isinstance(item, Trouble)] == ["permission denied"]


def test_a_name_that_is_no_text_is_a_trouble_and_hides_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "-p" / f"{A}.jsonl")
    write(tmp_path / os.fsdecode(b"-p\xff") / f"{B}.jsonl")

    items = list(discover(tmp_path))

    assert [item.session for item in items if isinstance(item, Found)] == [A]
    assert [item.reason for item in items if isinstance(item, Trouble)] == ["its name is no readable text"]


# Reading lines.


def read(path: Path, offset: int = 0, seq: int = 0) -> list[RawLine]:
    with opened(path) as reader:
        return [line for batch, _ in reader.batches(offset, seq) for line in batch]


def behind(lines: list[RawLine]) -> tuple[int, int]:
    """The cursor that an index keeps after these lines."""
    return lines[-1].offset + lines[-1].length, lines[-1].seq + 1


def bare(lines: list[RawLine]) -> list[tuple[int, bytes | None]]:
    return [(line.seq, line.raw) for line in lines]


def test_lines_come_with_number_and_place(tmp_path: Path) -> None:
    path = write(tmp_path / "x", '{"a":"盆"}\n{}\n'.encode())

    assert read(path) == [RawLine(0, 0, '{"a":"盆"}'.encode(), 11), RawLine(1, 12, b"{}", 2)]


@pytest.mark.parametrize("data", [b"", b"{", b'{"a":1', b'{"a":{}', b"{}}", b"   ", b"{'a'}"], ids=repr)
def test_a_half_written_last_line_waits(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path / "x", b"{}\n" + data)

    assert bare(read(path)) == [(0, b"{}")]


def test_a_half_written_line_comes_whole_once_it_is_finished(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b'{"n":0}\n{"n":')
    first = read(path)

    write(path, b'{"n":0}\n{"n":1}\n')

    assert bare(read(path, *behind(first))) == [(1, b'{"n":1}')]


def test_a_whole_last_line_without_its_newline_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b'{"n":0}\n{"n":1}')
    first = read(path)

    write(path, b'{"n":0}\n{"n":1}\n{"n":2}\n')

    assert bare(first) == [(0, b'{"n":0}'), (1, b'{"n":1}')]
    assert bare(read(path, *behind(first))) == [(2, b'{"n":2}')]


CONTENT = b'{"n":0}\n\n\n{"n":3}\n  \n{"n":5}\n\n{"n":7}'


@pytest.mark.parametrize("cut", range(1, len(CONTENT)))
def test_wherever_a_reading_stopped_the_next_goes_on_with_the_right_number(tmp_path: Path, cut: int) -> None:
    path = write(tmp_path / "x", CONTENT[:cut])
    first = read(path)

    write(path, CONTENT + b"\n")

    rest = read(path, *behind(first)) if first else read(path)
    assert [line for line in [*first, *rest] if (line.raw or b"").strip()] == [
        line for line in read(path) if (line.raw or b"").strip()
    ]


def test_only_newlines_end_a_line(tmp_path: Path) -> None:
    text = '{"a":"x\u2028y\u2029z\u0085"}\r'.encode() + b"\x0b\x0c\x1c"
    path = write(tmp_path / "x", text + b"\n{}\n")

    assert bare(read(path)) == [(0, text), (1, b"{}")]


def test_many_lines_come_in_batches_and_the_last_is_marked(tmp_path: Path) -> None:
    count = 2 * LINES_PER_BATCH + 10
    path = write(tmp_path / "x", b"{}\n" * count)

    with opened(path) as reader:
        batches = list(reader.batches(0, 0))

    assert [is_last for _, is_last in batches] == [False] * (len(batches) - 1) + [True]
    assert max(len(lines) for lines, _ in batches) <= LINES_PER_BATCH
    assert [line.seq for lines, _ in batches for line in lines] == list(range(count))


def test_a_file_without_new_lines_gives_no_batch(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"{}\n")

    assert read(path, 2, 1) == []


@pytest.mark.parametrize("size", [CHUNK - 1, CHUNK, CHUNK + 1, 20_000_000])
def test_a_long_line_comes_whole(tmp_path: Path, size: int) -> None:
    long = b'{"a":"' + b"x" * (size - 8) + b'"}'
    path = write(tmp_path / "x", b"{}\n" + long + b"\n{}\n")

    assert [(line.seq, line.length) for line in read(path)] == [(0, 2), (1, size), (2, 2)]
    assert read(path)[1].raw == long


@pytest.fixture
def sparse(tmp_path: Path) -> Iterator[Path]:
    """A file whose second line is three times too long; its bytes take no room on disk."""
    path = write(tmp_path / "x", b'{"n":0}\n{"a":"')
    os.truncate(path, 3 * LONGEST_LINE)
    with path.open("ab") as stream:
        stream.write(b'"}\n{"n":2}\n')
    yield path
    path.unlink()


def test_a_line_beyond_the_cap_is_passed_over_in_bounded_memory(sparse: Path) -> None:
    tracemalloc.start()

    lines = read(sparse)

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [(line.seq, line.raw) for line in lines] == [(0, b'{"n":0}'), (1, None), (2, b'{"n":2}')]
    assert lines[1].length == 3 * LONGEST_LINE - 8 + 2
    assert peak < 4.5 * LONGEST_LINE


def test_a_line_beyond_the_cap_that_is_still_being_written_waits(sparse: Path) -> None:
    os.truncate(sparse, 3 * LONGEST_LINE)

    assert bare(read(sparse)) == [(0, b'{"n":0}')]


def test_what_grows_during_a_reading_is_left_for_the_next(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b'{"n":0}\n')

    with opened(path) as reader:
        with path.open("ab") as stream:
            stream.write(b'{"n":1}\n')
        lines = [line for batch, _ in reader.batches(0, 0) for line in batch]

    assert bare(lines) == [(0, b'{"n":0}')]
    assert bare(read(path, *behind(lines))) == [(1, b'{"n":1}')]


def test_what_shrinks_during_a_reading_ends_it(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"{}\n" * 1_000)

    with opened(path) as reader:
        os.truncate(path, 30)
        lines = [line for batch, _ in reader.batches(0, 0) for line in batch]

    assert len(lines) == 10


def test_an_indexed_line_can_be_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b'{"n":0}\n{"n":1}\n')

    with opened(path) as reader:
        assert reader.line(8, 7) == b'{"n":1}'


def test_digests_are_of_what_was_read_and_notice_a_change_in_it(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"a" * 10_000)
    with opened(path) as reader:
        before = reader.head_digest(9_000), reader.tail_digest(9_000)

    write(path, b"a" * 9_000 + b"b" * 5_000)
    with opened(path) as reader:
        grown = reader.head_digest(9_000), reader.tail_digest(9_000)
    write(path, b"b" + b"a" * 8_998 + b"b" + b"a" * 5_000)
    with opened(path) as reader:
        replaced = reader.head_digest(9_000), reader.tail_digest(9_000)

    assert grown == before
    assert replaced[0] != before[0]
    assert replaced[1] != before[1]


def test_the_identity_of_a_file_changes_with_what_it_holds(tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"{}\n")
    before = transcripts.identity(path)

    write(path, b"{}\n{}\n")

    after = transcripts.identity(path)
    assert (before.device, before.inode) == (after.device, after.inode)
    assert (before.size, after.size) == (3, 6)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_what_is_no_file_is_refused_at_once(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "x")
    outcome: list[str] = []

    def attempt() -> None:
        try:
            with opened(tmp_path / "x"):
                outcome.append("opened")
        except OSError as fault:
            outcome.append(transcripts.reason_of(fault))

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(2)

    assert outcome in (["not a regular file"], ["is a directory"])
