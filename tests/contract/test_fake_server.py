"""The fake slurmrestd answers what the real one does: the same requests go to both, and the answers are compared."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from cluster.native import Cluster
from slurm_rest.testing import FakeCluster, FakeSlurm
from slurm_rest.testing.shapes import versions_of
from tests.contract.compare import differences
from tests.support.waiting import until_true

SCRIPT = "#!/bin/sh\n"
PLACES = [(release, version) for release in ("24.11", "26.05") for version in versions_of(release)]
# Where jobs are run, which takes seconds: the first and the last version, and the last one of 24.11.
SOME = [("24.11", "v0.0.40"), ("24.11", "v0.0.42"), ("26.05", "v0.0.45")]
BAD: list[dict[str, Any]] = [
    {"partition": "nope"}, {"environment": []}, {"environment": "A=1"}, {"environment": {"A": "1"}, "hold": True},
    {"current_working_directory": None}, {"time_limit": "abc"}, {"time_limit": 5, "hold": True}, {"name": ["a"]},
    {"cpus_per_task": "x"}, {"tasks": {}}, {"flags": ["BOGUS"], "hold": True}, {"mail_type": ["FOO"], "hold": True},
    {"dependency": "afterok:60000000"}, {"dependency": "nonsense"}, {"array": "0-5000"}, {"array": "x"},
    {"name": "y" * 1025}, {"comment": "y" * 1025}, {"nice": -5}, {"hold": True, "fooo": 1, "bar": [], "q": 1.5},
    {"environment": ["A=1", 5, None], "hold": True}, {"name": None, "hold": True}, {"tasks": -5}, {"nice": 2**40},
    {"array": 5, "hold": True}, {"array": "1-"}, {"array": "5-1"}, {"array": "1%0", "hold": True}, {"hold": "maybe"},
    {"name": "a\nb", "hold": True}, {"comment": "\u0001", "hold": True}, {"dependency": "afterok:"}, {"qos": "nope"},
    {"cpus_per_task": 999}, {"minimum_nodes": 9, "maximum_nodes": 9}, {"minimum_nodes": 9, "hold": True},
    {"tasks": 100}, {"account": "nope"}, {"nodes": "2-1"}, {"begin_time": "abc"}, {"user_id": "bob"},
    {"hold": True, "script": SCRIPT}, {"hold": True, "time_limit": {"number": 5}}, {"argv": "x", "hold": True},
]  # fmt: skip

Ids = tuple[int, int]
NO_IDS = (0, 0)


def wait_until(check: Callable[[], bool], what: str) -> None:
    asyncio.run(until_true(check, what))


class Side:
    """One of the two: its address, tokens, and the directory where jobs run."""

    def __init__(self, url: str, token: Callable[[str], str], directory: str, version: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=60)
        self.token, self.directory, self.version = token, directory, version

    def send(self, method: str, path: str, user: str = "alice", **more: Any) -> httpx.Response:
        headers = {"X-SLURM-USER-TOKEN": self.token(user), **more.pop("headers", {})}
        return self.http.request(method, path.replace("VERSION", self.version), headers=headers, **more)

    def job(self, **fields: Any) -> dict[str, Any]:
        base = {"name": "same", "environment": ["PATH=/bin:/usr/bin"], "current_working_directory": self.directory}
        return {**base, **fields}

    def records(self, job_id: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.send("GET", f"/slurm/VERSION/job/{job_id}").json()["jobs"]
        return found

    def tidy(self) -> None:
        rows = self.send("GET", "/slurm/VERSION/jobs/state/").json()["jobs"]
        live = {row["job_id"].split("_")[0] for row in rows if row["state"][0] in ("PENDING", "RUNNING")}
        if live:
            self.send("DELETE", "/slurm/VERSION/jobs/", "root", json={"jobs": sorted(live)})
        self.http.close()


class Both:
    """Sends everything to both sides and keeps what was different."""

    def __init__(self, real: Side, fake: Side) -> None:
        self.real, self.fake = real, fake
        self.found: list[str] = []
        # How many seconds a test may still wait for the real accounting, which hears of everything later.
        self.patience = 90.0

    def compare(
        self, what: str, ask: Callable[[Side], httpx.Response], *, later: bool = False
    ) -> tuple[httpx.Response, httpx.Response]:
        """Ask both; with ``later`` again as long as they differ, for what the real one may come to say."""
        while True:
            answers = ask(self.real), ask(self.fake)
            found = [f"{what}: {line}" for line in differences(*answers)]
            if not found or not later or self.patience <= 0:
                self.found += found
                return answers
            self.patience -= 0.2
            time.sleep(0.2)

    def ask(
        self, method: str, path: str, ids: Ids = NO_IDS, *, service: str = "slurm", user: str = "alice", **more: Any
    ) -> tuple[httpx.Response, httpx.Response]:
        """Send the same to both; ``{id}`` in the path is each side's own."""
        return self.compare(
            f"{method} {path} {str(more)[:80]}",
            lambda side: side.send(
                method, f"/{service}/VERSION/{path.format(id=ids[side is self.fake])}", user, **dict(more)
            ),
            later=service == "slurmdb",
        )

    def submit(self, *, script: str = SCRIPT, user: str = "alice", **fields: Any) -> Ids:
        def post(side: Side) -> httpx.Response:
            return side.send(
                "POST", "/slurm/VERSION/job/submit", user, json={"script": script, "job": side.job(**fields)}
            )

        answers = self.compare(f"submit {str(fields)[:80]}", post)
        return answers[0].json().get("job_id", 0), answers[1].json().get("job_id", 0)

    def records(self, what: str, ids: Ids) -> None:
        """Compare everything that both say of a job."""
        self.ask("GET", "job/{id}", ids)
        self.ask("GET", "jobs/state/?job_id={id}", ids)
        self.ask("GET", "jobs/?step={id}&skip_steps=true", ids, service="slurmdb")
        real, fake = (self._facts(side, job_id) for side, job_id in ((self.real, ids[0]), (self.fake, ids[1])))
        lines = (f"{what}, {name}: {real[name]}, the fake {fake[name]}" for name in real if real[name] != fake[name])
        self.found += lines

    def _facts(self, side: Side, job_id: int) -> dict[str, Any]:
        job = side.records(job_id)[0]
        names = (
            "job_state",
            "state_reason",
            "state_description",
            "exit_code",
            "derived_exit_code",
            "hold",
            "tasks",
            "cpus",
        )
        paths = (
            "standard_output",
            "standard_input",
            "stdin_expanded",
            "stdout_expanded",
            "standard_error",
            "current_working_directory",
        )
        found = {name: job.get(name) for name in (*names, "name", "user_name", "partition", "time_limit", "node_count")}
        here = {
            name: re.sub(rf"-{job_id}(?!\d)", "-ID", str(job.get(name)).replace(side.directory, "~")) for name in paths
        }
        return {**found, **here}

    def wait(self, ids: Ids, *states: str) -> None:
        for side, job_id in ((self.real, ids[0]), (self.fake, ids[1])):

            def over(side: Side = side, job_id: int = job_id) -> bool:
                return all(one["job_state"] == list(states) for one in side.records(job_id))

            wait_until(over, f"{states} of {job_id}")

    def check(self) -> None:
        assert "\n".join(self.found) == ""


