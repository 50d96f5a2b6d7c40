from __future__ import annotations

import json

import pytest

from slurm_rest.cli.documents import JOB_KEYS, NODE_KEYS, PARTITION_KEYS
from tests.unit.cli.server import Run, Server, job


def ids(out: str) -> list[str]:
    return [line.split()[0] for line in out.splitlines()[1:]]


@pytest.fixture
def server(server: Server) -> Server:
    """Return a server with jobs of two users."""
    server.jobs(job(9, "PENDING"), job(7, "RUNNING"), job(8, user_name="bob", partition="gpu"))
    return server


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], ["7", "9"]),
        (["-a"], ["7", "8", "9"]),
        (["--user", "bob"], ["8"]),
        (["-t", "PD"], ["9"]),
        (["-t", "pending,R"], ["7", "9"]),
        (["-t", "PD", "-t", "running"], ["7", "9"]),
        (["-a", "-p", "gpu"], ["8"]),
        (["--name", "job7"], ["7"]),
        (["--name", "nobody's"], []),
    ],
)
def test_jobs_are_your_own_unless_asked_otherwise(
    run: Run, server: Server, arguments: list[str], shown: list[str]
) -> None:
    result = run("jobs", *arguments)
    said = "" if shown else "slurm-rest: no jobs match\n"
    assert (result.status, result.err, ids(result.out)) == (0, said, shown)


def test_the_tasks_of_an_array_stand_in_order_whatever_ids_of_their_own_they_have(run: Run, server: Server) -> None:
    def task(job_id: int, index: int) -> dict[str, object]:
        return job(job_id, array_job_id={"set": True, "number": 20}, array_task_id={"set": True, "number": index})

    server.jobs(job(24), task(23, 2), task(20, 3), task(22, 1), job(21))
    assert ids(run("jobs").out) == ["20_1", "20_2", "20_3", "21", "24"]


def test_where_no_job_matches_stderr_says_so(run: Run, server: Server) -> None:
    result = run("jobs", "-u", "nobodyy")
    assert (result.status, ids(result.out), result.err) == (0, [], "slurm-rest: no jobs match\n")
    assert run("jobs", "-u", "nobodyy", "--json").err == ""


def test_a_limit_keeps_the_newest_and_says_so(run: Run, server: Server) -> None:
    result = run("jobs", "-a", "--limit", "1")
    assert ids(result.out) == ["9"]
    assert result.err == "slurm-rest: 2 older jobs are not shown\n"


def test_user_and_all_users_exclude_each_other(run: Run, server: Server) -> None:
    assert run("jobs", "-a", "-u", "bob").status == 2


def test_an_unknown_state_gets_the_nearest_one_named(run: Run, server: Server) -> None:
    result = run("jobs", "-t", "PENDIGN")
    assert result.status == 2
    assert "did you mean PENDING?" in result.err
    assert not server.requests


def test_a_huge_listing_needs_a_word(run: Run, server: Server) -> None:
    server.answer("GET", "/slurm/diag/", {"statistics": {"jobs_pending": 20000, "jobs_running": 1}})

    refused = run("jobs")

    assert (refused.status, refused.out) == (1, "")
    assert "--large" in refused.err
    assert ids(run("jobs", "--large").out) == ["7", "9"]


def test_jobs_as_json(run: Run, server: Server) -> None:
    records = json.loads(run("jobs", "--json").out)
    assert [list(record) for record in records] == [list(JOB_KEYS)] * 2
    assert json.loads(run("jobs", "--json", "--name", "none").out) == []


def test_nodes(run: Run, server: Server) -> None:
    node = {"name": "n1", "state": ["IDLE", "DRAIN"], "cpus": 8, "alloc_cpus": 2, "reason": "disk\x1b"}
    server.answer("GET", "/slurm/nodes/", {"nodes": [node]})

    assert "IDLE+DRAIN  2/8" in run("nodes").out
    (record,) = json.loads(run("nodes", "--json").out)
    assert list(record) == list(NODE_KEYS)
    assert record["state"] == ["IDLE", "DRAIN"]


def test_partitions(run: Run, server: Server) -> None:
    server.answer("GET", "/slurm/partitions/", {"partitions": [{"name": "debug", "partition": {"state": ["UP"]}}]})

    assert run("partitions").out.splitlines()[1].split()[:2] == ["debug", "UP"]
    (record,) = json.loads(run("partitions", "--json").out)
    assert list(record) == list(PARTITION_KEYS)


@pytest.mark.parametrize(
    ("command", "keys"), [("jobs", JOB_KEYS), ("nodes", NODE_KEYS), ("partitions", PARTITION_KEYS)]
)
def test_help_documents_the_keys(run: Run, command: str, keys: dict[str, object]) -> None:
    assert ", ".join(keys) in " ".join(run(command, "--help").out.split())
