"""A circuit breaker: whether one way to Slurm is used, is given up, or may be tried again. Pure: no I/O, no clock.

Closed, the way is used. The first outage opens it: a request that fails costs its caller seconds, and reads have been
repeated already by then. Open, it is left alone for a pause; then one probe at a time may find out whether it answers
again. A probe that fails makes the pause longer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Breaker", "BreakerState"]

BreakerState = Literal["closed", "open", "half-open"]


@dataclass(slots=True)
class Breaker:
    """The breaker of one transport. ``clock`` gives seconds that only grow, ``spread`` a factor for each pause.

    ``spread`` keeps clients that lost the same daemon from asking for it all at once.
    """

    clock: Callable[[], float]
    first: float = 2.0
    longest: float = 60.0
    spread: Callable[[], float] = lambda: 1.0
    state: BreakerState = field(default="closed", init=False)
    reason: str = field(default="", init=False)
    changed: float | None = field(default=None, init=False)
    _pause: float = field(default=0.0, init=False)
    _next: float = field(default=0.0, init=False)

    @property
    def is_closed(self) -> bool:
        """True while the way is used."""
        return self.state == "closed"

    def begin_probe(self) -> bool:
        """Return whether a probe may begin now, and count it as begun: then it must end in one of the others."""
        if self.state != "open" or self.clock() < self._next:
            return False
        self.state = "half-open"
        return True

    def succeed(self) -> None:
        """Close: the way was used, or probed, and it works."""
        if self.state != "closed":
            self.state, self.reason, self.changed, self._pause = "closed", "", self.clock(), 0.0

    def fail(self, reason: str) -> None:
        """Open, or stay open for longer after a probe. Requests that were under way when it opened change nothing."""
        if self.state == "open":
            return
        if self.state == "closed":
            self.changed = self.clock()
        self._pause = min(max(self._pause * 2, self.first), self.longest)
        self.state, self.reason = "open", reason
        self._next = self.clock() + self._pause * self.spread()

    def abandon_probe(self) -> None:
        """Take back a probe that told nothing; the next may begin at once."""
        if self.state == "half-open":
            self.state = "open"
