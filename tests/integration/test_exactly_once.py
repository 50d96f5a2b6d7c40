"""Lost answers in every form, against real daemons: one job for one submission, never two, never none unsaid."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient, SlurmError, SubmitUncertain
from slurm_rest.job import AsyncJob
from slurm_rest.transport import recovery
from tests.support.promises import promises_no_job
from tests.support.proxy import Fault, FaultProxy, proxy_to, thirty_percent
from tests.support.waiting import until_true

SCRIPT = "#!/bin/sh\ntrue\n"
STORM = 500
# Among 500 jobs of the same name each key costs a megabyte of accounting, twice: 7 minutes on 2 busy cores.
LONG = bool(os.environ.get("SLURM_REST_FAULT_SECONDS"))
# Longer than any load makes it: a storm is over when all is known, not after a time.
PATIENT = {"recovery_timeout": 400.0}


@pytest.fixture(scope="module", params=("24.11", "26.05"))
def cluster(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Cluster:
    return shared_cluster(request.param)


@pytest.fixture
def name(cluster: Cluster) -> Iterator[str]:
    """Return a job name that no other test uses; its jobs are cancelled in the end."""
    name = f"once-{random.getrandbits(40):x}"
    yield name
    cluster.exec(["scancel", f"--name={name}"])


def client_of(cluster: Cluster, url: str, **settings: object) -> AsyncSlurmClient:
    return AsyncSlurmClient(url, token=cluster.token("alice"), workdir="/tmp", **settings)  # type: ignore[arg-type]


async def keys_of(cluster: Cluster, name: str) -> dict[int, str]:
    """Return the key of every job of this name, asked without any proxy."""
    async with client_of(cluster, cluster.url) as slurm:
        return {record.id: record.submission_key for record in await slurm.jobs(name=name)}


def known_to_accounting(cluster: Cluster, name: str) -> int:
    """Return how many of the live jobs of this name accounting calls so, too."""
    ids = cluster.exec(["squeue", "-h", "-n", name, "-o", "%A"], check=True).stdout.split()
    told = cluster.exec(["sacct", "-nXP", "-j", ",".join(ids), "-o", "JobName"], check=True).stdout
    return told.split().count(name)


# --- each fault once ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "sent"),
    [
        (Fault.REFUSED, 2),
        (Fault.HALF, 2),
        (Fault.LOST, 1),
        (Fault.CUT, 1),
        (Fault.PAGE, 2),
        (Fault.LATE_PAGE, 1),
        (Fault.HUGE, 1),
        (Fault.SILENT, 1),
    ],
)
async def test_one_fault_makes_one_job(fault: Fault, sent: int, cluster: Cluster, name: str) -> None:
    async with proxy_to(cluster.url, lambda number: Fault.NONE if number else fault) as proxy:
        timeout = {"timeout": 5.0} if fault is Fault.SILENT else {}
        async with client_of(cluster, proxy.url, **timeout) as slurm:
            job = await slurm.submit(SCRIPT, name=name, hold=True)
    assert len(proxy.posts) == sent
    found = await keys_of(cluster, name)
    assert list(found) == [job.id]
    assert found[job.id].encode() in proxy.posts[0]
    assert found[job.id].encode() in proxy.posts[-1]


async def test_what_a_proxy_still_holds_is_not_sent_again(cluster: Cluster, name: str) -> None:
    async with proxy_to(cluster.url, lambda _: Fault.HELD) as proxy:
        async with client_of(cluster, proxy.url, timeout=5, recovery_timeout=4) as slurm:
            with pytest.raises(SubmitUncertain) as caught:
                await slurm.submit(SCRIPT, name=name, hold=True)
        assert await keys_of(cluster, name) == {}
        proxy.release.set()
        await until_true(lambda: proxy.forwarded == 1)
    assert len(proxy.posts) == 1
    assert caught.value.key in str(caught.value)


@pytest.mark.parametrize("options", [{"array": "0-3"}, {"comment": "my own words"}], ids=["array", "comment"])
async def test_what_is_found_is_the_whole_job(options: dict[str, str], cluster: Cluster, name: str) -> None:
    async with proxy_to(cluster.url, lambda _: Fault.LOST) as proxy, client_of(cluster, proxy.url) as slurm:
        job = await slurm.submit(SCRIPT, name=name, **options)  # type: ignore[arg-type]  # one option or another
        record = await job.info()
        assert record.submission_key.encode() in proxy.posts[0]
        assert record.comment == options.get("comment", "")
        assert record.array_job_id in (None, job.id)
    assert len(proxy.posts) == 1


async def test_a_job_that_ended_meanwhile_is_found(cluster: Cluster, name: str) -> None:
    def choose(_: int) -> Fault:
        return Fault.SILENT

    async with proxy_to(cluster.url, choose) as proxy, client_of(cluster, proxy.url, timeout=5) as slurm:
        job = await slurm.submit(SCRIPT, name=name)
        assert (await job.wait(timeout=300)).state.is_success
    assert len(proxy.posts) == 1


# --- a caller's own key ---------------------------------------------------------------------------------------


async def test_a_callers_key_finds_its_job_again(cluster: Cluster, name: str) -> None:
    async with client_of(cluster, cluster.url) as first, client_of(cluster, cluster.url) as second:
        job = await first.submit(SCRIPT, name=name, hold=True, idempotency_key=name)
        assert (await first.submit(SCRIPT, name=name, hold=True, idempotency_key=name)).id == job.id
        assert (await second.submit(SCRIPT, name=name, hold=True, idempotency_key=name)).id == job.id
        await job.cancel()
        async with client_of(cluster, cluster.url) as third:
            assert (await third.submit(SCRIPT, name=name, idempotency_key=name)).id == job.id
            assert (await third.submit(SCRIPT, name=name, hold=True, idempotency_key=f"{name} again")).id != job.id
    assert len(await keys_of(cluster, name)) == 2


async def test_a_key_is_looked_for_beside_many_jobs_without_one(
    cluster: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than may be read, by sbatch of the same user: accounting tells that they are others, by their names."""
    monkeypatch.setattr(recovery, "BOUNDS", replace(recovery.BOUNDS, records=100))
    mine = f"{name}-mine"
    async with client_of(cluster, cluster.url) as first:
        job = await first.submit(SCRIPT, name=mine, hold=True, idempotency_key=name)
    loop = f"for number in $(seq 150); do sbatch -H -J {name} --wrap true; done"
    await asyncio.to_thread(cluster.exec, ["sh", "-c", loop], user="alice", check=True, timeout=400)
    try:
        # After an outage of slurmdbd, as another test may have made one, that takes seconds.
        await until_true(lambda: known_to_accounting(cluster, name) == 150, "accounting's word of all")
        async with client_of(cluster, cluster.url) as second:
            again = await second.submit(SCRIPT, name=mine, hold=True, idempotency_key=name)
            other = await second.submit(SCRIPT, name=mine, hold=True, idempotency_key=f"{name} again")
            assert (again.id, again.found) == (job.id, True)
            assert (other.id != job.id, other.found) == (True, False)
        assert len(await keys_of(cluster, mine)) == 2
    finally:
        cluster.exec(["scancel", f"--name={mine}"])