@pytest.fixture(scope="module", params=PLACES, ids="-".join)
def sides(request: pytest.FixtureRequest, shared_cluster: Callable[[str], Cluster]) -> Iterator[tuple[Side, Side]]:
    release, version = request.param
    real = shared_cluster(release)
    with FakeSlurm(cluster=FakeCluster(release)) as fake:
        found = (
            Side(real.url, real.token, "/home/alice", version),
            Side(fake.url, fake.token_for, str(fake.home()), version),
        )
        yield found
        for side in found:
            side.tidy()


@pytest.fixture
def both(sides: tuple[Side, Side]) -> Both:
    return Both(*sides)


def test_looking_around(both: Both) -> None:
    for path in (
        "ping/",
        "ping",
        "diag/",
        "nodes/",
        "node/n1",
        "node/nx",
        "partitions/",
        "partition/debug",
        "partition/x",
    ):
        both.ask("GET", path)
    for path in ("jobs/state/?job_id=60000000", "jobs/state/?job_id=abc", "jobs/state/?job_id=0", "job/60000000"):
        both.ask("GET", path)
    for path in ("job/abc", "job/0", "job/99999999", "nothing", "job/submit"):
        both.ask("GET", path)
    for path in ("clusters/", "ping/", "users/", "qos/", "associations/", "jobs/?step=60000000", "jobs/?step=abc"):
        both.ask("GET", path, service="slurmdb")
    both.ask("GET", "job/60000000", service="slurmdb")
    both.compare("another version", lambda side: side.send("GET", "/slurm/v0.0.39/ping/"))
    both.check()


