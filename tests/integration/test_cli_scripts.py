"""Scripts as sbatch reads them, through the command on real clusters: directives, precedence, members."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from .test_cli import Shell, shell

__all__ = ["shell"]

# The newest version that each release serves.
VERSIONS = {"24.11": "v0.0.42", "26.05": "v0.0.45"}
# What differs between two submissions of the same job.
OWN = {
    *(
        "job_id",
        "step_id",
        "comment",
        "submit_time",
        "eligible_time",
        "accrue_time",
        "priority",
        "priority_by_partition",
    ),
    *("last_sched_evaluation", "pre_sus_time", "stdout_expanded", "stderr_expanded", "stdin_expanded"),
}

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a script of these lines and returns its path."""

    def make(*lines: str, name: str = "job.sh") -> str:
        path = tmp_path / name
        path.write_text("\n".join(["#!/bin/sh", *lines]) + "\n")
        return str(path)

    return make


def records(shell: Shell, job_id: str) -> list[dict[str, object]]:
    """Return slurmctld's own records of a job."""
    found = shell.cluster.exec(["scontrol", "show", "--json", "job", job_id], check=True)
    jobs = json.loads(found.stdout)["jobs"]
    assert isinstance(jobs, list)
    return jobs


def ids(shell: Shell) -> set[int]:
    return {job["id"] for job in json.loads(shell("jobs", "--json").stdout)}


def number(value: object) -> object:
    assert isinstance(value, Mapping)
    return value["number"] if value["set"] else None


def test_directives_are_honoured(shell: Shell, write: Write) -> None:
    script = write(
        "#SBATCH --job-name=sweep --array=1,3%1",
        "#SBATCH -t 1-2 --hold   # a comment",
        "#SBATCH -o out-%A_%a.txt --comment='two words'",
        "true",
        "#SBATCH --partition=nowhere",
    )
    job_id = shell.submit(script)

    (record,) = records(shell, job_id)
    assert (record["name"], record["array_task_string"], record["hold"]) == ("sweep", "1,3%1", True)
    assert number(record["time_limit"]) == 26 * 60
    assert str(record["comment"]).startswith("two words slurm-rest:")
    assert record["command"] == script
    (shown,) = json.loads(shell("status", "--json", job_id).stdout)
    assert shown["comment"] == "two words"
    assert shown["stdout"].startswith(f"/home/alice/out-{job_id}_")


def test_the_command_line_wins_over_variables_and_they_over_the_script(shell: Shell, write: Write) -> None:
    script = write("#SBATCH -H -J script -t 1 -n 1 -A default --qos=normal")

    done = shell("submit", "-J", "line", script, SBATCH_JOB_NAME="variable", SBATCH_TIMELIMIT="2", SBATCH_QOS="normal")

    assert done.returncode == 0, done.stderr
    (record,) = records(shell, done.stdout.strip())
    assert (record["name"], number(record["time_limit"]), number(record["tasks"])) == ("line", 2, 1)


def test_a_script_with_a_fault_makes_no_job(shell: Shell, write: Write) -> None:
    before = ids(shell)
    done = shell("submit", write("#SBATCH -N 1", "#SBATCH --xyzzy"))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "slurm-rest: error: Line 3: sbatch has no option --xyzzy\nhint: sbatch --help lists them.\n"
    assert ids(shell) <= before, "those of other tests may leave meanwhile"


def test_what_convert_prints_is_the_job_that_submit_makes(shell: Shell, write: Write) -> None:
    script = write("#SBATCH -H -N 1 -n 2 -c 1 -t 5 --mem=64 -J same --mail-type=END", "#SBATCH -o x-%j -d singleton")
    # What both have to wait for: slurmctld drops a dependency that is fulfilled whenever it next schedules (26.05).
    shell.submit("-H", "-J", "same", "--wrap", "true")
    words = ["--nice=7", "--env", "A=b c", script, "one", "two words"]
    version = VERSIONS[shell.cluster.release]
    printed = shell("convert", "--api-version", version, *words)
    assert printed.returncode == 0, printed.stderr

    submitted, posted = shell.submit(*words), post(shell, version, printed.stdout)

    assert comparable(records(shell, submitted)) == comparable(records(shell, posted))
    environments = [job_environment(shell, job_id) for job_id in (submitted, posted)]
    assert environments[0] == environments[1]
    assert "A=b c" in environments[0]


def post(shell: Shell, version: str, body: str) -> str:
    """Send a body to slurmrestd by hand and return the job's id."""
    headers = {"X-SLURM-USER-TOKEN": shell.env["SLURM_JWT"], "Content-Type": "application/json"}
    url = f"{shell.cluster.url}/slurm/{version}/job/submit"
    request = urllib.request.Request(url, body.encode(), headers)
    with urllib.request.urlopen(request, timeout=300) as answer:
        job_id = str(json.load(answer)["job_id"])
    shell.made.add(job_id)
    return job_id


def comparable(found: list[dict[str, object]]) -> object:
    """Return a record without what is a job's own: 24.11 writes the id into the names of files."""
    (record,) = found
    kept = {name: value for name, value in record.items() if name not in OWN}
    return json.loads(json.dumps(kept).replace(f"/x-{record['job_id']}", "/x-%j"))


def job_environment(shell: Shell, job_id: str) -> list[str]:
    """Return what slurmctld keeps as the job's environment."""
    spool = shell.cluster.exec(["scontrol", "show", "config"], check=True).stdout
    (folder,) = [line.split("=")[1].strip() for line in spool.splitlines() if line.startswith("StateSaveLocation")]
    path = f"{folder}/hash.{int(job_id) % 10}/job.{job_id}/environment"
    raw = shell.cluster.exec(["cat", path], check=True).stdout
    return sorted(raw.split("\0"))


def test_a_script_that_asks_to_wait_is_followed(shell: Shell, write: Write) -> None:
    done = shell("submit", write("#SBATCH --wait -a 0-2", "exit $SLURM_ARRAY_TASK_ID"))
    assert done.returncode == 2, done.stderr
    assert f"following job {done.stdout.strip()} to its end, as its script asks" in done.stderr


def test_components_are_one_job(shell: Shell, write: Write) -> None:
    done = shell("submit", "-W", "-Q", write("#SBATCH -n1", "#SBATCH hetjob", "#SBATCH -n2", "exit 3"))
    job_id = done.stdout.strip()
    assert done.returncode == 3, done.stderr
    (component,) = json.loads(shell("status", "--json", f"{job_id}+1").stdout)
    assert (component["label"], component["het_job_offset"], component["array_job_id"]) == (f"{job_id}+1", 1, None)


def test_tasks_are_followed_and_cancelled_one_by_one(shell: Shell) -> None:
    job_id = shell.submit("-a", "0-2", "--wrap", "test $SLURM_ARRAY_TASK_ID = 0 || sleep 900")

    waited = shell("wait", f"{job_id}_0")
    assert waited.returncode == 0, waited.stderr
    assert waited.stdout.splitlines()[1].split()[::2][:2] == [f"{job_id}_0", "COMPLETED"]

    done = shell("cancel", f"{job_id}_1", f"{job_id}_0", f"{job_id}_7")
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        f"{job_id}_1  cancelled",
        f"{job_id}_0  already over",
        f"{job_id}_7  no such job",
    ]
    shown = json.loads(shell("status", "--json", f"{job_id}_2", f"{job_id}_0").stdout)
    assert [record["label"] for record in shown] == [f"{job_id}_2", f"{job_id}_0"]
    assert shown[0]["state"] in ("PENDING", "RUNNING")
    assert shell("status", f"{job_id}_7").returncode == 1
