"""The buttons of a run's page: each does its thing once, says why where it cannot, and leaves the old window alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from companion.tests.rows import make_plan, make_run, make_window, signed_in
from sessions.core.selection import Mode, Selection
from sessions.gateways import locks
from sessions.models import Run, Window
from sessions.templatetags.timeline import picture_in
from sessions.tests.planned import own_ground, planned, rest, talk
from sessions.tests.transcripts import TranscriptFile, assistant, image, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in(headers={"Accept-Language": "en"})


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    return own_ground(tmp_path, settings)


@pytest.fixture
def file(root: Path) -> TranscriptFile:
    return talk(root)


@pytest.fixture
def run(root: Path, file: TranscriptFile) -> Run:
    return planned(root, file, kind="forge", handoff="在谈：薄荷", handoff_origin="edited")


def act(client: Client, run: Run, verb: str, **sent: str) -> Any:
    return client.post(f"/runs/{run.pk}/{verb}/", sent)


def page(client: Client, run: Run) -> str:
    return client.get(f"/runs/{run.pk}/").content.decode()


def status(run: Run) -> str:
    run.refresh_from_db()
    return run.status


def test_a_plan_is_carried_out_and_both_windows_lead_to_each_other(client: Client, run: Run) -> None:
    answer = act(client, run, "apply")

    assert (answer.status_code, answer.headers["Location"]) == (303, f"/runs/{run.pk}/")
    assert status(run) == "done"
    new = Window.objects.get(session_id=run.target_session_id)
    shown = page(client, run)
    assert "Forge done" in shown
    assert f"claude --resume {run.target_session_id}" in shown
    assert f'href="/sessions/{new.pk}/"' in shown
    assert f'href="/runs/{run.pk}/"' in client.get(f"/sessions/{new.pk}/").content.decode()
    assert f'href="/sessions/{new.pk}/"' in client.get(f"/sessions/{run.window_id}/").content.decode()


def test_the_second_time_nothing_happens(client: Client, run: Run, root: Path) -> None:
    act(client, run, "apply")
    run.refresh_from_db()
    before, files = (run.steps, run.finished_at), sorted(root.rglob("*"))

    answer = act(client, run, "apply")

    run.refresh_from_db()
    assert answer.status_code == 303
    assert ((run.steps, run.finished_at), sorted(root.rglob("*"))) == (before, files)


def test_the_injected_hand_off_is_shown_as_such_and_is_nobodys_words(client: Client, run: Run) -> None:
    act(client, run, "apply")
    new = Window.objects.get(session_id=run.target_session_id)

    shown = client.get(f"/sessions/{new.pk}/").content.decode()

    assert "Hand-off, injected" in shown
    assert shown.count('class="is-handoff') == 1
    assert "在谈：薄荷" in shown.partition('class="is-handoff')[2].partition("</li>")[0]
    assert "在谈：薄荷" not in client.get(f"/sessions/{new.pk}/words/").content.decode().partition('id="anchors"')[2]
    assert "在谈" not in client.get(f"/sessions/{new.pk}/?show=human").content.decode().partition('id="pages"')[2]
    assert client.get(f"/sessions/{new.pk}/composition/").status_code == 200
    assert client.get(f"/sessions/{new.pk}/text/0/0/").status_code == 200


def test_thinking_goes_only_where_that_was_agreed_to(client: Client, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(plan={**run.plan, "thinking_dropped": 3})

    answer = act(client, run, "apply")

    assert answer.status_code == 422
    assert "say first that thinking may be left out" in answer.content.decode()
    assert 'name="agreed" value="1" required' in answer.content.decode()
    assert status(run) == "planned"
    assert act(client, run, "apply", agreed="1").status_code == 303
    assert status(run) == "done"


def test_no_box_stands_where_no_thinking_goes(client: Client, run: Run) -> None:
    assert 'name="agreed"' not in page(client, run)


def test_a_plan_is_not_used_up_while_somebody_talks(client: Client) -> None:
    run = make_run(make_window(last_activity=timezone.now()))

    answer = act(client, run, "apply")

    assert answer.status_code == 422
    assert "something was said just now" in answer.content.decode()
    assert status(run) == "planned"


def test_words_said_since_make_it_stale_and_the_page_says_so(client: Client, run: Run, file: TranscriptFile) -> None:
    file.add(user("还在吗"))
    Run.objects.filter(pk=run.pk).update(is_forced=True)

    answer = act(client, run, "apply")

    assert answer.status_code == 303
    assert status(run) == "stale"
    shown = page(client, run)
    assert "Nothing was changed; the old window is as it was." in shown
    assert f"/plan/?from={run.pk}" in shown


def test_a_plan_is_put_away_once(client: Client, run: Run) -> None:
    assert act(client, run, "cancel").status_code == 303
    assert status(run) == "cancelled"
    finished = run.finished_at

    assert act(client, run, "cancel").status_code == 303
    assert status(run) == "cancelled"
    assert run.finished_at == finished


def test_a_run_under_way_is_asked_to_end(client: Client, root: Path) -> None:
    run = make_run(status="running", steps=[{"name": "quiet", "status": "running", "seconds": 0, "detail": {}}])
    assert f'action="/runs/{run.pk}/cancel/"' in page(client, run)

    with locks.held(settings.ENV.data, run.source_session_id):
        act(client, run, "cancel")

    run.refresh_from_db()
    assert run.cancel_asked
    assert "Being called off" in page(client, run)


@pytest.mark.parametrize(
    ("step", "status", "can"),
    [("write", "running", True), ("verify", "running", True), ("verify", "ok", False), ("rehearse", "running", False)],
)
def test_it_can_be_called_off_until_the_new_window_is_there(client: Client, step: str, status: str, can: bool) -> None:
    run = make_run(status="running", steps=[{"name": step, "status": status, "seconds": 0, "detail": {}}])

    assert (f'action="/runs/{run.pk}/cancel/"' in page(client, run)) == can
    assert ('aria-disabled="true"' in page(client, run)) != can


def test_a_run_that_is_over_cannot_be_called_off(client: Client, run: Run) -> None:
    act(client, run, "apply")

    answer = act(client, run, "cancel")

    assert answer.status_code == 422
    assert "This run is over already." in answer.content.decode()
    assert status(run) == "done"


def test_back_to_the_old_window_once(client: Client, run: Run) -> None:
    act(client, run, "apply")
    assert f'action="/runs/{run.pk}/roll-back/"' in page(client, run)

    assert act(client, run, "roll-back").status_code == 303

    assert status(run) == "rolled_back"
    shown = page(client, run)
    assert f"claude --resume {run.source_session_id}" in shown
    assert f'action="/runs/{run.pk}/roll-back/"' not in shown
    assert act(client, run, "roll-back").status_code == 422


def test_a_plan_cannot_be_rolled_back(client: Client, run: Run) -> None:
    answer = act(client, run, "roll-back")

    assert answer.status_code == 422
    assert "only a plan" in answer.content.decode()
    assert status(run) == "planned"


def test_what_was_exported_can_be_bound_later(client: Client, root: Path, file: TranscriptFile) -> None:
    run = planned(root, file, kind="diet", export_only=True)
    act(client, run, "apply")
    assert status(run) == "exported"
    assert f'action="/runs/{run.pk}/bind/"' in page(client, run)

    answer = act(client, run, "bind")

    assert answer.status_code == 303
    assert status(run) == "exported"
    assert "No bridge is set up" in page(client, run)
    assert f'action="/runs/{run.pk}/bind/"' not in page(client, run)


def test_what_was_rolled_back_can_be_bound_again(client: Client, run: Run) -> None:
    act(client, run, "apply")
    act(client, run, "roll-back")

    assert act(client, run, "bind").status_code == 303

    assert status(run) == "done"
    assert Path(run.target_path).exists()


def test_what_was_never_written_cannot_be_bound(client: Client) -> None:
    run = make_run(status="failed", error={"code": "grown", "bytes": 10})

    answer = act(client, run, "bind")

    assert answer.status_code == 422
    assert "has written no new session" in answer.content.decode()


def test_a_rehearsal_that_differed_shows_where(client: Client) -> None:
    difference = "- messages[3].content[0].text: 早"
    rehearsal = {"status": "failed", "detail": "Another request than planned.", "difference": difference}
    run = make_run(status="failed", rehearsal=rehearsal, steps=[{"name": "rehearse", "status": "failed"}])

    shown = page(client, run)

    assert difference in shown
    assert "something else than planned" in shown


def test_the_person_is_set_apart_from_the_companion_in_the_words_that_stay(client: Client, run: Run) -> None:
    shown = page(client, run)
    first, _, last = shown.partition("The last words that stay")

    assert '<blockquote class="quote words"' in first
    assert '<blockquote class="quote"' in last


@pytest.mark.parametrize(
    ("text", "session"),
    [
        ("[image left out here; it is whole in session 0b5a7c1e-0000]", "0b5a7c1e-0000"),
        ("[image left out here; it is whole in session a/../b]", ""),
        ("see [image left out here; it is whole in session 0b5a7c1e]", ""),
        ("[image left out here; it is whole in session 0b5a7c1e]\n", ""),
    ],
)
def test_the_mark_of_a_picture_is_no_words_of_the_person(text: str, session: str) -> None:
    assert picture_in(text) == session


def test_a_picture_that_was_left_out_leads_to_the_old_window(client: Client, root: Path) -> None:
    file = talk(root, 2)
    file.add(user([{"type": "text", "text": "看，开花了"}, image()]), assistant("真好看", used=30_000))
    file.add(user("晚安"), assistant("晚安", used=31_000))
    rest(file)
    run = planned(root, file, selection=Selection(Mode.TAIL, retain=10**6))
    act(client, run, "apply")
    new = Window.objects.get(session_id=run.target_session_id)

    shown = client.get(f"/sessions/{new.pk}/").content.decode()

    assert "picture left out when this window was written" in shown
    assert f'href="/sessions/by-id/{run.source_session_id}/"' in shown


@pytest.mark.parametrize("command", ["$(id)", "a; b", "it's", "a\nb"])
def test_the_line_to_paste_is_quoted(client: Client, command: str) -> None:
    run = make_run(make_window(cwd=f"/srv/{command}"), status="done", plan=make_plan())

    shown = page(client, run).partition('id="resume"')[2].partition("</pre>")[0]

    assert "cd &#x27;/srv/" in shown