async def test_many_at_once_under_one_key_agree(cluster: Cluster, name: str) -> None:
    clients = [client_of(cluster, cluster.url) for _ in range(6)]
    jobs = await asyncio.gather(
        *(slurm.submit(SCRIPT, name=name, hold=True, idempotency_key=name) for slurm in clients)
    )
    async with client_of(cluster, cluster.url) as slurm:
        live = [record.id for record in await slurm.jobs(name=name) if not record.state.is_terminal]
    await asyncio.gather(*(slurm.close() for slurm in clients))
    assert live == [min(await keys_of(cluster, name))]
    assert {job.id for job in jobs} == set(live)


CHILD = """
import sys
from slurm_rest import SlurmClient
url, token, name = sys.stdin.read().split()
with SlurmClient(url, token=token, workdir="/tmp") as slurm:
    print(slurm.submit("#!/bin/sh\\ntrue\\n", name=name, hold=True, idempotency_key=name).id)
"""


async def child(cluster: Cluster, url: str, words: str, code: str = CHILD) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=pipe, stdout=pipe)
    assert process.stdin is not None
    process.stdin.write(f"{url} {cluster.token('alice')} {words}".encode())
    process.stdin.close()
    return process


@pytest.mark.parametrize("fault", [Fault.SILENT, Fault.REFUSED])
async def test_a_killed_client_and_its_retry_make_one_job(fault: Fault, cluster: Cluster, name: str) -> None:
    def choose(number: int) -> Fault:
        return fault if number == 0 else Fault.NONE

    async with proxy_to(cluster.url, choose) as proxy:
        first = await child(cluster, proxy.url, name)
        await proxy.seen.wait()
        first.send_signal(signal.SIGKILL)
        await first.communicate()
        second = await child(cluster, proxy.url, name)
        printed, _ = await second.communicate()
    assert second.returncode == 0
    assert list(await keys_of(cluster, name)) == [int(printed)]


