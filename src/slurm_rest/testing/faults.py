"""What can go wrong between a client and Slurm, on demand."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass, field

__all__ = ["Fault", "Faults"]


class Fault(enum.Enum):
    """What becomes of one request."""

    LOST_BEFORE = "the connection is cut, and nothing was done"
    LOST_AFTER = "it is carried out, and the connection is cut before the answer"
    FAILED_BEFORE = "answered 503 as by a proxy, and nothing was done"
    FAILED_AFTER = "carried out, and answered 500 as by a proxy"
    REJECTED = "answered as if the token were bad (511)"


@dataclass(slots=True)
class _Planned:
    fault: Fault
    times: int
    method: str
    path: re.Pattern[str]


@dataclass(slots=True)
class Faults:
    """Faults to come, and daemons that are away; may be changed at any time.

    ``controller_down`` and ``accounting_down`` are slurmctld and slurmdbd; ``rejects_tokens`` refuses every token;
    ``duplicates`` makes accounting send every record twice; ``errors_twice`` writes every error answer twice, as 26.05
    does; ``latency`` is how many seconds every answer takes.
    """

    controller_down: bool = False
    accounting_down: bool = False
    rejects_tokens: bool = False
    duplicates: bool = False
    errors_twice: bool = False
    latency: float = 0.0
    _planned: list[_Planned] = field(default_factory=list)

    def inject(self, fault: Fault, *, times: int = 1, method: str = "POST", path: str = "") -> None:
        """Let ``fault`` happen to the next requests with this method whose path contains a match of ``path``.

        By default that is the next submission. An empty ``method`` means any.
        """
        self._planned.append(_Planned(fault, times, method, re.compile(path)))

    def clear(self) -> None:
        """Let everything go well again."""
        fresh = Faults()
        for name in ("controller_down", "accounting_down", "rejects_tokens", "duplicates", "errors_twice", "latency"):
            setattr(self, name, getattr(fresh, name))
        self._planned.clear()

    def take(self, method: str, path: str) -> Fault | None:
        """Return the fault that this request meets, which is then one fewer."""
        for planned in self._planned:
            if planned.method in ("", method) and planned.path.search(path):
                planned.times -= 1
                if not planned.times:
                    self._planned.remove(planned)
                return planned.fault
        return None
