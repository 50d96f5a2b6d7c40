"""The connector: create, get, delete, logs and metrics of Slurm jobs. ``connector`` registers it with flyte."""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import secrets as random_words
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Literal

from flyte.connectors import AsyncConnector, Resource
from flyteidl2.connector.connector_pb2 import GetTaskMetricsResponse

from slurm_rest import AsyncJob, SlurmError
from slurm_rest.errors import (
    JobNotFound,
    PermissionDenied,
    SpecError,
    SubmitRejected,
    UnsupportedVersion,
    WaitTimeout,
)

from .answering import Question, answer
from .checking import check, under_way
from .clients import Cluster, token_user
from .known import Known, job_handle, job_key, own_key
from .launching import RefusedUser, audit
from .logs import job_logs, job_metrics, job_use, unreadable
from .metadata import SlurmJobMetadata
from .plan import JobPlan, attempt_words, job_name, make_plan
from .presigned import with_upload_urls
from .running import LOCAL_RUN
from .secret_files import secret_path, send
from .secret_ways import SecretSource, deliver_secrets
from .settings import ClusterAccess, Deployment, SecretValues
from .states import Phase, goes_on
from .template import NATIVE, SCRIPT, Execution, Task, read_execution, read_task
from .wording import tells_in_our_terms
from .workplace import find_workplace, never_began, require_files

if TYPE_CHECKING:
    from flyteidl2.connector.connector_pb2 import GetTaskLogsResponse, TaskExecutionMetadata
    from flyteidl2.core.tasks_pb2 import TaskTemplate

__all__ = ["Known", "SlurmConnector", "SlurmScriptConnector"]

log = logging.getLogger("flyteplugins.slurm_rest")

# How long delete waits to see the job end.
_CANCEL_PATIENCE = 3.0
# How long it waits for what is to be removed on the cluster; after that it is done without anybody waiting.
_REMOVAL_PATIENCE = 1.5
# The same where Slurm has refused the job.
_REFUSED_PATIENCE = 1.0
# In how many attempts before one jobs are looked for; each costs a request or two, all at once.
_EARLIER = 5


