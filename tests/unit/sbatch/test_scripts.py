"""Scripts of several kinds, and what sbatch 24.11.5 made of each: what slurmctld recorded, or who refused it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slurm_rest import SpecError
from slurm_rest.sbatch import Setting, Submitter, read_job, read_script, submit_body

DATA = Path(__file__).parents[2] / "data" / "sbatch"
# Submitted with these variables from <CWD>.
ENVIRON = {"HOME": "/home/a", "OUTER": "outer value", "OTHER": "other"}
EXPECTED = json.loads((DATA / "expected.json").read_text())
NUMBERS = {"cpus_per_task": 1, "tasks_per_node": 0, "memory_per_node": 0}


def translate(path: Path) -> list[dict[str, object]]:
    read = read_job(read_script(path), environ=ENVIRON, release="24.11")
    setting = Setting("/cwd", rule="submit", version="v0.0.42", submitter=Submitter(ENVIRON, "/cwd", "host", 0o22, 0))
    body = submit_body(read.spec, setting)
    jobs = body.get("jobs") or [body["job"]]
    assert isinstance(jobs, list)
    return jobs


def recorded(job: dict[str, object]) -> dict[str, object]:
    """Return what slurmctld would record of a submission, without what it decides itself."""
    made = {name: number(job.get(name, default)) for name, default in NUMBERS.items()}
    made["memory_per_cpu"] = number(job.get("memory_per_cpu"))
    made["time_limit"] = number(job.get("time_limit"))
    made |= {"name": job["name"], "cpus": job["minimum_cpus"]}
    # slurmctld counts the tasks where nothing says how many.
    made["tasks"] = job.get("tasks", int(str(job["minimum_cpus"])) // int(str(made["cpus_per_task"])))
    array = "array" in job
    output = str(job.get("standard_output", "/cwd/slurm-%A_%a.out" if array else "/cwd/slurm-%j.out"))
    made["standard_output"] = expanded(output, job)
    made["standard_error"] = expanded(str(job.get("standard_error", output)), job)
    for name in ("comment", "mail_type", "tres_per_task", "time_minimum"):
        if name in job:
            made[name] = number(job[name])
    return made


def number(value: object) -> object:
    return value["number"] if isinstance(value, dict) else value


def expanded(path: str, job: dict[str, object]) -> str:
    for pattern, text in (
        ("%j", "<JOBID>"),
        ("%A", "<JOBID>"),
        ("%a", "4294967294"),
        ("%2a", "4294967294"),
        ("%x", str(job["name"])),
    ):
        path = path.replace(pattern, text)
    return path.replace("/cwd", "<CWD>")


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_script_gives_what_sbatch_made_of_it(name: str) -> None:
    expected = EXPECTED[name]
    if expected.get("refused_by") == "sbatch":
        with pytest.raises(SpecError):
            translate(DATA / "scripts" / name)
        return
    jobs = translate(DATA / "scripts" / name)
    # What only Slurm can judge is sent.
    if "refused_by" not in expected:
        assert [recorded(job) for job in jobs] == expected["jobs"]
    environment = jobs[0]["environment"]
    assert isinstance(environment, list)
    assert set(expected.get("environment", ())) <= {*environment, ""}


def test_every_script_is_here() -> None:
    assert {path.name for path in (DATA / "scripts").iterdir()} == set(EXPECTED)
