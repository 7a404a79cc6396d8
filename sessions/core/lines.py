"""One line of a transcript, typed: read leniently, as the client does (transcripts.md, sections 1.2 and 1.3).

A line comes as the bytes between two newlines. The quick way is a typed decode that skips what the console never needs
(such as `toolUseResult`); whatever it refuses goes the patient way, because a lone surrogate or a bad byte is no reason
for the client to lose a line, so it is none here. Only what the client's own JSON.parse refuses is a bad line.
"""

from __future__ import annotations

import json
import math
import re
import typing
from typing import Any, NoReturn

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

BOM = b"\xef\xbb\xbf"


class BadLine(ValueError):
    """The client could not read this line either; the message says why."""


class Image(Struct, gc=False):
    """An image's source; `data` stays undecoded, its base64 length says nothing about tokens."""

    type: str | None = None
    data: Raw | UnsetType = UNSET


class Inner(Struct, gc=False):
    """A block inside a tool result."""

    type: str | None = None
    text: str | None = None
    source: Image | None = None


class Block(Struct, gc=False):
    """A content block of a message; only the fields the console reads."""

    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw | UnsetType = UNSET
    tool_use_id: str | None = None
    is_error: bool | None = None
    content: str | list[Inner] | None = None
    source: Image | None = None


class OutputDetails(Struct, gc=False):
    thinking_tokens: int | None = None


class Usage(Struct, gc=False):
    """Tokens as the API reported them for one message."""

    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None
    output_tokens_details: OutputDetails | None = None


class Message(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Usage | None = None


class Attachment(Struct, gc=False):
    type: str | None = None
    prompt: str | list[Block] | None = None
    commandMode: str | None = None
    content: Raw | UnsetType = UNSET


class Origin(Struct, gc=False):
    kind: str | None = None


class CompactMetadata(Struct, gc=False):
    trigger: str | None = None
    preTokens: int | float | None = None
    postTokens: int | float | None = None


class Line(Struct, gc=False):
    """The fields of any record that the console reads, under the names the file uses."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    logicalParentUuid: str | None = None
    sessionId: str | None = None
    timestamp: str | None = None
    # Of the last line that surgery copied: when it was said. Clients want the time of the copy in its own field.
    keptTimestamp: str | None = None
    isSidechain: bool | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    promptSource: str | None = None
    origin: Origin | None = None
    cwd: str | None = None
    version: str | None = None
    message: Message | None = None
    attachment: Attachment | None = None
    rendered: Raw | UnsetType = UNSET
    compactMetadata: CompactMetadata | None = None
    customTitle: str | None = None
    aiTitle: str | None = None
    summary: str | None = None
    leafUuid: str | None = None


_quick = msgspec.json.Decoder(Line)


def read_line(raw: bytes) -> Line | None:
    """The record in one line; None for a blank one. Raises BadLine for what the client cannot read either."""
    try:
        return _quick.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return _read_patiently(raw)


class _Agent(Struct, gc=False):
    agentId: str | None = None


class _WithAgent(Struct, gc=False):
    toolUseResult: _Agent | None = None
    # What surgery leaves of it in a copied window.
    keptAgentId: str | None = None


_agents = msgspec.json.Decoder(_WithAgent)
_arguments = msgspec.json.Decoder(dict[str, Raw])


def agent_of(raw: bytes) -> str | None:
    """The subagent that a tool result speaks of, by the client's own note beside it."""
    try:
        found = _agents.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return found.keptAgentId or (found.toolUseResult.agentId if found.toolUseResult is not None else None)


def first_texts(raw: bytes) -> dict[str, str]:
    """The arguments of a tool call that are plain texts, by name."""
    try:
        arguments = _arguments.decode(raw)
        texts = {name: bytes(value) for name, value in arguments.items()}
        return {name: msgspec.json.decode(text, type=str) for name, text in texts.items() if text.startswith(b'"')}
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}


def _read_patiently(raw: bytes) -> Line | None:
    text = raw.removeprefix(BOM).decode("utf-8", errors="replace").strip(" \t\r\n")
    if not text:
        return None
    try:
        return _read_json(text)
    except RecursionError:
        return _read_surface(text)


def _read_json(text: str) -> Line:
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_int=_whole_number, strict=True)
    except ValueError as fault:
        raise BadLine(_first_sentence(fault)) from None
    if not isinstance(value, dict):
        raise BadLine("not a JSON object")
    return coerce(value)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _whole_number(digits: str) -> int | float:
    """Python refuses to read very long numbers; the client takes them as floats, infinite ones too."""
    return int(digits) if len(digits) < 400 else float(digits)


def _first_sentence(fault: ValueError) -> str:
    if isinstance(fault, json.JSONDecodeError):
        return f"not JSON: {fault.msg.lower()} at character {fault.pos + 1}"
    return f"not JSON: {fault}"[:200]


_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
# A string, with its value where it is the key of a plain one; or a bracket.
_token = re.compile(rf"({_STRING})(?:\s*:\s*({_STRING}|true|false))?|[\[{{}}\]]", re.DOTALL)


def _read_surface(text: str) -> Line:
    """Too deeply nested for any parser here, though not for the client: keep its place in the chain, not its content."""
    found: dict[str, Any] = {}
    depth = 0
    for token in _token.finditer(text):
        if token[1] is None:
            depth += 1 if token[0] in "{[" else -1
        elif depth == 1 and token[2] is not None:
            found[token[1][1:-1]] = json.loads(token[2], strict=False)
    if depth != 0:
        raise BadLine("not JSON: brackets do not match")
    return coerce(found)


def coerce(value: dict[str, Any]) -> Line:
    """A Line from any object: what has the wrong type is left out, never fatal."""
    line: Line = _fit(Line, value)
    return line


def _fit(kind: type[Any], value: dict[str, Any]) -> Any:
    fields = {}
    for field in msgspec.structs.fields(kind):
        if field.encode_name in value:
            fitted = _fit_field(field.type, value[field.encode_name])
            if fitted is not None:
                fields[field.name] = fitted
    return kind(**fields)


def _fit_field(wanted: Any, value: Any) -> Any:
    """The value as the field wants it, or None. Lists keep the elements that fit."""
    choices = typing.get_args(wanted) or (wanted,)
    for choice in choices:
        inner = typing.get_args(choice)
        if typing.get_origin(choice) is list and isinstance(value, list):
            return [_fit(inner[0], each) if isinstance(each, dict) else _loose_block(inner[0], each) for each in value]
        if choice is Raw:
            return Raw(json.dumps(value, ensure_ascii=False).encode("utf-8", errors="replace"))
        if isinstance(choice, type) and issubclass(choice, Struct) and isinstance(value, dict):
            return _fit(choice, value)
        if choice in _PLAIN and type(value) is choice:
            return value if choice is not float or math.isfinite(value) else None
    return None


_PLAIN = {str, bool, int, float}


def _loose_block(kind: type[Any], value: Any) -> Any:
    """A bare string among blocks is text to the client; anything else an empty block of no type."""
    return kind(type="text", text=value) if isinstance(value, str) else kind()