class SlurmConnector(AsyncConnector[SlurmJobMetadata]):
    """Runs Flyte tasks as Slurm jobs. Both task types share whatever is known of clusters and jobs."""

    name = "Slurm REST Connector"
    task_type_name = NATIVE
    metadata_type = SlurmJobMetadata

    def __init__(self, known: Known | None = None) -> None:
        self.known = known or Known()

    # --- create ---------------------------------------------------------------------------------------------

    @tells_in_our_terms
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
        deployment = await asyncio.to_thread(check, os.environ, task.connection.cluster)
        if task.asks_for_unsafe_host and not deployment.skip_host_key_verification:
            log.warning("%r asks not to verify host keys: only the deployment can say so", task.name)
        secrets = _secret_values(ssh_private_key, known_hosts_data, rest_token)
        access, asked = await _whose(deployment, task, execution, secrets)
        cluster = self.known.clusters.get(access)
        user = await cluster.user()
        place = await find_workplace(cluster, task.working_dir or deployment.working_dir, user)
        unique = random_words.token_hex(4)
        # In a local run all tasks have one prefix.
        prefix = output_prefix if execution.is_known else f"{output_prefix.rstrip('/')}/{unique}"
        secret_file = secret_path(place.home, job_name(task, execution, unique))
        delivery = deliver_secrets(task.secrets, deployment.secrets, user, task.env, secret_file)
        plan = make_plan(
            task,
            execution,
            directory=place.directory,
            home=place.home,
            output_prefix=prefix,
            inputs=inputs or {},
            unique=unique,
            release=await cluster.release(),
            prelude=delivery.lines,
        )
        await require_files(cluster, plan)
        plan = await with_upload_urls(plan, deployment.upload_url_ttl)
        if plan.key and execution.attempt > 0:
            await self._end_attempts_before(cluster, task, execution, place.home if delivery.sources else "")
        if delivery.sources:
            self.known.secret_files.sweep(cluster, place.home, user)
        job = await self._submit(cluster, plan, secret_file, delivery.sources)
        event: Literal["found", "submitted"] = "found" if job.found else "submitted"
        facts = {"job_id": job.id, "job_name": plan.name, "user": user, "where": access.where, "launched_by": asked}
        audit(event, execution, task=task.name, **facts)
        self.known.tidying.begin(cluster, place.directory, user, deployment.job_files_ttl)
        expects = bool(task_template.interface.outputs.variables)
        meta = _metadata(job, task, plan, access, task.outputs_path or output_prefix, expects)
        meta.run_as = user if asked else ""
        self.known.reached.set(own_key(meta), cluster.access)
        meta.secret_file = secret_file if delivery.sources else ""
        if not job.found:
            self.known.phases.set(job_key(meta, cluster), (Phase.QUEUED, 0))
        if (run := LOCAL_RUN.get()) is not None:
            run.ends.append(lambda: self.delete(meta, ssh_private_key, known_hosts_data, rest_token))
        return meta

    async def _end_attempts_before(self, cluster: Cluster, task: Task, execution: Execution, home: str) -> None:
        """Cancel what goes on of earlier attempts: one that could not be made may have left the job before it.

        With ``home`` the files that were sent to them go, too.
        """
        numbers = range(max(0, execution.attempt - _EARLIER), execution.attempt)
        earlier = [replace(execution, attempt=number) for number in numbers]
        await asyncio.gather(*(_end_earlier(cluster, task, one) for one in earlier))
        if home:
            left = (secret_path(home, job_name(task, one)) for one in earlier)
            await asyncio.gather(*(self.known.secret_files.remove(cluster, one, patience=1) for one in left))

    async def _submit(
        self, cluster: Cluster, plan: JobPlan, secret_file: str, sources: Sequence[SecretSource]
    ) -> AsyncJob:
        """Submit a job, behind the file with what the connector sends it; a job that was refused leaves none."""
        if sources:
            await self.known.secret_files.keep(cluster, secret_file)
            await send(cluster, secret_file, sources, os.environ)
        try:
            began = functools.partial(never_began, cluster, plan)
            return await cluster.client.submit_read(plan.spec, {}, words=plan.key or None, never_began=began)
        except (SubmitRejected, SpecError, UnsupportedVersion):
            # After any other error there may be a job that reads it: this call's, or of one that was given up.
            if sources:
                await self.known.secret_files.remove(cluster, secret_file, patience=_REFUSED_PATIENCE)
            raise

    # --- get ------------------------------------------------------------------------------------------------

    @tells_in_our_terms
    async def get(
        self,
        resource_meta: SlurmJobMetadata,
        ssh_private_key: str | None = None,
        known_hosts_data: str | None = None,
        rest_token: str | None = None,
        **_: object,
    ) -> Resource:
        """Return the phase of a job, from what the poller knows; outages keep it and are told in the message."""
        secrets = _secret_values(ssh_private_key, known_hosts_data, rest_token)
        question = Question.of(self.known, resource_meta, secrets)
        self.known.serve()
        return await answer(self.known, question)

    def _cluster_of(self, meta: SlurmJobMetadata, secrets: SecretValues | None) -> Cluster:
        """Return the cluster as the job's own user reaches it; without secrets, as an earlier call with them did."""
        clusters, reached = self.known.clusters, self.known.reached.get(own_key(meta))
        if secrets is None and reached is not None:
            return clusters.get(reached)
        access = under_way(os.environ, meta.cluster).access(meta.asked(), secrets, meta.run_as)
        return (clusters.known(access) if secrets is None else None) or clusters.get(access)

    # --- delete ---------------------------------------------------------------------------------------------

    @tells_in_our_terms
    async def delete(
        self,
        resource_meta: SlurmJobMetadata,
        ssh_private_key: str | None = None,
        known_hosts_data: str | None = None,
        rest_token: str | None = None,
        **_: object,
    ) -> None:
        """Cancel the job if it is still ours and goes on. Idempotent; raises SlurmError where that fails.

        While Slurm is away it is tried again behind this call, which raises what the trouble is.
        """
        secrets = _secret_values(ssh_private_key, known_hosts_data, rest_token)
        key = job_key(resource_meta, self._cluster_of(resource_meta, secrets))
        await self.known.settling.drop(key)

        async def cancel() -> None:
            # It may have been closed since the last try, as long as that is ago.
            cluster = self._cluster_of(resource_meta, secrets)
            await self._cancel(cluster, resource_meta, key)
            await self.known.secret_files.remove(cluster, resource_meta.secret_file, patience=_REMOVAL_PATIENCE)

        await self.known.deletions.run(key, resource_meta.job_id, cancel)

    async def _cancel(self, cluster: Cluster, meta: SlurmJobMetadata, key: str) -> None:
        job = job_handle(meta, cluster)
        try:
            record = await job.info()
        except JobNotFound:
            return
        if record.state.is_terminal or not meta.is_of(record):
            return
        await self.known.cancelled.add(key, meta)
        result = await job.cancel()
        if result.outcome == "denied":
            await self.known.cancelled.withdraw(key, meta)
            raise PermissionDenied(f"Slurm job {meta.job_id} may not be cancelled: {result.message}")
        await self._see_it_end(cluster, meta)

    async def _see_it_end(self, cluster: Cluster, meta: SlurmJobMetadata) -> None:
        """Wait a moment for the job's end. Raises SlurmError for one that goes on: Slurm took the wish and lost it."""
        job = job_handle(meta, cluster)
        try:
            try:
                await job.wait(timeout=_CANCEL_PATIENCE)
                return
            except WaitTimeout:
                state = (await job.info()).state
        except SlurmError as error:
            log.warning("Job %s was cancelled; it is not seen to end yet: %s", meta.job_id, error.message)
            return
        if goes_on(state):
            hint = "The platform's next call tries again; scancel on the cluster tells why it cannot end."
            raise SlurmError(f"Slurm took the cancellation of job {meta.job_id}, which is {state} still", hint=hint)
        log.warning("Job %s was cancelled; it is still ending: %s", meta.job_id, state)

    # --- logs and metrics -----------------------------------------------------------------------------------

    async def get_logs(
        self, resource_meta: SlurmJobMetadata, token: str = "", lines: int = 0, **_: object
    ) -> AsyncIterator[GetTaskLogsResponse]:
        """Yield the job's output from where ``token`` says, then the token to go on with.

        ``lines`` is how many of each stream to begin with; flyte 2.12 does not hand on what the platform asks for.
        """
        try:
            cluster = self._cluster_of(resource_meta, None)
        except SlurmError as error:
            # Flyte shows the class of an exception here and not its text.
            async for response in unreadable(resource_meta, error):
                yield response
            return
        async for response in job_logs(cluster.client.files, resource_meta, token, lines):
            yield response

    async def get_metrics(self, resource_meta: SlurmJobMetadata, **_: object) -> GetTaskMetricsResponse:
        """Return how long the job has run, what it was given and, where accounting knows it, what it used."""
        try:
            cluster = self._cluster_of(resource_meta, None)
            record = await job_handle(resource_meta, cluster).info()
        except SlurmError as error:
            log.warning("Job %s has no metrics: %s", resource_meta.job_id, error.message)
            return GetTaskMetricsResponse()
        if not resource_meta.is_of(record):
            return GetTaskMetricsResponse()
        return job_metrics(record, await job_use(cluster, resource_meta))


class SlurmScriptConnector(SlurmConnector):
    """The same for the task type ``slurm_script``."""

    task_type_name = SCRIPT


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


async def _whose(
    deployment: Deployment, task: Task, execution: Execution, secrets: SecretValues
) -> tuple[ClusterAccess, str]:
    """Return the way to the cluster for whom the task runs as, and what the user was found by, empty without a rule."""
    if not deployment.users.is_on:
        return deployment.access(task.connection, secrets), ""
    try:
        user, asked = await deployment.users.user_of(execution)
        if not deployment.rest_jwt_key_file:
            deployment.users.check_not_own(user, await token_user(deployment.access(task.connection, secrets, user)))
    except RefusedUser as error:
        audit("refused", execution, task=task.name, reason=error.message)
        raise
    return deployment.access(task.connection, secrets, user), asked


def _secret_values(ssh_private_key: str | None, known_hosts_data: str | None, rest_token: str | None) -> SecretValues:
    return SecretValues(ssh_private_key or "", known_hosts_data or "", rest_token or "")


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
        launcher=task.container.launcher if task.kind == NATIVE else "",
    )
