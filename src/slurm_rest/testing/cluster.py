"""A Slurm cluster in memory: takes jobs, lets them wait, runs them, ends them, forgets them.

One event loop drives it. Nothing here knows a wire format; see answers.py for that.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import getpass
import os
import re
import signal as signals
import time
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence

from .dependencies import read_dependency
from .errors import Refused
from .jobs import ENDED, FakeJob, JobRequest, Owner, task_list
from .nodes import Machines, Partition
from .runner import Runner
from .scheduling import Scheduler
from .variables import job_variables

__all__ = ["FakeCluster"]

# No process outlives SIGKILL for long; FakeSlurm.stop waits longer.
_END_SECONDS = 60.0
_LABEL = re.compile(r"(\d+)(?:_(\d+)|\+(\d+))?")


class FakeCluster:
    """A cluster of pretended nodes.

    ``release`` is whose habits it has (24.11 or 26.05); ``users`` are names and uids, besides root, slurm, alice, bob
    and whoever runs this. With ``run`` the scripts are executed on this machine, below ``root`` (a temporary folder);
    without it jobs stay where ``start`` and ``finish`` put them. ``min_job_age`` is how many seconds an ended job stays
    in the controller, ``kill_wait`` how long a cancelled one may take to end, ``requeue_delay`` how long a requeued one
    waits. ``advance`` moves the cluster's clock.
    """

    def __init__(
        self,
        release: str = "24.11",
        *,
        name: str = "fake",
        nodes: int = 2,
        cpus: int = 8,
        users: Mapping[str, int] | None = None,
        root: str | os.PathLike[str] | None = None,
        run: bool = True,
        min_job_age: float = 300.0,
        kill_wait: float = 5.0,
        requeue_delay: float = 120.0,
    ) -> None:
        self.release, self.name, self.runs = release, name, run
        self.users = {"root": 0, "slurm": 64030, "alice": 1000, "bob": 1001, getpass.getuser(): os.getuid()}
        self.users |= users or {}
        self.machines = Machines(nodes, cpus)
        self.min_job_age, self.requeue_delay = min_job_age, requeue_delay
        self.started_at = time.time()
        self.counts = dict.fromkeys(("submitted", "started", "completed", "canceled", "failed"), 0)
        self.jobs: dict[int, list[FakeJob]] = {}
        self.records: dict[int, list[FakeJob]] = {}
        self.runner = Runner(root, kill_wait)
        self._scheduler = Scheduler(self)
        self._offset = 0.0
        self._last_id = 0
        self._ended: deque[FakeJob] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False

    # --- time and lookups -----------------------------------------------------------------------------------

    def now(self) -> float:
        """The cluster's time."""
        return time.time() + self._offset

    def advance(self, seconds: float) -> None:
        """Move the clock on: limits are reached, delays pass, jobs are forgotten."""
        self._offset += seconds
        self.settle(everything=True)

    @property
    def partitions(self) -> Sequence[Partition]:
        """The partitions, default first."""
        return self.machines.partitions

    def owner(self, name: str) -> Owner | None:
        """Return a user of the cluster."""
        return Owner(name, self.users[name]) if name in self.users else None

    def all_jobs(self) -> Iterator[FakeJob]:
        """Yield every job in the controller once, by the id of its submission."""
        for group, jobs in self.jobs.items():
            yield from (job for job in jobs if job.group == group)

    def members(self, job_id: int) -> list[FakeJob]:
        """Return the jobs that an id stands for in the controller: itself, an array's tasks, a het job's components."""
        return list(self.jobs.get(job_id, ()))

    def find(self, job_id: int) -> list[FakeJob]:
        """Return the jobs of an id, those that left the controller included."""
        return [one for one in self.records.get(job_id, ()) if not one.flags & {"REQUEUED"}] or self.members(job_id)

    def labelled(self, label: str) -> list[FakeJob]:
        """Return the jobs that ``12``, ``12_3``, ``12_[3]`` or ``12+1`` names; ValueError for another form."""
        found = _LABEL.fullmatch(label.replace("[", "").replace("]", ""))
        if not found:
            raise ValueError(label)
        jobs = self.members(int(found[1]))
        if found[2] is not None:
            return [job for job in jobs if job.task_id == int(found[2])]
        return [job for job in jobs if found[3] is None or job.offset == int(found[3])]

    # --- submitting -----------------------------------------------------------------------------------------

    def new_id(self) -> int:
        """Return the next job id."""
        self._last_id += 1
        return self._last_id

    def submit(self, requests: Sequence[JobRequest], owner: Owner, *, hold: bool = False) -> int:
        """Take a job, an array, or a het job of several requests; returns its id, or raises Refused."""
        first = requests[0]
        conditions = self._conditions(first)
        try:
            tasks, limit = task_list(first.array, 1000) if first.array else ([], 0)
        except ValueError:
            raise Refused(2081) from None
        self._check(requests)
        job_id, now, made = self.new_id(), self.now(), []
        for number, request in enumerate(requests):
            for task in tasks or (None,):
                job = FakeJob(job_id if number == 0 else self.new_id(), request, owner, now, array_limit=limit)
                job.begin, job.comment = request.begin, request.text("comment")
                limit_of_all = self.machines.partition_of(job).max_time
                job.time_limit = limit_of_all if request.time_limit is None else request.time_limit
                if task is not None:
                    job.id, job.array_id, job.task_id = 0, job_id, task
                if len(requests) > 1:
                    job.het_id, job.offset = job_id, number
                if hold:
                    job.held = job.reason = "JobHeldUser"
                elif conditions:
                    job.reason = "Dependency"
                self._add(job)
                made.append(job)
        if len(tasks) == 1:
            self.jobs[job_id][0].id = job_id
        self.counts["submitted"] += 1
        self._scheduler.admit(made)
        return job_id

    def _check(self, requests: Sequence[JobRequest]) -> None:
        for request in requests:
            if request.partition and not any(one in self.machines.names for one in request.partition.split(",")):
                raise Refused(2000)
            if any(len(request.text(name).encode("utf-8", "surrogateescape")) > 1024 for name in ("name", "comment")):
                raise Refused(2012)
            nice = request.fields.get("nice")
            if isinstance(nice, int) and nice < 0:
                raise Refused(2123)

    def _conditions(self, request: JobRequest) -> bool:
        try:
            conditions, _ = read_dependency(request.dependency)
        except ValueError:
            raise Refused(2038) from None
        if any(one.job_id and not self.members(one.job_id) for one in conditions):
            raise Refused(2038)
        return bool(conditions)

    def _add(self, job: FakeJob) -> None:
        for index in (self.jobs, self.records):
            for key in dict.fromkeys((job.group, job.id or job.group)):
                index.setdefault(key, []).append(job)

    # --- starting and ending --------------------------------------------------------------------------------

    def settle(self, *, everything: bool = False) -> None:
        """Do what is due: forget, end what took too long, start what can. Cheap when nothing is."""
        if self._is_closed:
            return  # the room that killed jobs leave is for no other
        while self._ended and self._ended[0].end_time + self.min_job_age <= self.now():
            self._forget(self._ended.popleft())
        self._scheduler.settle(everything=everything)

    def start(self, job: FakeJob, nodes: Sequence[str] = ("n1",)) -> None:
        """Let a job run."""
        if job.array_id and not job.id:
            waiting = [one for one in self.members(job.array_id) if one.is_pending and not one.id]
            # The last one to start keeps the array's own id.
            job.id = job.array_id if len(waiting) == 1 else self.new_id()
            if job.id != job.array_id:
                self.jobs[job.id], self.records[job.id] = [job], [job]
        job.base, job.reason, job.nodes, job.start_time = "RUNNING", "None", tuple(nodes), self.now()
        job.flags.clear()
        self.counts["started"] += 1
        self.machines.take(job)
        if self.runs and not job.offset:  # only the leader of a het job has a script; the others end with it
            self.runner.expect(job)
            self._spawn(self._run(job))

    async def _run(self, job: FakeJob) -> None:
        ended = await self.runner.run(job, job_variables(self, job))
        self.finish(job, ended.code, ended.signal)
        self.settle(everything=True)

    def finish(self, job: FakeJob, code: int = 0, signal: int = 0, state: str = "") -> None:
        """End a job with an exit code or a signal; ``state`` is what its end is called if that does not say it."""
        if job.is_over or (not job.nodes and not job.is_pending):
            return
        requeue = job.cause == "REQUEUE"
        base = state or ("" if requeue else job.cause) or ("COMPLETED" if code == signal == 0 else "FAILED")
        self.machines.give_back(job)
        if requeue:
            self._again(job)
            return
        job.base, job.end_time = base, self.now()
        job.flags.discard("COMPLETING")
        job.exit_code, job.signal = code, signal
        if job.cause in ("CANCELLED", "TIMEOUT") and not code and not signal:
            job.signal = signals.SIGTERM
        if base == "FAILED":
            job.reason = "RaisedSignal" if signal else "NonZeroExitCode"
            job.description = f"RaisedSignal:{signal}({_signal_words(signal)})" if signal else ""
        elif base == "TIMEOUT":
            job.reason = "TimeLimit"
        self.counts[{"COMPLETED": "completed", "CANCELLED": "canceled"}.get(base, "failed")] += 1
        self._ended.append(job)
        for other in self.members(job.het_id) if job.offset == 0 else ():
            other.cause = other.cause or job.cause
            self.finish(other, code, signal, state)

    def _again(self, job: FakeJob) -> None:
        """Put a requeued job back, and keep what it was in accounting."""
        before = copy.copy(job)
        job.restarts += before.is_over
        before.restarts = job.restarts - 1
        before.base, before.flags, before.end_time = "PENDING", {"REQUEUED"}, self.now()
        for key in {job.group, job.id}:
            records = self.records[key]
            records.insert(records.index(job), before)
        job.base, job.cause, job.nodes, job.start_time, job.end_time = "PENDING", "", (), 0.0, 0.0
        job.flags.clear()
        job.exit_code = job.signal = 0
        job.begin = self.now() + self.requeue_delay
        job.reason = job.held or "BeginTime"

    def _forget(self, job: FakeJob) -> None:
        for key in {job.group, job.id}:
            with contextlib.suppress(KeyError, ValueError):
                self.jobs[key].remove(job)
                if not self.jobs[key]:
                    del self.jobs[key]

    def purge(self) -> None:
        """Let the controller forget every job that is over, as after MinJobAge."""
        while self._ended:
            self._forget(self._ended.popleft())

    # --- acting on jobs -------------------------------------------------------------------------------------

    def cancel(self, jobs: Iterable[FakeJob], by: Owner, signal: int | None = None) -> dict[FakeJob, int]:
        """Cancel jobs, or send them a signal; returns Slurm's error number for each, 0 where it was done."""
        chosen = list(jobs)
        alone = chosen[0] if len(chosen) == 1 and chosen[0].is_pending and not chosen[0].id else None
        outcome = {job: self._cancel(job, by, signal) for job in chosen}
        if alone is not None and alone.is_over:
            # Of a task that is cancelled alone while it waits there is no trace, but of the last one that waits the
            # array's record is left, without a task (24.11 and 26.05).
            if any(one.is_pending and not one.id for one in self.members(alone.array_id)):
                self._leave_no_trace(alone)
            else:
                alone.is_remainder = True
        self.settle(everything=True)
        return outcome

    def _cancel(self, job: FakeJob, by: Owner, signal: int | None) -> int:
        if by.uid and by != job.owner:
            return 2002
        if job.base in ENDED or (job.cause and job.cause != "REQUEUE"):
            return 2021
        if signal not in (None, signals.SIGKILL, signals.SIGTERM):
            self.runner.signal(job, signal)
            return 0
        job.killed_by = by.name
        if job.is_pending and not job.nodes:
            self._drop(job)
            return 0
        self.kill(job, "CANCELLED", signal)
        return 0

    def _drop(self, job: FakeJob) -> None:
        """Cancel a job that waits. Of a single array task nothing remains; of the last ones the array's record does."""
        job.cause = "CANCELLED"
        job.start_time = self.now()
        reason = job.reason
        self.finish(job, state="CANCELLED")
        job.reason, job.signal = reason, 0

    def kill(self, job: FakeJob, cause: str, signal: int | None = None) -> None:
        """End a running job, and call its end ``cause``."""
        job.cause = cause
        job.base = "PENDING" if cause == "REQUEUE" else cause
        job.flags.add("COMPLETING")
        if not self.runs:
            self.finish(job, signal=0 if cause == "REQUEUE" else signals.SIGTERM)
        elif signal == signals.SIGKILL:
            self.runner.signal(job, signal)
        else:
            self._spawn(self.runner.end(job))

    def _leave_no_trace(self, job: FakeJob) -> None:
        for index in (self.jobs, self.records):
            with contextlib.suppress(KeyError, ValueError):
                index[job.array_id].remove(job)
        with contextlib.suppress(ValueError):
            self._ended.remove(job)

    def restart(self, job: FakeJob) -> None:
        """Put a job back into the queue, under the same id."""
        if job.is_over:
            with contextlib.suppress(ValueError):
                self._ended.remove(job)
            self._again(job)
        else:
            job.restarts += 1
            job.reason = job.held or job.reason
            self.kill(job, "REQUEUE")

    # --- the end --------------------------------------------------------------------------------------------

    def call_later(self, delay: float, what: Callable[[], None]) -> asyncio.TimerHandle | None:
        """Call something later, if there is a loop to do it."""
        try:
            return asyncio.get_running_loop().call_later(max(delay, 0), what)
        except RuntimeError:
            return None

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Kill what runs, and remove the temporary folder."""
        self._is_closed = True
        self._scheduler.stop()
        for job in self.all_jobs():
            self.runner.signal(job, signals.SIGKILL)
        if self._tasks:
            # Processes that were killed are waited for, so that none is left behind, also those that a busy machine
            # is still starting.
            await asyncio.wait(self._tasks, timeout=_END_SECONDS)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        self.runner.close()


def _signal_words(number: int) -> str:
    return signals.strsignal(number) or f"Unknown signal {number}" if number < 65 else f"Unknown signal {number}"
