"""The form that plans a run: what it offers, what it keeps when it is refused, and what it leads to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from companion.tests.rows import HOSTILE, make_run, make_window, signed_in
from sessions.models import Run, Window
from sessions.tests.indexed import index, window_of
from sessions.tests.test_views_sessions import assert_harmless
from sessions.tests.transcripts import TranscriptFile, assistant, tool_result, tool_use, user

pytestmark = pytest.mark.django_db
ENGLISH = {"Accept-Language": "en"}


@pytest.fixture
def client() -> Client:
    return signed_in(headers=ENGLISH)


@pytest.fixture
def file(tmp_path: Path, settings: Any) -> TranscriptFile:
    """A window of three turns with a long tool answer, in a projects folder of its own."""
    root = tmp_path / "projects"
    settings.ENV = replace(settings.ENV, roots=(root,), data=tmp_path / "data", idle_seconds=0)
    file = TranscriptFile(root)
    file.add(user("这周改成周四吧，晚上十点语音"), assistant("好，周四晚上十点。", used=9_000))
    call = assistant([tool_use("t1")], message="m1", used=20_000)
    file.add(user("看看阳台"), call, tool_result("t1", "x" * 30_000), assistant("四盆，都好。", used=30_000))
    file.add(user("周六上午给薄荷换盆，别忘了"), assistant("记着了。", used=31_000))
    index(root)
    return file


@pytest.fixture
def window(file: TranscriptFile) -> Window:
    return window_of(file)


def values(**more: str) -> dict[str, str]:
    return {"kind": "forge", "retain": "60000", "squash": "2000", "handoff_text": "", **more}


def plan(client: Client, window: Window, **more: str) -> Any:
    return client.post(f"/sessions/{window.pk}/plan/", values(**more))


def test_a_forge_is_offered_with_its_own_figures_and_a_draft(client: Client, window: Window) -> None:
    page = client.get(f"/sessions/{window.pk}/plan/?kind=forge").content.decode()

    assert 'name="retain" inputmode="numeric" autocomplete="off" required value="60,000"' in page
    assert "周四" in page.partition("<textarea")[2].partition("</textarea>")[0]


def test_a_diet_is_offered_with_its_share_of_the_window_and_no_hand_off(client: Client, window: Window) -> None:
    page = client.get(f"/sessions/{window.pk}/plan/?kind=diet").content.decode()

    assert f'required value="{round(window.window_tokens * 0.65):,}"' in page
    assert "<textarea" not in page


@pytest.mark.parametrize(("percent", "kind"), [(10.0, "forge"), (55.0, "diet"), (69.9, "diet"), (70.0, "forge")])
def test_the_kind_that_fits_the_window_comes_first(client: Client, percent: float, kind: str) -> None:
    window = make_window(percent=percent)

    page = client.get(f"/sessions/{window.pk}/plan/").content.decode()

    assert f'name="kind" value="{kind}"' in page


def test_a_draft_that_cannot_be_made_is_a_note_and_the_form_stays(
    client: Client, window: Window, file: TranscriptFile
) -> None:
    file.path.unlink()

    answer = client.get(f"/sessions/{window.pk}/plan/?kind=forge")

    assert answer.status_code == 200
    assert "No hand-off could be drafted" in answer.content.decode()
    assert "<textarea" in answer.content.decode()


def test_a_window_in_which_nothing_was_said_has_a_note_as_well(client: Client) -> None:
    page = client.get(f"/sessions/{make_window().pk}/plan/?kind=forge").content.decode()

    assert "the hand-off is empty" in page


def test_a_plan_is_stored_and_its_page_comes_next(client: Client, window: Window) -> None:
    answer = plan(client, window, handoff_text="在谈：薄荷换盆", export_only="1")

    run = Run.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/runs/{run.pk}/")
    assert (run.status, run.kind, run.is_export_only, run.handoff_origin) == ("planned", "forge", True, "edited")
    assert "在谈：薄荷换盆" in run.handoff
    page = client.get(answer.headers["Location"]).content.decode()
    assert "这周改成周四吧，晚上十点语音" in page
    assert "Forge planned" in page


def test_an_untouched_draft_stays_a_draft(client: Client, window: Window) -> None:
    context = client.get(f"/sessions/{window.pk}/plan/?kind=forge").context
    asked = context["values"]

    plan(client, window, handoff_text=asked["handoff_text"].replace("\n", "\r\n"), draft=asked["draft"])

    assert Run.objects.get().handoff_origin == "draft"


def test_an_emptied_hand_off_means_none(client: Client, window: Window) -> None:
    plan(client, window, handoff_text="  ")

    assert Run.objects.get().handoff == ""


def test_a_diet_carries_no_hand_off_whatever_is_sent(client: Client, window: Window) -> None:
    plan(client, window, kind="diet", handoff_text="在谈")

    run = Run.objects.get()
    assert (run.kind, run.handoff) == ("diet", "")


@pytest.mark.parametrize(
    ("field", "text"),
    [("retain", "a lot"), ("retain", "0"), ("retain", "9" * 30), ("squash", "-1"), ("squash", "１２")],
)
def test_a_figure_that_cannot_be_read_is_refused_and_everything_is_kept(
    client: Client, window: Window, field: str, text: str
) -> None:
    more = {field: text}

    answer = plan(client, window, handoff_text="留着这段", force="1", **more)

    page = answer.content.decode()
    assert answer.status_code == 422
    assert Run.objects.count() == 0
    assert f'value="{text}"' in page
    assert "留着这段" in page
    assert 'name="force" value="1" checked' in page
    assert page.count('aria-invalid="true"') == 1
    assert page.count('role="alert"') == 1


def test_a_file_that_is_gone_is_refused_and_everything_is_kept(
    client: Client, window: Window, file: TranscriptFile
) -> None:
    file.path.unlink()

    answer = plan(client, window, handoff_text="留着这段")

    assert answer.status_code == 422
    assert "留着这段" in answer.content.decode()
    assert Run.objects.count() == 0


def test_a_hand_off_that_is_too_long_is_refused(client: Client, window: Window) -> None:
    answer = plan(client, window, handoff_text="长" * 100_000)

    assert answer.status_code == 422
    assert Run.objects.count() == 0


def test_figures_may_have_separators_and_nul_bytes_are_dropped(client: Client, window: Window) -> None:
    answer = plan(client, window, retain="60,000", handoff_text="a\x00b")

    assert answer.status_code == 303
    assert "ab" in Run.objects.get().handoff


def test_a_run_leads_back_to_the_form_with_its_values(client: Client, window: Window) -> None:
    plan(client, window, retain="4321", squash="777", handoff_text="我自己写的", force="1")
    run = Run.objects.get()

    page = client.get(f"/runs/{run.pk}/").content.decode()
    form = client.get(f"/sessions/{window.pk}/plan/?from={run.pk}").content.decode()

    assert f"/sessions/{window.pk}/plan/?from={run.pk}" in page
    for kept in ('value="4,321"', 'value="777"', "我自己写的", 'name="force" value="1" checked'):
        assert kept in form


@pytest.mark.parametrize("text", ["x", "00000000-0000-4000-8000-000000000000", "", "\x00"])
def test_a_run_that_is_none_of_this_window_opens_the_usual_form(client: Client, window: Window, text: str) -> None:
    assert client.get(f"/sessions/{window.pk}/plan/", {"from": text}).status_code == 200
    other = make_run()
    assert client.get(f"/sessions/{window.pk}/plan/", {"from": str(other.pk)}).status_code == 200


def test_a_changed_file_makes_the_plan_stale_already_on_its_page(
    client: Client, window: Window, file: TranscriptFile
) -> None:
    plan(client, window)
    run = Run.objects.get()
    url = f"/runs/{run.pk}/"
    assert "run-apply" not in client.get(url).content.decode()
    assert f'action="{url}apply/"' in client.get(url).content.decode()

    file.add(user("还在吗"))

    page = client.get(url).content.decode()
    assert "This plan is stale" in page
    assert f'action="{url}apply/"' not in page
    assert f"/plan/?from={run.pk}" in page


def test_the_form_costs_the_same_queries_with_many_runs(client: Client, window: Window) -> None:
    counts = []
    for _ in range(2):
        for _ in range(10):
            make_run(window)
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/sessions/{window.pk}/plan/?kind=diet")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 9


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_when_it_comes_back(client: Client, window: Window, text: str) -> None:
    plain = text.replace("\x00", "")

    page = plan(client, window, retain=plain, squash=plain).content.decode()

    assert "<script>" not in page
    assert "<img" not in page
    assert "<iframe" not in page
    window.title = window.own_title = plain
    window.save()
    assert_harmless(client.get(f"/sessions/{window.pk}/plan/?kind=diet").content.decode())


def test_an_unknown_session_is_not_found(client: Client) -> None:
    assert client.get("/sessions/999999/plan/").status_code == 404
    assert client.post("/sessions/999999/plan/", values()).status_code == 404
