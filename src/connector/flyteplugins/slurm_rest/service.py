"""The connector: create, get, delete, logs and metrics of Slurm jobs. ``connector`` registers it with flyte."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets as random_words
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from flyte.connectors import AsyncConnector, Resource
from flyteidl2.core.execution_pb2 import TaskExecution, TaskLog

from slurm_rest import AsyncJob, BaseState, SlurmError
from slurm_rest.errors import JobNotFound, PermissionDenied

from .asking import TimeLeft, add_canceller, add_stderr, guess_phase
from .clients import Cluster, Clusters
from .follower import Look
from .judging import Verdict, judge, settled
from .links import Copies, site_links
from .logs import job_logs, job_metrics, job_use
from .memory import Recent
from .messages import capped, details
from .metadata import SlurmJobMetadata
from .outcome import Outcome, read_outcome
from .plan import JobPlan, attempt_words, job_name, make_plan
from .presigned import with_upload_urls
from .queueing import gave_up, is_overdue
from .running import LOCAL_RUN, in_order
from .settings import ClusterAccess, Deployment, SecretValues
from .settling import Settling, Work
from .states import Phase
from .template import NATIVE, SCRIPT, Execution, Task, read_execution, read_task
from .tidying import Tidying
from .transfers import Transfer, collect
from .workplace import find_workplace, require_files

if TYPE_CHECKING:
    from flyteidl2.connector.connector_pb2 import GetTaskLogsResponse, GetTaskMetricsResponse, TaskExecutionMetadata
    from flyteidl2.core.tasks_pb2 import TaskTemplate

__all__ = ["Known", "SlurmConnector", "SlurmScriptConnector"]

log = logging.getLogger("flyteplugins.slurm_rest")

# A whole answer, whatever is down; the platform's own bound is two seconds, and a busy process needs some of them.
_ANSWER = 1.5
_FIRST_NEWS, _SETTLE_PATIENCE, _COPY_PATIENCE = 0.9, 0.5, 0.1
# How long delete waits to see the job end.
_CANCEL_PATIENCE = 3.0


@dataclass
class Known:
    """What the connectors of both task types know together. Losing it costs requests, nothing else.

    ``phases`` are those that were told last, with how often the job had started by then; ``cancelled`` the jobs that
    this process cancelled; ``giving_up`` cancels those that have waited too long.
    """

    clusters: Clusters = field(default_factory=Clusters)
    settling: Settling = field(default_factory=Settling)
    copies: Copies = field(default_factory=Copies)
    tidying: Tidying = field(default_factory=Tidying)
    phases: Recent[tuple[Phase, int]] = field(default_factory=Recent)
    cancelled: Recent[bool] = field(default_factory=Recent)
    giving_up: dict[str, asyncio.Task[None]] = field(default_factory=dict)


class SlurmConnector(AsyncConnector[SlurmJobMetadata]):
    """Runs Flyte tasks as Slurm jobs. Both task types share whatever is known of clusters and jobs."""

    name = "Slurm REST Connector"
    task_type_name = NATIVE
    metadata_type = SlurmJobMetadata

    def __init__(self, known: Known | None = None) -> None:
        self.known = known or Known()

    # --- create ---------------------------------------------------------------------------------------------

    async def create(
        self,
        task_template: TaskTemplate,
        output_prefix: str,
        inputs: dict[str, object] | None = None,
        task_execution_metadata: TaskExecutionMetadata | None = None,
        ssh_private_key: str | None = None,
        known_hosts_data: str | None = None,
        rest_token: str | None = None,
        **_: object,
    ) -> SlurmJobMetadata:
        """Submit the job of one attempt, or return the one that it has already. Raises ValueError and SlurmError."""
        task, execution = read_task(task_template), read_execution(task_execution_metadata)
        deployment = Deployment.read(os.environ, task.connection.cluster)
        if task.asks_for_unsafe_host and not deployment.skip_host_key_verification:
            log.warning("%s asks not to verify host keys: only the deployment can say so", task.name)
        access = deployment.access(task.connection, _secret_values(ssh_private_key, known_hosts_data, rest_token))
        cluster = self.known.clusters.get(access)
        user = await cluster.user()
        place = await find_workplace(cluster, task.working_dir or deployment.working_dir, user)
        unique = random_words.token_hex(4)
        # In a local run all tasks have one prefix.
        prefix = output_prefix if execution.is_known else f"{output_prefix.rstrip('/')}/{unique}"
        plan = make_plan(
            task,
            execution,
            directory=place.directory,
            home=place.home,
            output_prefix=prefix,
            inputs=inputs or {},
            unique=unique,
            release=await cluster.release(),
        )
        await require_files(cluster, plan)
        plan = await with_upload_urls(plan, deployment.upload_url_ttl)
        if plan.key and execution.attempt > 0:
            await _end_earlier(cluster, task, replace(execution, attempt=execution.attempt - 1))
        job = await cluster.client.submit(plan.spec, idempotency_key=plan.key or None)
        log.info("Job %d (%s) at %s%s", job.id, plan.name, access.where, " was there already" if job.found else "")
        self.known.tidying.begin(cluster, place.directory, user, deployment.job_files_ttl)
        expects = bool(task_template.interface.outputs.variables)
        meta = _metadata(job, task, plan, access, task.outputs_path or output_prefix, expects)
        if not job.found:
            self.known.phases.set(_key(meta, cluster), (Phase.QUEUED, 0))
        if (run := LOCAL_RUN.get()) is not None:
            run.ends.append(lambda: self.delete(meta, ssh_private_key, known_hosts_data, rest_token))
        return meta

    # --- get ------------------------------------------------------------------------------------------------

    async def get(
        self,
        resource_meta: SlurmJobMetadata,
        ssh_private_key: str | None = None,
        known_hosts_data: str | None = None,
        rest_token: str | None = None,
        **_: object,
    ) -> Resource:
        """Return the phase of a job, from what the poller knows; outages keep it and are told in the message."""
        cluster = self._cluster_of(resource_meta, _secret_values(ssh_private_key, known_hosts_data, rest_token))
        time, key = TimeLeft(_ANSWER), _key(resource_meta, cluster)
        look = await cluster.follower.look(resource_meta.identity(), time.most(_FIRST_NEWS))
        last, ours = self.known.phases.get(key), key in self.known.cancelled
        if last is None and not look.is_heard and not look.is_over:
            last = (await guess_phase(resource_meta, cluster, time), 0)
        if look.is_over and look.state.base is BaseState.CANCELLED and not ours:
            look = await add_canceller(resource_meta, cluster, look, time)
        verdict = judge(
            resource_meta.job_id,
            look,
            cancelled_by_us=ours,
            last=last,
            gave_up=gave_up(look, resource_meta.queue_limit, resource_meta.sent),
        )
        if is_overdue(look, resource_meta.queue_limit, resource_meta.sent, datetime.now(timezone.utc)):
            self._give_up(key, resource_meta, cluster)
            verdict = Verdict(verdict.phase, f"{verdict.message}\nIt has waited too long and is being cancelled")
        outputs: Mapping[str, object] | None = None
        links = site_links(Deployment.read(os.environ).log_links, resource_meta, look.record)
        if verdict.phase.is_terminal:
            verdict, outputs, copies = await self._end(key, resource_meta, cluster, verdict, time)
            links += copies
        if verdict.phase in (Phase.FAILED, Phase.RETRYABLE_FAILED):
            text = await add_stderr(verdict.message, resource_meta, cluster, look, time)
            verdict = Verdict(verdict.phase, text)
        run = LOCAL_RUN.get()
        outputs = in_order(outputs, run)
        if verdict.phase is Phase.RETRYABLE_FAILED and run is not None:
            # Flyte's local executor waits for ever in this phase; an error makes it retry.
            raise RuntimeError(verdict.message)
        if verdict.phase.is_terminal:
            self.known.phases.drop(key)
        else:
            self.known.phases.set(key, (verdict.phase, look.restarts))
        return Resource(
            phase=TaskExecution.Phase.Value(verdict.phase.value),
            message=capped(verdict.message),
            log_links=links,
            outputs=dict(outputs) if outputs else None,
            custom_info=details(_facts(resource_meta, cluster, look), look.record),
        )

    def _give_up(self, key: str, meta: SlurmJobMetadata, cluster: Cluster) -> None:
        """Cancel a job that waits for too long, off this call; what becomes of it the next one sees."""
        if key in self.known.giving_up:
            return
        task = asyncio.create_task(_cancel_waiting(meta, cluster), name=f"give up {key}")
        self.known.giving_up[key] = task
        task.add_done_callback(lambda _: self.known.giving_up.pop(key, None))

    def _cluster_of(self, meta: SlurmJobMetadata, secrets: SecretValues | None) -> Cluster:
        return self.known.clusters.get(Deployment.read(os.environ, meta.cluster).access(meta.asked(), secrets))

    async def _settle(
        self, key: str, meta: SlurmJobMetadata, cluster: Cluster, verdict: Verdict, time: TimeLeft
    ) -> tuple[Verdict, Mapping[str, object] | None]:
        """Return what the task's own files make of a job's end; RUNNING while they are being read or moved."""
        work = _work_for(meta, cluster, verdict.phase)
        if work is None:
            return verdict, None
        done, outcome, trouble = await self.known.settling.result(key, work, patience=time.most(_SETTLE_PATIENCE))
        if not done:
            what = f"moving {', '.join(meta.declared_outputs)}" if meta.declared_outputs else "reading its outcome"
            text = f"{verdict.message}\nThe job is over; the connector is {what}"
            return Verdict(Phase.RUNNING, f"{text}; trouble with it: {trouble}" if trouble else text), None
        return settled(verdict, outcome), outcome.outputs if outcome and outcome.is_success else None

    async def _end(
        self, key: str, meta: SlurmJobMetadata, cluster: Cluster, verdict: Verdict, time: TimeLeft
    ) -> tuple[Verdict, Mapping[str, object] | None, list[TaskLog]]:
        """Return the outcome, and links to what the job wrote; RUNNING while that is copied, for a bounded time."""
        await self._copies(key, meta, cluster, patience=0)
        verdict, outputs = await self._settle(key, meta, cluster, verdict, time)
        if not verdict.phase.is_terminal:
            return verdict, outputs, []
        links = await self._copies(key, meta, cluster, patience=time.most(_COPY_PATIENCE))
        if links is None:
            text = f"{verdict.message}\nThe job is over; the connector is copying what it wrote"
            return Verdict(Phase.RUNNING, text), None, []
        return verdict, outputs, links

    async def _copies(
        self, key: str, meta: SlurmJobMetadata, cluster: Cluster, *, patience: float
    ) -> list[TaskLog] | None:
        """Return links to copies of the job's output, None while they are made; a local run needs none."""
        deployment = Deployment.read(os.environ)
        if not deployment.log_copies or LOCAL_RUN.get() is not None:
            return []
        return await self.known.copies.links(
            key, meta, cluster.client.files, deployment.upload_url_ttl, patience=patience
        )

    # --- delete ---------------------------------------------------------------------------------------------

    async def delete(
        self,
        resource_meta: SlurmJobMetadata,
        ssh_private_key: str | None = None,
        known_hosts_data: str | None = None,
        rest_token: str | None = None,
        **_: object,
    ) -> None:
        """Cancel the job if it is still ours and goes on. Idempotent; raises SlurmError where that fails."""
        cluster = self._cluster_of(resource_meta, _secret_values(ssh_private_key, known_hosts_data, rest_token))
        key = _key(resource_meta, cluster)
        await self.known.settling.drop(key)
        job = AsyncJob(cluster.client, int(resource_meta.job_id), identity=resource_meta.identity())
        try:
            record = await job.info()
        except JobNotFound:
            return
        if record.state.is_terminal:
            return
        self.known.cancelled.set(key, True)
        result = await job.cancel()
        if result.outcome == "denied":
            self.known.cancelled.drop(key)
            raise PermissionDenied(f"Slurm job {resource_meta.job_id} may not be cancelled: {result.message}")
        await self._see_it_end(cluster, resource_meta)

    async def _see_it_end(self, cluster: Cluster, meta: SlurmJobMetadata) -> None:
        """Wait a moment for the job's end, so that a cancellation that Slurm took and lost is seen in the log."""
        job = AsyncJob(cluster.client, int(meta.job_id), identity=meta.identity())
        try:
            await job.wait(timeout=_CANCEL_PATIENCE)
        except SlurmError as error:
            log.warning("Job %s was cancelled; it is not seen to end yet: %s", meta.job_id, error.message)

    # --- logs and metrics -----------------------------------------------------------------------------------

    async def get_logs(
        self, resource_meta: SlurmJobMetadata, token: str = "", lines: int = 0, **_: object
    ) -> AsyncIterator[GetTaskLogsResponse]:
        """Yield the job's output from where ``token`` says, then the token to go on with.

        ``lines`` is how many of each stream to begin with; flyte 2.12 does not hand on what the platform asks for.
        """
        cluster = self.known.clusters.known(resource_meta.asked())
        cluster = cluster or self._cluster_of(resource_meta, None)
        async for response in job_logs(cluster.client.files, resource_meta, token, lines):
            yield response

    async def get_metrics(self, resource_meta: SlurmJobMetadata, **_: object) -> GetTaskMetricsResponse:
        """Return how long the job has run, what it was given and, where accounting knows it, what it used."""
        cluster = self.known.clusters.known(resource_meta.asked())
        cluster = cluster or self._cluster_of(resource_meta, None)
        job = AsyncJob(cluster.client, int(resource_meta.job_id), identity=resource_meta.identity())
        return job_metrics(await job.info(), await job_use(cluster, resource_meta))


