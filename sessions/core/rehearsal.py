"""What a client should send after resuming a file of ours against what it did send: the first difference (spec W13).

Measured with the clients 2.0.76, 2.1.112 and 2.1.332. No difference is what they do by themselves: they join
neighbours, put calls behind the words of their message and results before the words of theirs, add reminders, frame
messages that came in the middle of a turn, and leave out thinking that the model in use could not take.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sessions.core.atoms import EDGES, FILLERS, MEDIA, Atom, blocks, expected, objects, sent

__all__ = ["Atom", "difference", "expected", "is_main", "left_out", "problem", "sent"]

# Characters of one side of a difference.
SHOWN = 120
# Clients leave out the oldest images of more than so many.
MOST_MEDIA = 80
REMINDER, REMINDER_END = "<system-reminder>", "</system-reminder>"


def difference(expected: Iterable[Atom], sent: Iterable[Atom], *, prompt: str) -> str:
    """Empty if exactly the expected atoms were sent, in order, with the rehearsal's `prompt` behind them; else the
    first that differs: what was planned and what would be sent, each cut to 120 characters."""
    planned = [*expected, Atom("user", "text", text=prompt.strip(EDGES))]
    crowded = sum((atom.kind in MEDIA) + len(atom.media) for atom in planned) >= MOST_MEDIA
    turns = itertools.zip_longest(_turns(planned), _turns(sent))
    for ours, theirs in turns:
        found = _in_turn(ours or _NOBODY, theirs or _NOBODY, crowded)
        if found is not None:
            our, their = next(turns, (None, None))
            return _sentence(found[0] or _first(our), found[1] or _first(their))
    return ""


def left_out(expected: Iterable[Atom], sent: Iterable[Atom]) -> int:
    """How many blocks of thinking the client would leave out."""
    kept = {atom.key for atom in sent if atom.kind == "thinking"}
    return sum(atom.kind == "thinking" and atom.key not in kept for atom in expected)


def is_main(body: Mapping[str, Any]) -> bool:
    """Is this a request of the talk itself? Those on the side have no tools and a message or two."""
    return bool(body.get("tools")) or len(objects(body.get("messages"))) > 2


def problem(body: Mapping[str, Any]) -> str:
    """Why the API would refuse the messages of a request, in a few words; empty if nothing of the kind is seen.

    Looked for: a first role other than user, empty texts, calls and results that do not pair, half characters.
    """
    messages = [each for each in objects(body.get("messages")) if each.get("role") != "system"]
    if not messages or messages[0].get("role") != "user":
        return "the first message is not from the user"
    calls: list[str] = []
    for number, message in enumerate([*messages, _END]):
        found = _problem_of(message, calls)
        if found:
            return f"message {number}: {found}"
        calls = _ids(message, "tool_use", "id")
    return "" if _is_encodable(messages) else "half of a surrogate pair"


_END: Mapping[str, Any] = {"role": "user", "content": [{"type": "end"}]}


def _problem_of(message: Mapping[str, Any], calls: list[str]) -> str:
    """What is wrong with one message after another that made `calls`."""
    content = blocks(message.get("content"))
    results = _ids(message, "tool_result", "tool_use_id")
    if not content or any(block.get("type") == "text" and not block.get("text") for block in content):
        return "an empty text"
    if len(set(calls)) < len(calls) or len(set(results)) < len(results):
        return "an id of a call twice"
    if set(calls) - set(results):
        return f"the call {min(set(calls) - set(results))} has no result"
    if set(results) - set(calls):
        return f"the result {min(set(results) - set(calls))} has no call"
    return ""


def _ids(message: Mapping[str, Any], kind: str, name: str) -> list[str]:
    return [str(block.get(name)) for block in blocks(message.get("content")) if block.get("type") == kind]


def _is_encodable(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class _Turn:
    """Neighbouring atoms of one role."""

    role: str
    atoms: list[Atom]


_NOBODY = _Turn("", [])
Found = tuple[Atom | None, Atom | None]


def _turns(atoms: Iterable[Atom]) -> list[_Turn]:
    """Without empty words, and without answers that are nothing but thinking: newer clients do not send those."""
    said = [atom for atom in atoms if atom.kind != "text" or (atom.text and atom.text not in FILLERS)]
    kept = [turn for turn in _runs(said) if turn.role == "user" or any(not _is_free(atom) for atom in turn.atoms)]
    return _runs(atom for turn in kept for atom in turn.atoms)


def _runs(atoms: Iterable[Atom]) -> list[_Turn]:
    return [_Turn(role, list(run)) for role, run in itertools.groupby(atoms, key=lambda atom: atom.role)]


def _is_free(atom: Atom) -> bool:
    """May a client leave it out? Thinking of another model, and blocks that this version does not know."""
    return atom.kind in {"thinking", "other"}


def _in_turn(ours: _Turn, theirs: _Turn, crowded: bool) -> Found | None:
    if ours.role != theirs.role:
        return _first(ours), _first(theirs)
    if ours.role == "assistant":
        return _compare(_calls_last(ours), _calls_last(theirs), crowded)
    loose: list[str] = []
    return (
        _compare_results(_results(ours), _results(theirs), crowded, loose)
        or _compare(_words(ours), _words(theirs), crowded, loose)
        or _compare_framed([atom for atom in ours.atoms if atom.framed], theirs.atoms, "\n".join(loose))
    )


def _first(turn: _Turn | None) -> Atom | None:
    return turn.atoms[0] if turn is not None and turn.atoms else None


def _calls_last(turn: _Turn) -> list[Atom]:
    return sorted(turn.atoms, key=lambda atom: atom.kind == "tool_use")


def _results(turn: _Turn) -> list[Atom]:
    return [atom for atom in turn.atoms if atom.kind == "tool_result"]


def _words(turn: _Turn) -> list[Atom]:
    return [atom for atom in turn.atoms if atom.kind != "tool_result"]


def _compare_results(ours: list[Atom], theirs: list[Atom], crowded: bool, loose: list[str]) -> Found | None:
    for our, their in itertools.zip_longest(ours, theirs):
        if our is None or their is None or not _is_same_result(our, their, crowded):
            return our, their
        loose.append(_behind(our, their))
    return None


def _behind(our: Atom, their: Atom) -> str:
    return their.text[len(our.text) :].strip(EDGES)


def _is_same_result(our: Atom, their: Atom, crowded: bool) -> bool:
    """Behind the words of a result only reminders may follow; newer clients drop the images of an error."""
    rest = _behind(our, their)
    same_media = our.media == their.media or ((crowded or our.is_error) and set(their.media) <= set(our.media))
    same_words = their.text.startswith(our.text) and (not rest or _is_reminder(rest))
    return our.key == their.key and our.is_error == their.is_error and same_media and same_words


def _is_reminder(text: str) -> bool:
    return text.startswith(REMINDER) and text.endswith(REMINDER_END)


def _compare(ours: list[Atom], theirs: list[Atom], crowded: bool, loose: list[str] | None = None) -> Found | None:
    """In order; what theirs may lack is passed over, and reminders in it go to `loose`."""
    waiting = iter([atom for atom in ours if not atom.framed])
    framed = {atom for atom in ours if atom.framed}
    our = next(waiting, None)
    for their in theirs:
        while our is not None and our != their and _may_lack(our, crowded):
            our = next(waiting, None)
        if our == their:
            our = next(waiting, None)
        elif loose is not None and their.kind == "text" and _is_reminder(their.text):
            loose.append(their.text)
        elif their not in framed:
            return our, their
    rest = [atom for atom in (our, *waiting) if atom is not None and not _may_lack(atom, crowded)]
    return (rest[0], None) if rest else None


def _may_lack(atom: Atom, crowded: bool) -> bool:
    return _is_free(atom) or (crowded and atom.kind in MEDIA)


def _compare_framed(ours: list[Atom], theirs: list[Atom], loose: str) -> Found | None:
    """Each on lines of its own in a frame, and in order; their images do not come with every client."""
    rest = f"\n{loose}\n"
    for atom in ours:
        if atom.kind != "text" or atom in theirs:
            continue
        place = re.search(rf"\n[^\S\n]*{re.escape(atom.text)}[^\S\n]*\n", rest)
        if place is None:
            return atom, None
        rest = rest[place.end() - 1 :]
    return None


def _sentence(planned: Atom | None, given: Atom | None) -> str:
    return f"planned: {_shown(planned)}; would be sent: {_shown(given)}"


def _shown(atom: Atom | None) -> str:
    if atom is None:
        return "nothing"
    parts = (atom.role, atom.kind, atom.name, atom.key[:40], "error" * atom.is_error)
    words = json.dumps(atom.text[:SHOWN], ensure_ascii=False) if atom.text else ""
    shown = " ".join(part for part in (*parts, words) if part)
    return shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + "…"
