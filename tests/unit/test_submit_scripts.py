"""Scripts on their way to the wire: what is read, by which release's rules, and what a version cannot carry."""

from __future__ import annotations

from typing import Any

import pytest

from slurm_rest.api import API_VERSIONS
from slurm_rest.errors import SpecError, UnsupportedVersion
from slurm_rest.transport import fields

from .captures import capture
from .test_submit import JOB_ID, MADE, SCRIPT, owned
from .wire import Server, body_of, client, good, job, no_pauses, server

__all__ = ["no_pauses", "server"]


@pytest.mark.parametrize(
    ("options", "named"), [({"segment": 2}, "--segment"), ({"oom_kill_step": 1}, "--oom-kill-step")]
)
async def test_an_option_that_the_version_lacks_is_not_sent(
    options: dict[str, Any], named: str, server: Server
) -> None:
    server.on("GET", "/slurm/v0.0.40/ping/", capture("24.11.5/v0.0.40", "ping"))
    async with client(api_version="v0.0.40") as slurm:
        with pytest.raises(UnsupportedVersion, match=rf"v0\.0\.40 cannot express {named}") as caught:
            await slurm.submit(SCRIPT, **options)
    assert caught.value.supported


async def test_a_field_that_the_version_lacks_is_not_sent(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    # What no option asks for must not go out either, whichever version the negotiation ends at.
    monkeypatch.setattr(fields, "_versions_with", lambda name: ("v0.0.45",) if name == "wckey" else API_VERSIONS)
    server.on("GET", "/slurm/v0.0.42/ping/", capture("24.11.5/v0.0.42", "ping"))
    async with client(api_version="v0.0.42") as slurm:
        with pytest.raises(UnsupportedVersion, match=r"v0\.0\.42 cannot express wckey") as caught:
            await slurm.submit(SCRIPT, wckey="w")
    assert caught.value.supported == ("v0.0.45",)


async def test_the_release_decides_how_a_script_is_read(server: Server) -> None:
    script = "#!/bin/sh\n#SBATCH --mail-type=END\n#SBATCH --mail-type=FAIL\n"
    server.ping()
    post = server.on("POST", "/job/submit", MADE)
    owned(server)
    async with client() as slurm:
        await slurm.submit(script)
    assert body_of(post.calls[0])["job"]["mail_type"] == ["FAIL"]


async def test_the_older_release_adds_up(server: Server) -> None:
    script = "#!/bin/sh\n#SBATCH --mail-type=END\n#SBATCH --mail-type=FAIL\n"
    server.on("GET", "/slurm/v0.0.42/ping/", capture("24.11.5/v0.0.42", "ping"))
    post = server.on("POST", "/slurm/v0.0.42/job/submit", MADE)
    server.on("GET", f"/slurm/v0.0.42/job/{JOB_ID}", good(jobs=[job(JOB_ID)]))
    async with client(api_version="v0.0.42") as slurm:
        await slurm.submit(script)
    assert body_of(post.calls[0])["job"]["mail_type"] == ["END", "FAIL"]


# --- directives -----------------------------------------------------------------------------------------------


async def test_directives_are_honoured_and_options_win(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SBATCH_PARTITION", "variable")
    monkeypatch.setenv("SBATCH_TIMELIMIT", "2")
    server.ping()
    post = server.on("POST", "/job/submit", MADE)
    owned(server)
    script = "#!/bin/sh\n#SBATCH -p script -t 1 -J script -n 3\ntrue\n"
    async with client() as slurm:
        made = await slurm.submit(script, partition="option")
    sent = body_of(post.calls[0])
    assert sent["script"] == script
    assert (sent["job"]["partition"], sent["job"]["time_limit"]["number"]) == ("option", 2)
    assert (sent["job"]["name"], sent["job"]["tasks"], made.name) == ("script", 3, "script")
    assert made.spec is not None
    assert made.spec.ntasks == 3


async def test_a_het_job_goes_out_as_one_request(server: Server) -> None:
    server.ping()
    post = server.on("POST", "/job/submit", MADE)
    owned(server)
    async with client() as slurm:
        await slurm.submit("#!/bin/sh\n#SBATCH -n 1\n#SBATCH hetjob\n#SBATCH -n 2\n")
    sent = body_of(post.calls[0])
    assert "job" not in sent
    assert [part["tasks"] for part in sent["jobs"]] == [1, 2]


async def test_a_job_for_another_cluster_is_not_sent(server: Server) -> None:
    server.ping()
    async with client() as slurm:
        with pytest.raises(SpecError, match="not elsewhere"):
            await slurm.submit(SCRIPT, clusters="elsewhere")
