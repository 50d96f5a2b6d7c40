"""Cancels jobs though Slurm is away: each call is answered in time, and what it could not do is done later.

How often the platform asks again for what failed is its own affair; a job that nobody wants must not run on for that.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import time
from collections.abc import Awaitable, Callable

from slurm_rest.errors import AccountingDown, CommandMissing, ControllerDown, HostKeyError, Timeout, TransportError
from slurm_rest.within import within

__all__ = ["Deletions"]

log = logging.getLogger("flyteplugins.slurm_rest")

# The platform gives a call ten seconds.
_PATIENCE = 8.0
# For how long it is tried in all. What comes back later has lost the job, or its user has seen to it.
_SECONDS = 86_400.0
_PAUSES = (1.0, 2.0, 5.0, 10.0, 30.0)
_PASSING = (TransportError, ControllerDown, AccountingDown)
# Somebody has to mend these first.
_LASTING = (HostKeyError, CommandMissing)


class Deletions:
    """Cancellations that are under way, one for each job, however often it is asked for."""

    def __init__(self, patience: float = _PATIENCE) -> None:
        self._patience = patience
        self._going: dict[str, _Deletion] = {}

    async def run(self, key: str, job_id: str, cancel: Callable[[], Awaitable[None]]) -> None:
        """Have ``cancel`` done; raises what it raised at this try, and Timeout where that lasts too long.

        After an outage it is tried again, also when nobody waits for it any more.
        """
        going = self._going.get(key)
        if going is None:
            going = self._going[key] = _Deletion(job_id, cancel)
            going.task.add_done_callback(lambda _: self._going.pop(key))
        attempt = going.hurry(cancel)
        await asyncio.wait([attempt], timeout=self._patience)
        if not attempt.done():
            raise Timeout(
                f"Slurm job {job_id} is not cancelled yet: Slurm has not answered for {self._patience:g} s",
                hint="The connector goes on trying; another call tells how that went.",
            )
        attempt.result()


class _Deletion:
    """One job that is to be cancelled, by a task of its own."""

    def __init__(self, job_id: str, cancel: Callable[[], Awaitable[None]]) -> None:
        self._job_id, self._cancel = job_id, cancel
        self._attempt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked = asyncio.Event()
        self.task = asyncio.create_task(self._go_on(), name=f"cancel job {job_id}")

    def hurry(self, cancel: Callable[[], Awaitable[None]]) -> asyncio.Future[None]:
        """Return the try that goes on, or the next one, which begins at once: somebody asks, maybe with new secrets."""
        self._cancel = cancel
        self._asked.set()
        return self._attempt

    async def _go_on(self) -> None:
        end = time.monotonic() + _SECONDS
        for pause in itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1])):
            self._asked.clear()
            if not await self._try() or time.monotonic() > end:
                return
            self._attempt = asyncio.get_running_loop().create_future()
            with contextlib.suppress(TimeoutError):
                await within(pause, self._asked.wait())

    async def _try(self) -> bool:
        """Try once; return whether another try may do better."""
        try:
            await self._cancel()
        except asyncio.CancelledError:
            self._attempt.cancel()
            raise
        except Exception as error:  # told to whoever waits
            self._attempt.set_exception(error)
            # Nobody need wait.
            self._attempt.exception()
            if not isinstance(error, _PASSING) or isinstance(error, _LASTING):
                return False
            log.warning("Job %s is not cancelled yet, and it is tried again: %s", self._job_id, error.message)
            return True
        self._attempt.set_result(None)
        return False
