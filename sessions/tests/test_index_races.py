"""Two readers of one file, a reader that dies, a file that will not be read: one consistent result in the end."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import DatabaseError, OperationalError, connection, connections
from django.test.utils import CaptureQueriesContext

from sessions.actions import index as indexing
from sessions.actions import rows
from sessions.actions.index import Indexed, index_all, index_file, index_one
from sessions.gateways import transcripts
from sessions.gateways.transcripts import Found
from sessions.models import Companion, Event, Transcript, UsagePoint, Window
from sessions.tests.people import as_nobody
from sessions.tests.transcripts import TranscriptFile, assistant, user


def found(file: TranscriptFile) -> Found:
    return Found(file.path.parent.parent, file.path, file.path.parent.name, file.session, is_subagent=False)


def previews() -> list[str | None]:
    return list(Event.objects.exclude(preview=None).order_by("idx").values_list("preview", flat=True))


def talk(file: TranscriptFile, turns: int) -> None:
    for number in range(turns):
        file.add(user(f"word {number}"), assistant(used=20_000 + number))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turns", [3, 6_000], ids=["one-batch", "several-batches"])
def test_readers_at_the_same_time_leave_what_one_would_have_left(tmp_path: Path, turns: int) -> None:
    file = TranscriptFile(tmp_path)
    file.add(*[record for number in range(turns) for record in (user(f"w {number}"), assistant(used=20_000 + number))])
    start = threading.Barrier(3)
    faults: list[BaseException] = []

    def read() -> None:
        try:
            start.wait()
            index_file(found(file), Indexed())
        except BaseException as fault:
            faults.append(fault)
        finally:
            connections.close_all()

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    index_all([tmp_path])

    assert faults == []
    assert list(Event.objects.order_by("seq").values_list("seq", "idx", "live")) == [
        (n, n, True) for n in range(2 * turns)
    ]
    assert UsagePoint.objects.count() == turns
    assert Window.objects.values_list("events", "human_messages", "used_tokens").get() == (
        2 * turns,
        turns,
        20_000 + turns - 1,
    )
    assert (Transcript.objects.count(), Companion.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_a_slow_reader_that_found_nothing_does_not_turn_the_cursor_back(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    talk(file, 1)
    index_one(found(file))
    stale = rows.transcript_for(found(file), transcripts.identity(file.path))

    with transcripts.opened(file.path) as reader:
        talk(file, 1)
        index_one(found(file))
        indexing._read_on(stale, reader, Indexed(), False)
    index_one(found(file))

    assert Transcript.objects.get().lines == 4
    assert Window.objects.get().events == 4
    assert Event.objects.count() == 4


@pytest.mark.django_db
def test_a_slow_reader_with_old_lines_stores_nothing_twice(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    talk(file, 1)
    stale = rows.transcript_for(found(file), transcripts.identity(file.path))

    with transcripts.opened(file.path) as reader:
        talk(file, 1)
        index_one(found(file))
        done = Indexed()
        indexing._read_on(stale, reader, done, False)

    assert done.new_events == 0
    assert Event.objects.count() == 4


@pytest.fixture(params=["P0001"])
def refusing(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database that fails in the middle of a batch: on the line whose preview is `poison`, with the code given."""
    fault = f"RAISE EXCEPTION 'it is poison' USING ERRCODE = '{request.param}'"
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN {fault}; END $$ LANGUAGE plpgsql;"
            "CREATE TRIGGER refuse BEFORE INSERT ON agent_sessions_event FOR EACH ROW"
            " WHEN (NEW.preview = 'poison') EXECUTE FUNCTION refuse()"
        )
    yield "poison"
    heal()


def heal() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER IF EXISTS refuse ON agent_sessions_event; DROP FUNCTION IF EXISTS refuse()")


@pytest.mark.django_db(transaction=True)
def test_a_batch_that_fails_leaves_nothing_half_done_and_the_next_run_heals(tmp_path: Path, refusing: str) -> None:
    file = TranscriptFile(tmp_path)
    talk(file, 2)
    index_all([tmp_path])
    file.add(user("third"), user(refusing), assistant(used=50_000))

    with pytest.raises(DatabaseError):
        index_all([tmp_path])

    kept = Transcript.objects.get()
    assert (kept.lines, Event.objects.count(), Window.objects.get().events) == (4, 4, 4)
    heal()
    index_all([tmp_path])
    assert previews()[-3:] == ["third", "poison", "done, it drank it all"]
    assert (Transcript.objects.get().lines, Event.objects.count(), Window.objects.get().used_tokens) == (7, 7, 50_000)


