"""What a record is: one classification for index, anchors, ranges and surgery (spec S5, transcripts.md 1.7).

Dialogue events are the user and assistant lines of the live chain and the messages sent while a turn was running
(`queued_command`); compaction boundaries and summaries are none. An anchor is what a person typed.
"""

from __future__ import annotations

import hashlib
import re
from enum import StrEnum

from sessions.core.lines import Block, Line


class Kind(StrEnum):
    """One letter per kind, as stored."""

    HUMAN = "h"
    QUEUED = "q"
    ASSISTANT = "a"
    # An answer the client made up itself: API errors and `<synthetic>` lines.
    NOTICE = "e"
    TOOL_RESULT = "r"
    # Slash commands, shell lines, interruptions: a user line no person wrote as talk.
    COMMAND = "c"
    META = "m"
    # Delivered by a machine: source tags, task notifications, system prompts (spec T1).
    TAGGED = "t"
    SUMMARY = "s"
    BOUNDARY = "b"
    SYSTEM = "y"
    # Text a hook added beside a prompt; it is sent again in every later turn.
    INJECTED = "i"
    ATTACHMENT = "x"
    PROGRESS = "p"
    # What surgery put before the first message of a copied window: nobody's words.
    HANDOFF = "j"


DIALOGUE = frozenset(
    {Kind.HUMAN, Kind.QUEUED, Kind.ASSISTANT, Kind.NOTICE, Kind.TOOL_RESULT, Kind.COMMAND, Kind.META, Kind.TAGGED}
)
ANCHORS = frozenset({Kind.HUMAN, Kind.QUEUED})
CHAIN_TYPES = frozenset({"user", "assistant", "attachment", "system", "progress"})
SYNTHETIC_MODEL = "<synthetic>"

COMMAND_STARTS = (
    "<local-command-", "<command-name>", "<command-message>", "<command-args>", "<bash-input>", "<bash-stdout>",
    "<bash-stderr>", "<system-reminder", "[Request interrupted",
)  # fmt: skip
# Only where the way of delivery is unknown: a marked fallback (spec T1).
TAG_STARTS = ("<task-notification", "[Harness:")
# How surgery marks the line it injects.
HANDOFF_ORIGIN = "companion-console"
HUMAN_ORIGINS = frozenset({"human", "channel"})
LONGEST_ID = 160
# What no row holds; a copied line has the same sign in its place.
_UNWRITTEN = re.compile("[\x00\ud800-\udfff]")


def kind_of(line: Line) -> Kind | None:
    """The kind of a chain line; None for records that are no link of the chain (no uuid, or metadata)."""
    if not line.uuid or line.type not in CHAIN_TYPES:
        return None
    if line.type == "assistant":
        return _kind_of_assistant(line)
    if line.type == "user":
        return _kind_of_user(line)
    if line.type == "attachment":
        return _kind_of_attachment(line)
    if line.type == "progress":
        return Kind.PROGRESS
    return Kind.BOUNDARY if line.subtype == "compact_boundary" else Kind.SYSTEM


def _kind_of_assistant(line: Line) -> Kind:
    synthetic = line.message is not None and line.message.model == SYNTHETIC_MODEL
    return Kind.NOTICE if synthetic or line.isApiErrorMessage else Kind.ASSISTANT


def _kind_of_user(line: Line) -> Kind:
    if line.isCompactSummary:
        return Kind.SUMMARY
    if _has_tool_result(line):
        return Kind.TOOL_RESULT
    if line.origin is not None and line.origin.kind == HANDOFF_ORIGIN:
        return Kind.HANDOFF
    if line.isMeta:
        return Kind.META
    if not _is_from_a_person(line):
        return Kind.TAGGED
    return _kind_of_words(line)


def _has_tool_result(line: Line) -> bool:
    content = line.message.content if line.message is not None else None
    return isinstance(content, list) and any(block.type == "tool_result" for block in content)


def _kind_of_words(line: Line) -> Kind:
    words = text_of(line).lstrip()
    if words.startswith(COMMAND_STARTS):
        return Kind.COMMAND
    if words.startswith(TAG_STARTS):
        return Kind.TAGGED
    if not words and not any(block.type in {"image", "document"} for block in blocks_of(line)):
        return Kind.META
    return Kind.HUMAN


def _is_from_a_person(line: Line) -> bool:
    """By the way of delivery only, never by the words."""
    if line.promptSource == "system":
        return False
    return line.origin is None or line.origin.kind is None or line.origin.kind in HUMAN_ORIGINS


def _kind_of_attachment(line: Line) -> Kind:
    attachment = line.attachment
    if attachment is None:
        return Kind.ATTACHMENT
    if attachment.type == "queued_command" and attachment.commandMode == "prompt":
        return _kind_of_queued(line)
    return Kind.INJECTED if attachment.type == "hook_additional_context" else Kind.ATTACHMENT


def _kind_of_queued(line: Line) -> Kind:
    if line.isMeta or not _is_from_a_person(line):
        return Kind.TAGGED
    kind = _kind_of_words(line)
    return Kind.QUEUED if kind is Kind.HUMAN else kind


def blocks_of(line: Line) -> list[Block]:
    """The content blocks of a message or queued prompt; a plain string is one text block."""
    if line.attachment is not None and line.type == "attachment":
        content = line.attachment.prompt
    else:
        content = line.message.content if line.message is not None else None
    if isinstance(content, str):
        return [Block(type="text", text=content)]
    return content or []


def text_of(line: Line) -> str:
    """The words of a line: its text blocks, joined by newlines. No thinking, no tools."""
    blocks = blocks_of(line)
    if len(blocks) == 1:
        return (blocks[0].text or "") if blocks[0].type == "text" else ""
    return "\n".join(block.text for block in blocks if block.type == "text" and block.text)


def parent_of(line: Line) -> str | None:
    """The line before this one in the chain; over a compaction boundary the last line of the old part."""
    return line.parentUuid or line.logicalParentUuid


def bounded_id(value: str) -> str:
    """An id that fits an index whatever a file calls one; equal ids stay equal."""
    if len(value) <= LONGEST_ID and value.isascii() and "\x00" not in value:
        return value
    clean = _UNWRITTEN.sub("\ufffd", value)
    if len(clean) <= LONGEST_ID:
        return clean
    return clean[:96] + "#" + hashlib.blake2b(clean.encode(), digest_size=24).hexdigest()
