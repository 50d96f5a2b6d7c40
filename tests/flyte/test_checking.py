"""Wrong settings of a deployment: each is told in one line, with its variable and the remedy."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from flyteplugins.slurm_rest.checking import faults, tell_faults
from slurm_rest.errors import ConfigError
from tests.support.waiting import until

from .support.site import Site, attempt, script, written_to

REST = {"FLYTE_SLURM_REST_URL": "http://slurm:6820"}


@pytest.mark.parametrize(
    ("variables", "told", "remedy"),
    [
        ({"REST_URL": "slurm:6820"}, "REST_URL: 'slurm:6820' is not the URL", "http://HOST:PORT"),
        ({"REST_API_VERSION": "42"}, "REST_API_VERSION: '42' is no API version", "v0.0.42"),
        ({"TRANSPORT": "soap"}, "TRANSPORT is 'soap'", "auto, rest, ssh, cli"),
        ({"FILES": "home"}, "FILES: 'home' in the path map is no absolute path", "CLUSTER=LOCAL"),
        ({"REST_TOKEN_FILE": "/not/there"}, "REST_TOKEN_FILE: /not/there cannot be read: No such", "Correct the path"),
        ({"REST_CA_FILE": "/"}, "REST_CA_FILE: / cannot be read: Is a directory", "Correct the path"),
        ({"REST_JWT_KEY_FILE": "/not/there", "USERNAME": "svc"}, "REST_JWT_KEY_FILE: /not/there", "Correct the path"),
        ({"KNOWN_HOSTS": "/not/there"}, "KNOWN_HOSTS: /not/there", "Correct the path"),
        ({"SSH_PRIVATE_KEY": "/secrets/key", "HOST": "login"}, "SSH_PRIVATE_KEY is no private key", "the key's text"),
        ({"PORT": "tcp://10.0.0.1:8000"}, "PORT is 'tcp://10.0.0.1:8000'", "enableServiceLinks"),
        ({"TRANPORT": "rest"}, "TRANPORT is no setting", "Did you mean FLYTE_SLURM_TRANSPORT?"),
        ({"USER": "svc"}, "USER is no setting", "Did you mean FLYTE_SLURM_USERNAME?"),
        ({"TOKEN": "t"}, "TOKEN is no setting", "Did you mean FLYTE_SLURM_REST_TOKEN?"),
        ({"HPC_REST_URL": "http://hpc"}, "HPC_REST_URL is no setting", "Add hpc to FLYTE_SLURM_CLUSTERS"),
        ({"CLUSTERS": "hpc", "HPC_HOST": "login", "HPC_USERNAM": "svc"}, "HPC_USERNAM is", "FLYTE_SLURM_HPC_USERNAME"),
        (
            {"CLUSTERS": "hpc", "HPC_HOST": "login", "HPC_LOG_LINKS": "a=http://b"},
            "LINKS is no",
            "FLYTE_SLURM_LOG_LINKS",
        ),
        ({"CLUSTERS": "hpc"}, "No way to the cluster 'hpc' is configured", "FLYTE_SLURM_HPC_REST_URL"),
    ],
)
def test_each_is_told_with_its_variable_and_the_remedy(variables: dict[str, str], told: str, remedy: str) -> None:
    (fault,) = faults({**REST, **{f"FLYTE_SLURM_{name}": value for name, value in variables.items()}})
    assert told in fault.message
    assert "FLYTE_SLURM_" in fault.message or "hpc" in fault.message
    assert remedy in fault.hint


def test_what_is_good_or_somebody_elses_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    good = {
        **REST,
        "FLYTE_SLURM_REST_TOKEN_FILE": str(tmp_path / "token"),
        "FLYTE_SLURM_LOG_COPIES": "0",
        "FLYTE_SLURM_CLUSTERS": "gpu-east",
        "FLYTE_SLURM_GPU_EAST_HOST": "login",
        # Kubernetes sets these for Services.
        "FLYTE_SLURM_SERVICE_HOST": "10.0.0.1",
        "FLYTE_SLURM_SERVICE_PORT": "8000",
        "FLYTE_SLURM_PORT_8000_TCP": "tcp://10.0.0.1:8000",
        "FLYTE_SLURM_REST_SERVICE_HOST": "10.0.0.1",
        "FLYTE_SLURM_TRANPORT": "",
        "FLYTE_SLURMISH": "x",
    }
    assert faults(good) == []
    assert faults({}) == []


def test_a_secret_is_in_no_fault() -> None:
    token = {"FLYTE_SLURM_REST_TOKN": "secret-1", "FLYTE_SLURM_SSH_PRIVATE_KEY": "secret-2"}
    found = faults({**REST, **token})
    assert len(found) == 2
    assert "secret" not in " ".join(map(str, found))


def test_all_are_told_in_one_line_each(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        tell_faults({**REST, "FLYTE_SLURM_TRANPORT": "rest", "FLYTE_SLURM_KNOWN_HOSTS": "/not/there"})
    # Others may have something to say at any time: asyncio, of a task that was left behind.
    told = [one.getMessage() for one in caplog.records if one.name.startswith("flyteplugins.slurm_rest")]
    assert len(told) == 2
    assert not any("\n" in message for message in told)


def test_a_service_tells_them_as_it_starts_and_goes_on() -> None:
    environ = {**os.environ, **REST, "FLYTE_SLURM_TRANSPORT": "soap"}
    command = [sys.executable, "-c", "import flyteplugins.slurm_rest.connector"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert done.stderr.count("FLYTE_SLURM_TRANSPORT is 'soap'. It takes auto, rest, ssh, cli.") == 1


@pytest.mark.parametrize("wrong", ["FLYTE_SLURM_REST_CA_FILE", "FLYTE_SLURM_REST_URl"])
async def test_a_create_is_refused(wrong: str, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    meta = await site.create()
    monkeypatch.setenv(wrong, "/not/there")
    with pytest.raises(ConfigError, match=wrong):
        await site.create()
    assert (await site.get(meta))[0] == "QUEUED", "what is under way goes on"


async def test_what_is_wrong_beside_the_way_ends_no_job_that_runs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The platform gives up each task whose polls fail six times in a row."""
    meta, doomed = await site.create(execution=attempt("r1")), await site.create(execution=attempt("r2"))
    for name, value in (("LOG_LINKS", "job"), ("JOB_FILES_TTL", "soon"), ("UPLOAD_URL_TTL", "1"), ("SECRETS", "x")):
        monkeypatch.setenv(f"FLYTE_SLURM_{name}", value)
    with pytest.raises(ConfigError, match="FLYTE_SLURM_"):
        await site.create(execution=attempt("r3"))
    site.connector = site.restarted()
    assert "Slurm job 1" in str((await site.get(meta))[1].message)
    await site.connector.delete(doomed)
    await site.until(doomed, "ABORTED")
    monkeypatch.setenv("FLYTE_SLURM_TRANSPORT", "pigeon")
    with pytest.raises(ConfigError, match="FLYTE_SLURM_TRANSPORT"):
        await site.get(meta)


async def test_outputs_wait_for_a_ceiling_that_is_a_size(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It neither goes back to its default nor loses what the job has done."""
    meta = await site.create(script())
    written_to(site, meta).write_bytes(b"x")
    monkeypatch.setenv("FLYTE_SLURM_CONNECTOR_UPLOAD_MAX_BYTES", "100MBB")
    site.finish(meta)

    async def told() -> str:
        phase, found = await site.get(meta)
        assert phase == "RUNNING"
        message = found.message or ""
        return message if "100MBB" in message else ""

    await until(told, "the trouble is told")
    monkeypatch.setenv("FLYTE_SLURM_CONNECTOR_UPLOAD_MAX_BYTES", "1")
    site.connector = site.restarted()
    assert (await site.until(meta, "SUCCEEDED")).outputs
