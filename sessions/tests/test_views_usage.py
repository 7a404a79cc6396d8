"""Usage and composition of a session: the figure, the table, the exports, hostile text, costs."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from companion.lib import plots
from companion.tests.rows import HOSTILE, make_companion, make_window, say, signed_in
from sessions.core.events import Kind
from sessions.models import Event, UsagePoint, Window
from sessions.tests.test_views_sessions import csv_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in()


def report(window: Window, *used: int, created: int = 1_000) -> None:
    start, now = UsagePoint.objects.filter(transcript=window.transcript).count(), timezone.now()
    UsagePoint.objects.bulk_create(
        UsagePoint(
            transcript=window.transcript,
            message_id=f"m{start + number}",
            seq=2 * (start + number) + 1,
            at=now - timedelta(minutes=len(used) - number),
            model=window.model,
            input=10,
            cache_creation=created,
            cache_read=tokens - created - 10,
            output=5,
        )
        for number, tokens in enumerate(used)
    )


def figure(client: Client, window: Window) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/sessions/{window.pk}/usage/chart/").json()
    return found


def page(client: Client, window: Window, tab: str, query: str = "", **headers: str) -> str:
    return client.get(f"/sessions/{window.pk}/{tab}/{query}", headers=headers).content.decode()


def items(client: Client, window: Window, tab: str) -> list[dict[str, Any]]:
    answer = client.get(f"/sessions/{window.pk}/{tab}/?format=json")
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    document = json.loads(body)
    assert document["count"] == len(document["items"])
    found: list[dict[str, Any]] = document["items"]
    return found


def weigh(window: Window, text: str = "words", **parts: int) -> Event:
    event = say(window, text, kind="a")[0]
    for name, tokens in parts.items():
        setattr(event, name, tokens)
    event.live = True
    event.save()
    return event


# ── Usage ────────────────────────────────────────────────────────────────────


def test_the_figure_has_every_reply_in_its_parts(client: Client) -> None:
    window = make_window()
    report(window, 50_000, 60_000)

    read, created, fresh, whole = figure(client, window)["data"]

    assert read["y"] == [48_990, 58_990]
    assert created["y"] == [1_000, 1_000]
    assert fresh["y"] == [10, 10]
    assert whole["y"] == [50_000, 60_000]
    assert whole["customdata"][1][0] == 3
    assert whole["customdata"][1][2] == "30.0%"


def test_the_figure_draws_all_marks_of_the_window(client: Client) -> None:
    window = make_window(window_tokens=200_000, compacts_at=174_500)
    report(window, 50_000)

    layout = figure(client, window)["layout"]

    assert [shape["y0"] for shape in layout["shapes"]] == [110_000, 140_000, 166_000, 174_500]
    assert [name["text"] for name in layout["annotations"]] == ["55 瘦身", "70 换窗", "83 系统", "87.2 客户端压缩"]
    assert layout["yaxis"]["range"][1] >= 200_000


def test_an_estimate_is_broken_and_hollow(client: Client) -> None:
    window = make_window(is_estimated=True, used_tokens=70_000)
    report(window, 50_000)

    guess = figure(client, window)["data"][-1]

    assert guess["y"] == [50_000, 70_000]
    assert guess["line"]["dash"] == "dot"
    assert guess["text"][-1] == "≈"
    assert "≈ 估计" in page(client, window, "usage")


def test_a_compaction_stands_between_its_replies(client: Client) -> None:
    window = make_window(compactions=1)
    report(window, 150_000, 160_000, 20_000)
    boundary = say(window, "-", "-", "-", "-")[3]
    Event.objects.filter(transcript=window.transcript, seq=boundary.seq + 1).delete()
    Event.objects.create(
        transcript=window.transcript, seq=4, offset=0, length=1, uuid="b", kind=Kind.BOUNDARY, live=True
    )

    mark = figure(client, window)["data"][-1]

    assert (mark["x"], mark["y"]) == ([2.5], [160_000])


def test_colours_are_names_of_tokens_only(client: Client) -> None:
    window = make_window(is_estimated=True, compactions=1)
    report(window, 50_000)

    text = json.dumps(figure(client, window))

    assert "#" not in text
    assert "--dai-fill/0.3" in text


def test_a_window_without_reports_teaches_and_loads_no_chart(client: Client) -> None:
    window = make_window(is_estimated=True, used_tokens=12_000)

    text = page(client, window, "usage")

    assert "还没有一次回复报过用量" in text
    assert "≈ 12k token" in text
    assert "plotly" not in text


def test_plotly_is_loaded_here_only_from_the_package(client: Client) -> None:
    window = make_window()
    report(window, 50_000)

    text = page(client, window, "usage")

    assert f'src="/static/{plots.script()}"' in text
    assert 'id="plotly.js-style-global" class="no-inline-styles"' in text
    assert plots.own_rules() in text
    assert "plotly" not in page(client, window, "composition")
    assert "plotly" not in client.get("/").content.decode()


def test_the_finder_serves_the_script_and_nothing_else_of_the_package() -> None:
    found = finders.find(plots.script())

    assert Path(str(found)).read_bytes()[:40].startswith(b"/**\n* plotly.js")
    assert finders.find(f"{plots.prefix()}/widgetbundle.js") is None
    assert finders.find("plotly/../plotly.min.js") is None


def test_the_table_goes_on_by_line(client: Client) -> None:
    window = make_window()
    report(window, *range(10_000, 10_000 + 150 * 100, 100))

    first = page(client, window, "usage")
    second = page(client, window, "usage", "?before=101", **{"HX-Request": "true"})

    assert first.count('<tr><th scope="row">') == 100
    assert "?before=101" in first
    assert second.count('<tr><th scope="row">') == 50
    assert "<html" not in second
    assert "?before=" not in second


def test_exports_have_every_reply_with_the_same_numbers(client: Client) -> None:
    window = make_window()
    report(window, 50_000, 60_000)

    rows = items(client, window, "usage")

    assert [(row["number"], row["context_tokens"], row["used_pct"]) for row in rows] == [
        (1, 50_000, 25.0),
        (2, 60_000, 30.0),
    ]
    assert rows[0]["cache_read"] + rows[0]["cache_created"] + rows[0]["uncached"] == 50_000
    assert [row["line"] for row in csv_rows(client, f"/sessions/{window.pk}/usage/?format=csv")] == ["2", "4"]


def test_the_sentence_says_no_more_than_the_figures(client: Client) -> None:
    window = make_window(most_used=120_000)
    report(window, *[100_000] * 19)
    assert "最近 20 次" not in page(client, window, "usage")

    report(window, 100_000)

    assert "到现在回了 20 次，最满到过窗口的 60.0%。" in page(client, window, "usage")
    assert "最近 20 次回复的上下文，有 98% 是从缓存里读的。" in page(client, window, "usage")


@pytest.mark.parametrize("query", ["?before=x", "?before=-1", "?before=99999999999999"])
def test_a_place_that_is_none_is_refused(client: Client, query: str) -> None:
    window = make_window()

    assert client.get(f"/sessions/{window.pk}/usage/{query}").status_code == 422
    assert client.get(f"/sessions/{window.pk}/usage/{query}&format=json").json()["error"]["code"] == "bad-filter"


@pytest.mark.parametrize("tab", ["usage", "usage/chart", "composition"])
def test_a_session_that_is_not_there_is_not_found(client: Client, tab: str) -> None:
    assert client.get(f"/sessions/999999/{tab}/").status_code == 404


@pytest.mark.parametrize("tab", ["usage", "usage/chart", "composition"])
def test_ten_and_fifty_rows_cost_the_same_queries(client: Client, tab: str) -> None:
    window, counts = make_window(compactions=1), []
    for _ in range(2):
        report(window, *[50_000] * 20)
        for _ in range(20):
            weigh(window, tool_results=900, dialogue=10)
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/sessions/{window.pk}/{tab}/")
        counts.append(len(queries))

    assert counts[0] == counts[1] <= 14


# ── Composition ──────────────────────────────────────────────────────────────


def test_parts_and_tiles_say_about_how_much(client: Client) -> None:
    window = make_window(used_tokens=10_000)
    event = weigh(window, "薄荷", tool_results=6_000)
    weigh(window, "雨", dialogue=2_000)

    text = page(client, window, "composition")

    assert "工具回包约 60%" in text
    link = f"/sessions/{window.pk}/?at={event.uuid}#e{event.seq}"
    assert text.count(f'href="{link}"') == 3
    assert "≈ 6k token" in text
    assert 'width="60.00%"' in text


def test_the_list_is_at_most_fifty_the_heaviest_first(client: Client) -> None:
    window = make_window(used_tokens=100_000)
    for number in range(60):
        weigh(window, f"n{number}", dialogue=100 + number)

    rows = items(client, window, "composition")

    assert len(rows) == 50
    assert [row["tokens"] for row in rows[:2]] == [159, 158]
    assert rows[0]["what"] == "n59"
    assert client.get(f"/sessions/{window.pk}/composition/?format=json").json()["composition_estimated"] is True


def test_an_empty_window_teaches(client: Client) -> None:
    window = make_window(used_tokens=0, percent=0)

    assert "窗口里还没有东西" in page(client, window, "composition")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(client: Client, text: str) -> None:
    window = make_window(make_companion(text), title=text, model=text[:100], used_tokens=10_000)
    weigh(window, text, dialogue=9_000)
    report(window, 50_000)

    for tab in ("usage", "usage/chart", "composition"):
        found = page(client, window, tab)
        assert "<script>" not in found
        assert "<img" not in found
        assert "<iframe" not in found
        assert "onmouseover='alert" not in found
        assert "\u202e" not in found
        assert "\x1b" not in found
        assert "{{ 7" not in found or "{{ 7*7 }}" in text


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1"])
def test_a_cell_is_never_a_formula(client: Client, text: str) -> None:
    window = make_window(used_tokens=10_000)
    weigh(window, text, dialogue=9_000)

    assert csv_rows(client, f"/sessions/{window.pk}/composition/?format=csv")[0]["what"].startswith("'")


def test_a_label_for_a_chart_has_no_markup() -> None:
    assert (
        plots.label('<a href="https://evil.test">x</a>\u202e')
        == '&lt;a href="https://evil.test"&gt;x&lt;/a&gt;⟨U+202E⟩'
    )


@pytest.mark.parametrize(("language", "words"), [("zh-CN", "窗口里装了什么"), ("en", "What fills the window")])
def test_both_languages(client: Client, language: str, words: str) -> None:
    window = make_window(used_tokens=10_000)
    weigh(window, "x", dialogue=9_000)

    assert words in page(client, window, "composition", **{"Accept-Language": language})
