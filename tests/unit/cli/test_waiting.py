from __future__ import annotations

import asyncio
import json
import re
from typing import Any, cast

import pytest

from slurm_rest.cli import following
from slurm_rest.cli.documents import CANCEL_KEYS, JOB_KEYS
from slurm_rest.cli.shared import Seconds
from slurm_rest.client import AsyncSlurmClient
from slurm_rest.errors import WaitTimeout
from tests.unit.cli.server import Run, Server, job


def test_status_shows_a_line_for_each_job_in_the_order_asked(run: Run, server: Server) -> None:
    server.jobs(job(7, "PENDING", state_reason="Resources"), job(9, "COMPLETED"))

    result = run("status", "9", "7", "9")

    assert result.status == 0
    head, first, second = result.out.splitlines()
    assert head.split() == ["ID", "NAME", "STATE", "REASON", "EXIT", "NODES", "ELAPSED"]
    assert first.split()[:3] == ["9", "job9", "COMPLETED"]
    assert second.split()[:4] == ["7", "job7", "PENDING", "Resources"]


def test_an_unknown_job_is_reported_and_the_others_still_shown(run: Run, server: Server) -> None:
    server.jobs(job(7))

    result = run("status", "7", "8", "99999999999")

    assert result.status == 1
    assert len(result.out.splitlines()) == 2
    assert "there is no job 8\n" in result.err
    assert "there is no job 99999999999\n" in result.err


def test_status_as_json_is_one_document_with_the_documented_keys(run: Run, server: Server) -> None:
    server.jobs(job(7, name="café\udcff\n"))

    result = run("status", "--json", "7")

    (record,) = json.loads(result.out)
    assert list(record) == list(JOB_KEYS)
    assert (record["id"], record["state"], record["flags"], record["exit_code"]) == (7, "RUNNING", [], None)
    assert result.out.isascii()
    listed = " ".join(run("status", "--help").out.split())
    assert ", ".join(JOB_KEYS) in listed


@pytest.mark.parametrize("command", ["status", "wait", "cancel"])
@pytest.mark.parametrize(
    "word",
    [
        "0",
        "abc",
        "-1",
        "0_1",
        "12_",
        "12+",
        "12_x",
        "12_1_2",
        "12_1+2",
        "12_1-3",
        "12+-1",
        "1.5",
        "١٢",
        "",
        "1" * 5000,
    ],
)
def test_what_is_no_job_id_is_a_matter_of_usage(run: Run, server: Server, command: str, word: str) -> None:
    result = run(command, "--", word)

    assert (result.status, result.out) == (2, "")
    assert len(result.err.splitlines()) == 2
    assert not server.requests


def array(server: Server, *states: str) -> None:
    """Let array 12 have these tasks, and ten more that are pending."""
    number = {"set": True, "infinite": False}
    base = {"array_job_id": {**number, "number": 12}}
    records = [
        job(13 + index, state, **base, array_task_id={**number, "number": index}) for index, state in enumerate(states)
    ]
    rows = [{"job_id": f"12_{index}", "state": [state]} for index, state in enumerate(states)]
    packed = job(12, "PENDING", **base, array_task_string="10-19")
    server.answer("GET", "/slurm/job/12", {"jobs": [*records, packed]})
    server.answer("GET", "/slurm/jobs/state/", {"jobs": rows})


def test_status_takes_tasks(run: Run, server: Server) -> None:
    array(server, "COMPLETED", "RUNNING")

    result = run("status", "12_1", "12_0", "12_10", "12_2")

    assert result.status == 1
    assert [line.split()[::2][:2] for line in result.out.splitlines()[1:]] == [
        ["12_1", "RUNNING"],
        ["12_0", "COMPLETED"],
        ["12_10", "PENDING"],
    ]
    assert "there is no job 12_2\n" in result.err