def test_without_a_good_token(both: Both) -> None:
    bad = {"X-SLURM-USER-TOKEN": "bad"}
    for path in ("ping/", "diag/", "jobs/", "jobs/state/", "job/3", "nodes/", "node/n1", "partitions/"):
        both.ask("GET", path, headers=bad)
    for path in ("jobs/?step=3", "ping/"):
        both.ask("GET", path, service="slurmdb", headers=bad)
    job = {"environment": ["A=1"], "current_working_directory": "/tmp"}
    both.ask("POST", "job/submit", headers=bad, json={"script": SCRIPT, "job": job})
    both.ask("POST", "job/3", headers=bad, json={"hold": False})
    both.ask("DELETE", "job/3", headers=bad)
    both.ask("DELETE", "jobs/", headers=bad, json={"jobs": ["3"]})
    both.compare("no token", lambda side: side.http.get(f"/slurm/{side.version}/ping/"))
    both.ask("GET", "jobs/", headers={"Authorization": f"Bearer {both.real.token('alice')}"})
    both.ask("GET", "jobs/", headers={"X-SLURM-USER-NAME": "bob"})
    both.check()


def test_bad_submissions(both: Both) -> None:
    for fields in BAD:
        both.submit(**fields)
    both.check()


def test_bad_bodies(both: Both) -> None:
    job = {"environment": ["A=1"], "current_working_directory": "/tmp", "hold": True}
    bodies: list[Any] = [
        {"script": 5, "job": job},
        {"script": SCRIPT, "job": []},
        {"script": SCRIPT, "job": job, "jobs": [job]},
        "x",
        5,
        {"job": job},
        {"script": "", "job": job},
        {"script": SCRIPT},
        {"script": SCRIPT, "job": None},
    ]
    for body in [*bodies, [], {"script": SCRIPT, "job": job, "foo": 1}]:
        both.ask("POST", "job/submit", json=body)
    for content, kind in (
        (b"{", "application/json"),
        (b"", "application/json"),
        (b"[" * 1000, "application/json"),
        (b"\xff", "application/json"),
        (b"{}", "application/json; charset=utf-8"),
        (b"{}", "text/plain"),
    ):
        both.ask("POST", "job/submit", content=content, headers={"Content-Type": kind})
    both.check()


