"""The same script again and again: what is kept of the last time never stands for something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from slurm_rest.errors import SpecError
from slurm_rest.sbatch import JobSpec, Script, read_job
from slurm_rest.sbatch.script import check_script
from slurm_rest.transport.rest import transport as rest_transport
from tests.support.transports import rest_of

from .test_submit import MADE, owned
from .wire import Server, body_of, client, no_pauses, server

__all__ = ["no_pauses", "server"]

TEXT = "#!/bin/sh\n#SBATCH --mail-type=END --partition=long\n#SBATCH --mail-type=FAIL\n#PBS -W umask=022\ntrue\n"


def read(
    name: str = "a.sh", release: str = "24.11", *, environ: dict[str, str] | None = None, **keywords: Any
) -> JobSpec:
    return read_job(Script(TEXT, name), environ=environ or {}, release=release, keywords=keywords).spec


def test_each_release_reads_by_its_own_rules() -> None:
    told = [read(release=release).mail_type for release in ("24.11", "26.05", "24.11", "26.05")]
    assert told == [("END", "FAIL"), ("FAIL",)] * 2


def test_what_is_wrong_with_a_script_is_told_each_time_of_the_file_that_has_it() -> None:
    marked = f"\ufeff{TEXT}"
    for name in ("a.sh", "b.sh", "a.sh"):
        assert check_script(TEXT, name) == TEXT
        with pytest.raises(SpecError, match="byte order mark") as caught:
            check_script(marked, name)
        assert caught.value.hint.endswith(f" {name}")
        with pytest.raises(SpecError, match="DOS line ends"):
            check_script(TEXT.replace("\n", "\r\n"), name)


def test_each_job_is_called_after_its_own_file() -> None:
    assert [read(name).name for name in ("a.sh", "b.sh", "a.sh")] == ["a.sh", "b.sh", "a.sh"]


def test_keywords_of_one_job_are_not_those_of_the_next() -> None:
    first = read(partition=None, mail_type="BEGIN", env={"SEED": "1"})
    second = read()
    assert (first.partition, first.mail_type) == (None, ("BEGIN", "END", "FAIL"))
    assert (second.partition, second.mail_type) == ("long", ("END", "FAIL"))
    assert (dict(first.env), dict(second.env)) == ({"SLURM_UMASK": "0022", "SEED": "1"}, {"SLURM_UMASK": "0022"})


def test_a_spec_that_its_owner_changes_is_the_owners_alone() -> None:
    spec = read()
    assert isinstance(spec.env, dict)
    spec.env["SLURM_UMASK"] = "0777"
    vars(spec)["partition"] = "short"
    assert (dict(read().env), read().partition) == ({"SLURM_UMASK": "0022"}, "long")


def test_variables_count_as_they_are_now() -> None:
    told = [
        read(environ=environ).partition for environ in ({}, {"SBATCH_PARTITION": "x"}, {"SBATCH_PARTITION": "y"}, {})
    ]
    assert told == ["long", "x", "y", "long"]


def test_what_a_keyword_makes_of_a_variable_is_of_one_job_alone() -> None:
    hinted = {"SBATCH_HINT": "nomultithread"}
    first, second = read(environ=hinted, sockets_per_node=2), read(environ=hinted)
    assert (first.env.get("SLURM_HINT"), first.hint) == ("nomultithread", None)
    assert (second.env.get("SLURM_HINT"), second.hint) == (None, "nomultithread")


async def test_the_environment_and_the_directory_may_change_between_two_jobs(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    server.ping()
    post = server.on("POST", "/job/submit", MADE, MADE, MADE)
    owned(server)
    (tmp_path / "other").mkdir()
    async with client(workdir=None, environment="submit") as slurm:
        for partition, place in (("x", tmp_path), ("y", tmp_path / "other"), (None, tmp_path)):
            monkeypatch.chdir(place)
            monkeypatch.delenv("SBATCH_PARTITION", raising=False)
            if partition:
                monkeypatch.setenv("SBATCH_PARTITION", partition)
            await slurm.submit(TEXT, chdir="run")
    jobs = [body_of(call)["job"] for call in post.calls]
    assert [one["partition"] for one in jobs] == ["x", "y", "long"]
    places = [str(tmp_path), f"{tmp_path}/other", str(tmp_path)]
    assert [one["current_working_directory"] for one in jobs] == [f"{place}/run" for place in places]
    assert [f"SLURM_SUBMIT_DIR={place}" in one["environment"] for place, one in zip(places, jobs, strict=True)] == [
        True
    ] * 3
    assert ["SBATCH_PARTITION=x" in one["environment"] for one in jobs] == [True, False, False]


async def test_the_newest_job_known_is_the_highest_that_is_still_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # Behind the highest possible id they begin anew.
    monkeypatch.setattr(rest_transport, "_KEPT", 3)
    async with client() as slurm:
        rest, told = rest_of(slurm), []
        for job_id in (8, 9, 7, 1, 2, 2, 3, 5):
            rest.remember(job_id, f"key {job_id}")
            assert rest.newest == max(rest.made)
            told.append(rest.newest)
        rest.forget()
    assert (told, rest.newest) == ([8, 9, 9, 9, 7, 7, 3, 5], 0)