@pytest.mark.parametrize("command", ["status", "wait"])
def test_an_array_as_a_whole_has_no_nodes_and_no_output_of_one_task(run: Run, server: Server, command: str) -> None:
    array(server, "COMPLETED", "COMPLETED")
    mine = {"nodes": "c1", "standard_output": "/h/out.txt", "standard_error": "/h/err.txt"}
    records = [{**record, **mine} for record in _records(server, 12)[:-1]]
    server.answer("GET", "/slurm/job/12", {"jobs": records})

    whole, task = json.loads(run(command, "--json", "12", "12_1").out)

    assert [whole[key] for key in ("label", "nodes", "stdout", "stderr")] == ["12", "", None, None]
    assert [task[key] for key in ("label", "nodes", "stdout", "stderr")] == ["12_1", "c1", "/h/out.txt", "/h/err.txt"]


def test_status_takes_components(run: Run, server: Server) -> None:
    number = {"set": True, "infinite": False}
    parts = [
        job(12 + offset, het_job_id={**number, "number": 12}, het_job_offset={**number, "number": offset})
        for offset in (0, 1)
    ]
    server.answer("GET", "/slurm/job/12", {"jobs": parts})

    (record,) = json.loads(run("status", "--json", "12+1").out)

    assert (record["id"], record["label"], record["het_job_offset"]) == (13, "12+1", 1)


def test_wait_for_a_task_does_not_wait_for_its_array(run: Run, server: Server) -> None:
    array(server, "COMPLETED", "RUNNING")

    result = run("wait", "-q", "12_0", "12_7")

    assert result.status == 1
    assert result.out.splitlines()[1].startswith("12_0 ")
    assert result.err.startswith("slurm-rest: error: there is no job 12_7\n")
    assert run("wait", "-q", "012_0").status == 0


def test_interrupting_a_wait_for_a_task_names_it(run: Run, server: Server) -> None:
    array(server, "RUNNING")
    server.answers["GET", "/slurm/jobs/state/"] = lambda request: _interrupt()

    result = run("wait", "-q", "12_0")

    assert result.err.splitlines() == [
        "slurm-rest: interrupted: job 12_0 goes on",
        "hint: Cancel it with: slurm-rest cancel 12_0",
    ]


def test_cancel_sends_tasks_as_they_are_named(run: Run, server: Server) -> None:
    status = [{"step_id": "12_[4]", "error": {"code": 2017, "message": "no such"}}]
    server.answer("DELETE", "/slurm/jobs/", {"status": status})

    result = run("cancel", "12_3", "12_4", "9+1")

    assert (result.status, result.out) == (1, "12_3  cancelled\n12_4  no such job\n9+1  cancelled\n")
    assert server.body("DELETE")["jobs"] == ["12_3", "12_4", "9+1"]
    found = json.loads(run("cancel", "--json", "12_3").out)
    assert (found[0]["id"], found[0]["label"]) == (12, "12_3")


def test_cancel_takes_tasks_as_jobs_lists_them(run: Run, server: Server) -> None:
    server.answer("DELETE", "/slurm/jobs/", {"status": []})

    result = run("cancel", "12_[1-3,7-11:2%4]", "12_3", "9")

    assert result.status == 0, result.err
    assert server.body("DELETE")["jobs"] == ["12_1", "12_2", "12_3", "12_7", "12_9", "12_11", "9"]
    assert result.out.splitlines()[-2:] == ["12_11  cancelled", "9  cancelled"]


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("12_[1-10,30-39,...]", "is cut short by Slurm; cancel the whole array as 12, or name tasks"),
        ("12_[0-1000]", "names more than 1000 tasks"),
        ("12_[0-9999999999]", "names more than 1000 tasks"),
        ("12_[3-1]", "is no list of tasks"),
        ("12_[1-3:0]", "is no list of tasks"),
        ("12_[1,]", "is no list of tasks"),
        ("0_[1-3]", "is not a job id"),
    ],
)
def test_cancel_says_what_to_write_instead_of_tasks_that_it_cannot_tell(
    run: Run, server: Server, word: str, problem: str
) -> None:
    result = run("cancel", word)

    assert (result.status, result.out) == (2, "")
    assert problem in result.err
    assert not server.requests


