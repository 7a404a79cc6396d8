"""No bridge: the operator opens the new window by hand, or wants only the file."""

from __future__ import annotations

from collections.abc import Callable

from sessions.gateways.bridges.bridge import Binding, Rebinding, Rebound


class NoBridge:
    """`why` is the code of the reason: there is none, or it may not be touched."""

    name = "none"

    def __init__(self, why: str = "no-bridge") -> None:
        self._nothing = Rebound(Rebinding.NONE, detail={"code": why})

    def binding(self) -> Binding | None:
        return None

    def rebind(self, before: str, after: str, *, digest_holds: Callable[[], bool]) -> Rebound:
        return self._nothing

    def restore(self, before: str, after: str) -> Rebound:
        return self._nothing
