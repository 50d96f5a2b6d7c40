from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from slurm_rest.cli.app import app
from tests.unit.cli.server import URL, Run, Server, job


@pytest.fixture
def server(server: Server) -> Server:
    """Return a server that makes job 12."""
    server.jobs(job(12, "COMPLETED"))
    server.answer("POST", "/slurm/job/submit", {"job_id": 12})
    return server


def sent(server: Server) -> Mapping[str, object]:
    body = server.body()["job"]
    assert isinstance(body, dict)
    return body


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "train.sh"
    path.write_text("#!/bin/sh\necho $@\n")
    return str(path)


def test_the_job_id_is_all_of_stdout(run: Run, server: Server, script: str) -> None:
    result = run("submit", script)

    assert (result.status, result.out, result.err) == (0, "12\n", "")
    assert server.body()["script"] == "#!/bin/sh\necho $@\n"
    assert sent(server)["name"] == "train.sh"


@pytest.mark.parametrize("words", [["-n8"], ["-n", "8"], ["--ntasks=8"], ["--ntasks", "8"], ["-Hn8"], ["-Hn", "8"]])
def test_values_are_written_in_each_of_sbatchs_ways(run: Run, server: Server, script: str, words: list[str]) -> None:
    assert run("submit", *words, script).status == 0
    assert sent(server)["tasks"] == 8


def test_what_follows_the_script_belongs_to_it(run: Run, server: Server, script: str) -> None:
    assert run("submit", "-N", "2", script, "-n", "4", "--wrap", "--", "-").status == 0
    assert sent(server)["argv"] == [script, "-n", "4", "--wrap", "--", "-"]
    assert "tasks" not in sent(server)


def test_long_options_may_be_abbreviated(run: Run, server: Server, script: str) -> None:
    assert run("submit", "--part=gpu", "--dep", "afterok:1", script).status == 0
    assert (sent(server)["partition"], sent(server)["dependency"]) == ("gpu", "afterok:1")


@pytest.mark.parametrize("command", ["submit", "convert"])
@pytest.mark.parametrize("word", ["--xyzzy", "--json", "-Y"])
def test_an_unknown_option_is_to_be_looked_up_in_our_own_help(run: Run, command: str, word: str) -> None:
    result = run(command, word, "--wrap", "hostname")
    assert result.status == 2
    said = f"slurm-rest: error: sbatch has no option {word}\nhint: slurm-rest {command} --help lists them.\n"
    assert result.err == said


def test_an_ambiguous_abbreviation_is_refused(run: Run, server: Server, script: str) -> None:
    assert run("submit", "--gp=1", script).status == 2


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        (["--exclusive"], "shared", ["none"]),
        (["--exclusive=user"], "shared", ["user"]),
        (["--nice"], "nice", 100),
        (["--nice=5"], "nice", 5),
        (["--hold"], "hold", True),
        (["-H"], "hold", True),
        (["--requeue"], "requeue", True),
        (["--no-requeue"], "requeue", False),
        (["--wckey", "--exclusive"], "wckey", "--exclusive"),
        (["-C", "--exclusive"], "constraints", "--exclusive"),
        (["-HC", "--exclusive"], "constraints", "--exclusive"),
        (["--mem", "4G"], "memory_per_node", {"set": True, "infinite": False, "number": 4096}),
        (["--begin", "uts1900000000"], "begin_time", {"set": True, "infinite": False, "number": 1900000000}),
        (["--deadline", "uts1900000000"], "deadline", 1900000000),
        (["--no-kill"], "kill_on_node_fail", False),
        (["-k"], "kill_on_node_fail", False),
        (["-HOn2"], "overcommit", True),
        (["-HOn2"], "hold", True),
        (["-HOn2"], "tasks", 2),
        (["--part=a", "-p", "b"], "partition", "b"),
        (["-a0-9%2"], "array", "0-9%2"),
        (["--time=1:00:00"], "time_limit", {"set": True, "infinite": False, "number": 60}),
    ],
)
def test_options_reach_the_request(
    run: Run, server: Server, script: str, words: list[str], field: str, value: object
) -> None:
    result = run("submit", *words, script)

    assert result.status == 0, result.err
    body = sent(server)
    assert body[field] == value
    assert body["name"] == "train.sh"