class SlurmScriptConnector(SlurmConnector):
    """The same for the task type ``slurm_script``."""

    task_type_name = SCRIPT


async def _cancel_waiting(meta: SlurmJobMetadata, cluster: Cluster) -> None:
    """Cancel a job if it still waits; where that fails the next call tries again."""
    job = AsyncJob(cluster.client, int(meta.job_id), identity=meta.identity())
    try:
        if (await job.info()).state.is_pending:
            result = await job.cancel()
            log.warning("Job %s has waited longer than %s: %s", meta.job_id, meta.queue_limit, result.outcome)
    except SlurmError as error:
        log.warning("Job %s has waited too long, and cannot be cancelled now: %s", meta.job_id, error.message)


async def _end_earlier(cluster: Cluster, task: Task, earlier: Execution) -> None:
    """Cancel the job of the attempt before, which the platform has given up: two would write the same outputs."""
    job = await cluster.client.find(attempt_words(earlier, earlier.attempt), name=job_name(task, earlier))
    if job is None:
        return
    result = await job.cancel()
    if result.outcome == "signalled":
        log.warning("Job %d of attempt %d was cancelled for the next attempt", job.id, earlier.attempt)
    elif result.outcome == "denied":
        raise PermissionDenied(f"Slurm job {job.id} of the attempt before may not be cancelled: {result.message}")


