"""Content of a request taken apart: what a file of ours holds for a client to send, and what a client sent (spec W13).

Some of what a client does by itself is undone here: it merges the lines of one answer, joins text blocks of a result,
calls tools by the names of today and writes numbers its own way. The rest is looked over when two sides are compared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sessions.core.events import HUMAN_ORIGINS, SYNTHETIC_MODEL

# Words of the client itself, in place of nothing or beside tools that it has loaded.
FILLERS = frozenset({"(no content)", "Tool loaded.", "[Tool references removed - tool search not enabled]"})
# A tool under all its names; the client sends calls under the one it uses today.
RENAMED = {
    "Task": "Agent", "KillShell": "TaskStop", "AgentOutputTool": "TaskOutput", "BashOutputTool": "TaskOutput",
}  # fmt: skip
# Arguments that the client puts in itself and takes out again.
OWN_ARGUMENTS = {"ExitPlanMode": frozenset({"plan", "planFilePath"})}
# White space at either end, by the rules of Python and of JavaScript.
EDGES = "".join(char for char in map(chr, range(0x10000)) if char.isspace()) + "\ufeff"
MEDIA = frozenset({"image", "document"})
LARGEST_NUMBER = 10**308


@dataclass(frozen=True, slots=True)
class Atom:
    """One piece of a request.

    `role` is user or assistant; `kind` text, tool_use, tool_result, thinking, image, document or other. `key` is the
    id of a call, the signature or data of thinking, else a digest. `text` are the words without white space at the
    ends, for a call its arguments as JSON. `media` are digests of images in a result. `framed` says that the client
    may put the words into a reminder; two atoms that differ in it alone are equal.
    """

    role: str
    kind: str
    key: str = ""
    name: str = ""
    text: str = ""
    media: tuple[str, ...] = ()
    is_error: bool = False
    framed: bool = field(default=False, compare=False)


def expected(lines: Iterable[bytes]) -> list[Atom]:
    """The atoms of a file that surgery wrote, in the order in which a client sends them.

    `lines` are those of a strictly linear chain, without their newlines. Raises ValueError (RecursionError for
    absurd depth) for a line that is no JSON object.
    """
    groups: list[_Group] = []
    for raw in lines:
        line = json.loads(raw)
        if not isinstance(line, dict):
            raise ValueError("a line is no JSON object")
        if not line.get("isSidechain"):
            _add(groups, line)
    return [atom for group in groups for atom in group.atoms]


def sent(body: Mapping[str, Any]) -> list[Atom]:
    """The atoms of the body of a messages request; what the client says as `system` is none."""
    return [
        atom
        for message in objects(body.get("messages"))
        if message.get("role") in {"user", "assistant"}
        for atom in _atoms(message["role"], message.get("content"))
    ]


def objects(value: Any) -> list[Mapping[str, Any]]:
    """The JSON objects of a list; nothing for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def blocks(content: Any) -> list[Mapping[str, Any]]:
    """The blocks of a message; a plain string is one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)


@dataclass(slots=True)
class _Group:
    """The atoms of one message; `message` is the id of an answer, `is_result` says that calls are answered here."""

    role: str
    message: str
    is_result: bool
    atoms: list[Atom]


def _add(groups: list[_Group], line: Mapping[str, Any]) -> None:
    role = line.get("type")
    if role == "attachment":
        groups.append(_Group("user", "", False, _queued(line)))
    if role not in {"user", "assistant"} or _is_notice(line):
        return
    message = _object(line.get("message"))
    atoms = _atoms(role, message.get("content"), _may_be_framed(line))
    same = _same_message(groups, message.get("id")) if role == "assistant" else None
    if same is not None:
        same.atoms += atoms
    else:
        is_result = any(atom.kind == "tool_result" for atom in atoms)
        groups.append(_Group(role, str(message.get("id") or ""), is_result, atoms))


def _same_message(groups: list[_Group], message: Any) -> _Group | None:
    """The earlier lines of one answer, though results of its first calls may lie between."""
    for group in reversed(groups):
        if group.role == "assistant" and message and group.message == message:
            return group
        if group.role == "user" and not group.is_result:
            return None
    return None


def _queued(line: Mapping[str, Any]) -> list[Atom]:
    attachment = _object(line.get("attachment"))
    if attachment.get("type") != "queued_command":
        return []
    return _atoms("user", attachment.get("prompt"), framed=True)


def _is_notice(line: Mapping[str, Any]) -> bool:
    """Errors that the client made up itself stay with it; its other made-up answers are sent."""
    return bool(line.get("isApiErrorMessage")) and _object(line.get("message")).get("model") == SYNTHETIC_MODEL


def _may_be_framed(line: Mapping[str, Any]) -> bool:
    kind = _object(line.get("origin")).get("kind")
    return kind is not None and kind not in HUMAN_ORIGINS and not line.get("isMeta")


def _atoms(role: str, content: Any, framed: bool = False) -> list[Atom]:
    return [replace(_atom(role, block), framed=framed) for block in blocks(content)]


def _atom(role: str, block: Mapping[str, Any]) -> Atom:
    kind = str(block.get("type"))
    if kind == "text":
        return Atom(role, kind, text=str(block.get("text") or "").strip(EDGES))
    if kind == "tool_use":
        name = str(block.get("name"))
        return Atom(role, kind, str(block.get("id")), RENAMED.get(name, name), _arguments(name, block.get("input")))
    if kind == "tool_result":
        return _result(role, block)
    if kind in {"thinking", "redacted_thinking"}:
        return Atom(role, "thinking", str(block.get("signature") or block.get("data") or _digest(block)))
    if kind in MEDIA:
        return Atom(role, kind, _digest(block.get("source")))
    return Atom(role, "other", _digest({name: value for name, value in block.items() if name != "cache_control"}))


def _result(role: str, block: Mapping[str, Any]) -> Atom:
    parts = blocks(block.get("content"))
    words = [str(part.get("text") or "").strip(EDGES) for part in parts if part.get("type") == "text"]
    text = "\n".join(word for word in words if word and word not in FILLERS)
    media = tuple(_digest(part.get("source")) for part in parts if str(part.get("type")) in MEDIA)
    call = str(block.get("tool_use_id"))
    return Atom(role, "tool_result", call, text=text, media=media, is_error=bool(block.get("is_error")))


def _arguments(name: str, given: Any) -> str:
    own = OWN_ARGUMENTS.get(name, frozenset[str]())
    kept = {key: each for key, each in given.items() if key not in own} if isinstance(given, dict) else given
    return _canonical(kept)


def _canonical(value: Any) -> str:
    return json.dumps(_as_javascript(value), ensure_ascii=False, sort_keys=True)


def _as_javascript(value: Any) -> Any:
    """To a client every number is a float: 2.0 is 2, and digits behind the sixteenth are lost."""
    if isinstance(value, dict):
        return {key: _as_javascript(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_javascript(each) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value) if abs(value) < LARGEST_NUMBER else None
    return value


def _digest(value: Any) -> str:
    return hashlib.blake2b(_canonical(value).encode(errors="replace"), digest_size=12).hexdigest()


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
