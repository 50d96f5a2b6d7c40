"""A day's events in minutes: jobs end, fail, run out of time, are cancelled, requeued, preempted, lose their node.

One client submits and follows all of them, in several ways at once. Afterwards each final record has to agree with
what sacct says, and nobody may have been told an end that was not the last one.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from cluster.native import Cluster
from slurm_rest import AsyncJob, AsyncSlurmClient, JobInfo, JobState, SlurmError
from slurm_rest.watching import States

__all__ = ["CONF", "Day"]

# Jobs leave the controller soon after their end, so that many are known to accounting alone.
CONF = {"MinJobAge": "5", "RequeueExit": "77", "BatchStartTimeout": "10"}
_KINDS = {
    "end": 40,
    "fail": 12,
    "signal": 4,
    "cancel": 10,
    "cancel held": 3,
    "cancelled by root": 8,
    "requeue": 8,
    "requeue by exit": 4,
    "low": 8,
    "lose node": 3,
    "lose node once": 3,
    "time-out": 3,
}
_SUBMITTERS = 4
# After so long, what sacct says is its last word.
_ACCOUNTING_SECONDS = 90.0
_SLEEP = "#!/bin/sh\nsleep 600\n"
_SCRIPTS = {
    "end": "#!/bin/sh\nsleep 0.$(($$ % 10))\n",
    "fail": "#!/bin/sh\nexit $(($$ % 5 + 1))\n",
    "signal": "#!/bin/sh\nkill -9 $$\n",
    "requeue": '#!/bin/sh\n[ -n "$SLURM_RESTART_COUNT" ] || sleep 600\nexit 4\n',
    "requeue by exit": '#!/bin/sh\n[ -n "$SLURM_RESTART_COUNT" ] || exit 77\nexit 5\n',
    "low": "#!/bin/sh\nsleep 5\n",
    "lose node once": '#!/bin/sh\n[ -n "$SLURM_RESTART_COUNT" ] || sleep 600\n',
}


@dataclass
class Day:
    """Jobs, what was told of them, and what came out. ``seconds`` is how long jobs keep coming and events happen."""

    cluster: Cluster
    client: AsyncSlurmClient
    seed: int = 1
    jobs: dict[int, tuple[str, AsyncJob]] = field(default_factory=dict)
    told: dict[int, list[JobState]] = field(default_factory=dict)
    records: dict[int, JobInfo] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    untold: int = 0
    lost: set[int] = field(default_factory=set)

    async def run(self, count: int, seconds: float, *, patience: float = 240.0, timeouts: bool = True) -> None:
        """Live through it and compare; ``faults`` is empty if all went well."""
        chance = random.Random(self.seed)  # no secret
        weights = {kind: weight for kind, weight in _KINDS.items() if timeouts or kind != "time-out"}
        kinds = chance.choices([*weights], [*weights.values()], k=count)
        # What takes a minute by itself comes first.
        kinds.sort(key=lambda kind: kind != "time-out")
        started = time.monotonic()
        followers: list[asyncio.Task[None]] = []
        queue = iter(enumerate(kinds))

        async def submitter() -> None:
            for place, kind in queue:
                early = started + place * seconds * 0.8 / count - time.monotonic()
                await asyncio.sleep(max(0.0, early))
                job = await self._submit(kind)
                self.jobs[job.id] = (kind, job)
                followers.append(asyncio.create_task(self._follow(job)))

        events = asyncio.create_task(self._events(chance))
        try:
            await asyncio.gather(*(submitter() for _ in range(_SUBMITTERS)))
            everybody = asyncio.create_task(self._follow_all())
            done, late = await asyncio.wait([*followers, everybody], timeout=seconds + patience)
        finally:
            events.cancel()
            (ended,) = await asyncio.gather(events, return_exceptions=True)
        if not isinstance(ended, asyncio.CancelledError):
            self.faults.append(f"nothing happened any more: {ended!r}")
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        self.faults += [repr(task.exception()) for task in done if task.exception()]
        missing = sorted(set(self.jobs) - set(self.records))
        self.faults += [f"job {job_id} ({self.jobs[job_id][0]}) was never over" for job_id in missing]
        await self._compare()

    async def _submit(self, kind: str) -> AsyncJob:
        options: dict[str, object] = {"name": kind.replace(" ", "-"), "output": "/dev/null", "time": 10}
        if kind == "time-out":
            options["time"] = 1
        if kind == "cancel held":
            options["hold"] = True
        if kind == "lose node":
            options["requeue"] = False
        options |= {"qos": "low", "cpus_per_task": 4} if kind == "low" else {"qos": "normal"}
        return await self.client.submit(_SCRIPTS.get(kind, _SLEEP), **options)  # type: ignore[arg-type]  # by kind

    # --- those who look on ----------------------------------------------------------------------------------

    async def _follow(self, job: AsyncJob) -> None:
        """Wait for one job in one of three ways."""

        def note(states: States) -> None:
            self._note(job.id, states[job.id])

        try:
            if job.id % 3 == 0:
                async for change in job.watch():
                    self._note(job.id, change.state)
                    if change.record is not None:
                        self.records[job.id] = change.record
                    if change.error is not None:
                        raise change.error
            elif job.id % 3 == 1:
                (self.records[job.id],) = await self.client.wait([job], on_change=note)
            else:
                async for record in self.client.as_completed([job]):
                    self.records[job.id] = record
        except SlurmError as error:
            self.faults.append(f"job {job.id} ({self.jobs[job.id][0]}): {error}")

    async def _follow_all(self) -> None:
        """Watch all jobs by their bare ids, also those that have left long ago."""
        async for change in self.client.watch(list(self.jobs)):
            self._note(change.job_id, change.state)

    def _note(self, job_id: int, state: JobState) -> None:
        listed = self.told.setdefault(job_id, [])
        if not listed or listed[-1] != state:
            listed.append(state)

    # --- what happens ---------------------------------------------------------------------------------------

    async def _root(self, *argv: str) -> str:
        done = await asyncio.to_thread(self.cluster.exec, list(argv))
        return done.stdout

    def _of(self, *kinds: str) -> list[AsyncJob]:
        return [job for kind, job in self.jobs.values() if kind in kinds and job.id not in self.records]

    async def _events(self, chance: random.Random) -> None:
        """Let something happen every half second, until cancelled."""
        requeued: set[int] = set()
        turn = 0
        while True:
            await asyncio.sleep(0.5)
            turn += 1
            running = await self._running()
            await self._cancel(chance, running)
            again = [job.id for job in self._of("requeue") if job.id in running - requeued]
            for start in range(0, len(again), 20):
                await self._root("scontrol", "requeue", ",".join(map(str, again[start : start + 20])))
            requeued.update(again)
            await self._hurry()
            if turn % 4 == 2 and self._of("low"):
                await self._preempt()
            if turn % 4 == 3:
                await self._lose_node()
            if turn % 4 == 1:
                await self._root("scontrol", "update", f"nodename={','.join(self.cluster.nodes)}", "state=resume")

    async def _preempt(self) -> None:
        """Take a whole node for a moment, at the cost of jobs of lower standing."""
        script = "#!/bin/sh\nsleep 1\n"
        await self.client.submit(script, qos="high", ntasks=8, nodes=1, output="/dev/null", time=1)

    async def _lose_node(self) -> None:
        """Let the node fail that has a job which waits for that, with all that is on it."""
        used = await self._root("squeue", "-h", "-t", "R", "-n", "lose-node,lose-node-once", "-o", "%N %j %A")
        for line in used.splitlines():
            node, name, job_id = line.split()
            if name == "lose-node" or int(job_id) not in self.lost:
                self.lost.add(int(job_id))
                await self._root("scontrol", "update", f"nodename={node}", "state=down", "reason=trial")
                return

    async def _running(self) -> set[int]:
        text = await self._root("squeue", "-h", "-t", "R", "-o", "%A")
        return {int(word) for word in text.split()}

    async def _cancel(self, chance: random.Random, running: Collection[int]) -> None:
        mine = [job for job in self._of("cancel") if job.id in running or chance.random() < 0.1]
        await self.client.cancel([*mine, *self._of("cancel held")])
        admins = [str(job.id) for job in self._of("cancelled by root") if job.id in running]
        if admins:
            await self._root("scancel", *admins)

    async def _hurry(self) -> None:
        """Let requeued jobs start at once; Slurm makes them wait for two minutes."""
        text = await self._root("squeue", "-h", "-t", "PD", "-o", "%A %r")
        waiting = [line.split()[0] for line in text.splitlines() if line.endswith("BeginTime")]
        held = [line.split()[0] for line in text.splitlines() if line.endswith(("launch failed requeued held",))]
        for start in range(0, len(waiting), 50):
            ids = ",".join(waiting[start : start + 50])
            await self._root("scontrol", "update", f"jobid={ids}", "starttime=now")
        for job_id in held:
            await self._root("scontrol", "release", job_id)

    # --- what came out --------------------------------------------------------------------------------------

    async def _compare(self) -> None:
        said = await self._sacct()
        # Accounting hears of an end after the controller's clients do.
        end = time.monotonic() + _ACCOUNTING_SECONDS
        while time.monotonic() < end and any(
            said.get(job_id) not in ("REQUEUED", record.state.base.value) for job_id, record in self.records.items()
        ):
            await asyncio.sleep(0.5)
            said = await self._sacct()
        for job_id, record in sorted(self.records.items()):
            kind, final = self.jobs[job_id][0], record.state.base.value
            expected = said.get(job_id, "nothing")
            if expected == "REQUEUED" and record.state.is_terminal:
                # 24.11 closes no record of a job that is cancelled while it waits to be requeued.
                self.untold += 1
            elif final != expected:
                self.faults.append(f"job {job_id} ({kind}) ended {final}, and sacct says {expected}")
            wrong = [
                str(state) for state in self.told.get(job_id, ()) if state.is_terminal and state.base.value != final
            ]
            if wrong:
                self.faults.append(f"job {job_id} ({kind}) was called {', '.join(wrong)} before it ended {final}")

    async def _sacct(self) -> dict[int, str]:
        # By their ids: no span of time has those that were cancelled while held.
        ids = ",".join(map(str, self.jobs))
        text = await self._root("sacct", "-a", "-X", "-D", "-n", "-P", "-j", ids, "-o", "JobIDRaw,Submit,State")
        found: dict[int, tuple[str, str]] = {}
        for line in text.splitlines():
            job_id, submitted, state = line.split("|")
            found[int(job_id)] = max(found.get(int(job_id), ("", "")), (submitted, state.split()[0]))
        return {job_id: state for job_id, (_, state) in found.items()}

    def __str__(self) -> str:
        """Return what came out, a line each."""
        ends = Counter(f"{self.jobs[job_id][0]}: {record.state.base}" for job_id, record in self.records.items())
        restarts = sum(1 for record in self.records.values() if record.restart_count)
        accounting = sum(1 for record in self.records.values() if record.source == "accounting")
        rows = [
            *((what, str(count)) for what, count in sorted(ends.items())),
            ("jobs", str(len(self.jobs))),
            ("started more than once", str(restarts)),
            ("records from accounting", str(accounting)),
            ("requests", str(self.client.requests)),
            ("not closed by sacct", str(self.untold)),
            ("faults", str(len(self.faults))),
        ]
        return "\n".join(f"{what:<32}{count:>6}" for what, count in rows)
