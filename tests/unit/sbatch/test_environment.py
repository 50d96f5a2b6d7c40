"""The environment that sbatch would send."""

from __future__ import annotations

import pytest

from slurm_rest.sbatch import JobSpec, Setting, Submitter, submit_body
from tests.unit.sbatch.support import HEAD


def test_how_memory_is_bound_is_not_replaced_in_any_component() -> None:
    spec = JobSpec(f"{HEAD}true\n", mem_bind="verbose,rank", components=[JobSpec(ntasks=1)])
    for variable, gone in (("SBATCH_MEM_BIND", "SLURM_MEM_BIND_HET"), ("SLURM_MEM_BIND_VERBOSE", "BIND_VERBOSE_PACK")):
        submitter = Submitter({variable: "rank"}, "/w", "host")
        jobs = submit_body(spec, Setting("/tmp", rule="submit", submitter=submitter))["jobs"]
        assert isinstance(jobs, list)
        told = [item for item in jobs[0]["environment"] if "_GROUP_" in item]
        assert told
        assert not [item for item in told if gone in item]


def test_limits_stay_for_later_components_and_a_file_empties_the_environment() -> None:
    submitter = Submitter({"A": "b"}, "/w", "host", 0o22, 0, {"CORE": 0, "NOFILE": 9})
    parts = [JobSpec(propagate="NOFILE"), JobSpec(propagate="NONE")]
    spec = JobSpec(f"{HEAD}true\n", propagate="CORE", hint="nomultithread", components=parts)
    jobs = submit_body(spec, Setting("/tmp", rule="submit", submitter=submitter))["jobs"]
    assert isinstance(jobs, list)
    limits = [[item for item in one["environment"] if item.startswith("SLURM_RLIMIT")] for one in jobs]
    assert limits == [
        ["SLURM_RLIMIT_CORE=U0"],
        ["SLURM_RLIMIT_CORE=U0", "SLURM_RLIMIT_NOFILE=U9"],
        ["SLURM_RLIMIT_CORE=U0", "SLURM_RLIMIT_NOFILE=U9"],
    ]
    setting = Setting("/tmp", rule="submit", submitter=submitter, read_file=lambda _: b"B=1\0")
    made = submit_body(spec.replace(components=[], export_file="x", export="ALL"), setting)["job"]
    assert isinstance(made, dict)
    assert "B=1" in made["environment"]
    assert not [item for item in made["environment"] if item.startswith(("A=", "SLURM_HINT", "SLURM_RLIMIT"))]


def environment(export: str | None = None, release: str = "24.11", **environ: str) -> dict[str, str]:
    submitter = Submitter({"HOME": "/h", "SLURM_X": "1", "SLURM_JWT": "secret", **environ}, "/w", "host", 0o22, 0, {})
    setting = Setting("/home/alice", rule="submit", version="v0.0.42", release=release, submitter=submitter)
    made = submit_body(JobSpec(f"{HEAD}true\n", export=export), setting)["job"]
    assert isinstance(made, dict)
    return dict(item.partition("=")[::2] for item in made["environment"])


def test_the_environment_of_a_submitter() -> None:
    everything = environment(A="b")
    assert (everything["A"], everything["SLURM_UMASK"], everything["SLURM_SUBMIT_DIR"]) == ("b", "0022", "/w")
    assert "SLURM_GET_USER_ENV" not in everything
    assert "SLURM_JWT" not in everything
    none = environment("NONE", A="b")
    assert (none["SLURM_X"], none["SLURM_GET_USER_ENV"], none["SLURM_EXPORT_ENV"]) == ("1", "1", "NONE")
    assert not {"A", "HOME"} & set(none)
    some = environment("A=c,'B=x,y',HOME,C='q'", A="b")
    assert (some["A"], some["B"], some["HOME"], some["C"]) == ("c", "x,y", "/h", "'q'")
    assert environment("A=1,ALL", A="b")["A"] == "b"
    assert environment(HYDRA_BOOTSTRAP="ssh").get("HYDRA_LAUNCHER_EXTRA_ARGS") is None


