"""Turns tried out for a plan: each is read and copied once, into nothing, and weighed as it would be kept (spec W6).

So the plan counts what the run will write, and no line is read twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sessions.actions.copying import record_at
from sessions.core.plan import Fat
from sessions.core.surgery import Copyist, Order, Tally
from sessions.core.tokens import generation_of
from sessions.core.turns import Step, Turn
from sessions.core.weighing import weigh
from sessions.gateways.transcripts import Reader
from sessions.models import Window


@dataclass(slots=True)
class Tried:
    """One turn as it would be kept: tokens, what was counted, the lines that lose something, and the side files
    (`tool-results/<name>`) that its texts point to."""

    tokens: int
    tally: Tally
    fat: list[Fat]
    pointed: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Trial:
    """Tries turns of one window. `last` is the idx on which the talk ends: that turn keeps its pictures. Raises, while it
    weighs, what `copying.record_at` raises."""

    window: Window
    reader: Reader
    steps: Sequence[Step]
    order: Order
    last: int
    _tried: dict[int, Tried] = field(default_factory=dict)

    def weigh(self, turn: Turn) -> int:
        """Tokens of a turn as it would stand in the new window."""
        return self.of(turn).tokens

    def of(self, turn: Turn) -> Tried:
        if turn.first not in self._tried:
            self._tried[turn.first] = self._try(turn)
        return self._tried[turn.first]

    def _try(self, turn: Turn) -> Tried:
        steps = self.steps[turn.first : turn.last + 1]
        pointed: set[str] = set()
        records = [record_at(self.reader, step, self.order.source, pointed) for step in steps]
        copyist = Copyist(self.order)
        pieces = copyist.pieces(records, is_last=turn.last == self.last)
        weights = weigh(pieces, steps, generation=generation_of(self.window.model), calibration=self.window.calibration)
        before = {step.idx: step.tokens for step in steps}
        fat = [Fat(idx, before[idx], after) for idx, after in weights.items() if after < before[idx]]
        return Tried(sum(weights.values()), copyist.tally, fat, pointed)


def summed(tried: Sequence[Tried], most: int = 8) -> tuple[Tally, list[Fat], set[str]]:
    """Of all turns that stay: what was counted, the lines that lose most, the side files pointed to."""
    tally, pointed = Tally(), set[str]()
    for one in tried:
        tally.add(one.tally)
        pointed |= one.pointed
    fat = sorted((fat for one in tried for fat in one.fat), key=lambda it: it.after - it.before)
    return tally, fat[:most], pointed
