"""What the commands share: a client for the options in front, and arguments that name jobs."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from slurm_rest.client import AsyncSlurmClient
    from slurm_rest.config import TransportName
    from slurm_rest.job import AsyncJob

__all__ = ["JobId", "JobIds", "Named", "Seconds", "json_option", "listed", "log_to_stderr", "with_client"]

T = TypeVar("T")


def with_client(
    ctx: click.Context, work: Callable[[AsyncSlurmClient], Awaitable[T]], transport: TransportName | None = None
) -> T:
    """Open a client for the settings at hand, do the work and close it; ``transport`` pins one."""
    from slurm_rest.client import AsyncSlurmClient  # 0.2 s that --help need not take

    async def run() -> T:
        async with AsyncSlurmClient(**{**ctx.obj, **({"transport": transport} if transport else {})}) as client:
            return await work(client)

    return asyncio.run(run() if sys.version_info >= (3, 11) else _interruptible(run()))


async def _interruptible(work: Coroutine[object, object, T]) -> T:
    """Let ^C cancel the work and nothing else, as newer Pythons do, so that it can clean up after itself."""
    task = asyncio.ensure_future(work)
    interrupts = []

    def interrupt() -> None:
        interrupts.append(signal.SIGINT)
        task.cancel()

    if threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupt)
    try:
        return await task
    except asyncio.CancelledError:
        if not interrupts:
            raise
        raise KeyboardInterrupt from None


def log_to_stderr(ctx: click.Context, verbose: int) -> None:
    """Write what the library does to stderr for as long as this command runs; each request where verbose is 2."""
    level = logging.DEBUG if verbose > 1 else logging.INFO
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("slurm-rest: %(message)s"))
    # Warnings have a handler of their own.
    handler.addFilter(lambda record: record.levelno < logging.WARNING)
    logger = logging.getLogger("slurm_rest")
    before = logger.level
    logger.setLevel(level)
    logger.addHandler(handler)

    def undo() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)

    ctx.call_on_close(undo)


@dataclass(frozen=True, slots=True)
class Named:
    """A job as it was named: a whole one, a task of an array (``12_3``) or a component of a het job (``12+1``)."""

    id: int
    task_id: int | None = None
    offset: int | None = None

    @property
    def is_member(self) -> bool:
        """True for a task or a component."""
        return self.task_id is not None or self.offset is not None

    def of(self, client: AsyncSlurmClient) -> AsyncJob:
        """Return the handle of a client for it."""
        from slurm_rest.job import AsyncJob

        return AsyncJob(client, self.id, task_id=self.task_id, offset=self.offset)

    def __str__(self) -> str:
        """Return the name in Slurm's form."""
        if self.task_id is not None:
            return f"{self.id}_{self.task_id}"
        return f"{self.id}+{self.offset}" if self.offset is not None else str(self.id)


class JobId(click.ParamType):  # type: ignore[type-arg]  # generic in click's newer releases only
    """The number of a job, an array or a het job: ``12``; or of one member: ``12_3``, ``12+1``."""

    name = "job"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Named:
        """Return the job that is meant, or fail with what a job id looks like."""
        text = str(value)
        found = re.fullmatch(r"([0-9]{1,18})(?:_([0-9]{1,10})|\+([0-9]{1,10}))?", text)
        if found and int(found[1]):
            task_id, offset = (int(part) if part else None for part in found.group(2, 3))
            return Named(int(found[1]), task_id, offset)
        if re.fullmatch(r"0*[1-9][0-9]{0,17}_\[[0-9,:%.-]+\]", text):
            array = int(text.partition("_")[0])
            problem = f"names several tasks; write {array}_3 for task 3, or {array} for the whole array"
            return self.fail(f"{text!r} {problem}", param, ctx)
        problem = "is not a job id; ids are numbers from 1 up, or 12_3 for a task and 12+1 for a component"
        return self.fail(f"{text!r} {problem}", param, ctx)


_MOST_TASKS = 1000


class JobIds(JobId):
    """A job id, or several tasks of an array as ``slurm-rest jobs`` and squeue list them: ``12_[1-3,7%2]``."""

    def several(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> list[Named]:
        """Return the jobs that are meant, or fail with what an id looks like."""
        found = re.fullmatch(r"([0-9]{1,18})_\[([0-9,:.-]+)(?:%[0-9]+)?\]", value)
        if found is None or not int(found[1]):
            return [self.convert(value, param, ctx)]
        whole = f"cancel the whole array as {int(found[1])}, or name tasks as in {int(found[1])}_[1-3,7]"
        if found[2].endswith("..."):
            self.fail(f"{value!r} is cut short by Slurm; {whole}", param, ctx)
        spans = [_span(part) for part in found[2].split(",")]
        if not all(spans):
            self.fail(f"{value!r} is no list of tasks; {whole}", param, ctx)
        if sum(map(len, spans)) > _MOST_TASKS:
            self.fail(f"{value!r} names more than {_MOST_TASKS} tasks; {whole}", param, ctx)
        return [Named(int(found[1]), task_id) for span in spans for task_id in span]


def _span(part: str) -> range:
    """Return the tasks of ``3``, ``1-5`` or ``1-5:2``, none for what is neither."""
    found = re.fullmatch(r"([0-9]{1,10})(?:-([0-9]{1,10})(?::([0-9]{1,10}))?)?", part)
    if found is None or (found[3] is not None and not int(found[3])):
        return range(0)
    return range(int(found[1]), int(found[2] or found[1]) + 1, int(found[3] or 1))


class Seconds(click.ParamType):  # type: ignore[type-arg]  # generic in click's newer releases only
    """A span of time: ``90`` or ``90s``, ``30m``, ``2h``, ``1d``, ``5:00``, ``1:30:00`` or ``2-12:00:00``."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds, or fail with the forms that are taken."""
        seconds = _seconds(str(value).strip().lower())
        if not seconds:
            self.fail(f"{value!r} is no time; write seconds, or 90s, 30m, 2h, 1d, M:S, H:M:S, D-H:M:S", param, ctx)
        return seconds


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_LONGEST = 10 * 365 * 86400


def _seconds(text: str) -> float | None:
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smhd]?)", text)
    clock = re.fullmatch(r"(?:([0-9]{1,6})-)?([0-9]{1,6}):([0-9]{1,6})(?::([0-9]{1,6}))?", text)
    if found:
        seconds = float(found[1]) * _UNITS[found[2]]
    elif clock and clock[1] is None and clock[4] is None:
        seconds = int(clock[2]) * 60 + int(clock[3])
    elif clock:
        days, hours, minutes, rest = (int(part or 0) for part in clock.groups())
        seconds = ((days * 24 + hours) * 60 + minutes) * 60 + rest
    else:
        return None
    return float(min(seconds, _LONGEST))


def json_option(
    keys: Collection[str], what: str = "a list of objects"
) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Return the option ``--json``, whose help names the keys of what it prints."""
    return click.option("--json", "as_json", is_flag=True, help=f"Print {what} with: {', '.join(keys)}.")


def listed(ids: Collection[object]) -> str:
    """Return ids for a message: the first few and how many more."""
    few = list(ids)[:5]
    more = f" and {len(ids) - len(few)} more" if len(ids) > len(few) else ""
    return ", ".join(map(str, few)) + more