@pytest.mark.django_db(transaction=True)
def test_batches_before_the_one_that_fails_stay_and_are_gone_on_from(tmp_path: Path, refusing: str) -> None:
    file = TranscriptFile(tmp_path)
    file.add(*[user(f"word {number}") for number in range(9_000)], user(refusing))

    with pytest.raises(DatabaseError):
        index_all([tmp_path])

    kept = Transcript.objects.get()
    assert 0 < kept.lines == Event.objects.count() < 9_001
    heal()
    index_all([tmp_path])
    assert list(Event.objects.order_by("seq").values_list("idx", flat=True)) == list(range(9_001))
    assert Window.objects.get().human_messages == 9_001


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("refusing", ["22003", "23505"], indirect=True, ids=["out-of-range", "not-unique"])
def test_a_file_that_does_not_fit_the_database_is_named_and_the_others_are_read(tmp_path: Path, refusing: str) -> None:
    bad = TranscriptFile(tmp_path)
    bad.add(user(refusing))
    os.utime(bad.path, (4e9, 4e9))
    good = TranscriptFile(tmp_path)
    good.add(user("hello"))

    index_all([tmp_path])

    assert Transcript.objects.get(path=str(bad.path)).trouble == "does not fit the database: it is poison"
    assert Window.objects.get().session_id == good.session


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("refusing", ["53100"], indirect=True, ids=["disk-full"])
def test_a_full_disk_stops_the_run_with_the_databases_own_fault(tmp_path: Path, refusing: str) -> None:
    TranscriptFile(tmp_path).add(user(refusing))

    with pytest.raises(OperationalError, match="it is poison"):
        index_all([tmp_path])


@pytest.mark.django_db
def test_an_interrupted_forgetting_is_made_good(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    talk(file, 2)
    index_all([tmp_path])
    rows.forget(Transcript.objects.get())

    index_all([tmp_path])

    assert Event.objects.count() == 4
    assert Window.objects.get().events == 4


@pytest.mark.django_db
def test_a_state_of_another_version_is_read_anew(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    talk(file, 1)
    index_all([tmp_path])
    Transcript.objects.update(state={"leaf": 7, "step": "x"})

    talk(file, 1)
    index_all([tmp_path])

    assert list(Event.objects.order_by("seq").values_list("idx", flat=True)) == [0, 1, 2, 3]


@pytest.mark.django_db
@pytest.mark.parametrize("known", [True, False], ids=["read-before", "never-read"])
def test_a_file_that_may_not_be_read_says_so_and_keeps_what_was_read(open_folder: Path, known: bool) -> None:
    file = TranscriptFile(open_folder)
    talk(file, 1)
    if known:
        index_all([open_folder])
    file.add(user("secret"))
    other = TranscriptFile(open_folder)
    other.add(user("open"))
    file.path.chmod(0)

    with as_nobody():
        index_all([open_folder])

    row = Transcript.objects.get(path=str(file.path))
    assert row.trouble == "permission denied"
    assert row.missing_since is None
    assert Event.objects.filter(transcript=row).count() == (2 if known else 0)
    assert Window.objects.filter(transcript__path=str(other.path)).exists()


@pytest.mark.django_db
def test_a_file_that_may_be_read_again_is_read_on_and_the_trouble_is_over(open_folder: Path) -> None:
    file = TranscriptFile(open_folder)
    talk(file, 1)
    file.path.chmod(0)
    with as_nobody():
        index_all([open_folder])

    file.path.chmod(0o644)
    index_all([open_folder])

    assert Transcript.objects.get().trouble == ""
    assert Event.objects.count() == 2


@pytest.mark.django_db
def test_a_closed_folder_marks_none_of_its_files_missing(open_folder: Path) -> None:
    file = TranscriptFile(open_folder)
    talk(file, 1)
    index_all([open_folder])
    file.path.parent.chmod(0)

    with as_nobody():
        done = index_all([open_folder])

    file.path.parent.chmod(0o755)
    assert [trouble.path for trouble in done.troubles] == [file.path.parent]
    assert Transcript.objects.get().missing_since is None


@pytest.mark.django_db
def test_a_folder_in_place_of_a_file_is_a_trouble_and_no_more(tmp_path: Path) -> None:
    file = TranscriptFile(tmp_path)
    talk(file, 1)
    file.path.with_name("00000000-0000-4000-8000-000000000000.jsonl").mkdir()

    index_all([tmp_path])

    assert Window.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("count", [3, 200])
def test_a_look_that_finds_nothing_new_costs_the_same_for_any_number_of_files(tmp_path: Path, count: int) -> None:
    for _ in range(count):
        TranscriptFile(tmp_path).add(user("hello"))
    index_all([tmp_path])

    with CaptureQueriesContext(connection) as asked:
        index_all([tmp_path])

    assert len(asked) <= 6


@pytest.mark.django_db
def test_ten_thousand_settled_files_are_looked_over_in_a_few_queries(tmp_path: Path) -> None:
    project = tmp_path / "-p"
    project.mkdir()
    settled = []
    for number in range(10_000):
        path = project / f"00000000-0000-4000-8000-{number:012d}.jsonl"
        path.touch()
        seen = transcripts.identity(path)
        settled.append(
            Transcript(
                host=settings.ENV.host_name, root=str(tmp_path), path=str(path), kind="other", state={"rethread": False},
                device=seen.device, inode=seen.inode, size=seen.size, modified_ns=seen.modified_ns,
            )
        )  # fmt: skip
    Transcript.objects.bulk_create(settled)

    with CaptureQueriesContext(connection) as asked:
        done = index_all([tmp_path])

    assert (done.files, done.new_events) == (10_000, 0)
    assert len(asked) <= 6 + 2 * 5
