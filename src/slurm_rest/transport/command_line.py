"""SlurmTransport over Slurm's own commands, wherever a runner runs them: over SSH, or on this host."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from slurm_rest.api.base import ApiCaller
from slurm_rest.errors import (
    AccountingDown,
    ConfigError,
    NoAccounting,
)
from slurm_rest.history import HistoryQuery
from slurm_rest.metrics import Metrics
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

from . import commands
from .base import Counters, PreparedJob, StateRow
from .calling import CommandCaller, Runner
from .capabilities import Capabilities, command_capabilities
from .command_acting import CommandActor
from .command_submit import CommandSearch, CommandSubmitter, HostClock
from .describing import closed, describe, nothing
from .ids import check_id, group_ids, latest_records
from .job_texts import (
    accounting_question,
    details_question,
    history_question,
    queue_question,
    read_accounting,
    read_details,
    read_queue,
)
from .node_texts import nodes_question, partitions_program, read_nodes, read_partitions
from .once import RECOVERY_TIMEOUT
from .recovery import Look
from .shell import Program
from .usage_texts import read_usage, usage_question

__all__ = ["CommandTransport", "Runner"]

# Naming ids makes squeue's time grow with their square; above this, everything is cheaper (measured with 10,000 jobs).
_QUEUE_IDS = 100
_IDS_PER_COMMAND = 1000
_DETAILS_PER_COMMAND = 100
# Up to this many ended jobs, the controller's richer records are asked for first.
_FEW = 4


class CommandTransport:
    """Slurm through sbatch, squeue, sacct, scancel and scontrol of 22.05 and later."""

    def __init__(
        self, runner: Runner, metrics: Metrics | None = None, recovery_timeout: float = RECOVERY_TIMEOUT
    ) -> None:
        self.name = runner.name
        self.caller = CommandCaller(runner, metrics or Metrics())
        self._release = self._cluster = self._user = ""
        self._unaccounted = False
        self._actor = CommandActor(self, self.caller.run)
        self._submitter = CommandSubmitter(self, self.caller.run, self.caller.good, recovery_timeout)

    @property
    def runner(self) -> Runner:
        """What runs the commands."""
        return self.caller.runner

    @runner.setter
    def runner(self, runner: Runner) -> None:
        self.caller.runner = runner

    @property
    def metrics(self) -> Metrics:
        """What is counted."""
        return self.caller.metrics

    @property
    def clock(self) -> HostClock:
        """The host's clock; known as soon as one command has run."""
        return self.caller.clock

    @property
    def counters(self) -> Counters:
        """Commands run and bytes received."""
        return self.caller.counters

    @property
    def capabilities(self) -> Capabilities:
        """What the commands of this release can do."""
        table = command_capabilities(_minor(self._release))
        return replace(table, accounting=False) if self._unaccounted else table

    @property
    def where(self) -> str:
        """The host."""
        return self.runner.where

    @property
    def cluster(self) -> str:
        """The cluster's name as far as it is known yet."""
        return self._cluster

    def health(self) -> list[TransportHealth]:
        """Return that this is the only way."""
        return [TransportHealth(transport=self.name, where=self.where, active=True)]

    async def reach(self) -> None:
        """Run a command that does nothing."""
        await self.caller.run(Program("true", "true"))

    @property
    def api(self) -> ApiCaller:
        """Nothing: the generated operations are slurmrestd's."""
        raise self._needs_rest()

    def _needs_rest(self) -> ConfigError:
        hint = "Set SLURM_REST_URL and SLURM_REST_TRANSPORT=rest."
        return ConfigError(f"This needs slurmrestd, and the transport is {self.name}", hint=hint)

    async def user_name(self) -> str:
        """Return the user that the commands run as: as the host says, or before it was asked, as it is configured."""
        return self._user or self.runner.user

    async def close(self) -> None:
        """Close the connection."""
        await self.runner.close()

    async def target(self) -> tuple[str, str, str]:
        """Return no API version, the Slurm release as ``22.05``, and the cluster's name, asking if need be."""
        if not self._release:
            done = await self.caller.run(commands.version_program())
            self._release, self._cluster, self._user = commands.read_version(done, self.runner.where)
        return "", _minor(self._release), self._cluster

    async def older_versions(self) -> Sequence[str]:
        """Return none: commands have no API versions."""
        return ()

    @property
    def slurm_release(self) -> str:
        """The release as far as it is known yet."""
        return self._release

    # --- submission -----------------------------------------------------------------------------------------

    async def submit(self, job: PreparedJob) -> Submission:
        """Create exactly one job, also when the answer is lost; see ExactlyOnce."""
        return await self._submitter.submit(job)

    async def find(self, job: PreparedJob, *, since: float, back: float | None = None, final: bool = True) -> Look:
        """Look for the job that carries the key of a submission made elsewhere: once, without waiting.

        ``since`` is when it was first sent, in Unix seconds; ``back`` how many seconds into the past accounting is
        asked. A ``final`` look asks accounting too where the controller has none. ``Look.complete`` says whether it
        could not have been missed; that none is still to come is for a Case to judge.
        """
        await self.target()
        search = CommandSearch(self.caller.good, job, since)
        return await search.look(final=final) if back is None else await search.whole(back=back)

    # --- reading --------------------------------------------------------------------------------------------

    async def states(self, ids: Collection[int]) -> list[StateRow]:
        """Ask for everybody's states and keep those of these ids: one command for any number."""
        asked = {int(check_id(job_id)) for job_id in ids}
        if asked:
            self.metrics.record_batch(self.name, "squeue", len(asked))
        return commands.read_states(await self.caller.good(commands.states_program()), asked) if asked else []

    async def all_states(self) -> list[StateRow]:
        """Return a row for every job in the controller, under its own id."""
        return commands.read_states(await self.caller.good(commands.states_program()), None)

    async def describe(self, ids: Collection[int], *, ended: bool = False) -> list[JobInfo]:
        """Ask the controller, then accounting for the jobs that it no longer has: two or three commands for any number.

        ``ended`` says that all are over: then accounting is asked first, and the controller for what is missing or
        not final there.
        """
        return await describe(
            ids,
            controller=self._controller_records,
            accounting=self._accounting_records,
            first=self._many_closed if ended else nothing,
        )

    async def job_records(self, states: Collection[str] = (), *, limit: int | None = None) -> list[JobInfo]:
        """Return a record for every job in the controller, without exit codes and paths: one command for any number."""
        question = queue_question(None)
        return read_queue(question, await self.caller.good(question.program), (await self.target())[2])

    async def nodes(self) -> list[Node]:
        """Return all nodes."""
        question = nodes_question()
        return read_nodes(question, await self.caller.good(question.program))

    async def partitions(self) -> list[Partition]:
        """Return all partitions."""
        return read_partitions(await self.caller.good(partitions_program()))

    async def diag(self) -> Diagnostics:
        """Raise ConfigError: sdiag prints for people."""
        raise self._needs_rest()

    async def _controller_records(self, ids: Sequence[int]) -> list[JobInfo]:
        cluster = (await self.target())[2]
        question = queue_question(ids if len(ids) <= _QUEUE_IDS else None)
        done = await self.caller.run(question.program)
        if done.status:
            error = commands.failure(done, self.runner.where)
            # squeue refuses when it knows none of the ids that it was given.
            if "Invalid job id" in done.stderr and not done.stdout:
                return []
            raise error
        wanted = set(ids)
        records = [record for record in read_queue(question, done, cluster) if group_ids(record) & wanted]
        return await self._with_details(records)

    async def _with_details(self, records: list[JobInfo]) -> list[JobInfo]:
        """Add what scontrol alone tells, asked once for each group."""
        groups = sorted({record.array_job_id or record.het_job_id or record.id for record in records})
        detailed: list[JobInfo] = []
        for start in range(0, len(groups), _DETAILS_PER_COMMAND):
            chunk = groups[start : start + _DETAILS_PER_COMMAND]
            question = details_question(chunk)
            # A job may have left since squeue answered; then its record stays as it is.
            done = await self.caller.run(question.program)
            mine = [item for item in records if (item.array_job_id or item.het_job_id or item.id) in chunk]
            detailed += read_details(question, done, mine)
        return detailed

    async def _many_closed(self, ids: Sequence[int]) -> list[JobInfo]:
        try:
            return closed(await self._accounting_records(ids)) if len(ids) > _FEW else []
        except AccountingDown:
            return []

    async def _accounting_records(self, ids: Sequence[int]) -> list[JobInfo]:
        try:
            return list(latest_records(await self.incarnations(ids)))
        except NoAccounting:
            self._unaccounted = True
            raise

    async def incarnations(self, ids: Collection[int]) -> list[JobInfo]:
        """Return every record that accounting has under these ids."""
        found: list[JobInfo] = []
        listed = sorted(ids)
        await self.target()
        for start in range(0, len(listed), _IDS_PER_COMMAND):
            chunk = listed[start : start + _IDS_PER_COMMAND]
            question = accounting_question(chunk, paths=self.capabilities.accounting_paths)
            found += read_accounting(question, await self.caller.good(question.program))
        return found

    async def history(self, query: HistoryQuery) -> list[JobInfo]:
        """Return the records of jobs that were there in a span of time; see HistoryQuery."""
        await self.target()
        question = history_question(query, paths=self.capabilities.accounting_paths)
        return read_accounting(question, await self.caller.good(question.program))

    async def usage(self, ids: Collection[int]) -> list[JobUsage]:
        """Return what each start of these jobs used."""
        listed, found = sorted(ids), list[JobUsage]()
        for start in range(0, len(listed), _IDS_PER_COMMAND):
            question = usage_question(listed[start : start + _IDS_PER_COMMAND])
            found += read_usage(question, await self.caller.good(question.program))
        return found

    # --- acting ---------------------------------------------------------------------------------------------

    async def cancel(self, ids: Sequence[int | str], signal: str | None = None) -> list[CancelResult]:
        """Run scancel, which reports each id that it could not cancel."""
        return await self._actor.cancel(ids, signal)

    async def hold(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Keep jobs from starting: one command for 1000 of them."""
        return await self._actor.act("hold", ids)

    async def release(self, ids: Sequence[int | str]) -> list[ActionResult]:
        """Let held jobs start."""
        return await self._actor.act("release", ids)

    async def requeue(self, ids: Sequence[int | str], *, hold: bool = False) -> list[ActionResult]:
        """Send jobs back to the queue; never twice, since they may run once more by then."""
        return await self._actor.act("requeuehold" if hold else "requeue", ids, repeatable=False)

    async def update(self, job_id: int | str, changes: Mapping[str, object]) -> None:
        """Change options of a job, or of all tasks of an array that are not over."""
        await self._actor.update(job_id, changes)

    async def ping(self) -> list[Ping]:
        """Ask for the controllers, and for the configuration, which they tell to users that they know."""
        done = await self.caller.run(commands.ping_program())
        self._release, self._cluster, self._user = commands.read_version(done, self.runner.where)
        return commands.read_ping(done, self.runner.where)

    async def ping_accounting(self) -> None:
        """Make a small read from accounting; raises AccountingDown or what else is wrong."""
        await self.caller.good(commands.accounting_program())


def _minor(release: str) -> str:
    return ".".join(release.split(".")[:2])