@pytest.mark.parametrize("sides", SOME, indirect=True, ids="-".join)
def test_jobs_and_their_ends(both: Both) -> None:
    held = both.submit(
        hold=True, comment="mine", standard_output="o-%x-%j-%u-%N-%A-%a", time_limit={"set": True, "number": 5}, tasks=2
    )
    both.records("held", held)
    ends = [
        (both.submit(script="#!/bin/sh\nexit 3\n", standard_error="e-%x-%j-%N", argv=["me", "x"]), "FAILED"),
        (both.submit(script="#!/bin/sh\nkill -9 $$\n"), "FAILED"),
        (both.submit(), "COMPLETED"),
        (both.submit(current_working_directory="/no/such/place"), "FAILED"),
    ]
    for ids, state in ends:
        both.wait(ids, state)
        both.records(state, ids)
    waiting = both.submit(dependency="singleton,afterok:{}", hold=True)
    assert waiting == (0, 0), "a dependency that names nothing"
    going = both.submit(script="#!/bin/sh\nsleep 600\n")
    both.wait(going, "RUNNING")
    both.records("running", going)
    changes: list[dict[str, Any]] = [
        {"time_limit": {"set": True, "number": 99999}},
        {"partition": "debug"},
        {"name": "new"},
    ]
    for body in changes:
        both.ask("POST", "job/{id}", going, json=body)
    both.ask("POST", "job/{id}", ends[0][0], json={"hold": True})
    both.records("changed while it runs", going)
    for ids, user in ((held, "bob"), (held, "alice"), (held, "alice"), (going, "alice")):
        both.ask("DELETE", "job/{id}", ids, user=user)
    for ids in (held, going):
        both.wait(ids, "CANCELLED")
        both.records("cancelled", ids)
    both.check()


def test_cancelling_many(both: Both) -> None:
    own, other = both.submit(hold=True), both.submit(hold=True, user="bob")
    bodies: list[dict[str, Any]] = [{"jobs": []}, {}, {"jobs": ["60000000"]}]
    for body in bodies:
        both.ask("DELETE", "jobs/", json=body)

    def cancel(side: Side) -> httpx.Response:
        jobs = [str(ids[side is both.fake]) for ids in (own, other)]
        return side.send("DELETE", "/slurm/VERSION/jobs/", json={"jobs": [*jobs, "60000000"]})

    for _ in range(2):
        answers = both.compare("cancel", cancel)
        codes = [[one["error"]["code"] for one in answer.json()["status"]] for answer in answers]
        assert codes[0] == codes[1]
    both.check()


@pytest.mark.parametrize("sides", SOME, indirect=True, ids="-".join)
def test_groups(both: Both) -> None:
    # In an hour, or none of them would still wait whenever it is released here.
    array = both.submit(array="1,3-5%2", hold=True, begin_time={"set": True, "number": int(time.time()) + 3600})
    both.records("waiting array", array)
    for answer, job_id in zip(both.ask("GET", "jobs/state/?job_id={id}", array), array, strict=True):
        assert [row["job_id"] for row in answer.json()["jobs"]] == [f"{job_id}_{task}" for task in (1, 3, 4, 5)]
    both.ask("POST", "job/{id}_3", array, json={"hold": False})
    both.ask("GET", "job/{id}/requeue", array)
    both.ask("POST", "job/{id}", array, json={"hold": False})
    both.ask("POST", "job/{id}", array, json={"begin_time": {"set": True, "number": int(time.time())}})
    both.wait(array, "COMPLETED")
    both.records("array", array)
    for side, job_id in ((both.real, array[0]), (both.fake, array[1])):
        assert sorted(one["array_task_id"]["number"] for one in side.records(job_id)) == [1, 3, 4, 5]

    def het(side: Side) -> httpx.Response:
        body = {"script": SCRIPT, "jobs": [side.job(hold=True, tasks=1), side.job(hold=True, tasks=2)]}
        return side.send("POST", "/slurm/VERSION/job/submit", json=body)

    answers = both.compare("het", het)
    both.records("het", (answers[0].json()["job_id"], answers[1].json()["job_id"]))
    both.check()


def test_changing_jobs(both: Both) -> None:
    ids = both.submit(hold=True)
    changes: list[tuple[Any, str]] = [
        *[({"comment": "x"}, "alice"), ({"hold": True}, "bob"), ({"priority": {"set": True, "number": 5}}, "alice")],
        *[({"bogus": 1}, "alice"), ([], "alice"), ({"time_limit": {"set": True, "number": 3}}, "alice")],
    ]
    for body, user in changes:
        both.ask("POST", "job/{id}", ids, user=user, json=body)
    both.ask("POST", "job/60000000", json={"hold": False})
    both.ask("GET", "job/{id}/requeue", ids)
    both.records("changed", ids)
    both.check()