def _secret_values(ssh_private_key: str | None, known_hosts_data: str | None, rest_token: str | None) -> SecretValues:
    return SecretValues(ssh_private_key or "", known_hosts_data or "", rest_token or "")


def _key(meta: SlurmJobMetadata, cluster: Cluster) -> str:
    """Return a job's full identity: ids come again, and two clusters have the same ones."""
    return f"{cluster.access.where} {meta.job_id} {meta.submission_key}"


def _metadata(
    job: AsyncJob, task: Task, plan: JobPlan, access: ClusterAccess, output_prefix: str, expects_outputs: bool
) -> SlurmJobMetadata:
    asked, sent = task.connection, job.identity.sent
    return SlurmJobMetadata(
        job_id=str(job.id),
        job_name=plan.name,
        # What the deployment sets is not kept here: another replica, or a newer deployment, knows it better.
        host=asked.host if access.host == asked.host else "",
        username=asked.username if access.user == asked.username else "",
        port=asked.port or 0,
        stdout_path=plan.stdout,
        stderr_path=plan.stderr,
        known_hosts=asked.known_hosts or None,
        declared_outputs={name: asdict(place) for name, place in plan.outputs.items()},
        task_type=task.kind,
        output_prefix=output_prefix,
        submission_key=job.identity.key,
        submitted=sent.isoformat() if sent else "",
        rest_url=asked.rest_url if access.rest_url == asked.rest_url else "",
        rest_api_version=asked.rest_api_version,
        expects_outputs=expects_outputs,
        array=str(plan.spec.array or ""),
        max_queued=task.max_queued.total_seconds() if task.max_queued else 0.0,
        cluster=access.cluster,
    )


