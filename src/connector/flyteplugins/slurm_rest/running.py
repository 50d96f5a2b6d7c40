"""What a local run and the connector, which both live in this process then, have to tell each other."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field

__all__ = ["LOCAL_RUN", "LocalRun", "in_order"]

# For how long the end of a process waits for a cancellation.
_AT_EXIT = 15.0


@dataclass
class LocalRun:
    """One task that is run locally, by the name ``task``. ``ends`` cancel the jobs that were made for it.

    ``outputs`` are the names of its outputs in the order in which they are declared, which no template keeps.
    """

    outputs: tuple[str, ...] = ()
    ends: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    task: str = "task"
    told: str = ""

    def tell(self, message: str) -> None:
        """Show how its job is doing, on standard error, when that is news."""
        line = message.partition("\n")[0]
        if line != self.told:
            self.told = line
            print(f"{self.task}: {line}", file=sys.stderr, flush=True)  # noqa: T201  # for whoever waits

    async def cancel(self) -> None:
        """Cancel its jobs, each once, also when it is called again meanwhile: by the end of the process, say."""
        if self.ends:
            self.tell("the run was ended, its Slurm job is being cancelled")
        while self.ends:
            end = self.ends[-1]
            await end()
            # Not whichever is the last by now: another call may have been waiting for this one as well.
            if end in self.ends:
                self.ends.remove(end)

    def cancel_at_exit(self, loop: asyncio.AbstractEventLoop) -> None:
        """Cancel its jobs when this process ends while the loop, which is another thread's, still waits for them.

        ^C interrupts the main thread alone; flyte runs tasks in others, and does not wait for them then.
        """
        if loop.is_running():
            asyncio.run_coroutine_threadsafe(self.cancel(), loop).result(_AT_EXIT)


def in_order(outputs: Mapping[str, object] | None, run: LocalRun | None) -> Mapping[str, object] | None:
    """Return a local run's outputs in the order in which the task declares them; others as they are."""
    if outputs is None or run is None:
        return outputs
    return {name: outputs[name] for name in run.outputs if name in outputs}


LOCAL_RUN: ContextVar[LocalRun | None] = ContextVar("LOCAL_RUN", default=None)