@pytest.mark.parametrize("command", ["status", "wait", "logs"])
def test_other_commands_say_what_to_write_instead_of_several_tasks(run: Run, server: Server, command: str) -> None:
    result = run(command, "12_[1-3]")

    assert result.status == 2
    assert "write 12_3 for task 3, or 12 for the whole array" in result.err


def test_a_wait_for_an_array_names_the_tasks_that_failed(run: Run, server: Server) -> None:
    array(server, "COMPLETED", "TIMEOUT", "COMPLETED", *["FAILED"] * 6)
    records = [record for record in _records(server, 12) if "array_task_string" not in record]
    server.answer("GET", "/slurm/job/12", {"jobs": records[::-1]})

    result = run("wait", "-q", "12")

    assert result.status == 1
    said, hint = result.err.splitlines()
    assert said.endswith("; TIMEOUT: 12_1; FAILED: 12_3, 12_4, 12_5, 12_6, 12_7 and 1 more")
    assert hint == "hint: Each task has an output of its own: slurm-rest logs 12_1"
    assert run("wait", "-q", "12_1").err == ""


def test_a_wait_for_a_het_job_names_the_components_that_failed(run: Run, server: Server) -> None:
    number = {"set": True, "infinite": False}
    group = {"het_job_id": {**number, "number": 12}}
    parts = [
        job(12 + offset, state, **group, het_job_offset={**number, "number": offset})
        for offset, state in enumerate(["COMPLETED", "FAILED"])
    ]
    rows = [{"job_id": f"12+{offset}", "state": part["job_state"]} for offset, part in enumerate(parts)]
    server.answer("GET", "/slurm/job/12", {"jobs": parts})
    server.answer("GET", "/slurm/jobs/state/", {"jobs": rows})

    result = run("wait", "-q", "12")

    assert (result.status, result.err) == (1, "slurm-rest: error: job 12 ended FAILED; FAILED: 12+1\n")


def test_an_outage_after_the_end_takes_no_outcome_from_who_waited(run: Run, server: Server) -> None:
    array(server, "COMPLETED", "FAILED")
    away = {"errors": [{"error_number": 1800, "error": "Unable to contact slurm controller", "description": "x"}]}
    answers = iter([(200, {"jobs": _records(server, 12)[:-1]})])
    server.answers["GET", "/slurm/job/12"] = lambda request: next(answers, (502, away))

    result = run("wait", "-q", "12")

    assert result.status == 1
    assert result.out.splitlines()[1].split()[0] == "12"
    assert "1800" not in result.err
    assert "12_1" not in result.err


def _records(server: Server, job_id: int) -> list[dict[str, Any]]:
    status, body = cast("tuple[int, Any]", server.answers["GET", f"/slurm/job/{job_id}"])
    assert status == 200
    records: list[dict[str, Any]] = body["jobs"]
    return records


def test_wait_shows_changes_on_stderr_and_the_ends_on_stdout(run: Run, server: Server) -> None:
    server.jobs(job(7, "COMPLETED"), job(8, "COMPLETED"))

    result = run("wait", "8", "7")

    assert result.status == 0
    assert [line.split()[0] for line in result.out.splitlines()] == ["ID", "8", "7"]
    assert "2 jobs: asking" in result.err
    assert result.err.splitlines()[-1].endswith("2 jobs: 2 COMPLETED")
    assert "\x1b" not in result.out + result.err


def test_wait_fails_when_one_job_did(run: Run, server: Server) -> None:
    server.jobs(job(7, "COMPLETED"), job(8, "FAILED"))

    result = run("wait", "--quiet", "--json", "7", "8")

    assert (result.status, result.err) == (1, "")
    assert [record["state"] for record in json.loads(result.out)] == ["COMPLETED", "FAILED"]


