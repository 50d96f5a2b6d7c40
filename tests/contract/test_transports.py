"""What every transport does, on every release that it serves."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import partial

import pytest

from slurm_rest import AsyncSlurmClient, JobChange, JobSpec
from slurm_rest.errors import JobNotFound, SubmitRejected
from slurm_rest.states import BaseState
from tests.contract.ways import FakeWay, Way
from tests.support.waiting import until, until_true

TRUE = "#!/bin/sh\n"
ODD = "a|b;c^^^d,e=f"


async def test_a_job_goes_its_way(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    comment = '{"a":{"b":"90 min"}}'
    job = await client.submit(f"#!/bin/sh\n#SBATCH --comment='{comment}'\nexit 3\n", name="way", time="1:00:00")
    record = await job.wait(timeout=300)
    assert (record.id, record.name, record.user, record.comment) == (job.id, "way", "alice", comment)
    assert record.submission_key.startswith("slurm-rest:")
    assert (record.state.base, str(record.exit_code)) == (BaseState.FAILED, "3:0")
    assert record.time_limit == timedelta(hours=1)
    assert record.submit_time is not None
    assert record.end_time is not None
    assert record.end_time >= record.submit_time
    assert record.working_directory == way.home()


async def test_states_tell_waiting_running_and_unknown(client: AsyncSlurmClient) -> None:
    held = await client.submit(TRUE, hold=True)
    going = await client.submit("#!/bin/sh\nsleep 600\n")

    async def runs() -> bool:
        return (await client.states([going]))[going.id].is_running

    await until(runs)
    states = await client.states([held.id, going.id, 99_999])
    assert set(states) == {held.id, going.id}
    assert states[held.id].base is BaseState.PENDING
    info = await held.info()
    assert (info.state.base, info.reason) == (BaseState.PENDING, "JobHeldUser")
    assert str(info.exit_code) == "-"


async def test_a_job_is_found_by_its_key_from_elsewhere(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    words, name = f"words {secrets.token_hex(8)}", f"key-{secrets.token_hex(4)}"
    job = await client.submit(TRUE, hold=True, name=name, idempotency_key=words)
    async with way.client() as other:
        found = await other.find(words, name=name)
        assert found is not None
        assert (found.id, found.identity.key) == (job.id, job.identity.key)
        assert await other.find(f"{words}!", name=name) is None


async def test_options_and_directives_arrive(client: AsyncSlurmClient) -> None:
    script = "#!/bin/sh\n#SBATCH --time=10 --job-name=directive\n#SBATCH --ntasks 2\n"
    # Without it there is nothing to wait for, and slurmctld drops the dependency when it next schedules (26.05).
    await client.submit(TRUE, name="directive", hold=True)
    job = await client.submit(script, time=20, hold=True, cpus_per_task=2, output="o-%j.txt", dependency="singleton")
    info = await job.info()
    assert (info.name, info.tasks, info.cpus) == ("directive", 2, 4)
    assert info.time_limit == timedelta(minutes=20)
    assert "singleton" in info.dependency


@pytest.mark.parametrize("value", ["x, \"'\n$HOME `y` \\ %s", "\udcff\x01", ""])
async def test_environment_and_arguments_arrive_as_they_are(
    client: AsyncSlurmClient, way: Way | FakeWay, value: str
) -> None:
    script = '#!/bin/bash\nprintf \'%s|\' "$VALUE" "$@" > "$1"\nenv | grep -c ^SLURM_EXPORT_ENV >> "$1"\n'
    name = f"{way.home()}/out-{way.name}"
    job = await client.submit(script, env={"VALUE": value}, args=[name, "a b", "c'\"$(id)"])
    record = await job.wait(timeout=300)
    assert way.read(name) == f"{value}|{name}|a b|c'\"$(id)|0\n"
    assert record.state.base is BaseState.FAILED, "grep found nothing"


async def test_the_environment_is_the_login_one(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    job = await client.submit('#!/bin/sh\necho "$HOME $USER $SLURM_SUBMIT_DIR ${LC_ALL-} ${SLURM_TIME_FORMAT-}"\n')
    record = await job.wait(timeout=300)
    assert way.read(record.stdout or "").split() == [way.home(), "alice", way.home()]


@pytest.mark.parametrize("name", [ODD, 'it\'s "x" $(id) `id` \\', "\udcff\udc81", "n UserId=root ExitCode=9:9"])
async def test_odd_names_pass_through(client: AsyncSlurmClient, name: str) -> None:
    plain = await client.submit(TRUE, name="plain")
    odd = await client.submit("#!/bin/sh\nexit 3\n", name=name, comment=name)
    records = await client.wait([plain, odd], timeout=300)
    assert [record.name for record in records] == ["plain", name]
    assert records[1].comment == name
    assert [str(record.exit_code) for record in records] == ["0:0", "3:0"]


async def test_an_array_has_its_tasks(client: AsyncSlurmClient) -> None:
    job = await client.submit("#!/bin/sh\nexit $((SLURM_ARRAY_TASK_ID - 1))\n", array="1-3", name=ODD)
    record = await job.wait(timeout=300)
    assert (record.id, record.state.base) == (job.id, BaseState.FAILED)
    members = {member.array_task_id: str(member.exit_code) for member in await client.members(job)}
    assert members == {1: "0:0", 2: "1:0", 3: "2:0"}
    states = await client.member_states(job.id)
    assert {key: state.is_success for key, state in states.items()} == {
        (1, None): True,
        (2, None): False,
        (3, None): False,
    }


async def test_a_waiting_array_is_one_job(client: AsyncSlurmClient) -> None:
    job = await client.submit(TRUE, array="0-99%5", hold=True)
    assert (await client.states([job]))[job.id].is_pending
    assert len(await client.member_states(job.id)) == 100
    info = await job.info()
    assert (info.id, info.state.base) == (job.id, BaseState.PENDING)


async def test_a_het_job_has_its_components(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    spec = JobSpec(f"#!/bin/sh\n{way.step}\n", ntasks=1, components=[JobSpec(ntasks=2)])
    job = await client.submit(spec)
    assert set(await client.member_states(job.id)) == {(None, 0), (None, 1)}
    record = await job.wait(timeout=300)
    assert record.state.is_success
    assert sorted(member.het_job_offset or 0 for member in await client.members(job)) == [0, 1]


async def test_cancel_tells_the_truth_about_each(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    own = await client.submit(TRUE, hold=True)
    over = await client.submit(TRUE)
    await over.wait(timeout=300)
    async with way.client("bob") as others:
        theirs = await others.submit(TRUE, hold=True)
        results = await client.cancel([own.id, over.id, theirs.id, 99_999])
        assert [result.outcome for result in results] == ["signalled", "already_over", "denied", "not_found"]
        assert [result.job_id for result in results] == [own.id, over.id, theirs.id, 99_999]
        assert (await others.states([theirs]))[theirs.id].is_pending
        await others.cancel(theirs)
    assert (await own.wait(timeout=300)).state.base is BaseState.CANCELLED
    assert [result.outcome for result in await client.cancel(own)] == ["already_over"]


async def test_a_signal_reaches_the_script(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    script = "#!/bin/bash\ntrap 'exit 7' USR1\ntouch $HOME/ready-$SLURM_JOB_ID\nwhile :; do sleep 0.1; done\n"
    job = await client.submit(script)
    ready = way.here() / f"ready-{job.id}"
    await until_true(ready.exists)
    assert [result.outcome for result in await client.cancel(job, signal="USR1")] == ["signalled"]
    assert str((await job.wait(timeout=300)).exit_code) == "7:0"


async def test_a_refused_job_tells_slurms_reason(client: AsyncSlurmClient) -> None:
    with pytest.raises(SubmitRejected, match=r"(?i)invalid partition"):
        await client.submit(TRUE, partition="nope")


async def test_an_unknown_job_is_said_to_be_unknown(client: AsyncSlurmClient) -> None:
    assert await client.states([99_999]) == {}
    with pytest.raises(JobNotFound):
        await client.info(99_999)


async def test_many_states_cost_one_request(client: AsyncSlurmClient) -> None:
    jobs = [await client.submit(TRUE, hold=True) for _ in range(3)]
    ids = [*(job.id for job in jobs), *range(90_000, 90_197)]
    before = client.requests
    assert len(await client.states(ids)) == 3
    assert client.requests - before == 1


async def test_a_listing_has_every_job(client: AsyncSlurmClient) -> None:
    jobs = [await client.submit(TRUE, hold=True, name=ODD) for _ in range(3)]
    listed = {record.id for record in await client.jobs(user="alice", name=ODD, state="PENDING")}
    assert listed >= {job.id for job in jobs}


async def test_nodes_and_partitions(client: AsyncSlurmClient) -> None:
    nodes = {node.name: node for node in await client.nodes()}
    assert set(nodes) == {"n1", "n2"}
    node = nodes["n1"]
    assert (node.cpus, node.memory, node.features, set(node.partitions)) == (
        8,
        16384,
        ("intel", "avx512"),
        {"normal", "debug"},
    )
    assert node.state[0] in ("IDLE", "MIXED", "ALLOCATED")
    partitions = {partition.name: partition for partition in await client.partitions()}
    assert set(partitions) == {"normal", "debug"}
    # slurmrestd says nothing of it in some versions.
    assert (partitions["normal"].is_default, partitions["debug"].is_default) in (
        (True, False),
        (True, None),
        (None, None),
    )
    debug = partitions["debug"]
    assert (debug.state, debug.node_count, debug.cpus, debug.max_nodes) == (("UP",), 2, 16, 1)
    assert debug.max_time == timedelta(minutes=30)
    assert partitions["normal"].default_time is None


async def test_ping_names_the_controller(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    (ping,) = await client.ping()
    assert (ping.responding, ping.primary) == (True, True)
    assert ping.slurm.startswith(way.release)
    await client.ping_accounting()


@pytest.mark.parametrize(("name", "release"), [("rest", "24.11"), ("ssh", "22.05"), ("ssh", "26.05"), ("cli", "24.11")])
async def test_jobs_that_left_the_controller_are_known_to_accounting(
    own_cluster: Callable[..., object], name: str, release: str
) -> None:
    cluster = own_cluster(release, conf={"MinJobAge": "2"})
    async with Way(name, cluster).client() as client:  # type: ignore[arg-type]  # what the fixture returns
        job = await client.submit("#!/bin/sh\nexit 3\n", name=ODD)
        array = await client.submit(TRUE, array="1-2")

        async def left() -> bool:
            return not await client.states([job, array])

        await until(left, "their leaving")
        records = await client.wait([job, array], timeout=300)
        assert [record.id for record in records] == [job.id, array.id]
        assert (records[0].source, records[0].name, str(records[0].exit_code)) == ("accounting", ODD, "3:0")
        assert records[1].state.is_success
        assert [result.outcome for result in await client.cancel(job)] == ["not_found"]


async def test_the_past_is_known(client: AsyncSlurmClient) -> None:
    name = f"past-{secrets.token_hex(4)}"
    good, bad = await client.submit(TRUE, name=name), await client.submit("#!/bin/sh\nexit 3\n", name=name)
    await client.wait([good, bad], timeout=300)

    async def found(state: str) -> list[int]:
        return [job.id for job in await client.history(start=timedelta(hours=1), user="alice", name=name, state=state)]

    # They ran side by side, so accounting may hear of either end first.
    for state in ("FAILED", "COMPLETED"):
        await until(partial(found, state), f"accounting's word of the {state} one")
    assert await found("FAILED") == [bad.id]
    assert await found("COMPLETED") == [good.id]
    abroad = datetime.now(timezone(timedelta(hours=5, minutes=30)))
    told = await client.history(start=abroad - timedelta(hours=1), end=abroad + timedelta(minutes=1), name=name)
    assert {job.id for job in told} == {good.id, bad.id}
    assert await client.history(start=timedelta(hours=1), name=name, partition="debug") == []
    assert await client.history(start=timedelta(hours=2), end=timedelta(hours=1), name=name) == []


async def test_what_a_job_used_is_known(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    job = await client.submit("#!/bin/sh\ni=0; while [ $i -lt 100000 ]; do i=$((i+1)); done\n", name="used")
    record = await client.wait(job, timeout=300)

    async def known() -> bool:
        # A job of which slurmdbd has heard by a step alone is called "allocation" at first.
        # Its steps are told one by one, and the fake's use nothing.
        told = [one for one in await client.usage(job.id) if one.name == "used" and one.values()]
        return any(one.cpu_seconds or isinstance(way, FakeWay) for one in told)

    await until(known)
    (found,) = await client.usage([job.id, 99_999])
    assert (found.id, found.name, found.submit_time) == (job.id, "used", record[0].submit_time)
    assert found.cpu_seconds is not None
    assert 0 <= (found.cpu_user_seconds or 0) <= found.cpu_seconds < 60
    assert found.cpu_seconds or isinstance(way, FakeWay)


async def test_a_requeued_job_is_followed_under_its_id(client: AsyncSlurmClient, way: Way | FakeWay) -> None:
    script = '#!/bin/sh\n[ -n "$SLURM_RESTART_COUNT" ] || sleep 600\nexit 4\n'
    job = await client.submit(script, requeue=True)
    changes: list[JobChange] = []
    async for change in client.watch([job], timeout=300):
        changes.append(change)
        if change.state.is_running and not change.restarts and not change.state.flags:
            way.requeue(job.id)
        elif change.state.is_pending and change.restarts:
            # It would wait for two minutes.
            way.start_now(job.id)
    assert [change.is_last for change in changes] == [False] * (len(changes) - 1) + [True]
    assert not any(change.state.is_terminal for change in changes[:-1])
    last = changes[-1]
    assert last.record is not None
    assert (last.restarts, str(last.record.exit_code)) == (1, "4:0")
    # 22.05's accounting does not tell how often a job was started.
    assert last.record.restart_count == 1 or last.record.source == "accounting"
