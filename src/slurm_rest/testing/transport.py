"""A transport without any wire: a client of a cluster in memory."""

from __future__ import annotations

import signal as signals
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NoReturn, cast

from slurm_rest.api.base import ApiCaller
from slurm_rest.errors import (
    ApiError,
    ConfigError,
    JobNotFound,
    PermissionDenied,
    SlurmError,
    SubmitRejected,
)
from slurm_rest.history import HistoryQuery
from slurm_rest.models import (
    ActionResult,
    CancelResult,
    Diagnostics,
    JobInfo,
    JobUsage,
    Node,
    Partition,
    Ping,
    Submission,
    TransportHealth,
)
from slurm_rest.records import (
    read_accounting_job,
    read_controller_job,
    read_diagnostics,
    read_node,
    read_partition,
    read_ping,
)
from slurm_rest.sbatch.changes import changed_fields
from slurm_rest.states import JobState
from slurm_rest.transport.base import Capabilities, Counters, PreparedJob, StateRow
from slurm_rest.transport.ids import MAX_JOB_ID, base_id, check_id, check_signal, latest_records
from slurm_rest.transport.recovery import Look
from slurm_rest.usage import read_usage

from .answers import Answers
from .changing import change, requeue
from .cluster import FakeCluster
from .errors import WORDS, Refused
from .jobs import FakeJob, Owner
from .requests import read_submission
from .shapes import RELEASES, versions_of

__all__ = ["FakeTransport"]

_CANCELLED: Mapping[int, Literal["signalled", "already_over", "denied"]] = {0: "signalled", 2021: "already_over"}


