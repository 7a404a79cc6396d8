"""A Messages API on loopback that leads a real client through a talk, and refuses what the real one refuses.

What it answers hangs on a cue in the newest prompt; after the results of calls it closes the turn with a few words.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Json = dict[str, Any]
KEY = "sk-ant-of-the-test"


@dataclass
class Cue:
    """What the API does when a prompt has this word: `calls` are tools with their arguments, `used` the reported
    tokens of context. What it handed out is noted: ids of calls, signatures of thinking."""

    word: str
    answer: str = ""
    calls: tuple[tuple[str, Json], ...] = ()
    used: int = 1_000
    ids: list[str] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)


class Api(ThreadingHTTPServer):
    """The server; `requests` are the bodies that had tools, in order, `refusals` why some were refused."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *cues: Cue) -> None:
        super().__init__(("127.0.0.1", 0), _Call)
        self.cues = {cue.word: cue for cue in cues}
        self.requests: list[Json] = []
        self.refusals: list[str] = []
        self.numbers = itertools.count(1)
        self._current = Cue("")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def signatures(self) -> set[str]:
        return {each for cue in [*self.cues.values(), self._current] for each in cue.signatures}

    def answer(self, body: Json) -> tuple[list[Json], int]:
        """The blocks of the answer, and the tokens it reports as used."""
        newest = [message for message in body["messages"] if message["role"] == "user"][-1]
        parts = contents(newest)
        thinks = (body.get("thinking") or {}).get("type") in {"enabled", "adaptive"}
        if any(part["type"] == "tool_result" for part in parts):
            return [
                *self._thought(thinks),
                {"type": "text", "text": f"Seen, {self._current.word}."},
            ], self._current.used
        words = [part["text"] for part in parts if part["type"] == "text" and not part["text"].startswith("<")]
        cue = next((cue for word, cue in self.cues.items() if words and word in words[0]), None)
        if cue is None or not body.get("tools"):
            return [{"type": "text", "text": "Hm."}], 1_000
        self._current = cue
        return [*self._thought(thinks), *self._words(cue), *self._calls(cue)], cue.used

    def _thought(self, thinks: bool) -> list[Json]:
        if not thinks:
            return []
        signature = f"c2lnbmF0dXJl{next(self.numbers):04d}"
        self._current.signatures.append(signature)
        return [{"type": "thinking", "thinking": f"on {self._current.word}", "signature": signature}]

    def _words(self, cue: Cue) -> list[Json]:
        return [{"type": "text", "text": cue.answer}] if cue.answer else []

    def _calls(self, cue: Cue) -> Iterator[Json]:
        for name, arguments in cue.calls:
            cue.ids.append(f"toolu_{next(self.numbers):06d}")
            yield {"type": "tool_use", "id": cue.ids[-1], "name": name, "input": arguments}


@contextmanager
def playing(*cues: Cue) -> Iterator[Api]:
    with Api(*cues) as api:
        thread = threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield api
        api.shutdown()
        thread.join()


def contents(message: Mapping[str, Any]) -> list[Json]:
    """The blocks of a message of a request."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def refusal(messages: list[Json], signatures: set[str]) -> str:
    """Why the real API would answer 400; empty if it would not."""
    talk = [message for message in messages if message["role"] != "system"]
    if talk[0]["role"] != "user":
        return "first message must use the user role"
    for message, follower in itertools.zip_longest(talk, talk[1:]):
        parts = contents(message)
        called = {part["id"] for part in parts if part["type"] == "tool_use"}
        answered = {
            part["tool_use_id"] for part in contents(follower or {"content": []}) if part["type"] == "tool_result"
        }
        if called != answered:
            return f"tool_use and tool_result do not pair: {sorted(called ^ answered)}"
        if not parts or any(part["type"] == "text" and not part["text"] for part in parts):
            return "text content blocks must be non-empty"
        if any(part["type"] == "thinking" and part["signature"] not in signatures for part in parts):
            return "Invalid signature in thinking block"
    return ""


class _Call(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Api

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(200, {})

    def do_GET(self) -> None:
        self._send(404, {"type": "error", "error": {"type": "not_found_error", "message": "nothing here"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
        path = self.path.partition("?")[0]
        if path != "/v1/messages":
            return self._send(200, {"input_tokens": 1_000} if path.endswith("count_tokens") else {})
        fault = refusal(body["messages"], self.server.signatures())
        if body.get("tools"):
            self.server.requests.append(body)
        if fault:
            self.server.refusals.append(fault)
            return self._send(400, {"type": "error", "error": {"type": "invalid_request_error", "message": fault}})
        return self._say(body, *self.server.answer(body))

    def _say(self, body: Json, blocks: list[Json], used: int) -> None:
        stop = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
        usage = {
            "input_tokens": 10,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": used,
            "output_tokens": 5,
        }
        message = {
            "id": f"msg_{next(self.server.numbers):06d}", "type": "message", "role": "assistant", "model": body["model"],
            "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": usage,
        }  # fmt: skip
        if not body.get("stream"):
            return self._send(200, message)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in _stream(message):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
        self.close_connection = True
        return None

    def _send(self, status: int, document: Json) -> None:
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _stream(message: Json) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        empty, deltas = _parts(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _parts(block: Json) -> tuple[Json, list[Json]]:
    """A block as a stream begins it, and what comes bit by bit."""
    if block["type"] == "text":
        return {"type": "text", "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
