"""The list of runs, and one run's page in each of its states."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companion.tests.rows import HOSTILE, make_companion, make_plan, make_run, make_window, signed_in
from sessions.models import Run
from sessions.tests.test_views_sessions import assert_harmless

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in()


def items(client: Client, query: str = "") -> list[dict[str, Any]]:
    answer = client.get(f"/runs/?format=json&{query}")
    found: list[dict[str, Any]] = json.loads(b"".join(answer.streaming_content))["items"]  # type: ignore[attr-defined]
    return found


def statuses(client: Client, query: str) -> list[str]:
    return [item["status"] for item in items(client, query)]


def test_the_filters_stand_in_the_address(client: Client) -> None:
    xiaoman, bailu = make_window(make_companion("小满")), make_window(make_companion("白露"))
    make_run(xiaoman, status="planned")
    make_run(xiaoman, status="queued", kind="diet")
    make_run(bailu, status="done")

    assert statuses(client, "") == ["done", "running", "planned"]
    assert statuses(client, "status=running") == ["running"]
    assert statuses(client, "kind=diet") == ["running"]
    assert statuses(client, f"companion={bailu.companion_id}") == ["done"]
    assert statuses(client, f"session={xiaoman.pk}&kind=forge") == ["planned"]


def test_a_filter_that_makes_no_sense_is_said_and_the_list_stays(client: Client) -> None:
    make_run()

    page = client.get("/runs/?status=odd")

    assert page.status_code == 422
    assert 'class="run-row"' in page.content.decode()
    assert client.get("/runs/?status=odd&format=json").json()["error"]["code"] == "bad-filter"


def test_a_list_costs_the_same_queries_for_ten_and_twenty(client: Client) -> None:
    counts = []
    for _ in range(2):
        for _ in range(10):
            run = make_run(status="done")
            make_window(run.companion, session_id=run.target_session_id, path=run.target_path)
        with CaptureQueriesContext(connection) as queries:
            assert client.get("/runs/").content.count(b'class="run-row"') == len(Run.objects.all())
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 10


def test_fifty_are_on_a_page(client: Client) -> None:
    window = make_window()
    for _ in range(55):
        make_run(window)

    assert client.get("/runs/?kind=forge").content.count(b'class="run-row"') == 50
    assert b"?kind=forge&amp;page=2" in client.get("/runs/?kind=forge").content
    assert client.get("/runs/?page=2").content.count(b'class="run-row"') == 5


def test_a_row_leads_to_both_windows(client: Client) -> None:
    run = make_run(status="done")
    new = make_window(run.companion, session_id=run.target_session_id, path=run.target_path)

    page = client.get("/runs/").content.decode()

    assert f'href="/sessions/{run.window_id}/"' in page
    assert f'href="/sessions/{new.pk}/"' in page
    assert "61.4 → ≈ 29.1%" in page


def test_the_csv_has_a_line_for_each(client: Client) -> None:
    make_run(status="failed", error={"code": "disk-full"}, warnings=[{"code": "mid-turn"}])

    text = b"".join(client.get("/runs/?format=csv").streaming_content).decode("utf-8-sig")  # type: ignore[attr-defined]

    assert text.splitlines()[0].startswith("run_id,kind,status,companion,created_at")
    assert "forge,failed" in text.splitlines()[1]


def test_an_empty_list_teaches(client: Client) -> None:
    page = client.get("/runs/", headers={"Accept-Language": "en"}).content.decode()

    assert "No run yet" in page
    assert "A diet cuts long tool answers" in page


def test_a_part_is_only_drawn_anew_where_something_changed(client: Client) -> None:
    run = make_run(status="running")
    for url in ("/runs/", f"/runs/{run.pk}/"):
        seen = client.get(url).context["seen"]

        assert client.get(f"{url}?seen={seen}", headers={"HX-Request": "true"}).status_code == 204
        assert client.get(f"{url}?seen=old", headers={"HX-Request": "true"}).status_code == 200
        assert client.get(f"{url}?seen={seen}").status_code == 200


@pytest.mark.parametrize("status", Run.Status.values)
def test_a_run_is_shown_in_each_of_its_states(client: Client, status: str) -> None:
    steps = [
        {"name": "lock", "status": "ok", "seconds": 0.1, "detail": {}},
        {"name": "backup", "status": "warning", "seconds": 65.2, "detail": {"code": "no-such-code"}},
        {"name": "write", "status": "failed", "seconds": 1.5, "detail": "as it was"},
    ]
    run = make_run(status=status, steps=steps, warnings=[{"code": "mid-turn"}], started_at=timezone.now())

    page = client.get(f"/runs/{run.pk}/")

    assert page.status_code == 200
    assert_harmless(page.content.decode())
    assert client.get(f"/runs/{run.pk}/", headers={"HX-Request": "true"}).status_code == 200


def test_a_run_outlives_its_window_and_a_plan_of_another_version(client: Client) -> None:
    run = make_run()
    assert run.window is not None
    run.window.delete()
    odd = make_run(plan={"mode": 3})

    for pk in (run.pk, odd.pk):
        assert client.get(f"/runs/{pk}/").status_code == 200
    assert client.get("/runs/").status_code == 200


def test_an_unknown_run_is_not_found(client: Client) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"

    assert client.get(f"/runs/{unknown}/").status_code == 404
    for verb in ("apply", "cancel", "roll-back", "bind"):
        assert client.post(f"/runs/{unknown}/{verb}/").status_code == 404
        assert client.get(f"/runs/{unknown}/{verb}/").status_code == 405


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("status", ["planned", "running", "done", "failed"])
def test_hostile_text_stays_text(client: Client, text: str, status: str) -> None:
    plain = text.replace("\x00", "")
    window = make_window(make_companion(plain), title=plain, cwd=plain)
    run = make_run(
        window,
        status=status,
        plan=make_plan(first=plain, last=plain, title=plain),
        handoff=plain,
        target_path=f"/p/{plain}.jsonl",
        steps=[{"name": plain, "status": "ok", "seconds": 1, "detail": plain}],
        rehearsal={"status": plain, "detail": plain, "difference": plain},
        hold={"status": "skipped", "text": plain},
        rebind={"status": "needs-hand", "before": plain, "after": plain},
        error={"code": plain, "path": plain},
        warnings=[{"code": plain}],
    )

    for url in (f"/runs/{run.pk}/", "/runs/", f"/sessions/{window.pk}/"):
        assert_harmless(client.get(url).content.decode())
    assert_harmless("<main" + client.get("/").content.decode().partition('id="last-runs-')[2])
