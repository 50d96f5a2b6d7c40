"""Runs coroutines for blocking code, on an event loop of its own in a background thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Coroutine
from typing import TypeVar

from .errors import SlurmError

__all__ = ["LoopThread", "Portal"]

T = TypeVar("T")

# An interrupted submission takes up to 4 s to learn its job id, and a moment to cancel the job.
_CLEAN_UP_SECONDS = 8.0


class Portal:
    """What a blocking client, its handles and its iterators run their coroutines on.

    They all refer to it, and with the last of them gone the client is closed: ``SlurmClient().submit(...).wait()``
    works, though nobody keeps the client itself.
    """

    def __init__(self, close_client: Callable[[], Coroutine[object, object, None]]) -> None:
        self._thread = LoopThread()
        # The function must not lead back here, or nothing would ever be the last.
        self._finalizer = weakref.finalize(self, _shut_down, close_client, self._thread)

    def run(self, coroutine: Coroutine[object, object, T], /) -> T:
        """Run a coroutine to its end and return its result."""
        return self._thread.run(coroutine)

    def close(self) -> None:
        """Close the client and end the thread; a second time does nothing."""
        self._finalizer()


def _shut_down(close_client: Callable[[], Coroutine[object, object, None]], thread: LoopThread) -> None:
    # At interpreter exit the daemon thread may be gone already; there is nothing left to lose then.
    with contextlib.suppress(RuntimeError, SlurmError, concurrent.futures.CancelledError):
        thread.run(close_client())
    thread.close()


class LoopThread:
    """An event loop in a daemon thread. ``run`` may be called from any other thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slurm_rest", daemon=True)
        self._thread.start()
        self._process = os.getpid()
        # Who is handed over before the end began is ended with it, and who comes later is told: none waits for ever.
        self._handing_over = threading.RLock()
        self._ending = False
        self._last: asyncio.Task[None] | None = None

    def run(self, coroutine: Coroutine[object, object, T], /) -> T:
        """Run a coroutine to its end and return its result; ^C cancels it and waits until it has cleaned up."""
        outcome: concurrent.futures.Future[T] = concurrent.futures.Future()
        tasks: list[asyncio.Task[T]] = []
        if os.getpid() != self._process:
            # The thread stayed with the parent: waiting for it would never end.
            coroutine.close()
            raise SlurmError("This client was made before the fork, by another process", hint="Make one in each.")
        if self._ending or threading.current_thread() is self._thread:
            coroutine.close()
            if self._ending:
                raise _closed()
            hint = "Act after the wait, or from a thread of your own."
            raise SlurmError("A callback of a client cannot wait for the same client", hint=hint)

        def start() -> None:
            task = self._loop.create_task(coroutine)
            task.add_done_callback(lambda done: self._hand_over(done, outcome))
            tasks.append(task)

        def end() -> None:
            if tasks:
                # Not outcome.cancel(): that would be done before the task is.
                tasks[0].cancel()
            else:
                coroutine.close()
                outcome.cancel()

        try:
            # ^C may come in the middle of this, too.
            with self._handing_over:
                if self._ending:
                    coroutine.close()
                    raise _closed()
                self._loop.call_soon_threadsafe(start)
            return outcome.result()
        except BaseException:
            if not (outcome.done() or self._ending):
                self._loop.call_soon_threadsafe(end)
                concurrent.futures.wait([outcome], timeout=_CLEAN_UP_SECONDS)
            raise

    def close(self) -> None:
        """End what still runs, the loop and the thread."""
        # A forked child shares the loop's files with its parent, who goes on.
        if self._loop.is_closed() or os.getpid() != self._process:
            return
        with self._handing_over:
            is_first, self._ending = not self._ending, True
            if is_first:
                self._loop.call_soon_threadsafe(self._end)
        if threading.current_thread() is self._thread:
            # The garbage collector may come here from any thread; the loop ends right after.
            return
        self._thread.join(timeout=_CLEAN_UP_SECONDS + 2)
        if not self._thread.is_alive():
            self._loop.close()

    def _end(self) -> None:
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()

        async def stop() -> None:
            if left:
                await asyncio.wait(left, timeout=_CLEAN_UP_SECONDS)
            self._loop.stop()

        self._last = self._loop.create_task(stop())

    def _hand_over(self, task: asyncio.Task[T], outcome: concurrent.futures.Future[T]) -> None:
        if task.cancelled():
            closed = SlurmError("The client was closed during a call", hint="Jobs go on.")
            outcome.set_exception(closed if self._ending else concurrent.futures.CancelledError())
        elif (error := task.exception()) is not None:
            outcome.set_exception(error)
        else:
            outcome.set_result(task.result())


def _closed() -> SlurmError:
    return SlurmError("This client is closed", hint="Make a new one.")
