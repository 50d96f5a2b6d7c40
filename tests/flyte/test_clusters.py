"""Several clusters in one connector: a task names one, the deployment fixes all the rest."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import flyte
import pytest
from google.protobuf.json_format import MessageToDict

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.clients import Clusters
from flyteplugins.slurm_rest.metadata import SlurmJobMetadata
from flyteplugins.slurm_rest.naming import cluster_names, cluster_prefix, find_cluster
from flyteplugins.slurm_rest.service import Known, SlurmConnector
from flyteplugins.slurm_rest.settings import CLUSTER_VARIABLES, AskedConnection, ClusterAccess, Deployment, SecretValues
from slurm_rest import AsyncSlurmClient
from slurm_rest.errors import ConfigError
from slurm_rest.testing import FakeTransport

from .support.platform import serialize
from .support.site import Site, attempt

TWO = {
    "FLYTE_SLURM_CLUSTERS": "hpc, gpu-east",
    "FLYTE_SLURM_HPC_REST_URL": "http://hpc",
    "FLYTE_SLURM_HPC_REST_TOKEN": "hpc-token",
    "FLYTE_SLURM_GPU_EAST_HOST": "login.gpu",
    "FLYTE_SLURM_GPU_EAST_USERNAME": "svc",
    "FLYTE_SLURM_GPU_EAST_SSH_PRIVATE_KEY": "gpu-key",
    "FLYTE_SLURM_GPU_EAST_WORKING_DIR": "/scratch/{user}",
    "FLYTE_SLURM_UPLOAD_URL_TTL": "1h",
}


def script(cluster: str | None) -> SlurmScriptTask:
    task = SlurmScriptTask("train", "#!/bin/sh\ntrue\n", Slurm(cluster=cluster))
    flyte.TaskEnvironment.from_task("clusters", task)
    return task


def access(environ: dict[str, str], cluster: str = "") -> ClusterAccess:
    asked = AskedConnection("evil", 666, "root", "/evil/hosts", "http://evil", "v0.0.99", cluster)
    return Deployment.read(environ, cluster).access(asked, SecretValues("task-key", "task-hosts", "task-token"))


def test_each_cluster_has_its_own_variables_and_no_other() -> None:
    hpc, gpu = access(TWO, "hpc"), access(TWO, "gpu-east")
    assert (hpc.rest_url, hpc.rest_token, hpc.host, hpc.user, hpc.cluster) == ("http://hpc", "hpc-token", "", "", "hpc")
    assert (gpu.rest_url, gpu.host, gpu.user, gpu.ssh_private_key) == ("", "login.gpu", "svc", "gpu-key\n")
    assert "hpc-token" not in (gpu.rest_token, gpu.ssh_private_key)
    for cluster in ("hpc", "gpu-east"):
        deployment = Deployment.read(TWO, cluster)
        assert deployment.upload_url_ttl.total_seconds() == 3600
        assert deployment.working_dir == ("/scratch/{user}" if cluster == "gpu-east" else "")


def test_nothing_of_the_unnamed_cluster_serves_a_named_one() -> None:
    """Above all no credential: it would be sent to an address that it was not meant for."""
    unnamed = {f"FLYTE_SLURM_{name}": "1" for name in CLUSTER_VARIABLES if name != "TRANSPORT"}
    assert Deployment.read({**unnamed, **TWO}, "hpc") == Deployment.read(TWO, "hpc")
    assert Deployment.read({**unnamed, **TWO}, "gpu-east") == Deployment.read(TWO, "gpu-east")


def test_an_unknown_cluster_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no cluster 'HPC'.*It serves hpc, gpu-east"):
        Deployment.read(TWO, "HPC")
    with pytest.raises(ConfigError, match=r"no cluster 'hpc'.*FLYTE_SLURM_CLUSTERS is not set"):
        Deployment.read({"FLYTE_SLURM_REST_URL": "http://ours"}, "hpc")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, "hpc"),
        ({"FLYTE_SLURM_REST_URL": "http://ours"}, ""),
        ({"FLYTE_SLURM_HOST": "login"}, ""),
        ({"FLYTE_SLURM_TRANSPORT": "cli"}, ""),
        ({"FLYTE_SLURM_USERNAME": "alice"}, "hpc"),
    ],
)
def test_a_task_that_names_none_gets_the_unnamed_cluster_or_the_first(more: dict[str, str], expected: str) -> None:
    assert find_cluster({**TWO, **more}, "") == expected
    assert Deployment.read({**TWO, **more}).cluster == expected


@pytest.mark.parametrize("names", ["a/b", "1st", "ä", "gpu-east gpu_east", "hpc,HPC", "hpc,hpc"])
def test_names_that_make_no_variables_of_their_own_are_refused(names: str) -> None:
    with pytest.raises(ConfigError, match="FLYTE_SLURM_CLUSTERS has"):
        cluster_names({"FLYTE_SLURM_CLUSTERS": names})


@pytest.mark.parametrize(
    ("environ", "variable"),
    [
        ({"FLYTE_SLURM_HPC_PORT": "x"}, "FLYTE_SLURM_HPC_PORT"),
        ({"FLYTE_SLURM_HPC_TRANSPORT": "telnet"}, "FLYTE_SLURM_HPC_TRANSPORT"),
        ({}, "FLYTE_SLURM_HPC_REST_URL or FLYTE_SLURM_HPC_HOST"),
        ({"FLYTE_SLURM_HPC_HOST": "h", "FLYTE_SLURM_HPC_SSH_PRIVATE_KEY": "k"}, "FLYTE_SLURM_HPC_USERNAME"),
        (
            {"FLYTE_SLURM_HPC_REST_URL": "http://h", "FLYTE_SLURM_HPC_REST_JWT_KEY_FILE": "k"},
            "FLYTE_SLURM_HPC_USERNAME",
        ),
        ({"FLYTE_SLURM_HPC_REST_TOKEN": "t"}, "FLYTE_SLURM_HPC_REST_URL"),
    ],
)
def test_errors_name_the_variables_of_the_cluster(environ: dict[str, str], variable: str) -> None:
    with pytest.raises(ConfigError, match=variable):
        Deployment.read({"FLYTE_SLURM_CLUSTERS": "hpc", **environ}, "hpc")


def test_no_two_clusters_share_a_variable() -> None:
    """Also where one's name begins as the other's, or as a variable does."""
    names = ("a", "a_rest", "rest", "ssh", "known", "upload", "job_files", "connector")
    found = [cluster_prefix(name) + variable for name in ("", *names) for variable in CLUSTER_VARIABLES]
    assert len(set(found)) == len(found)


async def test_a_job_stays_on_its_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is in what the platform keeps, also where the task named none and another becomes the first."""
    for name in ("hpc", "gpu-east"):
        monkeypatch.setenv(f"{cluster_prefix(name)}REST_URL", f"http://{name}")
    monkeypatch.setenv("FLYTE_SLURM_CLUSTERS", "hpc,gpu-east")
    fakes = {"hpc": FakeTransport(), "gpu-east": FakeTransport()}
    seen: list[str] = []

    def client(access: ClusterAccess) -> AsyncSlurmClient:
        seen.append(access.cluster)
        return AsyncSlurmClient(transport=fakes[access.cluster], workdir="/home/{user}", environ={})

    connector = SlurmConnector(Known(clusters=Clusters(client)))
    first = await connector.create(serialize(script(None)), str(tmp_path), {}, attempt("r1"))
    second = await connector.create(serialize(script("gpu-east")), str(tmp_path), {}, attempt("r2"))
    assert (first.cluster, second.cluster, seen) == ("hpc", "gpu-east", ["hpc", "gpu-east"])
    assert [len(fake.slurm.jobs) for fake in fakes.values()] == [1, 1]
    monkeypatch.setenv("FLYTE_SLURM_CLUSTERS", "gpu-east,hpc")
    again = SlurmConnector(Known(clusters=Clusters(client)))
    for meta, name in ((first, "hpc"), (second, "gpu-east")):
        found = await again.get(SlurmJobMetadata.decode(meta.encode()))
        assert dict(found.custom_info or {})["where"] == f"http://{name}"
    await again.delete(SlurmJobMetadata.decode(first.encode()))
    assert {job.base for job in fakes["hpc"].slurm.members(int(first.job_id))} == {"CANCELLED"}
    with pytest.raises(ConfigError, match="It serves gpu-east, hpc"):
        await again.create(serialize(script("moon")), str(tmp_path), {}, attempt("r3"))


def test_a_task_carries_the_name_only_where_it_has_one() -> None:
    """The official connector reads the same format."""
    named = MessageToDict(serialize(script("hpc")).custom)
    plain = MessageToDict(serialize(script(None)).custom)
    assert named["connection"] == {"cluster": "hpc"}
    assert "cluster" not in json.dumps(plain)


async def test_a_mount_that_the_connector_may_not_write_to_is_no_obstacle(tmp_path: Path, site: Site) -> None:
    """A connector is a user of its own: jobs' output goes to the home then, as where there is no mount."""
    user = (await site.create(execution=attempt("r1"))).stdout_path.split("/")[2]
    made = site.files / user / ".flyte"
    shutil.rmtree(made)
    made.symlink_to(made)  # it fails for root, too
    site.connector = site.restarted()
    meta = await site.create(execution=attempt("r2"))
    assert meta.stdout_path.startswith(f"/home/{user}/flyte-")