def _work_for(meta: SlurmJobMetadata, cluster: Cluster, phase: Phase) -> Work | None:
    """Return what is left to do when a job has ended so; None when its state is all there is."""
    if meta.declared_outputs and phase is Phase.SUCCEEDED:
        limit = Deployment.read(os.environ).upload_max_bytes
        transfer = Transfer(meta.job_id, meta.declared_outputs, limit)
        return lambda: collect(transfer, cluster.client.files)
    if meta.task_type == NATIVE and phase in (Phase.SUCCEEDED, Phase.FAILED):
        expects, zero = meta.expects_outputs, phase is Phase.SUCCEEDED

        async def outcome() -> Outcome | None:
            return await read_outcome(meta.output_prefix, expects_outputs=expects, exited_zero=zero)

        return outcome
    return None


def _facts(meta: SlurmJobMetadata, cluster: Cluster, look: Look) -> dict[str, object]:
    return {
        "job_id": meta.job_id,
        "job_name": meta.job_name,
        "slurm_state": str(look.state),
        "transport": cluster.client.transport,
        "where": cluster.access.where,
        "stdout": meta.stdout_path,
        "stderr": meta.stderr_path,
        "stale_since": look.stale_since.isoformat() if look.stale_since else "",
        "stale_reason": look.trouble,
    }
