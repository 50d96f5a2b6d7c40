"""Jobs that are asked about in odd ways: damaged metadata, ids that belong to others, output that fills messages."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import flyte
import pytest

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.logs import job_logs
from flyteplugins.slurm_rest.messages import capped, details
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.settings import ClusterAccess
from flyteplugins.slurm_rest.transfers import Transfer, collect
from flyteplugins.slurm_rest.workplace import find_workplace
from slurm_rest import AsyncSlurmClient, BaseState, JobInfo, JobState

from .support.site import Site, attempt, jobs

GRPC_LIMIT = 4 * 1024 * 1024
OFFICIAL: dict[str, Any] = {"host": "", "username": "", "port": 22, "stdout_path": "/o", "stderr_path": "/e"}

array_task = SlurmScriptTask("odd_array", "#!/bin/sh\n", Slurm(sbatch_options={"array": "0-49"}))
flyte.TaskEnvironment.from_task("odd-array", array_task)


# --- metadata ---------------------------------------------------------------------------------------------------


def test_metadata_of_a_newer_release_is_read() -> None:
    raw = b'{"job_id": "1", "job_name": "n", "stdout_path": "", "stderr_path": "", "host": "", "username": "",'
    assert SlurmJobMetadata.decode(raw + b' "port": 0, "of_tomorrow": {"a": 1}}').job_id == "1"


@pytest.mark.parametrize("raw", [b"", b"\xff\x00", b"[]", b"null", b'"x"', b"{}", b'{"job_id": "1"'])
def test_damaged_metadata_is_called_so(raw: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        SlurmJobMetadata.decode(raw)


@pytest.mark.parametrize(
    "damage",
    [
        {"job_id": 5},
        {"job_id": None},
        {"stdout_path": []},
        {"submitted": "yesterday"},
        {"max_queued": "x"},
        {"max_queued": 1e300},
        {"array": 5},
        {"declared_outputs": []},
        {"declared_outputs": {"a": {}}},
        {"declared_outputs": {"a": "x"}},
        {"expects_outputs": "false"},
        {"cluster": 1},
    ],
)
def test_metadata_with_a_field_of_another_kind_is_damaged(damage: dict[str, Any]) -> None:
    whole = {"job_id": "1", "job_name": "n", **OFFICIAL, "submitted": "2026-01-01T00:00:00+00:00", "max_queued": 5}
    assert SlurmJobMetadata.decode(json.dumps(whole).encode()).queue_limit
    with pytest.raises(ValueError, match="damaged"):
        SlurmJobMetadata.decode(json.dumps({**whole, **damage}).encode())


def test_what_is_null_has_its_default() -> None:
    nulls = {"declared_outputs": None, "known_hosts": None, "array": None, "task_type": None}
    meta = SlurmJobMetadata.decode(json.dumps({"job_id": "1", "job_name": "n", **OFFICIAL, **nulls}).encode())
    assert (meta.declared_outputs, meta.known_hosts, meta.array, meta.task_type) == ({}, None, "", "")


@pytest.mark.parametrize("number", ["", "abc", "12_1", "12+0", "\uff11\uff12", "-1"])
async def test_an_id_that_is_no_number_means_no_other_job(site: Site, number: str) -> None:
    meta = SlurmJobMetadata(job_id=number, job_name="n", **OFFICIAL)
    for ask in (site.connector.get, site.connector.delete, site.connector.get_metrics):
        with pytest.raises(ValueError, match="which is a number"):
            await ask(meta)


async def test_a_job_of_the_other_package_whose_id_belongs_to_another_one_by_now(site: Site) -> None:
    """Its metadata has no key; names are made at random there."""
    ours = await site.create()
    meta = SlurmJobMetadata(job_id=ours.job_id, job_name="flyte-other-deadbeef", **OFFICIAL)
    await site.connector.delete(meta)
    assert (await site.get(ours))[0] in ("QUEUED", "RUNNING")
    assert not (await site.connector.get_metrics(meta)).results
    found = await site.until(meta, "RETRYABLE_FAILED")
    assert "belongs to another job" in str(found.message)
    same = SlurmJobMetadata(job_id=ours.job_id, job_name=ours.job_name, **OFFICIAL)
    await site.connector.delete(same)
    await site.until(ours, "FAILED")


async def test_there_are_no_metrics_of_a_job_that_is_gone(site: Site) -> None:
    meta = await site.create()
    assert (await site.connector.get_metrics(meta)).results
    assert not (await site.connector.get_metrics(replace(meta, job_id="4242"))).results


# --- attempts ---------------------------------------------------------------------------------------------------


async def test_a_job_of_any_earlier_attempt_is_ended(site: Site) -> None:
    """The attempt between them could not be made, so it cancelled nothing."""
    first = await site.create(execution=attempt(number=0))
    third = await site.create(execution=attempt(number=2))
    assert jobs(site) == 2
    assert (await site.until(first, "FAILED")).message
    assert (await site.get(third))[0] != "FAILED"


async def test_a_cancellation_of_ours_is_not_called_somebody_elses(site: Site) -> None:
    meta = await site.create()
    await site.connector.delete(meta)
    found = await site.until(meta, "ABORTED")
    assert "not through Flyte" not in str(found.message)


# --- output -----------------------------------------------------------------------------------------------------


def write(site: Site, path: str, data: bytes) -> Path:
    place = site.files / path.removeprefix("/home/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    return place


async def test_lines_without_text_fill_no_message(site: Site) -> None:
    meta = await site.create()
    place = write(site, meta.stdout_path, b"begun\n")
    token = [part async for part in site.connector.get_logs(meta)][-1].header.token
    with place.open("ab") as stream:
        stream.write(b"\n" * 600_000)
    parts = [part async for part in site.connector.get_logs(meta, token=token)]
    assert max(part.ByteSize() for part in parts) < GRPC_LIMIT / 2
    assert sum(len(part.body.lines) for part in parts) > 200_000
    assert parts[-1].header.token


async def test_the_output_of_many_tasks_comes_in_several_messages(site: Site) -> None:
    meta = await site.create(array_task)
    for number in range(50):
        for path in (meta.stdout_path, meta.stderr_path):
            write(site, path.replace("%a", str(number)), (b"y" * 1000 + b"\n") * 600)
    parts = [part async for part in site.connector.get_logs(meta)]
    assert max(part.ByteSize() for part in parts) < GRPC_LIMIT / 2
    assert sum(part.ByteSize() for part in parts) < 2 * GRPC_LIMIT
    headings = [line.message for part in parts for line in part.body.lines if line.message.startswith("---")]
    assert len(headings) == 100


@pytest.mark.parametrize("character", ["é", "€", "😀"])
@pytest.mark.parametrize("before", [0, 1, 2, 3])
async def test_a_long_line_is_cut_between_characters(
    client: AsyncSlurmClient, tmp_path: Path, character: str, before: int
) -> None:
    text = "x" * before + character * 400_000
    (tmp_path / "out").write_text(text, encoding="utf-8")
    meta = SlurmJobMetadata(job_id="1", job_name="n", **{**OFFICIAL, "stdout_path": "/home/out"})
    token, found = '{"stdout": [0, 0]}', ""
    for _ in range(20):
        async for part in job_logs(client.files, meta, token):
            found += "".join(line.message for line in part.body.lines)
            token = part.header.token or token
    assert found == text


def test_a_message_has_nothing_that_a_database_refuses() -> None:
    assert capped("a\0b\x1b[31mred\x1b[0m\tc\nd\x07") == "a\ufffdbred\tc\nd\ufffd"


def test_facts_from_slurm_need_not_be_utf_8() -> None:
    assert details({"where": "caf\udce9"}, None) == {"where": "caf?"}


def test_facts_from_slurm_are_bounded_and_storable() -> None:
    nodes = ",".join(f"node{number}" for number in range(0, 60_000, 2))
    found = details(
        {"where": "a\0b", "tres": {"gres/\0": "x" * 10_000}},
        JobInfo(id=1, state=JobState(BaseState.RUNNING), nodes=nodes),
    )
    assert len(str(found["nodes"])) <= 4096
    assert found["where"] == "a\ufffdb"
    assert "\0" not in str(found)
    assert len(str(found)) < 20_000


async def test_an_explanation_that_is_not_utf_8_is_given_all_the_same(site: Site) -> None:
    meta = replace(await site.create(), stdout_path="/home/caf\udce9", stderr_path="/home/caf\udce9")
    texts = [line.message async for part in site.connector.get_logs(meta) for line in part.body.lines]
    assert "caf?" in texts[0]


async def test_a_file_in_place_of_a_directory_is_called_so(client: AsyncSlurmClient, tmp_path: Path) -> None:
    (tmp_path / "shards").write_text("x")
    place = {"uri": str(tmp_path / "s"), "kind": "directory", "upload": "connector", "written_to": "/home/shards"}
    outcome = await collect(Transfer("1", {"shards": place}, None), client.files, None)
    assert "is a file, not a directory" in outcome.message


# --- places -----------------------------------------------------------------------------------------------------


async def test_a_directory_that_somebody_removed_is_made_anew(site: Site) -> None:
    """Slurm makes none for a job's output: every job from then on would fail without a word."""
    place = (site.files / (await site.create(execution=attempt("r1"))).stdout_path.removeprefix("/home/")).parent
    assert place.is_dir()
    shutil.rmtree(place.parent)
    await site.create(execution=attempt("r2"))
    assert place.is_dir()


@pytest.mark.parametrize(("asked", "expected"), [("~/jobs", "/home/alice/jobs"), ("~", "/home/alice"), ("/x", "/x")])
async def test_a_tilde_is_the_users_home(site: Site, asked: str, expected: str) -> None:
    access = ClusterAccess(rest_url="http://slurm", files="/home=/mounted")
    cluster = site.connector.known.clusters.get(access)
    assert (await find_workplace(cluster, asked, "alice")).directory.rstrip("/") == expected
