"""What a local run and the connector, which both live in this process then, have to tell each other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

__all__ = ["LOCAL_RUN", "LocalRun", "in_order"]


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


def in_order(outputs: Mapping[str, object] | None, run: LocalRun | None) -> Mapping[str, object] | None:
    """Return a local run's outputs in the order in which the task declares them; others as they are."""
    if outputs is None or run is None:
        return outputs
    return {name: outputs[name] for name in run.outputs if name in outputs}


LOCAL_RUN: ContextVar[LocalRun | None] = ContextVar("LOCAL_RUN", default=None)
