"""A bridge for tests: one chat, bound to one session, which may be out of order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from sessions.gateways.bridges.bridge import Binding, Rebinding, Rebound


@dataclass
class Chat:
    """`ends` is how the next rebinding ends where it is not to work."""

    bound: str
    ends: Rebinding | OSError | None = None
    name: str = "chat"
    moves: list[tuple[str, str]] = field(default_factory=list)

    def binding(self) -> Binding | None:
        return Binding(self.bound)

    def rebind(self, before: str, after: str, *, digest_holds: Callable[[], bool]) -> Rebound:
        if self.bound != after and not digest_holds():
            return Rebound(Rebinding.UNCHANGED, self.bound, self.bound)
        return self._move(before, after)

    def restore(self, before: str, after: str) -> Rebound:
        return self._move(after, before)

    def _move(self, old: str, new: str) -> Rebound:
        if isinstance(self.ends, OSError):
            raise self.ends
        if self.ends is not None:
            return Rebound(self.ends, self.bound, self.bound)
        if self.bound not in {old, new}:
            return Rebound(Rebinding.UNCHANGED, self.bound, self.bound)
        self.moves.append((self.bound, new))
        self.bound = new
        return Rebound(Rebinding.BOUND, old, new)


def bridge(monkeypatch: pytest.MonkeyPatch, bound: str) -> Chat:
    """The chat of every companion goes over this bridge from here on."""
    chat = Chat(bound)
    for place in ("run_steps", "rollback", "rebind"):
        monkeypatch.setattr(f"sessions.actions.{place}.bridge_for", lambda companion: chat)
    return chat
