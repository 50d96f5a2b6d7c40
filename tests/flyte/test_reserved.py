"""Options that the connector keeps for itself cannot be had by another name, nor files of its host by any option."""

from __future__ import annotations

import pytest

from flyteplugins.slurm_rest import Slurm
from flyteplugins.slurm_rest.options import (
    _RESERVED,
    _SRUN,
    _SRUN_SHORT,
    check_host_files,
    check_srun_args,
    job_options,
    srun_words,
)
from flyteplugins.slurm_rest.plan import make_plan
from flyteplugins.slurm_rest.runtimes import Container, check_words
from flyteplugins.slurm_rest.script import native_script, read_directives
from flyteplugins.slurm_rest.template import SCRIPT, Execution, Task
from slurm_rest.sbatch.options import ROW_OF

LONG = {row.long for row in ROW_OF.values()}
SHORT = {row.short for row in ROW_OF.values() if row.short}


def abbreviations(name: str) -> list[str]:
    return [name[:end] for end in range(1, len(name)) if name[:end] not in LONG]


def test_the_table_has_what_is_reserved() -> None:
    assert {"cluster", "wrap"} >= _RESERVED - LONG
    assert len(LONG) > 100


@pytest.mark.parametrize("name", sorted(_RESERVED & LONG))
def test_no_abbreviation_reaches_a_reserved_option(name: str) -> None:
    for given in (
        name,
        *abbreviations(name),
        name.replace("-", "_"),
        name.upper(),
        f"--{name}",
        f"{name}=x",
        f"{name} ",
    ):
        for value in ("/x", True, 1, None):
            with pytest.raises(ValueError, match=r"."):
                job_options({}, {given: value})


@pytest.mark.parametrize("name", sorted(LONG))
def test_no_abbreviation_is_an_option_at_all(name: str) -> None:
    for given in (*abbreviations(name), *SHORT):
        with pytest.raises(ValueError, match=r"no option|Invalid"):
            job_options({}, {given: "1"})


@pytest.mark.parametrize("check", [check_srun_args, lambda words: check_words("pyxis", words)])
@pytest.mark.parametrize("name", sorted(LONG | {"output", "error", "input", "jobid", "prolog", "task-prolog", "bcast"}))
def test_steps_get_no_option_but_those_of_the_list(check: object, name: str) -> None:
    assert callable(check)
    for given in ([] if name in _SRUN else [name]) + [one for one in abbreviations(name) if one not in _SRUN]:
        short = [] if given in _SRUN_SHORT else [[f"-{given}"], [f"-{given}", "/x"], [f"-{given}7"]]
        for words in ([f"--{given}=/x"], [f"--{given}"], [f"--{given}", "/x"], [given], *short):
            with pytest.raises(ValueError, match="_args may not have"):
                check(words)


def test_short_forms_are_those_of_srun_itself() -> None:
    """None of them may mean something else to it: sbatch's are the same, but for those of steps alone."""
    same = {row.short: row.long for row in ROW_OF.values() if row.short in _SRUN_SHORT}
    assert same == {letter: name for letter, name in _SRUN_SHORT.items() if letter in same}
    assert set(_SRUN_SHORT) - set(same) == set("EKXlu")
    assert set(_SRUN_SHORT.values()) <= _SRUN
    words = srun_words(["-l", "-u", "-c", "4", "-c2", "-K0", "-t", "5", "--mpi", "none", "-o", "x"])
    assert words == [
        *("--label", "--unbuffered", "--cpus-per-task=4", "--cpus-per-task=2", "--kill-on-bad-exit=0", "--time=5"),
        *("--mpi=none", "-o", "x"),
    ]


def test_pyxis_takes_its_own_words() -> None:
    args = ["--container-name=x", "--no-container-mount-home", "--mpi=pmix"]
    assert list(Slurm(container_args=args).container_args) == args
    with pytest.raises(ValueError, match="container_args may not have"):
        Slurm(container_args=["--outp=/home/x/.bashrc"])
    # Tasks of the other package bring theirs unchecked.
    with pytest.raises(ValueError, match="container_args may not have"):
        native_script(Container("pyxis", "i", args=["--container-image=other"]), ["a0"])
    assert "--fakeroot" in native_script(Container("apptainer", "i", args=["--fakeroot"]), ["a0"])


def directives(name: str) -> list[str]:
    row = next(row for row in ROW_OF.values() if row.long == name)
    return [f"--{one}=/x" for one in (name, *abbreviations(name))] + ([f"-{row.short} /x"] if row.short else [])


@pytest.mark.parametrize("name", ["output", "error", "job-name"])
def test_a_directive_changes_nothing_of_what_the_connector_sets(name: str) -> None:
    taken = 0
    for directive in directives(name):
        task = Task(SCRIPT, "t", script=f"#!/bin/sh\n#SBATCH {directive}\n")
        try:
            plan = make_plan(task, Execution(), directory="/d", home="/h", output_prefix="/o", inputs={}, unique="u")
        except ValueError:
            # Ambiguous, as for sbatch.
            continue
        taken += 1
        options = plan.spec.options()
        assert (options["output"], options["error"]) == ("/d/flyte-t-local-u.out", "/d/flyte-t-local-u.err")
        assert (options["name"], options["comment"]) == ("flyte-t-local-u", "flyte task=t")
    assert taken >= 2


@pytest.mark.parametrize("name", ["bbf", "export-file", "nodefile", "nodelist", "exclude", "uid", "gid"])
def test_a_directive_reads_no_file_of_the_connectors_host_and_makes_no_other_user(name: str) -> None:
    """sbatch reads these where it runs: here that would be beside the connector's keys."""
    for directive in directives(name):
        script = f"#!/bin/sh\n#SBATCH {directive}\n"
        with pytest.raises(ValueError, match=r"."):
            check_host_files(read_directives(script))
    hetjob = f"#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH --{name}=/x\n"
    task = Task(SCRIPT, "t", script=hetjob)
    with pytest.raises(ValueError, match=r"."):
        make_plan(task, Execution(), directory="/d", home="/h", output_prefix="/o", inputs={}, unique="u")


def test_names_of_nodes_are_no_files() -> None:
    check_host_files(read_directives("#!/bin/sh\n#SBATCH -w n[1-3] -x n2\n"))
    with pytest.raises(ValueError, match="names a file"):
        check_host_files(read_directives("#!/bin/sh\n", "", job_options({}, {"nodelist": "/etc/shadow"})))
