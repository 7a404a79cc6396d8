"""The interface of every bridge, and what it answers (spec B4, W8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Rebinding(StrEnum):
    """How a rebinding ended: it was proved, it should hold, nothing was changed, somebody has to do it, there is none."""

    BOUND = "bound"
    UNPROVEN = "bound-unproven"
    UNCHANGED = "unchanged"
    NEEDS_HAND = "needs-hand"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Binding:
    """Which session a chat goes into, and in what it is kept, in words for the operator."""

    session_id: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class Rebound:
    """The end of a rebinding. `before` and `after` are session ids as the bridge had them, None where it has none;
    `detail` is {"code", values…}."""

    status: Rebinding
    before: str | None = None
    after: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


class Bridge(Protocol):
    """A bridge never leaves a chat without a window: whatever fails, the old binding is back before it answers. It may be
    asked twice for the same rebinding, and then finds it done."""

    name: str

    def binding(self) -> Binding | None:
        """What is bound now; None where that is not known."""

    def rebind(self, before: str, after: str, *, digest_holds: Callable[[], bool]) -> Rebound:
        """Moves the chat from session `before` to `after`: stop the bridge (or drain it), ask `digest_holds`, edit its
        store, start it, prove it.

        `digest_holds` answers, slowly, whether nobody wrote into the old window meanwhile. False: the bridge is started
        on `before` again and the answer is UNCHANGED. Raises OSError or Refusal only with the old binding in place.
        """

    def restore(self, before: str, after: str) -> Rebound:
        """The way back, from `after` to `before`, whatever either file holds by now."""