def test_wait_goes_on_without_a_job_that_nobody_knows(run: Run, server: Server) -> None:
    server.jobs(job(7, "COMPLETED"))

    result = run("wait", "-q", "7", "8")

    assert result.status == 1
    assert result.out.splitlines()[1].startswith("7 ")
    assert result.err.startswith("slurm-rest: error: there is no job 8\n")


def test_wait_for_nobody_prints_no_table(run: Run, server: Server) -> None:
    result = run("wait", "8")
    assert (result.status, result.out) == (1, "")


def test_a_wait_that_runs_out_of_time_says_so(run: Run, server: Server) -> None:
    server.jobs(job(7, "RUNNING"))

    result = run("wait", "-q", "--timeout", "0.1", "7")

    assert (result.status, result.out) == (1, "")
    assert result.err == "slurm-rest: error: Not over in time: 7\nhint: The jobs go on.\n"


def outage(server: Server) -> None:
    """Let the controller be away when it is asked for the second time, and the job be over afterwards."""
    away = {"errors": [{"error_number": 1800, "error": "Unable to contact slurm controller", "description": "x"}]}
    rows = {"jobs": [{"job_id": "7", "state": ["RUNNING"]}]}, {"jobs": [{"job_id": "7", "state": ["COMPLETED"]}]}
    server.jobs(job(7, "COMPLETED"))
    answers = iter([(200, rows[0]), (502, away), (200, rows[1])])
    server.answers["GET", "/slurm/jobs/state/"] = lambda request: next(answers)


def test_an_outage_is_part_of_the_display(run: Run, server: Server) -> None:
    outage(server)

    result = run("wait", "7")

    assert result.status == 0
    asking, remark, stale, done = result.err.splitlines()
    assert re.search(r"\(no news since \d\d:\d\d:\d\d, as last known\)$", stale)
    assert asking.endswith("1 job: asking")
    assert "1 job: asking (" in remark
    assert "slurmctld" in remark
    assert done.endswith("1 job: 1 COMPLETED")


def test_a_quiet_wait_sits_out_an_outage_quietly(run: Run, server: Server) -> None:
    outage(server)
    result = run("wait", "-q", "7")
    assert (result.status, result.err) == (0, "")


def test_interrupting_a_wait_names_the_jobs_that_go_on(run: Run, server: Server) -> None:
    server.answers["GET", "/slurm/jobs/state/"] = lambda request: _interrupt()

    result = run("wait", "-q", "7", "8")

    assert (result.status, result.out) == (130, "")
    message, hint = result.err.splitlines()
    assert message == "slurm-rest: interrupted: the jobs go on: 7, 8"
    assert hint == "hint: Cancel them with: slurm-rest cancel 7 8"


def _interrupt() -> tuple[int, object]:
    raise KeyboardInterrupt


@pytest.mark.parametrize("quiet", [True, False])
def test_while_the_first_answer_is_late_a_wait_says_so(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch, quiet: bool
) -> None:
    server.jobs(job(7, "COMPLETED"))
    monkeypatch.setattr(following, "_LATE", 0.0)
    ask = AsyncSlurmClient.states

    async def late(*arguments: Any, **options: Any) -> object:
        # The loop has its turn for what is due now.
        await asyncio.sleep(0.01)
        return await ask(*arguments, **options)

    monkeypatch.setattr(AsyncSlurmClient, "states", late)
    result = run("wait", *(["-q"] if quiet else []), "7")
    assert result.status == 0
    assert bool(re.search(r"^slurm-rest: no answer from Slurm since \d\d:\d\d:\d\d", result.err)) is not quiet


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("0.5", 0.5),
        ("30m", 1800),
        ("2h", 7200),
        ("1d", 86400),
        ("5:00", 300),
        ("1:30:00", 5400),
        ("2-12:00:00", 216000),
        ("1-0:0", 86400),
        ("999999999d", 10 * 365 * 86400),
    ],
)
def test_timeouts_are_written_in_many_ways(text: str, seconds: float) -> None:
    assert Seconds().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["0", "soon", "-5", "", "1:2:3:4", "5x", "nan", "1e3"])