EXTERNAL = "--external-launcher"


@pytest.mark.parametrize("export", ["NONE", "NIL", "A=1", "HOME"])
def test_launchers_are_told_where_what_they_were_given_is_not_sent(export: str) -> None:
    given = {"OMPI_MCA_plm_slurm_args": "x", "HYDRA_LAUNCHER_EXTRA_ARGS": "-v"}
    told = environment(export, **given)
    assert told["OMPI_MCA_plm_slurm_args"] == told["PRTE_MCA_plm_slurm_args"] == EXTERNAL
    assert (told["HYDRA_BOOTSTRAP"], told["HYDRA_LAUNCHER_EXTRA_ARGS"]) == ("slurm", EXTERNAL)
    assert environment("ALL", **given).items() >= given.items()


def test_what_is_exported_for_launchers_stays() -> None:
    told = environment("HYDRA_BOOTSTRAP=ssh,OMPI_MCA_plm_slurm_args=y")
    assert (told["HYDRA_BOOTSTRAP"], told["OMPI_MCA_plm_slurm_args"]) == ("ssh", "y")
    # sbatch itself has no other launcher than Slurm.
    assert told["HYDRA_LAUNCHER_EXTRA_ARGS"] == EXTERNAL
    assert "HYDRA_LAUNCHER_EXTRA_ARGS" not in environment("NONE", HYDRA_BOOTSTRAP="ssh")


def test_a_file_empties_what_launchers_and_umask_are_taken_from() -> None:
    submitter = Submitter({"HYDRA_BOOTSTRAP": "ssh", "SLURM_UMASK": "0077"}, "/w", "host", 0o22)
    setting = Setting("/tmp", rule="submit", submitter=submitter, read_file=lambda _: b"B=1\0")
    last = JobSpec(export_file="x")
    jobs = submit_body(JobSpec(HEAD, components=[last]), setting)["jobs"]
    assert isinstance(jobs, list)
    first, second = (set(one["environment"]) for one in jobs)
    assert {"SLURM_UMASK=0077", "HYDRA_BOOTSTRAP=ssh", f"HYDRA_LAUNCHER_EXTRA_ARGS={EXTERNAL}"} < first
    assert "SLURM_UMASK=0022" in second
    alone = submit_body(JobSpec(HEAD, export_file="x"), setting)["job"]
    assert isinstance(alone, dict)
    assert {"HYDRA_BOOTSTRAP=slurm", "SLURM_UMASK=0022", "B=1"} < set(alone["environment"])


def test_a_umask_of_the_environment_wins_over_that_of_a_pbs_line() -> None:
    text = f"{HEAD}#PBS -W umask=077\n"
    assert JobSpec.from_script(text).env == {"SLURM_UMASK": "0077"}
    assert JobSpec.from_script(text, environ={"SLURM_UMASK": "0007"}).env == {"SLURM_UMASK": "0007"}
    emptied = JobSpec.from_script(f"{text}#SBATCH --export-file=x\n", environ={"SLURM_UMASK": "0007"})
    assert emptied.env == {"SLURM_UMASK": "0077"}


@pytest.mark.parametrize(("export", "limit"), [(None, "U9"), ("ALL", "U9"), ("NIL", "U9"), ("NONE", "9"), ("A=1", "9")])
def test_a_limit_of_an_earlier_component_stays_where_not_everything_is_exported(export: str | None, limit: str) -> None:
    submitter = Submitter({}, "/w", "host", 0o22, 0, {"NOFILE": 9})
    spec = JobSpec(HEAD, export=export, components=[JobSpec(propagate="NOFILE", export=export)])
    jobs = submit_body(spec, Setting("/tmp", rule="submit", submitter=submitter))["jobs"]
    assert isinstance(jobs, list)
    assert f"SLURM_RLIMIT_NOFILE={limit}" in jobs[1]["environment"]
