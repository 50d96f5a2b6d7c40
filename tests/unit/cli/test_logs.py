from __future__ import annotations

import signal
from pathlib import Path

import httpx
import pytest

from slurm_rest.cli.terminal import out_bytes
from tests.unit.cli.server import Answer, Run, Server, job


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return what the cluster calls /home/alice."""
    path = tmp_path / "mounted/alice"
    path.mkdir(parents=True)
    monkeypatch.setenv("SLURM_REST_PATH_MAP", f"/home={tmp_path / 'mounted'}")
    monkeypatch.delenv("SLURM_REST_SSH_HOST", raising=False)
    return path


def with_output(job_id: int = 7, state: str = "COMPLETED", **fields: object) -> dict[str, object]:
    paths = {"standard_output": f"/home/alice/slurm-{job_id}.out", "standard_error": f"/home/alice/e-{job_id}"}
    return job(job_id, state, **{**paths, **fields})


def test_the_output_goes_out_as_it_is(server: Server, home: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    from slurm_rest.cli import main

    content = b"caf\xe9 \xff\x00\x1b[31m\n" * 20_000
    (home / "slurm-7.out").write_bytes(content)
    server.jobs(with_output())
    assert main(["logs", "7"]) == 0
    assert capfdbinary.readouterr().out == content


def test_the_last_lines_and_the_other_stream(run: Run, server: Server, home: Path) -> None:
    (home / "slurm-7.out").write_text("1\n2\n3\n")
    (home / "e-7").write_text("trouble\n")
    server.jobs(with_output())
    assert run("logs", "--lines", "2", "7").out == "2\n3\n"
    assert run("logs", "-n0", "7").out == ""
    assert run("logs", "--stderr", "7").out == "trouble\n"


def test_following_goes_on_until_the_job_is_over(run: Run, server: Server, home: Path) -> None:
    file = home / "slurm-7.out"
    file.write_text("before\nfirst\n")
    server.jobs(with_output(state="RUNNING"))
    ask = server.answers["GET", "/slurm/jobs/state/"]
    asked = 0

    def states(request: httpx.Request) -> Answer:
        nonlocal asked
        asked += 1
        if asked == 2:
            with file.open("a") as out:
                out.write("last\n")
            server.jobs(with_output())
        assert callable(ask)
        current = server.answers["GET", "/slurm/jobs/state/"] if asked >= 2 else ask
        assert callable(current)
        return current(request)

    server.answers["GET", "/slurm/jobs/state/"] = states
    result = run("logs", "-f", "-n", "1", "7")
    assert (result.status, result.out, result.err) == (0, "first\nlast\n", "")


def test_an_interrupt_leaves_the_job_alone(
    run: Run, server: Server, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "slurm-7.out").write_text("first\n")
    server.jobs(with_output(state="RUNNING"))

    def print_and_interrupt(data: bytes) -> None:
        out_bytes(data)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("slurm_rest.cli.logs.out_bytes", print_and_interrupt)
    result = run("logs", "-f", "7")
    assert (result.status, result.out) == (130, "first\n")
    assert "interrupted: job 7 goes on" in result.err
    assert "DELETE" not in [request.method for request in server.requests]


def test_what_is_not_there_yet(run: Run, server: Server, home: Path) -> None:
    server.jobs(with_output(7, "PENDING", state_reason="Resources"), with_output(8, "RUNNING"), with_output(9))
    result = run("logs", "7")
    assert (result.status, result.out) == (1, "")
    assert "error: Job 7 has not started (PENDING: Resources), so there is no output yet" in result.err
    assert "hint: With -f it is waited for." in result.err
    assert "Job 8 is RUNNING, and there is no /home/alice/slurm-8.out yet" in run("logs", "8").err
    assert "Job 9 ended COMPLETED, and there is no /home/alice/slurm-9.out" in run("logs", "9").err


def test_a_job_whose_output_could_not_be_opened(run: Run, server: Server, home: Path) -> None:
    code = {"return_code": {"set": True, "number": 0}, "signal": {"id": {"set": True, "number": 53}}}
    server.jobs(with_output(state="FAILED", exit_code=code))
    assert "is there such a directory, has it room, and may alice write there?" in run("logs", "7").err


def test_an_array_has_an_output_a_task(run: Run, server: Server, home: Path) -> None:
    tasks = [
        with_output(8, array_job_id=7, array_task_id={"set": True, "number": 0}),
        with_output(7, array_job_id=7, array_task_id={"set": True, "number": 1}),
    ]
    server.jobs(*tasks)
    # The last task has the array's id, and comes first.
    server.answer("GET", "/slurm/job/7", {"jobs": tasks[::-1]})
    (home / "slurm-8.out").write_text("task 0\n")
    result = run("logs", "7")
    assert result.status == 2
    assert "is an array" in result.err
    assert "hint: Ask a task: 7_0.\n" in result.err
    assert run("logs", "7_0").out == "task 0\n"


def test_tasks_that_ended_without_a_start(run: Run, server: Server, home: Path) -> None:
    """As 24.11 tells an array that it refused: its own number for none stands in the path."""
    none = {"set": True, "number": 0}
    tasks = {"array_job_id": {"set": True, "number": 7}, "array_task_string": "2-3", "array_task_id": {"set": False}}
    path = {"standard_output": "/home/alice/slurm-7_4294967294.out"}
    server.jobs({**with_output(state="FAILED"), **tasks, **path, "nodes": "", "start_time": none})
    said = "Job 7_2 ended FAILED, and there is no /home/alice/slurm-7_2.out\nhint: The job never started."
    assert said in run("logs", "7_2").err
    assert "hint: Ask a task: 7_2.\n" in run("logs", "7").err


def test_components_of_a_het_job_share_the_first_ones_output(run: Run, server: Server, home: Path) -> None:
    parts = [with_output(7, het_job_id=7, het_job_offset={"set": True, "number": 0})]
    parts += [with_output(8, het_job_id=7, het_job_offset={"set": True, "number": 1})]
    server.jobs(*parts)
    server.answer("GET", "/slurm/job/7", {"jobs": parts})
    (home / "slurm-7.out").write_text("both\n")
    assert [run("logs", label).out for label in ("7", "7+0", "7+1")] == ["both\n"] * 3
    assert "There is no job 7+2" in run("logs", "7+2").err


def test_a_job_that_throws_its_output_away(run: Run, server: Server, home: Path) -> None:
    server.jobs(with_output(standard_output="/dev/null"))
    for arguments in (["7"], ["-f", "7"], ["-n3", "7"]):
        result = run("logs", *arguments)
        assert (result.status, result.out) == (0, "")
        assert "job 7 throws its output away" in result.err


def test_nothing_leads_to_the_files(run: Run, server: Server, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.jobs(with_output(standard_output="/scratch/7"))
    result = run("logs", "7")
    assert result.status != 0
    assert "error: Nothing leads to /scratch/7 on the cluster\n" in result.err
    assert "SLURM_REST_PATH_MAP" in result.err
    assert "SLURM_REST_SSH_HOST" in result.err
    assert "Traceback" not in result.err


def test_unknown_jobs_and_wrong_usage(run: Run, server: Server, home: Path) -> None:
    assert "There is no job 9" in run("logs", "9").err
    for arguments in ([], ["x"], ["7", "8"], ["-n", "-1", "7"], ["--lines", "x", "7"]):
        result = run("logs", *arguments)
        assert (result.status, result.out) == (2, "")
    assert "--follow" in run("logs", "--help").out
