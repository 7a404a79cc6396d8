"""The live thread of a transcript: which lines the client would carry on from (transcripts.md 1.5, 1.6).

A file is a tree. The thread runs from the newest leaf back over parents to the root, across compaction boundaries; calls
of one message that stand beside the path (parallel tools) belong to it with their results; everything else is a branch
that a rewind left behind: readable, never live.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sessions.core.events import DIALOGUE, Kind
from sessions.core.usage import version_of

BRIDGE = timedelta(seconds=5)
# Lines a bridge looks back over: a hostile file may miss every parent.
LOOK_BACK = 500
# Leaves tried until one has any talk behind it.
LEAVES_TRIED = 50


# What may hang beside the path, behind a result or a call under way.
BESIDE = frozenset({Kind.QUEUED, Kind.ATTACHMENT, Kind.INJECTED})


@dataclass(frozen=True, slots=True)
class Link:
    """A chain line as the thread sees it. `side` marks a subagent's line inside the main file."""

    seq: int
    uuid: str
    parent: str | None
    kind: str
    side: bool
    message_id: str | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Thread:
    """The live thread: its end and its lines in chain order, boundaries and helpers included. `is_flat`: nothing in the
    file was linked to anything, and the order of its lines had to do."""

    leaf: Link | None
    links: list[Link]
    is_flat: bool = False


def live_thread(links: Sequence[Link], *, version: str = "", pinned: str | None = None) -> Thread:
    """The live thread of a file.

    `links` are in file order; of two with one uuid the last wins. `pinned` is the file's last `last-prompt.leafUuid`:
    it decides only when that line exists and the newest leaf does not descend from it. Never raises: cycles end the walk.
    """
    main = [link for link in links if not link.side]
    if not main:
        return Thread(None, [])
    tree = _Tree(main)
    if not any(link.parent in tree.by_uuid for link in main):
        # Nothing in this file is linked to anything: the order of its lines is all there is.
        return Thread(tree.in_order[-1], tree.in_order, is_flat=True)
    path = _spoken_path(main, tree, version)
    if pinned and pinned in tree.by_uuid and all(link.uuid != pinned for link in path):
        path = tree.path_to(tree.by_uuid[pinned])
    return Thread(path[-1], tree.with_siblings(path))


def _spoken_path(main: Sequence[Link], tree: _Tree, version: str) -> list[Link]:
    """The path to the newest leaf behind which there is any talk at all."""
    first = path = tree.path_to(_newest_leaf(main, tree, version))
    for link in itertools.islice(reversed(tree.in_order), LEAVES_TRIED):
        if any(step.kind in DIALOGUE for step in path):
            return path
        path = tree.path_to(link)
    return first


def _newest_leaf(main: Sequence[Link], tree: _Tree, version: str) -> Link:
    """File order decides for 2.1 and later; the newest time among the leaves in 2.0."""
    numbers = version_of(version)
    if not numbers or numbers >= (2, 1) or numbers < (2,):
        return tree.by_uuid[main[-1].uuid]
    leaves = [link for link in tree.by_uuid.values() if link.uuid not in tree.children and link.at is not None]
    return max(leaves, key=lambda link: (link.at, link.seq), default=tree.by_uuid[main[-1].uuid])


class _Tree:
    """Lookups over the links: by uuid (last wins) and children in file order."""

    def __init__(self, main: Sequence[Link]) -> None:
        self.by_uuid = {link.uuid: link for link in main}
        self.in_order = sorted(self.by_uuid.values(), key=lambda link: link.seq)
        self.children: dict[str, list[Link]] = {}
        for link in self.in_order:
            if link.parent is not None:
                self.children.setdefault(link.parent, []).append(link)

    def path_to(self, leaf: Link) -> list[Link]:
        """From root to leaf. A missing parent is bridged to the newest line at most five seconds older."""
        path, seen = [], set()
        at: Link | None = leaf
        while at is not None and at.uuid not in seen:
            seen.add(at.uuid)
            path.append(at)
            at = self._before(at)
        path.reverse()
        return path

    def _before(self, link: Link) -> Link | None:
        if link.parent is None:
            return None
        return self.by_uuid.get(link.parent) or self._bridge(link)

    def _bridge(self, link: Link) -> Link | None:
        if link.at is None:
            return None
        here = bisect_left(self.in_order, link.seq, key=lambda other: other.seq)
        older = [
            other
            for other in self.in_order[max(0, here - LOOK_BACK) : here]
            if other.at is not None and timedelta(0) <= link.at - other.at <= BRIDGE
        ]
        return max(older, key=lambda other: (other.at, other.seq), default=None)

    def with_siblings(self, path: Sequence[Link]) -> list[Link]:
        """The path and, beside it, the parallel calls of its messages, their results and what was queued behind those."""
        on_path = {link.uuid for link in path}
        thread: list[Link] = []
        waiting: list[Link] = []
        for link in path:
            if waiting and not _same_step(link, thread[-1]):
                thread = _settle(thread, waiting)
            thread.append(link)
            if link.kind in {Kind.ASSISTANT, Kind.TOOL_RESULT}:
                waiting += self._beside(link, on_path)
        return _settle(thread, waiting)

    def _beside(self, call: Link, on_path: set[str]) -> list[Link]:
        found: list[Link] = []
        todo = [(call, child) for child in self.children.get(call.uuid, ())]
        while todo:
            parent, link = todo.pop()
            if link.uuid in on_path or not self._belongs(link, parent, call):
                continue
            on_path.add(link.uuid)
            found.append(link)
            todo += [(link, child) for child in self.children.get(link.uuid, ())]
        return found

    def _belongs(self, link: Link, parent: Link, call: Link) -> bool:
        """Is this child, off the path, part of the same step: another call of the message, a result, something queued?"""
        if link.kind == Kind.ASSISTANT:
            return link.message_id is not None and link.message_id == call.message_id
        if link.kind == Kind.TOOL_RESULT:
            return parent.kind == Kind.ASSISTANT
        return link.kind in BESIDE and (parent.kind != Kind.ASSISTANT or self._is_under_way(parent))

    def _is_under_way(self, call: Link) -> bool:
        """Does the turn go on behind this line? Then nobody can have rewound to it."""
        return any(
            child.kind == Kind.TOOL_RESULT or (child.kind == Kind.ASSISTANT and child.message_id == call.message_id)
            for child in self.children.get(call.uuid, ())
        )


def _same_step(link: Link, last: Link) -> bool:
    """Does the path still stand inside the message whose parallel parts are waiting?"""
    if link.kind == Kind.ASSISTANT:
        return last.kind == Kind.ASSISTANT and link.message_id == last.message_id
    return link.kind == Kind.TOOL_RESULT


def _settle(thread: list[Link], waiting: list[Link]) -> list[Link]:
    """Puts the waiting links where file order says, no deeper than the first call they belong to."""
    if not waiting:
        return thread
    first = min(link.seq for link in waiting)
    at = len(thread)
    while at > 0 and thread[at - 1].seq > first:
        at -= 1
    thread[at:] = sorted([*thread[at:], *waiting], key=lambda link: link.seq)
    waiting.clear()
    return thread
