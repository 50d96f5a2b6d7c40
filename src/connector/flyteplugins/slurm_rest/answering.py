"""What get answers: a job's phase from the poller's news, and once it is over from what the task itself wrote.

Each step has its share of the time of one answer, and none does work that a later call could not go on with.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from flyte.connectors import Resource
from flyteidl2.core.execution_pb2 import TaskExecution, TaskLog

from slurm_rest import BaseState, SlurmError
from slurm_rest.errors import JobNotFound

from .asking import STDERR_LINES, TimeLeft, add_canceller, guess_phase, read_stderr
from .checking import under_way
from .clients import Cluster
from .endings import work_for
from .follower import Look
from .judging import Verdict, judge, settled
from .known import Known, job_handle, job_key, own_key
from .launches import add_launch_failures
from .links import site_links
from .members import failed_members
from .messages import capped, details, whereabouts, with_stderr
from .metadata import SlurmJobMetadata
from .outcome import Outcome
from .queueing import gave_up, is_overdue, is_stuck
from .running import LOCAL_RUN, in_order
from .settings import Deployment, SecretValues
from .states import Phase
from .wording import in_our_terms

__all__ = ["ANSWER", "Question", "answer"]

log = logging.getLogger("flyteplugins.slurm_rest")

# A whole answer, whatever is down; the platform's own bound is two seconds, and a busy process needs some of them.
ANSWER = 1.5
_FIRST_NEWS, _SETTLE_PATIENCE, _COPY_PATIENCE = 0.9, 0.5, 0.1
_REMOVAL_PATIENCE, _LOCAL_PATIENCE = 0.1, 15.0


@dataclass(frozen=True, slots=True)
class Question:
    """One call of get: the job, the cluster that it is on, and the time that is left to answer."""

    meta: SlurmJobMetadata
    deployment: Deployment
    cluster: Cluster
    key: str
    time: TimeLeft

    @classmethod
    def of(cls, known: Known, meta: SlurmJobMetadata, secrets: SecretValues) -> Question:
        """Return the question about a job; the time runs from here. Raises ConfigError."""
        time, deployment = TimeLeft(ANSWER), under_way(os.environ, meta.cluster)
        cluster = known.clusters.get(deployment.access(meta.asked(), secrets, meta.run_as))
        known.reached.set(own_key(meta), cluster.access)
        return cls(meta, deployment, cluster, job_key(meta, cluster), time)


@dataclass(frozen=True, slots=True)
class _End:
    """What became of a job that is over, its outputs, links to copies of what it wrote, and its last words."""

    verdict: Verdict
    outputs: Mapping[str, object] | None = None
    copies: Sequence[TaskLog] = ()
    stderr: str = ""


async def answer(known: Known, question: Question) -> Resource:
    """Return what the platform is told. Raises RuntimeError in a local run, where the job is worth another try."""
    look, verdict = await _heard(known, question)
    if verdict.phase.is_terminal:
        # A local run may be the end of this process.
        most = _REMOVAL_PATIENCE if LOCAL_RUN.get() is None else _LOCAL_PATIENCE
        await known.secret_files.remove(question.cluster, question.meta.secret_file, patience=most)
    end = await _end(known, question, verdict, look) if verdict.phase.is_terminal else _End(verdict)
    verdict = end.verdict
    if LOCAL_RUN.get() is None or verdict.phase.is_terminal:
        verdict = replace(verdict, message=f"{verdict.message}\n{_whereabouts(question, look)}")
    verdict = replace(verdict, message=with_stderr(verdict.message, end.stderr, STDERR_LINES))
    if (run := LOCAL_RUN.get()) is not None:
        run.tell(verdict.message)
    if verdict.phase is Phase.RETRYABLE_FAILED and run is not None:
        # Flyte's local executor waits for ever in this phase; an error makes it retry.
        raise RuntimeError(verdict.message)
    if verdict.phase.is_terminal:
        known.phases.drop(question.key)
    else:
        known.phases.set(question.key, (verdict.phase, look.restarts))
    outputs = in_order(end.outputs, run)
    return Resource(
        phase=TaskExecution.Phase.Value(verdict.phase.value),
        message=capped(verdict.message),
        log_links=[*site_links(question.deployment.log_links, question.meta, look.record), *end.copies],
        outputs=dict(outputs) if outputs else None,
        custom_info=details(_facts(question.meta, question.cluster, look), look.record),
    )


# --- while it goes on ---------------------------------------------------------------------------------------------


async def _heard(known: Known, question: Question) -> tuple[Look, Verdict]:
    """Return what Slurm says of the job, and what that alone means."""
    meta, cluster, time = question.meta, question.cluster, question.time
    look = await cluster.follower.look(meta.identity(), time.most(_FIRST_NEWS))
    look = replace(look, trouble=in_our_terms(look.trouble))
    if look.record is not None and not meta.is_of(look.record):
        lost = JobNotFound(f"Its id belongs to another job now, {look.record.name!r}")
        look = Look(look.state, is_over=True, error=lost)
    last = known.phases.get(question.key)
    if last is None and not look.is_heard and not look.is_over:
        last = (await guess_phase(meta, cluster, time), 0)
    too_long = gave_up(look, meta.queue_limit, meta.sent, by_us=question.key in known.given_up)
    in_vain = too_long or _was_stuck(known, question.key, look)
    look, ours = (look, False) if in_vain else await _whose_doing(known, question, look)
    verdict = judge(meta.job_id, look, cancelled_by_us=ours, last=last, gave_up=in_vain)
    if is_overdue(look, meta.queue_limit, meta.sent, datetime.now(timezone.utc)):
        _give_up(known, question, is_late=True)
        verdict = Verdict(verdict.phase, f"{verdict.message}\nIt has waited too long and is being cancelled")
    if is_stuck(look):
        _give_up(known, question, is_late=False)
        text = "A node could not launch it, and Slurm starts it no more by itself: it is being cancelled"
        verdict = Verdict(Phase.RETRYABLE_FAILED, f"{verdict.message}\n{text}")
        known.stuck.set(question.key, verdict.message)
    return look, verdict


def _was_stuck(known: Known, key: str, look: Look) -> str:
    """Return what was said of a job that was held after a failed launch, now that it is cancelled: that stays."""
    record = look.record
    is_it = look.is_over and record is not None and record.state.base is BaseState.CANCELLED and not record.nodes
    return known.stuck.get(key) or "" if is_it else ""


async def _whose_doing(known: Known, question: Question, look: Look) -> tuple[Look, bool]:
    """Return the look, and whether Flyte had the job cancelled; where others did, with who, or which node, it was.

    While that is not known the job is not over: it decides what is told of its end.
    """
    meta, key, time = question.meta, question.key, question.time
    if not look.is_over or look.state.base is not BaseState.CANCELLED:
        return look, key in known.cancelled
    ours = await known.cancelled.is_ours(key, meta, patience=time.most(_SETTLE_PATIENCE))
    if ours is None:
        return replace(look, is_over=False), False
    if ours:
        return look, True
    told = await add_canceller(known.findings, key, meta, question.cluster, look, time)
    if told is not None:
        told = await add_launch_failures(known.drains, key, question.cluster.client, told, time)
    return told or replace(look, is_over=False), False


def _give_up(known: Known, question: Question, *, is_late: bool) -> None:
    """Cancel a job that waits for too long or in vain, off this call; what becomes of it the next one sees."""
    key = question.key
    if key not in known.giving_up:
        task = asyncio.create_task(_cancel_waiting(known, question, is_late), name=f"give up {key}")
        known.giving_up[key] = task
        task.add_done_callback(lambda _: known.giving_up.pop(key, None))


async def _cancel_waiting(known: Known, question: Question, is_late: bool) -> None:
    """Cancel a job if it still waits; where that fails the next call tries again."""
    meta, key = question.meta, question.key
    job = job_handle(meta, question.cluster)
    try:
        if (await job.info()).state.is_pending:
            if is_late:
                # Before it is cancelled, so that whoever sees the end first knows.
                known.given_up.set(key, True)
            result = await job.cancel()
            if result.outcome != "signalled":
                known.given_up.drop(key)
            log.warning("Job %s waits too long or in vain and is given up: %s", meta.job_id, result.outcome)
    except SlurmError as error:
        log.warning("Job %s is given up, and cannot be cancelled now: %s", meta.job_id, error.message)


# --- once it is over ----------------------------------------------------------------------------------------------


async def _end(known: Known, question: Question, verdict: Verdict, look: Look) -> _End:
    """Return the outcome, and links to what the job wrote; RUNNING while that is copied, for a bounded time."""
    await _copies(known, question, look, patience=0)
    end = await _settle(known, question, verdict, look)
    if not end.verdict.phase.is_terminal:
        return end
    stderr: str | None = ""
    if end.verdict.phase in (Phase.FAILED, Phase.RETRYABLE_FAILED):
        found, cluster = known.findings, question.cluster
        stderr = await read_stderr(found, question.key, question.meta, cluster, look, question.time)
    if stderr is None:
        return _waiting(end, "reading what it wrote to standard error")
    links = await _copies(known, question, look, patience=question.time.most(_COPY_PATIENCE))
    if links is None:
        return _waiting(end, "copying what it wrote")
    return _End(end.verdict, end.outputs, links, stderr)


def _waiting(end: _End, doing: str) -> _End:
    return _End(Verdict(Phase.RUNNING, f"{end.verdict.message}\nThe job is over; the connector is {doing}"))


async def _settle(known: Known, question: Question, verdict: Verdict, look: Look) -> _End:
    """Return what the task's own files make of a job's end; RUNNING while they are being read or moved."""
    meta = question.meta
    receipts = known.receipts if LOCAL_RUN.get() is None else None
    work = work_for(meta, question.cluster, verdict.phase, receipts, question.key)
    if work is None:
        return _End(verdict)
    patience = question.time.most(_SETTLE_PATIENCE)
    done, outcome, trouble = await known.settling.result(question.key, work, patience=patience)
    if not done:
        what = f"moving {', '.join(meta.declared_outputs)}" if meta.declared_outputs else "reading its outcome"
        text = f"{verdict.message}\nThe job is over; the connector is {what}"
        return _End(Verdict(Phase.RUNNING, f"{text}; trouble with it: {trouble}" if trouble else text))
    if outcome is None and meta.launcher == "srun" and look.state.base is BaseState.FAILED:
        # The first process alone writes errors; whatever ended another one may go by, as flyte takes it to be.
        outcome = Outcome(False, "One of its processes ended with an error", "WorkerError", is_recoverable=True)
    return _End(settled(verdict, outcome), outcome.outputs if outcome and outcome.is_success else None)


async def _copies(known: Known, question: Question, look: Look, *, patience: float) -> list[TaskLog] | None:
    """Return links to copies of the job's output, None while they are made; a local run needs none."""
    deployment = question.deployment
    if not deployment.log_copies or LOCAL_RUN.get() is not None:
        return []
    files, lifetime = question.cluster.client.files, deployment.upload_url_ttl
    failed = [one.array_task_id for one in failed_members(look.members) if one.array_task_id is not None]
    return await known.copies.links(question.key, question.meta, files, lifetime, patience=patience, failed=failed)


def _whereabouts(question: Question, look: Look) -> str:
    meta, access = question.meta, question.cluster.access
    login = f"{access.user}@{access.host}" if access.has_ssh and access.user else access.host
    runs = look.state.base is BaseState.RUNNING and not look.is_over and not meta.array
    return whereabouts(meta.stdout_path, meta.stderr_path, login, meta.job_id if runs else "")


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