class FakeTransport:
    """Slurm in memory, for ``AsyncSlurmClient(transport=...)`` and ``SlurmClient(transport=...)``.

    ``slurm`` is the cluster; without one of your own nothing is executed: jobs wait until ``start`` and end with
    ``finish``. ``user`` is who asks. While ``failing`` is an error, every call raises it. ``counters`` counts calls as
    requests.
    """

    name = "fake"
    where = "a cluster in memory"
    capabilities = Capabilities(diag=True, exactly_once=True)

    def __init__(self, slurm: FakeCluster | None = None, *, user: str = "alice") -> None:
        self.slurm = slurm or FakeCluster(run=False)
        self.user = user
        self.counters = Counters()
        self.failing: SlurmError | None = None
        self._version = versions_of(self.slurm.release)[-1]
        self._states: dict[tuple[str, ...], JobState] = {}

    def __repr__(self) -> str:
        """Return the user and how many jobs there are."""
        return f"<FakeTransport of {self.user}, {len(self.slurm.jobs)} jobs>"

    # --- what tests do to jobs ------------------------------------------------------------------------------

    def start(self, job_id: int) -> None:
        """Let a job run, or all waiting members of an array or het job."""
        for job in self.slurm.members(job_id):
            if job.is_pending:
                self.slurm.start(job)

    def finish(self, job_id: int, exit_code: int = 0, *, signal: int = 0, state: str = "") -> None:
        """End a job, or all members that are not over; ``state`` names an end such as NODE_FAIL."""
        for job in self.slurm.members(job_id):
            if job.is_pending:
                self.slurm.start(job)
            self.slurm.finish(job, exit_code, signal, state)

    # --- SlurmTransport -------------------------------------------------------------------------------------

    @property
    def slurm_release(self) -> str:
        """Slurm's release that is imitated."""
        return RELEASES[self.slurm.release]

    @property
    def cluster(self) -> str:
        """The cluster's name."""
        return self.slurm.name

    def health(self) -> list[TransportHealth]:
        """Return that this is the only way."""
        return [TransportHealth(transport=self.name, where=self.where, active=True)]

    async def reach(self) -> None:
        """There is no way that could be broken, unless ``failing`` says so."""
        self._ask()

    @property
    def api(self) -> ApiCaller:
        """There is no slurmrestd here."""
        hint = "Use FakeSlurm, which has one."
        raise ConfigError("This needs slurmrestd, and the transport is a fake without one", hint=hint)

    async def target(self) -> tuple[str, str, str]:
        """Return the newest API version of the release, the release, and the cluster's name."""
        return self._version, self.slurm.release, self.slurm.name

    async def older_versions(self) -> Sequence[str]:
        """Return none: there is one version here."""
        return ()

    async def user_name(self) -> str:
        """Return who asks."""
        return self.user

    async def close(self) -> None:
        """Nothing is held open; a cluster that runs scripts is closed by whoever made it."""

    async def submit(self, job: PreparedJob) -> Submission:
        """Create a job, or return the one that was made before under the caller's own key."""
        self._ask()
        if job.repeated:
            for jobs in self.slurm.records.values():
                for one in jobs:
                    if one.owner.name == self.user and job.key in one.comment:
                        return Submission(job_id=one.group, cluster=self.slurm.name, found=True)
        try:
            read = read_submission(job.body, self.slurm.release, self._version)
            if read.errors or read.is_lost:
                raise _rejected("; ".join(issue.description for issue in [*read.errors, *read.warnings]))
            job_id = self.slurm.submit(read.requests, self._owner(), hold=read.hold)
        except Refused as refusal:
            raise _rejected(f"{WORDS[refusal.number]} [{refusal.number}]") from None
        held = (WORDS[2042],) if read.hold else ()
        return Submission(job_id=job_id, cluster=self.slurm.name, warnings=held)

    async def find(self, job: PreparedJob, *, since: float) -> Look:
        """Look for the job that carries a key."""
        self._ask()
        found = [one.group for jobs in self.slurm.records.values() for one in jobs if job.key in one.comment]
        return Look(0, 0, tuple(await self.describe(found)))

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Return the states of these jobs."""
        self._ask()
        jobs = self.slurm.jobs
        return [self._row(job_id, job) for job_id in ids for job in jobs.get(job_id, ())]

    async def all_states(self) -> list[StateRow]:
        """Return the states of all jobs."""
        self._ask()
        return [self._row(job.id or job.group, job) for job in self.slurm.all_jobs()]

    def _row(self, job_id: int, job: FakeJob) -> StateRow:
        words = (job.base, *job.flags)
        state = self._states.get(words)
        if state is None:
            state = self._states[words] = JobState.parse(job.states)
        return StateRow(job_id, state, None if job.is_remainder else job.task_id, job.offset)

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        """Return the records of these jobs, from accounting for those that the controller has forgotten."""
        self._ask()
        found: list[JobInfo] = []
        for job_id in dict.fromkeys(int(check_id(job_id)) for job_id in ids):
            here = self._controller_records(self.slurm.members(job_id))
            known = {record.id for record in here}
            past = self.slurm.records.get(job_id, [])
            gone = (record for record in latest_records(self._accounted(past)) if record.id not in known)
            # While the controller has some of an array, its waiting tasks are known from there.
            found += [*here, *(record for record in gone if not here or record.state.is_terminal)]
        return found

    async def incarnations(self, ids: Collection[int]) -> list[JobInfo]:
        """Return every record that accounting has under these ids."""
        self._ask()
        past = (self.slurm.records.get(job_id, []) for job_id in ids)
        return [record for jobs in past for record in self._accounted(jobs)]

    async def history(self, query: HistoryQuery) -> list[JobInfo]:
        """Return accounting's records of a span of time."""
        self._ask()
        groups = [[job for job in jobs if job.group == group] for group, jobs in self.slurm.records.items()]
        return [record for jobs in groups for record in latest_records(self._accounted(jobs)) if query.matches(record)]

    async def usage(self, ids: Collection[int]) -> list[JobUsage]:
        """Return what each start of these jobs used."""
        self._ask()
        past = [job for job_id in ids for job in self.slurm.records.get(job_id, [])]
        return [read_usage(record) for record in self._answers.accounting_records(past)]

    def _accounted(self, jobs: Sequence[FakeJob]) -> list[JobInfo]:
        return [read_accounting_job(record) for record in self._answers.accounting_records(jobs, steps=False)]

    def _controller_records(self, jobs: Sequence[FakeJob]) -> list[JobInfo]:
        return [read_controller_job(record) for record in self._answers.job_records(jobs)]

    async def job_records(self, states: Collection[str] = (), *, limit: int | None = None) -> list[JobInfo]:
        """Return the records of all jobs in the controller; they cost nothing here, so ``limit`` does not matter."""
        self._ask()
        jobs = [job for job in self.slurm.all_jobs() if not states or set(states) & set(job.states)]
        return self._controller_records(jobs)

    async def nodes(self) -> list[Node]:
        """Return the nodes."""
        self._ask()
        return [read_node(self._answers.node(node)) for node in self.slurm.machines.nodes]

    async def partitions(self) -> list[Partition]:
        """Return the partitions."""
        self._ask()
        return [read_partition(self._answers.partition(one)) for one in self.slurm.partitions]

    async def diag(self) -> Diagnostics:
        """Return the counters."""
        self._ask()
        return read_diagnostics({"statistics": self._answers.diag()})

    async def ping(self) -> list[Ping]:
        """Return the controller."""
        self._ask()
        return read_ping({"pings": self._answers.pings(), "meta": self._answers.meta()}, self._version)

    async def ping_accounting(self) -> None:
        """Accounting answers while the rest does."""
        self._ask()

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        """Cancel jobs, or send them a signal."""
        word = check_signal(signal)
        number = None if word is None else int(word) if word.isdigit() else int(getattr(signals, f"SIG{word}"))
        self._ask()
        return [self._cancel(check_id(one), number) for one in ids]

    def _cancel(self, label: str, signal: int | None) -> CancelResult:
        jobs = self._labelled(label)
        numbers = list(self.slurm.cancel(jobs, self._owner(), signal).values())
        if not numbers:
            return CancelResult(job_id=base_id(label), outcome="not_found", message=WORDS[2017])
        # Of a group, one that was signalled speaks for all.
        best = min(numbers)
        message = WORDS[best] if best else ""
        return CancelResult(job_id=base_id(label), outcome=_CANCELLED.get(best, "denied"), message=message)

    async def hold(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Hold jobs."""
        self._ask()
        return [self._changed(check_id(one), {"hold": True}) for one in ids]

    async def release(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Release held jobs."""
        self._ask()
        return [self._changed(check_id(one), {"hold": False}) for one in ids]

    def _changed(self, label: str, fields: Mapping[str, object]) -> ActionResult:
        jobs = self._labelled(label)
        live = [job for job in jobs if not job.is_over]
        if jobs and not live:
            return _done(label, 2084)
        try:
            change(self.slurm, live, fields, self._owner())
        except Refused as refusal:
            return _done(label, refusal.number)
        return _done(label, 0)

    async def requeue(self, ids: Sequence[int | str], *, hold: bool = False) -> list[ActionResult]:
        """Send jobs back to the queue."""
        self._ask()
        labels = [check_id(one) for one in ids]
        outcomes = [requeue(self.slurm, self._labelled(label), self._owner(), hold=hold) for label in labels]
        return [_done(label, min(one.values(), default=2017)) for label, one in zip(labels, outcomes, strict=True)]

    async def update(self, job_id: int | str, changes: Mapping[str, object]) -> None:
        """Change options of a job, or of all of an array's tasks that are not over."""
        self._ask()
        label = check_id(job_id)
        jobs = self._labelled(label)
        if jobs and all(job.is_over for job in jobs):
            _refuse(label, 2084)
        try:
            change(self.slurm, [job for job in jobs if not job.is_over], changed_fields(changes), self._owner())
        except Refused as refusal:
            _refuse(label, refusal.number)

    # --- helpers --------------------------------------------------------------------------------------------

    @property
    def _answers(self) -> Answers:
        return Answers(self.slurm, self._version)

    def _ask(self) -> None:
        self.counters.requests += 1
        if self.failing is not None:
            raise self.failing
        self.slurm.settle()

    def _owner(self) -> Owner:
        found = self.slurm.owner(self.user)
        if found is None:
            raise ConfigError(f"The fake cluster has no user {self.user}", hint="Name it: FakeCluster(users={...}).")
        return found

    def _labelled(self, label: str) -> list[FakeJob]:
        return self.slurm.labelled(label) if base_id(label) <= MAX_JOB_ID else []


def _rejected(reason: str) -> SubmitRejected:
    return SubmitRejected(f"Slurm refused the job: {reason}", hint="Change what is wrong, and submit it again.")


def _done(label: str, number: int) -> ActionResult:
    names = {0: "done", 2084: "already_over", 2017: "not_found"}
    outcome = cast('Literal["done", "already_over", "not_found", "denied"]', names.get(number, "denied"))
    return ActionResult(job_id=base_id(label), outcome=outcome, message=WORDS[number] if number else "")


def _refuse(label: str, number: int) -> NoReturn:
    message, hint = f"Job {label}: {WORDS[number]} [{number}]", "The job stays as it is."
    if number == 2017:
        raise JobNotFound(message, hint=hint)
    raise (PermissionDenied if number in (2002, 2010) else ApiError)(message, hint=hint)