def test_what_is_no_time_is_a_matter_of_usage(run: Run, server: Server, text: str) -> None:
    result = run("wait", f"--timeout={text}", "7")
    assert result.status == 2
    assert not server.requests


def _status(job_id: str, code: int) -> dict[str, object]:
    return {"step_id": job_id, "error": {"code": code, "message": "x", "string": "x"}}


def test_cancel_says_for_each_job_what_came_of_it(run: Run, server: Server) -> None:
    status = [_status("8", 2021), _status("9", 2017), _status("10", 2002)]
    server.answer("DELETE", "/slurm/jobs/", {"status": status})

    result = run("cancel", "7", "8", "9", "10", "7")

    assert result.status == 1
    assert result.out.splitlines() == ["7  cancelled", "8  already over", "9  no such job", "10  not allowed: x"]


def test_a_job_that_left_the_controller_is_over_and_not_unknown(run: Run, server: Server) -> None:
    server.answer("DELETE", "/slurm/jobs/", {"status": [_status("8", 2017), _status("9", 2017)]})
    old = {"job_id": 8, "state": {"current": ["FAILED"]}, "time": {"submission": 1}}
    server.answer("GET", "/slurmdb/jobs/", {"jobs": [old]})

    result = run("cancel", "8", "9")

    assert (result.status, result.out) == (1, "8  already over\n9  no such job\n")


def test_without_accounting_an_unknown_job_stays_unknown(run: Run, server: Server) -> None:
    server.answer("DELETE", "/slurm/jobs/", {"status": [_status("9", 2017)]})
    server.answer("GET", "/slurmdb/jobs/", {"errors": [{"error_number": 7000, "error": "no database"}]}, 502)

    assert run("cancel", "9").out == "9  no such job\n"


def test_a_job_that_is_over_is_no_failure(run: Run, server: Server) -> None:
    server.answer("DELETE", "/slurm/jobs/", {"status": [_status("8", 2021)]})

    result = run("cancel", "--json", "7", "8")

    assert result.status == 0
    records = json.loads(result.out)
    assert [list(record) for record in records] == [list(CANCEL_KEYS)] * 2
    assert [record["outcome"] for record in records] == ["signalled", "already_over"]


def test_a_signal_is_sent_and_named(run: Run, server: Server) -> None:
    server.answer("DELETE", "/slurm/jobs/", {"status": []})

    assert run("cancel", "-s", "usr1", "7").out == "7  sent usr1\n"
    assert server.body("DELETE")["signal"] == "USR1"


def test_an_unknown_signal_is_a_matter_of_usage(run: Run, server: Server) -> None:
    result = run("cancel", "--signal", "BOGUS", "7")
    assert result.status == 2
    assert not server.requests


def test_a_timeout_counts_from_the_start_though_nothing_answers(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A frozen slurmctld is silent for longer than the caller wants to wait."""
    waited: list[float | None] = []

    async def silent(*_: object) -> dict[int, object]:
        await asyncio.sleep(20)
        return {}

    async def late(*_: object, timeout: float | None, **__: object) -> list[object]:
        waited.append(timeout)
        raise WaitTimeout("Not over in time: 7", job_ids=[7])

    monkeypatch.setattr(AsyncSlurmClient, "states", silent)
    monkeypatch.setattr(AsyncSlurmClient, "wait", late)
    result = run("wait", "-q", "--timeout", "0.2", "7")
    assert result.err.startswith("slurm-rest: error: Not over in time: 7")
    assert waited == [0.0]
