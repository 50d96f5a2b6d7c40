# pyright: strict, reportUnnecessaryTypeIgnoreComment=true
"""What users write, for type checkers only: it never runs. mypy and pyright both read it (scripts/check).

A line that must be refused carries ``type: ignore`` with mypy's code. Both checkers complain about a needless one,
so a signature that becomes too loose fails the check as well.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from typing_extensions import assert_type

import slurm_rest
from slurm_rest import (
    ActionResult,
    AsyncJob,
    AsyncSlurmClient,
    CancelResult,
    ConfigError,
    Job,
    JobInfo,
    JobSpec,
    JobState,
    Node,
    SlurmClient,
    SlurmError,
    SpecError,
    SubmitUncertain,
    UnsupportedVersion,
    WaitTimeout,
)
from slurm_rest.api import jobs
from slurm_rest.auth import FileToken
from slurm_rest.exporters import to_opentelemetry, to_prometheus
from slurm_rest.metrics import Metrics


def blocking() -> None:
    """The face for scripts and notebooks."""
    with SlurmClient("http://slurm:6820", token="x", user="alice", timeout=5, environment="login") as slurm:
        assert_type(slurm, SlurmClient)
        job = slurm.submit("train.sbatch", partition="gpu", time="2:00:00", gpus=1, env={"A": "1"}, args=["x"])
        assert_type(job, Job)
        slurm.submit(Path("train.sbatch"), time=timedelta(hours=2), mem=4096, hold=True, begin=datetime(2030, 1, 1))
        slurm.submit(JobSpec("#!/bin/sh\n", nodes=2, mem="4G"), array="1-10%2", nodelist=["n1", "n2"])
        assert_type(job.id, int)
        assert_type(job.state, JobState)
        assert_type(job.state.is_success, bool)
        assert_type(job.wait(timeout=60), JobInfo)
        assert_type(job.cancel(), CancelResult)
        assert_type(slurm.wait([job, 12], progress=True), list[JobInfo])
        assert_type(slurm.states([job, 12]), dict[int, JobState])
        assert_type(slurm.cancel(job, signal="TERM"), list[CancelResult])
        assert_type(slurm.hold([job, 12]), list[ActionResult])
        assert_type(job.requeue(hold=True), ActionResult)
        job.update(time="1:00:00", nodes=2, partition=["a", "b"])
        assert_type(slurm.nodes()[0], Node)
        assert_type(slurm.jobs(user="alice", state=["RUNNING"])[0], JobInfo)
        assert_type(job.info().submit_time, datetime | None)
        assert_type(job.info().exit_code.code, int | None)


async def asynchronous() -> None:
    """The same as coroutines."""
    async with AsyncSlurmClient() as slurm:
        job = await slurm.submit("#!/bin/sh\ntrue\n", name="hello", nodes=2)
        assert_type(job, AsyncJob)
        assert_type(await job, JobInfo)
        assert_type(job.state, JobState)
        assert_type(await slurm.states([job]), dict[int, JobState])
        answer = await slurm.api.get_jobs(update_time=0)
        assert_type(answer, jobs.OpenapiJobInfoResp)


def outputs(slurm: SlurmClient, job: Job) -> None:
    """What jobs write."""
    assert_type(job.stdout(max_bytes=1000), str)
    assert_type(job.stderr(), str)
    for text in job.follow(lines=10):
        assert_type(text, str)
    assert_type(slurm.files.tail("/home/alice/x", lines=3).text, str)
    for entry in slurm.files.walk("/home/alice"):
        assert_type(entry.relative, str)
    SlurmClient(path_map={"/home": "/mnt/home"})
    SlurmClient(path_map=["/home"])  # type: ignore[arg-type]


def generated(slurm: SlurmClient) -> None:
    """Every operation of slurmrestd."""
    answer = slurm.api.get_jobs()
    assert_type(answer, jobs.OpenapiJobInfoResp)
    for record in answer.jobs or []:
        assert_type(record.name, str | None)
    slurm.api.db.get_accounts()
    body = jobs.JobSubmitReq(script="#!/bin/sh\n", job=jobs.JobDescMsg(name="x", environment=["A=1"]))
    slurm.api.post_job_submit(body)


def errors(slurm: SlurmClient) -> None:
    """One root, data on each."""
    try:
        slurm.submit("#!/bin/sh\n")
    except SubmitUncertain as error:
        assert_type(error.key, str)
    except WaitTimeout as error:
        assert_type(error.job_ids, tuple[int, ...])
    except UnsupportedVersion as error:
        assert_type(error.supported, tuple[str, ...])
    except SpecError as error:
        assert_type(error.field, str)
    except ConfigError as error:
        assert_type(error.hint, str)
    except SlurmError as error:
        assert_type(error.http_status, int | None)
        assert_type(error.error_number, int | None)
    assert_type(slurm_rest.__version__, str)


class OwnToken:
    """A token source of a user's own."""

    name = "our vault"

    async def token(self, *, renew: bool = False) -> str:
        """Return a token."""
        return "x"


def watched() -> None:
    """Who one is, and what is counted."""
    slurm = SlurmClient(token=["env", FileToken(Path("/run/token")), OwnToken()], jwt_key_id="k1", token_ssh=True)
    assert_type(slurm.metrics, Metrics)
    assert_type(slurm.metrics.token_age, float | None)
    stop = slurm.metrics.on_request(lambda request: assert_type(request.seconds, float))
    stop()
    to_prometheus(slurm.metrics, "hpc")()
    to_opentelemetry(AsyncSlurmClient(token=OwnToken()).metrics)
    SlurmClient(token=5)  # type: ignore[arg-type]


def refused(slurm: SlurmClient, job: Job) -> None:
    """What a type checker has to find before Slurm does."""
    slurm.submit("#!/bin/sh\n", partiton="gpu")  # type: ignore[call-arg]
    slurm.submit("#!/bin/sh\n", nodes=1.5)  # type: ignore[arg-type]
    slurm.submit("#!/bin/sh\n", hold="yes")  # type: ignore[arg-type]
    slurm.submit("#!/bin/sh\n", env=["A=1"])  # type: ignore[arg-type]
    slurm.submit(12)  # type: ignore[arg-type]
    JobSpec("#!/bin/sh\n", tme=5)  # type: ignore[call-arg]
    JobSpec("#!/bin/sh\n", ntasks="4")  # type: ignore[arg-type]
    SlurmClient(transport="carrier pigeon")  # type: ignore[arg-type]
    SlurmClient("http://slurm", "token")  # type: ignore[call-arg]
    slurm.update(job, gpus=1)  # type: ignore[call-arg]
    slurm.wait("12")  # type: ignore[arg-type]
    job.id = 5  # type: ignore[misc]
    job.info().name = "x"  # type: ignore[misc]
    slurm.api.get_jobz()  # type: ignore[attr-defined]
    slurm.api.get_jobs(since=5)  # type: ignore[call-arg]
    jobs.JobDescMsg(nmae="x")  # type: ignore[call-arg]
