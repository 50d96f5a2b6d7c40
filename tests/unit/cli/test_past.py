"""``slurm-rest history``."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import click
import pytest

from slurm_rest.cli.documents import JOB_KEYS
from slurm_rest.cli.past import When
from tests.unit.cli.server import Run, Server

JOBS = "/slurmdb/jobs/"


def accounted(job_id: int, state: str = "COMPLETED") -> dict[str, object]:
    code = {"status": ["SUCCESS"], "return_code": {"set": True, "infinite": False, "number": 0}}
    time = {"submission": 1_772_000_000 + job_id}
    return {"job_id": job_id, "user": "alice", "state": {"current": [state]}, "exit_code": code, "time": time}


@pytest.fixture
def server(server: Server) -> Server:
    """Return a server whose accounting knows three jobs."""
    server.answer("GET", JOBS, {"jobs": [accounted(3), accounted(1, "FAILED"), accounted(2)]})
    return server


def asked(server: Server, name: str) -> list[str]:
    (request, *_) = [request for request in server.requests if "/slurmdb/" in request.url.path]
    return request.url.params.get_list(name)


def test_your_own_jobs_of_today_oldest_first(run: Run, server: Server) -> None:
    result = run("history")
    assert (result.status, result.err) == (0, "")
    assert [line.split()[0] for line in result.out.splitlines()] == ["ID", "1", "2", "3"]
    assert asked(server, "users") == ["alice"]


def test_the_tasks_of_an_array_stand_in_order_whatever_ids_of_their_own_they_have(run: Run, server: Server) -> None:
    def task(job_id: int, index: int) -> dict[str, object]:
        number = {"set": True, "infinite": False, "number": index}
        return {**accounted(job_id), "time": {"submission": 1_772_000_000}, "array": {"job_id": 20, "task_id": number}}

    server.answer("GET", JOBS, {"jobs": [task(20, 3), task(23, 2), task(22, 1), accounted(24)]})
    assert [line.split()[0] for line in run("history").out.splitlines()[1:]] == ["20_1", "20_2", "20_3", "24"]


def test_the_options_are_accountings(run: Run, server: Server) -> None:
    assert run("history", "-a", "-S", "2h", "-E", "1h", "-t", "F,to", "-p", "gpu", "-n", "train").status == 0
    assert asked(server, "users") == []
    assert asked(server, "state") == ["FAILED", "TIMEOUT"]
    assert asked(server, "partition") == ["gpu"]
    assert asked(server, "job_name") == ["train"]
    start, end = (int(asked(server, name)[0].removeprefix("uts")) for name in ("start_time", "end_time"))
    assert end - start == 3600


def test_json_has_the_keys_of_a_job(run: Run, server: Server) -> None:
    found = json.loads(run("history", "--json").out)
    assert [list(one) for one in found] == [list(JOB_KEYS)] * 3
    assert [one["source"] for one in found] == ["accounting"] * 3


def test_a_limit_keeps_the_newest_and_says_so(run: Run, server: Server) -> None:
    result = run("history", "--limit", "2")
    assert [line.split()[0] for line in result.out.splitlines()[1:]] == ["2", "3"]
    assert result.err == "slurm-rest: there are older jobs than these 2; --limit shows more\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-t", "FAILD"], "did you mean FAILED?"),
        (["-S", "yesterday"], "is no time"),
        (["-a", "-u", "bob"], "exclude each other"),
        (["--limit", "0"], "limit"),
    ],
)
def test_wrong_usage(run: Run, server: Server, arguments: list[str], said: str) -> None:
    result = run("history", *arguments)
    assert result.status == 2
    assert said in result.err
    assert result.out == ""


def test_a_span_that_ends_before_it_starts(run: Run, server: Server) -> None:
    result = run("history", "-S", "1h", "-E", "2h")
    assert (result.status, result.out) == (2, "")
    assert "ends before it starts" in result.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("2026-01-31", datetime(2026, 1, 31)),
        ("2026-01-31T12:30", datetime(2026, 1, 31, 12, 30)),
        ("2h", timedelta(hours=2)),
        ("1-00:00:00", timedelta(days=1)),
    ],
)
def test_times(words: str, meant: object) -> None:
    assert When().convert(words, None, None) == meant


def test_a_time_with_a_zone() -> None:
    found = When().convert("2026-01-31T12:00Z", None, None)
    assert isinstance(found, datetime)
    assert found.utcoffset() == timedelta(0)
    with pytest.raises(click.BadParameter):
        When().convert("", None, None)
