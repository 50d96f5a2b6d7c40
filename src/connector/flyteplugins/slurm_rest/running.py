"""What a local run and the connector, which both live in this process then, have to tell each other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field

__all__ = ["LOCAL_RUN", "LocalRun"]


@dataclass
class LocalRun:
    """One task that is run locally. ``ends`` cancel the jobs that were made for it.

    ``outputs`` are the names of its outputs in the order in which they are declared, which no template keeps.
    """

    outputs: tuple[str, ...] = ()
    ends: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def cancel(self) -> None:
        """Cancel its jobs."""
        for end in self.ends:
            await end()


LOCAL_RUN: ContextVar[LocalRun | None] = ContextVar("LOCAL_RUN", default=None)
