"""The client's main job on real clusters: submit, follow, read, cancel."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from cluster.native import Cluster
from slurm_rest import (
    AsyncSlurmClient,
    BaseState,
    JobInfo,
    JobNotFound,
    JobSpec,
    SlurmClient,
    SubmitRejected,
    WaitTimeout,
)
from tests.support.waiting import until, until_true

from .conftest import MakeClient

TRUE = "#!/bin/sh\ntrue\n"
SLEEP = "#!/bin/sh\nsleep 600\n"


async def test_a_job_runs_and_tells_its_end(client: AsyncSlurmClient, cluster: Cluster) -> None:
    # Slurm's times are whole seconds.
    before = datetime.now(timezone.utc) - timedelta(seconds=1)
    job = await client.submit(TRUE, name="hello", time="0:05:00", nodes=1)
    after = datetime.now(timezone.utc)
    record = await job.wait(timeout=300)
    assert record.id == job.id
    assert record.state.is_success
    assert str(record.exit_code) == "0:0"
    assert (record.name, record.user, record.partition) == ("hello", "alice", "normal")
    assert record.time_limit == timedelta(minutes=5)
    assert record.working_directory == "/home/alice"
    assert record.submit_time is not None
    assert before < record.submit_time <= after
    assert record.cluster == cluster.name.replace("-", "_")
    assert job.state.is_success


async def test_await_on_a_job_waits_for_it(client: AsyncSlurmClient) -> None:
    record = await (await client.submit("#!/bin/sh\nexit 3\n"))
    assert record.state.base is BaseState.FAILED
    assert (record.exit_code.code, record.exit_code.signal) == (3, 0)
    assert record.reason == "NonZeroExitCode"


async def test_a_killed_job_tells_the_signal(client: AsyncSlurmClient) -> None:
    record = await (await client.submit("#!/bin/sh\nkill -9 $$\n"))
    assert record.state.base is BaseState.FAILED
    assert record.exit_code.signal == 9


async def test_a_failing_step_shows_in_the_derived_exit_code(client: AsyncSlurmClient) -> None:
    record = await (await client.submit('#!/bin/sh\nsrun -n1 sh -c "exit 7"\nexit 0\n', name="step"))
    assert record.state.is_success
    assert record.derived_exit_code.code == 7


async def test_options_arrive_in_the_record(client: AsyncSlurmClient) -> None:
    job = await client.submit(
        TRUE,
        hold=True,
        partition="normal",
        time="1-02:00:00",
        nodes="1-2",
        ntasks=2,
        cpus_per_task=2,
        mem="2G",
        gres="gpu:a100:1",
        constraint="intel",
        licenses="matlab:1",
        comment='it\'s "mine"',
        qos="normal",
        output="out-%j.txt",
        mail_type="END,TIME_LIMIT_90",
        nice=5,
    )
    record = await job.info()
    raw = record.raw
    assert record.time_limit == timedelta(days=1, hours=2)
    assert raw["memory_per_node"] == {"set": True, "infinite": False, "number": 2048}
    assert raw["cpus_per_task"] == {"set": True, "infinite": False, "number": 2}
    assert raw["tres_per_node"] == "gres/gpu:a100:1"
    assert raw["features"] == "intel"
    assert raw["licenses"] == "matlab:1"
    assert raw["mail_type"] == ["END", "TIME=90%"]
    assert raw["nice"] == 5
    assert record.comment == 'it\'s "mine"'
    assert record.submission_key.startswith("slurm-rest:")
    assert record.state.is_pending
    assert record.reason == "JobHeldUser"
    assert any("held" in warning for warning in job.warnings)


async def test_the_job_gets_its_login_environment_with_env_on_top(client: AsyncSlurmClient, cluster: Cluster) -> None:
    script = '#!/bin/bash\nprintf "%s|%s|%s|%s" "$HOME" "$USER" "$A" "$1" > result-$SLURM_JOB_ID\n'
    job = await client.submit(script, env={"A": "one two"}, args=["x y"])
    assert (await job.wait(timeout=300)).state.is_success
    written = (cluster.home / "alice" / f"result-{job.id}").read_text()
    assert written == "/home/alice|alice|one two|x y"


async def test_nothing_of_the_submitters_environment_is_sent(
    client: AsyncSlurmClient, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_MINE", "hush")
    job = await client.submit("#!/bin/bash\nenv > env-$SLURM_JOB_ID\n")
    assert (await job.wait(timeout=300)).state.is_success
    assert "hush" not in (cluster.home / "alice" / f"env-{job.id}").read_text()


async def test_the_submit_rule_sends_it_but_never_a_token(
    make_client: MakeClient, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_HERE", "yes")
    monkeypatch.setenv("SLURM_JWT", "a.b.c")
    slurm = make_client(environment="submit", workdir="/home/{user}")
    job = await slurm.submit("#!/bin/bash\nenv > env-$SLURM_JOB_ID\n")
    assert (await job.wait(timeout=300)).state.is_success
    environment = (cluster.home / "alice" / f"env-{job.id}").read_text()
    assert "FROM_HERE=yes" in environment
    assert "SLURM_JWT" not in environment


async def test_many_jobs_share_one_request_per_tick(client: AsyncSlurmClient) -> None:
    jobs = [await client.submit("#!/bin/sh\nsleep 0.3\n", name=f"job{number}") for number in range(12)]
    before, ticks_before = client.requests, client._poller.ticks
    ticks = []
    records = await client.wait(jobs, timeout=300, on_change=lambda states: ticks.append(states))
    assert [record.id for record in records] == [job.id for job in jobs]
    assert all(record.state.is_success for record in records)
    assert len(ticks) >= 2
    # One for each tick, and for the final records of all that ended a few more, or one each where accounting is late.
    # How many ticks there are, and at how many of them some have ended, is the machine's.
    assert client.requests - before <= 4 * (client._poller.ticks - ticks_before) + len(jobs)


async def test_an_array_is_one_job_until_all_its_tasks_are_over(client: AsyncSlurmClient) -> None:
    script = "#!/bin/sh\n[ $SLURM_ARRAY_TASK_ID = 2 ] && exit 4\nsleep 1\n"
    job = await client.submit(script, array="0-3", name="tasks")
    other = await client.submit("#!/bin/sh\nsleep 1\n", array="5-6")
    plain = await client.submit("#!/bin/sh\nsleep 1\n")
    record, second, third = await client.wait([job, other, plain], timeout=300)
    assert record.id == job.id
    assert record.state.base is BaseState.FAILED
    assert record.exit_code.code == 4
    assert second.state.is_success
    assert third.state.is_success
    members = await client.members(job)
    assert sorted(member.array_task_id or 0 for member in members) == [0, 1, 2, 3]
    assert {member.label for member in members} == {f"{job.id}_{task}" for task in range(4)}
    states = await client.states([job, other, plain])
    assert {job_id: str(state) for job_id, state in states.items()} == {
        job.id: "FAILED",
        other.id: "COMPLETED",
        plain.id: "COMPLETED",
    }


async def test_cancel_tells_the_truth_about_each_job(client: AsyncSlurmClient, make_client: MakeClient) -> None:
    mine = await client.submit(SLEEP, hold=True)
    over = await client.submit(TRUE)
    await over.wait(timeout=300)
    foreign = await make_client("bob").submit(SLEEP, hold=True)
    results = await client.cancel([mine.id, over.id, foreign.id, 60_000_000, 99_999_999_999])
    assert [result.outcome for result in results] == [
        "signalled",
        "already_over",
        "denied",
        "not_found",
        "not_found",
    ]
    assert (await mine.wait(timeout=300)).state.base is BaseState.CANCELLED
    assert (await make_client("bob").job(foreign.id).cancel()).ok


@pytest.mark.parametrize("version", ["v0.0.40", "v0.0.41", "v0.0.42"])
async def test_cancel_tells_the_truth_in_versions_that_say_nothing(
    version: str, cluster_24_11: Cluster, make_client: MakeClient
) -> None:
    alice = make_client(url=cluster_24_11.url, token=cluster_24_11.token("alice"), api_version=version)
    bob = make_client(url=cluster_24_11.url, token=cluster_24_11.token("bob"))
    foreign = await bob.submit(SLEEP, hold=True)
    over = await alice.submit(TRUE)
    await over.wait(timeout=300)
    results = await alice.cancel([foreign.id, over.id, 60_000_000])
    assert [result.outcome for result in results] == ["denied", "already_over", "not_found"]
    await bob.cancel(foreign.id)


async def test_cancelling_an_array_that_is_partly_over(client: AsyncSlurmClient) -> None:
    job = await client.submit("#!/bin/sh\n[ $SLURM_ARRAY_TASK_ID = 0 ] && exit 0\nsleep 600\n", array="0-2")

    async def one_is_over() -> bool:
        return any(member.state.is_terminal for member in await client.members(job))

    await until(one_is_over)
    assert (await job.cancel()).outcome == "signalled"
    assert (await job.wait(timeout=300)).state.base is BaseState.CANCELLED
    assert (await job.cancel()).outcome == "already_over"


async def test_a_signal_reaches_the_script(client: AsyncSlurmClient, cluster: Cluster) -> None:
    job = await client.submit("#!/bin/bash\ntrap 'exit 9' USR1\necho > ready-$SLURM_JOB_ID\nsleep 600 &\nwait\n")
    await until_true((cluster.home / "alice" / f"ready-{job.id}").exists)
    assert (await client.cancel(job, signal="USR1")).pop().outcome == "signalled"
    record = await job.wait(timeout=300)
    assert record.exit_code.code == 9


async def test_a_wait_that_runs_out_leaves_the_job_alone(client: AsyncSlurmClient) -> None:
    job = await client.submit(SLEEP, hold=True)
    with pytest.raises(WaitTimeout) as caught:
        await job.wait(timeout=0.5)
    assert caught.value.job_ids == (job.id,)
    assert (await job.refresh()).is_pending


async def test_lists_of_jobs_nodes_and_partitions(client: AsyncSlurmClient, cluster: Cluster) -> None:
    job = await client.submit(SLEEP, hold=True, name="listed")
    assert [record.id for record in await client.jobs(name="listed", state="PENDING")] == [job.id]
    assert all(record.user == "alice" for record in await client.jobs(user="alice"))
    nodes = await client.nodes()
    assert [node.name for node in nodes] == list(cluster.nodes)
    assert nodes[0].gres
    assert nodes[0].cpus == 8
    partitions = {partition.name: partition for partition in await client.partitions()}
    assert set(partitions) == {"normal", "debug"}
    assert partitions["debug"].max_time == timedelta(minutes=30)


async def test_ping_and_diag(client: AsyncSlurmClient, cluster: Cluster) -> None:
    (ping,) = await client.ping()
    assert ping.responding
    assert ping.cluster == cluster.name.replace("-", "_")
    assert ping.slurm.startswith(cluster.release)
    await client.ping_accounting()
    diag = await client.diag()
    assert diag.jobs_submitted is not None
    assert diag.since is not None


async def test_a_job_that_left_the_controller_is_still_known(own_cluster: object, make_client: MakeClient) -> None:
    cluster = own_cluster("24.11", conf={"MinJobAge": "2"})  # type: ignore[operator]  # a fixture's function
    slurm = make_client(url=cluster.url, token=cluster.token("alice"))
    job = await slurm.submit("#!/bin/sh\nexit 5\n")
    await job.wait(timeout=300)

    async def has_left() -> bool:
        return job.id not in await slurm.states([job])

    await until(has_left)

    async def told() -> JobInfo | None:
        try:
            found = await slurm.job(job.id).info()
        except JobNotFound:  # accounting hears of it later
            return None
        return found if found.state.is_terminal else None

    record = await until(told, "accounting's word")
    assert record is not None
    assert record.source == "accounting"
    assert record.exit_code.code == 5
    assert (await slurm.job(job.id).wait(timeout=300)).exit_code.code == 5
    assert (await slurm.job(job.id).refresh()).base is BaseState.FAILED


async def test_an_unknown_job_is_not_found(client: AsyncSlurmClient) -> None:
    with pytest.raises(JobNotFound):
        await client.job(60_000_000).info()
    with pytest.raises(JobNotFound):
        await client.job(99_999_999_999).info()
    assert await client.states([60_000_000]) == {}


async def test_a_spec_can_be_reused(client: AsyncSlurmClient) -> None:
    spec = JobSpec(TRUE, name="spec", hold=True)
    first = await client.submit(spec)
    second = await client.submit(spec, name="other")
    assert first.id != second.id
    assert ((await first.info()).name, (await second.info()).name) == ("spec", "other")


async def test_a_refusal_carries_slurms_reason(client: AsyncSlurmClient) -> None:
    with pytest.raises(SubmitRejected) as caught:
        await client.submit(TRUE, partition="nosuch")
    assert caught.value.error_number == 2000
    assert "Invalid partition name" in str(caught.value)
    assert "slurm-rest partitions" in caught.value.hint


def test_the_sync_face_does_the_same(slurm: SlurmClient) -> None:
    job = slurm.submit(TRUE, name="sync")
    assert job.wait(timeout=300).state.is_success
    assert job.state.is_success
    assert "sync" in repr(job)
    assert job.info().name == "sync"
    assert slurm.job(job.id).wait(timeout=300).id == job.id


async def test_the_sync_face_works_inside_a_running_loop(slurm: SlurmClient) -> None:
    assert slurm.submit(TRUE).wait(timeout=300).state.is_success
    assert slurm.api.get_partitions().partitions
