"""Every GET of the generated surface against real servers, in every version that they serve."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest

from cluster.native import Cluster
from slurm_rest.api import API_VERSIONS, INFINITE, ApiRequest, AsyncSlurmApi
from slurm_rest.api._operations import SLURM, SLURMDB
from slurm_rest.api.base import Operation, build_request, decode_json, read_answer
from slurm_rest.api.cluster import ReservationDescMsgReq, UpdateNodeMsg
from slurm_rest.api.jobs import JobDescMsg, JobRes, JobSubmitReq, KillJobsMsg
from tests.support.waiting import until
from tests.unit.api.lossless import losses

pytestmark = pytest.mark.cluster

ENVIRONMENT = ["PATH=/bin:/usr/bin"]
SAFE = [one for table in (SLURM, SLURMDB) for one in table.values() if one.safe]
# These end slurmrestd 24.11 itself.
DEADLY = {("get_wckeys", "only_defaults"), ("get_wckeys", "usage_start"), ("get_jobs", "groups")}


class Caller:
    """The least that the operations need of a transport: one request, its body, no interpretation."""

    def __init__(self, http: httpx.AsyncClient, version: str) -> None:
        self.http, self.version = http, version
        self.status = 0

    async def api_version(self) -> str:
        return self.version

    async def send(self, request: ApiRequest) -> bytes:
        headers = {"Content-Type": "application/json"} if request.body is not None else {}
        answer = await self.http.request(
            request.operation.method,
            request.path,
            params=list(request.query),
            content=request.body,
            headers=headers,
        )
        self.status = answer.status_code
        assert answer.headers.get("content-type", "").startswith("application/json"), answer.text
        return answer.content


def http(cluster: Cluster, user: str) -> httpx.AsyncClient:
    # slurmrestd closes after an error and 26.05 writes the answer twice: no connection is used again.
    limits = httpx.Limits(max_keepalive_connections=0)
    headers = {"X-SLURM-USER-TOKEN": cluster.token(user)}
    return httpx.AsyncClient(base_url=cluster.url, headers=headers, limits=limits, timeout=120)


def served(cluster: Cluster) -> tuple[str, ...]:
    return API_VERSIONS[:3] if cluster.release == "24.11" else API_VERSIONS[2:]


@pytest.fixture
async def alice(any_cluster: Cluster) -> AsyncIterator[Callable[[str], AsyncSlurmApi]]:
    async with http(any_cluster, "alice") as client:
        yield lambda version: AsyncSlurmApi(Caller(client, version))


def submission(script: str = "#!/bin/sh\nsleep 600\n", **fields: Any) -> JobSubmitReq:
    job = JobDescMsg(environment=ENVIRONMENT, current_working_directory="/tmp", **fields)
    return JobSubmitReq(script=script, job=job)


@pytest.fixture
async def jobs(any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi]) -> AsyncIterator[dict[str, int]]:
    """A running job, a failed one, and a held array, all with a name that is not UTF-8."""
    api = alice(served(any_cluster)[-1])
    ids = {}
    for name, request in {
        "running": submission(name="api-\udcff"),
        # Long enough for its step to be measured, which fills the extremes of its accounting record.
        "failed": submission("#!/bin/sh\nsrun sleep 1.5\nexit 3\n", name="api-\udcff"),
        "held": submission(name="api-\udcff", array="0-2", hold=True, time_limit=7),
    }.items():
        answer = await api.post_job_submit(request)
        assert answer.job_id, answer.errors
        ids[name] = answer.job_id

    async def settled() -> bool:
        rows = (await api.get_jobs_state(job_id=list(ids.values()))).jobs or []
        states = {row.job_id: row.state for row in rows}
        # Just ended, a job is COMPLETING as well for a moment.
        return states.get(str(ids["running"])) == ["RUNNING"] and states.get(str(ids["failed"])) == ["FAILED"]

    await until(settled)
    yield ids
    await api.delete_jobs(KillJobsMsg(jobs=[str(one) for one in ids.values()]))


def places(api: Cluster, operation: Operation, jobs: dict[str, int]) -> dict[str, object]:
    """Path parameters that exist on the cluster."""
    values: dict[str, object] = {
        "job_id": jobs["running"],
        "node_name": api.nodes[0],
        "partition_name": "debug",
        "reservation_name": "none",
        "account_name": "root",
        "cluster_name": "none",
        "name": "root",
        "qos": "normal",
        "id": "1",
    }
    return {name: value for name, value in values.items() if f"{{{name}}}" in operation.path}


async def test_every_get_is_read_whole(any_cluster: Cluster, jobs: dict[str, int]) -> None:
    """As root, who may see everything: each answer is read strictly, and no field of it is unknown or altered."""
    wrong: list[str] = []
    count = 0
    async with http(any_cluster, "root") as client:
        for version in served(any_cluster):
            caller = Caller(client, version)
            for operation in SAFE:
                if version not in operation.versions:
                    continue
                count += 1
                request = build_request(operation, version, path=places(any_cluster, operation, jobs))
                raw = await caller.send(request)
                place = f"{version} {operation.service}.{operation.name} {caller.status}"
                try:
                    answer = read_answer(operation, raw, strict=True)
                except ValueError as error:
                    wrong.append(f"{place}: {error}")
                    continue
                wrong += [f"{place}: {loss}" for loss in losses(answer, decode_json(raw))]
    assert wrong == []
    assert count >= 32 * len(served(any_cluster))


LIMITS = {"max": {"wall_clock": {"per": {"job": 60}}}}
SAMPLES: dict[str, object] = {
    "flags": "FEDERATION",
    "state": "COMPLETED",
    "admin_level": "Administrator",
    "classification": "CAPACITY",
    "preempt_mode": "REQUEUE",
    "users": ["alice", "root"],
    "step": [1, 2],
}
NUMBERS = {"job_id", "id", "reservation_id", "exit_code", "rpc_version", "qos", "association"}


def sample(name: str, kind: str, operation: Operation) -> object:
    if name in NUMBERS or name.endswith(("_max", "_min")):
        # In slurmdb jobs, qos means numbers; elsewhere names.
        return 1 if name != "qos" or operation.name == "get_jobs" else "normal"
    kinds: dict[str, object] = {"bool": True, "time": datetime.now(timezone.utc) - timedelta(hours=1)}
    return SAMPLES.get(name) or kinds.get(kind, "normal")


async def test_every_parameter_is_known_to_the_server(any_cluster: Cluster, jobs: dict[str, int]) -> None:
    """One at a time: none may be called unknown, and none may be refused for its form."""
    wrong: list[str] = []
    async with http(any_cluster, "root") as client:
        for version in served(any_cluster):
            caller = Caller(client, version)
            for operation in SAFE:
                for param in operation.query:
                    if version not in param.versions or version not in operation.versions:
                        continue
                    if any_cluster.release == "24.11" and (operation.name, param.name) in DEADLY:
                        continue
                    value = sample(param.name, param.kind, operation) if param.name != "groups" else "root"
                    path = places(any_cluster, operation, jobs)
                    raw = await caller.send(build_request(operation, version, path=path, query={param.name: value}))
                    answer: Any = read_answer(operation, raw, strict=True)
                    said = [str(one.description) for one in [*(answer.warnings or ()), *(answer.errors or ())]]
                    wrong += [
                        f"{version} {operation.service}.{operation.name} {param.wire}={value}: {text}"
                        for text in said
                        if "unknown field" in text or "Parsing of" in text or "Failure parsing" in text
                    ]
    assert wrong == []


async def test_states_of_several_jobs(
    any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi], jobs: dict[str, int]
) -> None:
    for version in served(any_cluster):
        answer = await alice(version).get_jobs_state(
            job_id=[jobs["running"], jobs["failed"], jobs["running"], 60000000]
        )
        assert {row.job_id: row.state for row in answer.jobs or ()} == {
            str(jobs["running"]): ["RUNNING"],
            str(jobs["failed"]): ["FAILED"],
        }
        assert len(answer.jobs or ()) == 2


async def test_a_job_says_what_was_asked_for(
    any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi], jobs: dict[str, int]
) -> None:
    for version in served(any_cluster):
        held = (await alice(version).get_job(jobs["held"])).jobs or []
        assert held[0].time_limit == 7
        assert held[0].name == "api-\udcff"
        assert held[0].array_task_string == "0-2"
        # Null, or an empty object in the oldest version.
        assert held[0].job_resources in (None, JobRes())
        running = ((await alice(version).get_job(jobs["running"])).jobs or [])[0]
        assert running.user_name == "alice"
        assert running.job_resources
        nodes = running.job_resources.nodes
        assert (nodes if isinstance(nodes, str) else nodes and nodes.list_) == running.nodes
        failed = ((await alice(version).get_job(jobs["failed"])).jobs or [])[0]
        assert failed.exit_code
        assert (failed.exit_code.status, failed.exit_code.return_code) == (["ERROR"], 3)


async def test_numbers_arrive_as_they_were_meant(any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi]) -> None:
    for version in served(any_cluster):
        api = alice(version)
        for limit, memory in ((9, 10), (INFINITE, None)):
            answer = await api.post_job_submit(submission(hold=True, time_limit=limit, memory_per_node=memory))
            assert answer.job_id, answer.errors
            record = ((await api.get_job(answer.job_id)).jobs or [])[0]
            assert (record.time_limit, record.memory_per_node) == (limit, memory)
            await api.delete_job(answer.job_id)


async def test_delete_with_a_body(any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi]) -> None:
    for version in served(any_cluster):
        api = alice(version)
        ids = [(await api.post_job_submit(submission(hold=True))).job_id for _ in range(2)]
        answer = await api.delete_jobs(KillJobsMsg(jobs=[str(one) for one in ids] + ["60000000"]))
        assert [row.error.code for row in answer.status or () if row.error] == [2017]
        states = (await api.get_jobs_state(job_id=[one for one in ids if one])).jobs or []
        assert [row.state for row in states] == [["CANCELLED"], ["CANCELLED"]]


async def test_update_time_in_every_form(
    any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi], jobs: dict[str, int]
) -> None:
    for version in served(any_cluster):
        api = alice(version)
        ahead = datetime.now(timezone.utc) + timedelta(days=1)
        for value in (ahead, int(ahead.timestamp()), ahead.astimezone().replace(tzinfo=None), "tomorrow"):
            answer = await api.get_jobs(update_time=value)
            assert (answer.jobs, answer.errors) == ([], []), (version, value)
        for value in (0, "now-1hour"):
            answer = await api.get_jobs(update_time=value)
            assert jobs["running"] in {job.job_id for job in answer.jobs or ()}


async def test_filters_of_accounting(
    any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi], jobs: dict[str, int]
) -> None:
    for version in served(any_cluster):
        api = alice(version)

        async def recorded(api: AsyncSlurmApi = api) -> bool:
            found = (await api.db.get_jobs(step=[jobs["failed"], jobs["running"]])).jobs or []
            states = {job.job_id: job.state.current if job.state else None for job in found}
            return states == {jobs["failed"]: ["FAILED"], jobs["running"]: ["RUNNING"]}

        await until(recorded)
        both = await api.db.get_jobs(step=[jobs["failed"], jobs["running"]], skip_steps=True)
        assert sorted(job.job_id or 0 for job in both.jobs or ()) == sorted([jobs["failed"], jobs["running"]])
        assert all(job.steps == [] for job in both.jobs or ())
        period = {"start_time": datetime.now() - timedelta(hours=1), "end_time": datetime.now() + timedelta(hours=1)}
        failed = await api.db.get_jobs(users="alice", state=["FAILED", "TIMEOUT"], **period)  # type: ignore[arg-type]
        assert jobs["failed"] in {job.job_id for job in failed.jobs or ()}
        assert jobs["running"] not in {job.job_id for job in failed.jobs or ()}


@pytest.mark.parametrize("flag", [True, False])
async def test_flags_of_accounting(any_cluster: Cluster, *, flag: bool) -> None:
    """The same argument in every version, whatever the version calls it."""
    async with http(any_cluster, "root") as client:
        for version in served(any_cluster):
            api = AsyncSlurmApi(Caller(client, version))
            accounts = (await api.db.get_accounts(with_assocs=flag)).accounts or []
            assert accounts
            assert any(account.associations for account in accounts) is flag
            users = (await api.db.get_user("root", with_assocs=flag)).users or []
            assert bool(users[0].associations) is flag
            defaults = (await api.db.get_associations(only_defaults=True)).associations or []
            every = (await api.db.get_associations(only_defaults=flag)).associations or []
            assert (len(every) == len(defaults)) is flag


async def test_accounting_is_written_and_read_back(any_cluster: Cluster) -> None:
    """Bodies that the document calls answers, typed as requests, are understood without a warning."""
    async with http(any_cluster, "root") as client:
        for version in served(any_cluster):
            caller = Caller(client, version)
            db = AsyncSlurmApi(caller).db
            name = f"api{version.replace('.', '')}"
            cluster = ((await db.get_clusters()).clusters or [])[0].name
            assert cluster
            answers: list[Any] = [
                await db.post_accounts_association(
                    {
                        "association_condition": {"accounts": [name], "clusters": [cluster]},
                        "account": {"description": "d", "organization": "o"},
                    }
                ),
                await db.post_associations({"associations": [{"account": name, "cluster": cluster, "user": "bob"}]}),
                await db.post_qos({"qos": [{"name": name, "priority": 5, "limits": LIMITS}]}),
            ]
            assert [(one.errors, one.warnings) for one in answers] == [([], [])] * 3, version
            found = (await db.get_associations(account=name)).associations or []
            assert [(one.account, one.user) for one in found] == [(name, ""), (name, "bob")]
            qos = ((await db.get_single_qos(name)).qos or [])[0]
            assert qos.priority == 5
            assert qos.limits
            assert qos.limits.max
            assert qos.limits.max.wall_clock
            assert qos.limits.max.wall_clock.per
            assert (qos.limits.max.wall_clock.per.job, qos.limits.max.wall_clock.per.qos) == (60, INFINITE)
            await db.delete_associations(account=name, user="bob")
            assert len((await db.get_associations(account=name)).associations or []) == 1
            await db.delete_single_qos(name)
            await db.delete_account(name)
            # Nothing is left to delete: 304 without a body.
            request = build_request(SLURMDB["delete_associations"], version, query={"account": name})
            assert (await client.delete(request.path, params=list(request.query))).status_code == 304
            assert (await db.get_associations(account=name)).associations == []


async def test_the_cluster_is_changed_and_read_back(any_cluster: Cluster) -> None:
    async with http(any_cluster, "root") as client:
        for version in served(any_cluster):
            api = AsyncSlurmApi(Caller(client, version))
            node = any_cluster.nodes[0]
            said = await api.post_node(node, UpdateNodeMsg(comment=version, weight=3))
            assert (said.errors, said.warnings) == ([], [])
            record = ((await api.get_node(node)).nodes or [])[0]
            assert (record.name, record.comment, record.weight) == (node, version, 3)
            if version in SLURM["post_reservation"].versions:
                start = int(time.time()) + 3600
                asked = ReservationDescMsgReq(
                    name="api", users=["alice"], node_count=1, start_time=start, duration=10, flags=["IGNORE_JOBS"]
                )
                assert (await api.post_reservation(asked)).errors == []
                made = ((await api.get_reservation("api")).reservations or [])[0]
                assert (made.name, made.users, made.start_time, made.end_time) == ("api", "alice", start, start + 600)
                await api.delete_reservation("api")
            if version in SLURM["post_partitions"].versions:
                body: dict[str, object] = {"partitions": [{"name": "api", "nodes": {"configured": "ALL"}}]}
                assert (await api.post_partitions(body)).errors == []
                assert (await api.get_partition("api")).partitions
                await api.delete_partition("api")


async def test_a_job_is_updated(any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi]) -> None:
    for version in served(any_cluster):
        api = alice(version)
        job = (await api.post_job_submit(submission(hold=True))).job_id
        assert job
        await api.post_job(job, JobDescMsg(time_limit=3, comment="é"))
        record = ((await api.get_job(job)).jobs or [])[0]
        assert (record.time_limit, record.comment) == (3, "é")
        await api.delete_job(job)


async def test_host_lists(any_cluster: Cluster, alice: Callable[[str], AsyncSlurmApi]) -> None:
    for version in served(any_cluster):
        if version not in API_VERSIONS[4:]:
            continue
        api = alice(version)
        assert (await api.util.post_hostlist({"hostnames": ["n1", "n2", "n3"]})).hostlist == "n[1-3]"
        assert (await api.util.post_hostnames({"hostlist": "n[1-3]"})).hostnames == ["n1", "n2", "n3"]


async def test_the_table_of_versions_is_what_is_served(any_cluster: Cluster) -> None:
    """Fields of answers: what a version sends is what the table says it knows."""
    async with http(any_cluster, "root") as client:
        text = (await client.get("/openapi/v3")).json()
    versions = {path.split("/")[2] for path in text["paths"] if path.startswith("/slurm/")}
    assert versions == set(served(any_cluster))
    for version in versions:
        mark = version.replace(".", "")
        names = {
            spec["operationId"].split(f"_{mark}_")[1]
            for path, methods in text["paths"].items()
            if path.startswith(f"/slurm/{version}/")
            for spec in methods.values()
        }
        known = {name for name, one in SLURM.items() if version in one.versions}
        # 26.05 serves one operation more in v0.0.42 than 24.11, whose document is the one kept.
        extra = {"delete_reservation"} if (any_cluster.release, version) == ("26.05", API_VERSIONS[2]) else set()
        assert names - extra == known, json.dumps(sorted(names ^ known))
