"""What a tool call leaves in the transcript: the result the model reads, and what the client keeps for its screen."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from sessions.core.demo.picture import png
from sessions.core.demo.script import Call

Kept = dict[str, Any]


def image(name: str) -> Kept:
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(png(name)).decode()}
    return {"type": "image", "source": source}


def kept(call: Call, arguments: Mapping[str, str], result: str) -> Kept:
    """`toolUseResult` as the client writes it for this tool."""
    if call.picture:
        data = png(call.picture)
        file = {"base64": base64.b64encode(data).decode(), "type": "image/png", "originalSize": len(data)}
        return {"type": "image", "file": file}
    return _KEPT[call.tool](arguments, result)


def _bash(arguments: Mapping[str, str], result: str) -> Kept:
    return {"stdout": result, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}


def _read(arguments: Mapping[str, str], result: str) -> Kept:
    lines = [line.partition("\t")[2] for line in result.split("\n")]
    count = {"numLines": len(lines), "startLine": 1, "totalLines": len(lines)}
    return {"type": "text", "file": {"filePath": arguments["file_path"], "content": "\n".join(lines), **count}}


def _fetch(arguments: Mapping[str, str], result: str) -> Kept:
    size = len(result.encode())
    return {
        "bytes": size,
        "code": 200,
        "codeText": "OK",
        "result": result,
        "durationMs": 900 + size % 1400,
        "url": arguments["url"],
    }


def _write(arguments: Mapping[str, str], result: str) -> Kept:
    kind = "create" if "created" in result else "update"
    path, content = arguments["file_path"], arguments["content"]
    return {"type": kind, "filePath": path, "content": content, "structuredPatch": [], "originalFile": None}


def _edit(arguments: Mapping[str, str], result: str) -> Kept:
    old, new = arguments["old_string"], arguments["new_string"]
    patch: Kept = {"structuredPatch": [], "userModified": False, "replaceAll": False}
    return {"filePath": arguments["file_path"], "oldString": old, "newString": new, "originalFile": old, **patch}


_KEPT = {"Bash": _bash, "Read": _read, "WebFetch": _fetch, "Write": _write, "Edit": _edit}