def test_dates_are_read_in_this_machines_zone(
    run: Run, server: Server, script: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    try:
        assert run("submit", "--deadline", "2030-03-17T19:46:40", script).status == 0
    finally:
        monkeypatch.undo()
        time.tzset()
    assert sent(server)["deadline"] == 1900000000


@pytest.mark.parametrize("words", [[], ["-"]])
def test_without_a_script_stdin_is_read(run: Run, server: Server, words: list[str]) -> None:
    result = run("submit", "-p", "debug", *words, stdin=b"#!/bin/sh\necho \xff\n")

    assert result.out == "12\n"
    assert server.requests[-2].content.count(b"echo \xff") == 1
    body = server.requests[-2].content.decode("utf-8", "surrogateescape")
    assert '"name": "sbatch"' in body
    assert '"partition": "debug"' in body


def test_stdin_is_never_taken_for_a_path(run: Run, server: Server, script: str) -> None:
    result = run("submit", stdin=script.encode())

    assert result.status == 1
    assert "does not start with #!" in result.err
    assert not server.requests


def test_arguments_follow_a_dash(run: Run, server: Server) -> None:
    assert run("submit", "-J", "night", "-", "--epochs", "3", stdin=b"#!/bin/sh\n").status == 0
    assert sent(server)["argv"] == ["night", "--epochs", "3"]


def test_wrap_makes_a_script(run: Run, server: Server) -> None:
    assert run("submit", "--wrap", "srun hostname").out == "12\n"
    text = server.body()["script"]
    assert isinstance(text, str)
    assert text.startswith("#!/bin/sh\n")
    assert text.endswith("\nsrun hostname\n")
    assert sent(server)["name"] == "wrap"


def test_a_key_of_ones_own_submits_only_once(run: Run, server: Server, script: str) -> None:
    assert run("submit", "--idempotency-key", "tonight", script).out == "12\n"
    comment = sent(server)["comment"]
    server.jobs(job(11, "CANCELLED", comment=comment, submit_time={"set": True, "number": 1_700_000_000}))
    again = run("submit", "--idempotency-key=tonight", script)
    assert (again.status, again.out) == (0, "11\n")
    assert len([request for request in server.requests if request.method == "POST"]) == 1


def test_wrap_and_a_script_exclude_each_other(run: Run, server: Server, script: str) -> None:
    result = run("submit", "--wrap", "true", script)
    assert (result.status, server.requests) == (2, [])


def test_variables_are_added(run: Run, server: Server) -> None:
    assert run("submit", "--env", "A=1", "--env", "B=x=y", "--wrap", "true").status == 0
    environment = sent(server)["environment"]
    assert isinstance(environment, list)
    assert {"A=1", "B=x=y"} <= set(environment)


def test_a_variable_without_a_name_is_refused_and_not_repeated(run: Run, server: Server) -> None:
    result = run("submit", "--env", "hunter2", "--wrap", "true")
    assert result.status == 2
    assert "NAME=VALUE" in result.err
    assert "hunter2" not in result.err


def test_what_stands_behind_two_dashes_is_the_script(run: Run, server: Server, script: str) -> None:
    assert run("submit", "-n2", "--", script, "-n3").status == 0
    assert sent(server)["argv"] == [script, "-n3"]
    assert sent(server)["tasks"] == 2


def test_a_glued_value_of_a_short_option(run: Run, server: Server, script: str) -> None:
    assert run("submit", "-koff", script).status == 0
    assert "kill_on_node_fail" not in sent(server)


def test_an_optional_value_is_only_taken_glued(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("user").write_text("#!/bin/sh\n")
    assert run("submit", "--exclusive", "user").status == 0
    assert (sent(server)["shared"], sent(server)["name"]) == (["none"], "user")


# --- directives -----------------------------------------------------------------------------------------------

DIRECTIVES = "#!/bin/sh\n#SBATCH -p script -t 1 -J script\n#SBATCH --wrap=ignored --comment='a b' -A script\ntrue\n"


def test_the_command_line_wins_over_variables_and_they_over_the_script(
    run: Run, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SBATCH_PARTITION", "variable")
    monkeypatch.setenv("SBATCH_TIMELIMIT", "2")

    result = run("submit", "-p", "line", stdin=DIRECTIVES.encode())

    assert (result.status, result.out, result.err) == (0, "12\n", "")
    body = sent(server)
    assert (body["partition"], body["account"], body["name"]) == ("line", "script", "script")
    assert str(body["comment"]).startswith("a b slurm-rest:")
    assert body["time_limit"] == {"set": True, "infinite": False, "number": 2}
    assert server.body()["script"] == DIRECTIVES


def test_components_are_sent_together(run: Run, server: Server) -> None:
    assert run("submit", "-A", "acc", stdin=b"#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n2\n").status == 0
    parts = server.body()["jobs"]
    assert isinstance(parts, list)
    assert [(part["tasks"], part["account"]) for part in parts] == [(1, "acc"), (2, "acc")]


@pytest.mark.parametrize("words", [["-n1", ":", "-n2", "--wrap", "true"], ["--wrap", "true", "-n1", ":", "-n2"]])
def test_a_colon_begins_the_options_of_another_component(run: Run, server: Server, words: list[str]) -> None:
    assert run("submit", *words).status == 0
    body = server.body()
    assert "\ntrue\n" in str(body["script"])
    assert isinstance(body["jobs"], list)
    assert [part["tasks"] for part in body["jobs"]] == [1, 2]


def test_behind_the_script_a_colon_is_nothing(run: Run, server: Server, script: str) -> None:
    """sbatch 24.11 and 26.05 take it out of the arguments."""
    assert run("submit", "-n1", script, "a", ":", "-n2").status == 0
    assert sent(server)["argv"] == [script, "a", "-n2"]


def test_a_warning_that_slurm_gives_twice_is_shown_once(run: Run, server: Server) -> None:
    held = "Job is in held state, pending scheduler release"
    twice = [{"description": f"Job submission resulted in non-zero return code: {held}"}, {"description": held}]
    server.answer("POST", "/slurm/job/submit", {"job_id": 12, "warnings": twice})
    assert run("submit", "--wrap", "true").err == f"slurm-rest: warning: {held}\n"


def test_warnings_go_to_stderr_as_harmless_lines(run: Run, server: Server) -> None:
    server.answer("POST", "/slurm/job/submit", {"job_id": 12, "warnings": [{"description": "held\n\x1b[31mred"}]})

    assert run("submit", "-Q", "--wrap", "true").err == ""
    result = run("submit", "--wrap", "true")

    assert result.out == "12\n"
    assert result.err.splitlines()[0].startswith("slurm-rest: warning: held")
    assert "\x1b" not in result.err


def test_a_refusal_is_one_line(run: Run, server: Server) -> None:
    error = {"error_number": 2000, "error": "Invalid partition name specified", "description": "no\nsuch partition"}
    server.answer("POST", "/slurm/job/submit", {"errors": [error]}, 422)

    result = run("submit", "-p", "nope", "--wrap", "true")

    assert (result.status, result.out) == (1, "")
    assert len(result.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("state", "code", "signal", "status"),
    [("COMPLETED", 0, 0, 0), ("FAILED", 3, 0, 3), ("FAILED", 5, 9, 1), ("TIMEOUT", 0, 0, 1), ("CANCELLED", 0, 15, 1)],
)
def test_wait_ends_as_the_job_did(run: Run, server: Server, state: str, code: int, signal: int, status: int) -> None:
    exit_code = {
        "return_code": {"set": True, "infinite": False, "number": code},
        "signal": {"id": {"set": True, "infinite": False, "number": signal}},
    }
    ran = {"nodes": "n1", "start_time": {"set": True, "infinite": False, "number": 1}}
    server.jobs(job(12, state, exit_code=exit_code, standard_output="/home/alice/slurm-12.out", **ran))

    result = run("submit", "--wait", "--wrap", "true")

    assert (result.status, result.out) == (status, "12\n")
    assert "1 job: 1 " + state in result.err
    if status:
        assert "hint: Its output went to /home/alice/slurm-12.out" in result.err


@pytest.mark.parametrize(
    ("fields", "hint"),
    [
        (
            {"exit_code": {"signal": {"id": {"set": True, "number": 53}}}},
            "Slurm could not open it: is there such a directory",
        ),
        ({}, "The job never started."),
    ],
)
def test_wait_names_no_output_that_there_is_none_of(
    run: Run, server: Server, fields: dict[str, object], hint: str
) -> None:
    server.jobs(job(12, "FAILED", standard_output="/no/slurm-12.out", **fields))
    assert f"hint: There is no /no/slurm-12.out. {hint}" in run("submit", "--wait", "--wrap", "true").err


def test_a_script_may_ask_for_the_wait(run: Run, server: Server) -> None:
    result = run("submit", stdin=b"#!/bin/sh\n#SBATCH --wait\n")

    assert (result.status, result.out) == (0, "12\n")
    assert result.err.splitlines()[0] == "slurm-rest: following job 12 to its end, as its script asks"
    assert "1 job: 1 COMPLETED" in result.err
    assert run("submit", "-Q", stdin=b"#!/bin/sh\n#SBATCH -W\n").err == ""


def test_a_variable_may_ask_for_the_wait(run: Run, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SBATCH_WAIT", "yes")
    assert "following job 12 to its end, as SBATCH_WAIT asks" in run("submit", "--wrap", "true").err


def test_nobody_who_asked_is_told_so(run: Run, server: Server) -> None:
    assert "following" not in run("submit", "--wait", "--wrap", "true").err


@pytest.mark.parametrize("words", [["--parsable"], ["--parsable", "-M", "testing"], ["--quiet"]])
def test_the_id_stays_alone(run: Run, server: Server, words: list[str]) -> None:
    assert run("submit", *words, "--wrap", "true").out == "12\n"


def test_verbose_tells_what_is_done(run: Run, server: Server, script: str) -> None:
    assert "POST" in run("submit", "-vv", script).err
    assert run("submit", "-v", script).err == f"slurm-rest: Job 12 is submitted: over rest ({URL}), for alice\n"
    assert run("submit", script).err == ""


def test_wait_for_an_array_ends_with_the_highest_exit_code(run: Run, server: Server) -> None:
    def task(job_id: int, index: int, code: int) -> dict[str, object]:
        number = {"set": True, "infinite": False, "number": code}
        state = "FAILED" if code else "COMPLETED"
        array = {"array_job_id": {"set": True, "number": 12}, "array_task_id": {"set": True, "number": index}}
        return job(job_id, state, exit_code={"return_code": number}, **array)

    tasks = [task(13, 0, 2), task(14, 1, 5), task(12, 2, 0)]
    server.answer("GET", "/slurm/job/12", {"jobs": tasks})
    rows = [{"job_id": f"12_{index}", "state": record["job_state"]} for index, record in enumerate(tasks)]
    server.answer("GET", "/slurm/jobs/state/", {"jobs": rows})

    assert run("submit", "-W", "-Q", "-a", "0-2", "--wrap", "true").status == 5
    said, hint = run("submit", "-W", "-a", "0-2", "--wrap", "true").err.splitlines()[-2:]
    assert said == "slurm-rest: error: job 12 ended FAILED, exit code 2; FAILED: 12_0, 12_1"
    assert hint == "hint: Each task has an output of its own: slurm-rest logs 12_0"


@pytest.mark.parametrize("command", ["submit", "convert"])
def test_a_shell_completes_options_and_files(command: str) -> None:
    shell = BashComplete(app, {}, "slurm-rest", "_SLURM_REST_COMPLETE")
    assert [item.value for item in shell.get_completions([command], "--part")] == ["--partition"]
    assert "--env" in {item.value for item in shell.get_completions([command, "-N", "2"], "--e")}
    assert [(item.value, item.type) for item in shell.get_completions([command], "tr")] == [("tr", "file")]
