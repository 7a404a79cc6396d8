"""The API of rehearsals: it notes what comes with its key, and is no use to anybody else."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator

import pytest

from sessions.gateways import stub_api


@pytest.fixture
def stub() -> Iterator[stub_api.StubApi]:
    with stub_api.running() as running:
        yield running


def ask(stub: stub_api.StubApi, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", stub.server_address[1], timeout=5)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def test_the_stub_keeps_what_comes_with_its_key_and_answers_ok(stub: stub_api.StubApi) -> None:
    body = json.dumps({"model": "m", "messages": []}).encode()

    status, answer = ask(stub, "POST", "/v1/messages?beta=true", body, **{"x-api-key": stub.key})
    _, stream = ask(stub, "POST", "/v1/messages", b'{"stream": true}', authorization=f"Bearer {stub.key}")

    assert (status, json.loads(answer)["content"][0]["text"]) == (200, "ok")
    assert stream.count(b"event: ") == 6
    assert stub.bodies == [{"model": "m", "messages": []}, {"stream": True}]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("HEAD", "/", 200), ("GET", "/api/hello", 404), ("POST", "/v1/messages", 401), ("POST", "/api/x", 401)],
)
def test_the_stub_keeps_nothing_from_others(stub: stub_api.StubApi, method: str, path: str, status: int) -> None:
    assert ask(stub, method, path, b"{}")[0] == status
    assert (stub.bodies, stub.unkept) == ([], 0)


def test_the_stub_counts_but_does_not_keep_what_is_too_much(stub: stub_api.StubApi) -> None:
    length = str(stub_api.LARGEST_BODY + 1)

    for body, more in [(b"[]", {}), (b"\xff", {}), (b"", {"content-length": length}), (b"", {"content-length": "-1"})]:
        ask(stub, "POST", "/v1/messages", body, **{"x-api-key": stub.key, **more})

    assert (stub.bodies, stub.unkept) == ([], 4)


def test_tokens_are_counted_and_other_posts_answered(stub: stub_api.StubApi) -> None:
    key = {"x-api-key": stub.key}

    assert json.loads(ask(stub, "POST", "/v1/messages/count_tokens", b"x" * 400, **key)[1]) == {"input_tokens": 100}
    assert ask(stub, "POST", "/api/event_logging", b"{}", **key) == (200, b"{}")
    assert stub.bodies == []
