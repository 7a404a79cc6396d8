"""A Messages API on loopback for rehearsals: keeps what a client would send, answers a short text (spec W13).

It is reached by whoever knows its key, which is new for every rehearsal; nothing it is told to do comes from outside.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = dict[str, Any]
# Bytes of one body; the real API refuses half as much.
LARGEST_BODY = 64 * 1024 * 1024
# Bodies kept of one rehearsal; a good one has a single main request and a few on the side.
MOST_BODIES = 16
# Seconds a connection may stay silent.
SILENCE = 30
ANSWER = "ok"


class StubApi(ThreadingHTTPServer):
    """The server. `bodies` are the message requests in order, `unkept` how many more were not kept."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Door)
        self.key = "sk-ant-" + secrets.token_urlsafe(24)
        self.bodies: list[JSON] = []
        self.unkept = 0
        self._turn = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def keep(self, body: JSON | None) -> None:
        """Remembers a body; None stands for one that was too long or no JSON object."""
        with self._turn:
            if body is None or len(self.bodies) >= MOST_BODIES:
                self.unkept += 1
            else:
                self.bodies.append(body)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that is ended in the middle of an answer is no news."""


@contextmanager
def running() -> Iterator[StubApi]:
    """A stub that listens until the block ends. Raises OSError where loopback has no port to give."""
    with StubApi() as stub:
        thread = threading.Thread(target=stub.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield stub
        finally:
            stub.shutdown()
            thread.join()


class _Door(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    timeout = SILENCE
    server: StubApi

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what a client asks is nobody's log line."""

    def do_HEAD(self) -> None:
        self._answer(200, {})

    def do_GET(self) -> None:
        self._answer(404, _fault("not_found_error", "not here"))

    def do_POST(self) -> None:
        raw = self._body()
        if not self._has_key():
            return self._answer(401, _fault("authentication_error", "unknown key"))
        path = self.path.partition("?")[0]
        if path.endswith("/v1/messages/count_tokens"):
            return self._answer(200, {"input_tokens": len(raw or b"") // 4})
        if not path.endswith("/v1/messages"):
            return self._answer(200, {})
        body = _object(raw)
        self.server.keep(body)
        return self._converse(body or {})

    def _body(self) -> bytes | None:
        length = self.headers.get("content-length") or "0"
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self.close_connection = True
            return None
        return self.rfile.read(int(length))

    def _has_key(self) -> bool:
        given = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        return hmac.compare_digest(given.encode(), self.server.key.encode())

    def _converse(self, body: JSON) -> None:
        message = _message(str(body.get("model") or "model"))
        if not body.get("stream"):
            return self._answer(200, message)
        self._begin(200, "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in _events(message):
            self.wfile.write(b"event: %s\ndata: %s\n\n" % (event["type"].encode(), json.dumps(event).encode()))
        self.close_connection = True
        return None

    def _answer(self, status: int, document: JSON) -> None:
        data = json.dumps(document).encode()
        self._begin(status, "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _begin(self, status: int, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("request-id", "req_" + secrets.token_hex(8))


def _object(raw: bytes | None) -> JSON | None:
    try:
        value = json.loads(raw or b"")
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _fault(kind: str, message: str) -> JSON:
    return {"type": "error", "error": {"type": kind, "message": message}}


def _message(model: str) -> JSON:
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    return {
        "id": "msg_" + secrets.token_hex(12), "type": "message", "role": "assistant", "model": model,
        "content": [{"type": "text", "text": ANSWER}], "stop_reason": "end_turn", "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def _events(message: JSON) -> Iterator[JSON]:
    """The same answer as a stream gives it."""
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}}
    yield {"type": "content_block_stop", "index": 0}
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": message["usage"]}
    yield {"type": "message_stop"}
