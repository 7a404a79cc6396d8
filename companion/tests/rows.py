"""Rows for tests: a companion, its windows and words, as the indexer would have written them."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.test import Client
from django.utils import timezone

from companion.session import SIGNED_IN
from sessions.models import Companion, Event, Run, Transcript, UsagePoint, Window

# What strangers put into every field of a transcript (security rows 7 and 8).
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg/onload=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)//",
    "</title></style></textarea><iframe src=//evil.test>",
    "{{ 7*7 }}{% debug %}",
    '<a href="data:text/html,<script>1</script>">x</a>',
    "<div hx-get=/doctor/ hx-trigger=load>",
    "<form action=https://evil.test><button>",
    "--><!-- ]]> <![CDATA[",
    "\x1b]8;;https://evil.test\x07link\x1b]8;;\x07\x1b]52;c;Zm9v\x07",
    "pay\u202egnp.exe\u2066\u200b\ufeff",
)


def make_companion(name: str = "小满", **fields: Any) -> Companion:
    project = fields.pop("project", f"-home-lin-{uuid.uuid4().hex[:12]}")
    return Companion.objects.create(name=name, host=settings.ENV.host_name, project=project, **fields)


def make_window(companion: Companion | None = None, percent: float = 61.4, **fields: Any) -> Window:
    companion = companion or make_companion()
    session_id = fields.pop("session_id", str(uuid.uuid4()))
    path = fields.pop("path", f"/home/lin/.claude/projects/{companion.project}/{session_id}.jsonl")
    kept = {name: fields.pop(name) for name in ("missing_since", "trouble", "bad_samples") if name in fields}
    transcript = Transcript.objects.create(host=companion.host, root="/home/lin", path=path, kind="main", **kept)
    size = fields.setdefault("window_tokens", 200_000)
    fields.setdefault("last_activity", timezone.now() - timedelta(minutes=5))
    values = {
        "title": "雨夜和阳台的薄荷",
        "model": "claude-opus-4-6",
        "compacts_at": int(size * 0.873),
        "used_tokens": int(size * percent / 100),
        "used_percent": percent,
        "is_estimated": False,
        **fields,
    }
    return Window.objects.create(companion=companion, transcript=transcript, session_id=session_id, **values)


def say(window: Window, *words: str, kind: str = "h", until: datetime | None = None) -> list[Event]:
    """Anchors, one a minute, the last one at `until` (now)."""
    end = until or timezone.now()
    start = Event.objects.filter(transcript=window.transcript).count()
    events = [
        Event(
            transcript=window.transcript,
            seq=start + number,
            offset=number * 100,
            length=90,
            uuid=str(uuid.uuid4()),
            kind=kind,
            live=True,
            idx=start + number,
            at=end - timedelta(minutes=len(words) - 1 - number),
            preview=text,
        )
        for number, text in enumerate(words)
    ]
    return Event.objects.bulk_create(events)


def use(window: Window, *tokens: int) -> None:
    """Reported usage, one point a minute until now."""
    now = timezone.now()
    for number, used in enumerate(tokens):
        UsagePoint.objects.create(
            transcript=window.transcript,
            message_id=uuid.uuid4().hex,
            seq=number,
            at=now - timedelta(minutes=len(tokens) - number),
            model=window.model,
            input=used,
            cache_creation=0,
            cache_read=0,
            output=1,
        )


def make_plan(first: str = "早。外面下了一夜，薄荷没事吧", last: str = "刚吹干头发", **fields: Any) -> dict[str, Any]:
    """A stored plan: 245 of 1,863 events stay."""
    mark = {"idx": 1618, "uuid": "9f2c41aa-1111-4222-8333-444455556666", "timestamp": "2026-11-25T07:44:00Z"}
    return {
        "mode": "tail",
        "spans": [[1618, 1862]],
        "digest": "d",
        "start": {**mark, "preview": first},
        "end": {**mark, "idx": 1862, "timestamp": "2026-11-26T22:46:00Z", "preview": last},
        "cut": [1618, 1862],
        "turns": 40,
        "kept_events": 245,
        "kept_tokens": 46_870,
        "dropped_events": 1_618,
        "dropped_tokens": 64_690,
        "thinking": 131,
        "results_squashed": 46,
        "images_squashed": 3,
        "first_preview": first,
        "last_preview": last,
        "fattest": [{"idx": 1702, "before": 12_400, "after": 620}],
        "squash": 2_000,
        **fields,
    }


def make_run(window: Window | None = None, **fields: Any) -> Run:
    """A planned forge of the window."""
    window = window or make_window()
    target = str(uuid.uuid4())
    values = {
        "kind": "forge",
        "source_sha256": "9f2c41" + "0" * 58,
        "source_size": 1_000,
        "target_session_id": target,
        "target_path": window.transcript.path.replace(window.session_id, target),
        "wish": {"kind": fields.get("kind", "forge"), "selection": {"mode": "tail", "retain": 60_000}, "squash": 2_000},
        "plan": make_plan(),
        "handoff": "在谈：雨停以后怎么安顿阳台的薄荷",
        "handoff_origin": "draft",
        "used_before": window.used_tokens,
        "used_after": 58_200,
        "window_tokens": window.window_tokens,
        **fields,
    }
    return Run.objects.create(
        window=window,
        companion=window.companion,
        host=window.companion.host,
        source_session_id=window.session_id,
        source_path=window.transcript.path,
        **values,
    )


def signed_in(**given: Any) -> Client:
    """A browser that came through the sign-in."""
    client = Client(**given)
    session = client.session
    session[SIGNED_IN] = timezone.now().isoformat()
    session.save()
    return client