# --- storms ---------------------------------------------------------------------------------------------------


async def storm(slurm: AsyncSlurmClient, name: str, at_once: int) -> list[AsyncJob]:
    """Submit many, and again only what raised an error that promises that there is no job."""
    slots = asyncio.Semaphore(at_once)

    async def one() -> AsyncJob:
        async with slots:
            while True:
                try:
                    return await slurm.submit(SCRIPT, name=name, hold=True)
                except SlurmError as error:  # noqa: PERF203  # a daemon is away for a moment, or it was lost thrice
                    if not promises_no_job(error):
                        raise
                    await asyncio.sleep(0.1)

    return await asyncio.gather(*(one() for _ in range(STORM)))


async def check(cluster: Cluster, proxy: FaultProxy, name: str, jobs: list[AsyncJob]) -> None:
    found = await keys_of(cluster, name)
    assert len(found) == STORM
    assert len(set(found.values())) == STORM
    assert sorted(job.id for job in jobs) == sorted(found)
    sent = Counter(key for body in proxy.posts for key in found.values() if key.encode() in body)
    assert min(sent.values()) == 1


async def test_a_storm_of_lost_answers(cluster: Cluster, name: str) -> None:
    async with proxy_to(cluster.url, thirty_percent(1)) as proxy, client_of(cluster, proxy.url, **PATIENT) as slurm:
        jobs = await storm(slurm, name, 50)
        await check(cluster, proxy, name, jobs)
    assert sum(job.found for job in jobs) > 0.2 * STORM


async def restart(cluster: Cluster, daemon: str) -> None:
    with cluster.stopped(daemon):
        pass


async def kill(cluster: Cluster, daemon: str) -> None:
    cluster.service(daemon).kill()
    cluster.service(daemon).start()


async def freeze(cluster: Cluster, daemon: str) -> None:
    with cluster.frozen(daemon):
        await asyncio.sleep(5)


@pytest.mark.parametrize(
    ("disturb", "daemon"),
    [(restart, "slurmctld"), (kill, "slurmrestd"), (freeze, "slurmctld")],
    ids=["slurmctld-restarts", "slurmrestd-is-killed", "slurmctld-freezes"],
)
async def test_a_storm_with_a_daemon_in_trouble(
    disturb: Callable[[Cluster, str], Coroutine[object, object, None]], daemon: str, cluster: Cluster, name: str
) -> None:
    async with proxy_to(cluster.url, thirty_percent(2)) as proxy, client_of(cluster, proxy.url, **PATIENT) as slurm:
        storming = asyncio.create_task(storm(slurm, name, 50))
        await until_true(lambda: len(proxy.posts) > STORM // 5)
        await asyncio.to_thread(lambda: asyncio.run(disturb(cluster, daemon)))
        await check(cluster, proxy, name, await storming)


STORMING_CHILD = """
import asyncio, sys
from slurm_rest import AsyncSlurmClient
url, token, name, count = sys.stdin.read().split()
async def main():
    async with AsyncSlurmClient(url, token=token, workdir="/tmp", recovery_timeout=400) as slurm:
        await asyncio.gather(*(one(slurm, number) for number in range(int(count))))
async def one(slurm, number):
    job = await slurm.submit("#!/bin/sh\\ntrue\\n", name=name, hold=True, idempotency_key=f"{name} {number}")
    print(job.id, flush=True)
asyncio.run(main())
"""


async def test_a_storm_whose_client_is_killed_and_tries_again(
    cluster: Cluster, own_cluster: Callable[..., Cluster], name: str
) -> None:
    # One that has not seen the other storms: among thousands of fresh jobs a look gives up, and sends nothing.
    cluster = own_cluster(cluster.release)
    count = STORM if LONG else STORM // 10
    async with proxy_to(cluster.url, thirty_percent(3)) as proxy:
        first = await child(cluster, proxy.url, f"{name} {count}", STORMING_CHILD)
        await until_true(lambda: len(proxy.posts) > count // 2)
        first.send_signal(signal.SIGKILL)
        await first.communicate()
        second = await child(cluster, proxy.url, f"{name} {count}", STORMING_CHILD)
        printed, _ = await second.communicate()
    assert second.returncode == 0
    found = await keys_of(cluster, name)
    assert len(set(found.values())) == len(found) == count
    assert sorted(int(line) for line in printed.split()) == sorted(found)
