"""What users get wrong ends in the right error, and leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from cluster.native import Cluster
from slurm_rest import (
    AsyncSlurmClient,
    ConfigError,
    JobNotFound,
    ProtocolError,
    SlurmError,
    SpecError,
    SubmitRejected,
    TokenExpired,
    TokenMissing,
    TokenRejected,
    UnknownUser,
    Unreachable,
    UnsupportedVersion,
)
from tests.support.ports import closed_port

from .conftest import MakeClient

TRUE = "#!/bin/sh\ntrue\n"


async def _jobs_submitted(client: AsyncSlurmClient) -> int:
    return (await client.diag()).jobs_submitted or 0


@pytest.mark.parametrize(
    ("token", "error"),
    [
        ("junk", TokenRejected),
        ("a.b.c", TokenRejected),
        ("", TokenMissing),
    ],
)
async def test_bad_tokens(token: str, error: type[SlurmError], make_client: MakeClient) -> None:
    slurm = make_client(token=token)
    for call in (slurm.ping, slurm.ping_accounting, slurm.nodes, lambda: slurm.submit(TRUE), lambda: slurm.states([1])):
        with pytest.raises(error) as caught:
            await call()
        assert caught.value.hint


async def test_no_token(make_client: MakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JWT", raising=False)
    slurm = make_client(token=None)
    for call in (slurm.ping, slurm.ping_accounting, lambda: slurm.submit(TRUE)):
        with pytest.raises(TokenMissing, match="token"):
            await call()


async def test_an_expired_token(make_client: MakeClient, cluster: Cluster) -> None:
    slurm = make_client(token=cluster.token("alice", lifespan=-5))
    for call in (slurm.ping, slurm.ping_accounting, slurm.jobs, lambda: slurm.submit(TRUE), lambda: slurm.cancel(1)):
        with pytest.raises(TokenExpired, match="expired at"):
            await call()


async def test_another_clusters_token(make_client: MakeClient, own_cluster: object) -> None:
    other = own_cluster("24.11")  # type: ignore[operator]  # a fixture's function
    slurm = make_client(token=other.token("alice"))
    with pytest.raises(TokenRejected, match="not signed with this cluster's key"):
        await slurm.ping()


async def test_a_token_of_a_user_whom_the_cluster_does_not_know(
    make_client: MakeClient, client: AsyncSlurmClient
) -> None:
    stranger = make_client("nosuchuser")
    with pytest.raises(UnknownUser):
        await stranger.submit(TRUE, hold=True, name="stranger")
    for record in await client.jobs(name="stranger"):
        assert record.state.is_terminal


async def test_acting_as_another_user_needs_the_right_token(make_client: MakeClient, cluster: Cluster) -> None:
    with pytest.raises(TokenRejected):
        await make_client("alice", user="bob").ping()
    as_bob = make_client("root", user="bob")
    job = await as_bob.submit(TRUE, hold=True)
    assert (await job.info()).user == "bob"
    await job.cancel()


async def test_wrong_addresses(make_client: MakeClient) -> None:
    with closed_port() as port:
        for url in (f"http://127.0.0.1:{port}", "http://no-such-host.invalid:6820", "unix:/nonexistent/socket"):
            slurm = make_client(url=url)
            for call in (slurm.ping, lambda client=slurm: client.submit(TRUE)):
                with pytest.raises(Unreachable) as caught:
                    await call()
                assert url.removeprefix("unix:") in str(caught.value)
                assert caught.value.hint


@pytest.mark.parametrize("url", ["slurm:6820", "ftp://slurm", "http://", "http://h:99999", "http://u:p@h:1", "unix:x"])
async def test_urls_that_cannot_be_one(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        AsyncSlurmClient(url)
    assert ":p@" not in str(caught.value)


async def test_https_against_http(make_client: MakeClient, cluster: Cluster) -> None:
    with pytest.raises(Unreachable, match="TLS") as caught:
        await make_client(url=cluster.url.replace("http:", "https:")).ping()
    assert "http://" in caught.value.hint


@asynccontextmanager
async def _server(answer: bytes) -> AsyncIterator[str]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Read before the connection is closed: otherwise what is unread would reset it.
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<html></html>",
        b"",
    ],
)
async def test_ports_that_speak_something_else(answer: bytes, make_client: MakeClient) -> None:
    async with _server(answer) as url:
        with pytest.raises(ProtocolError) as caught:
            await make_client(url=url).ping()
        assert caught.value.hint


async def test_versions_that_are_not_served(make_client: MakeClient, cluster: Cluster) -> None:
    other = {"24.11": "v0.0.45", "26.05": "v0.0.40"}[cluster.release]
    for version in (other, "v0.0.99"):
        slurm = make_client(api_version=version)
        for call in (slurm.nodes, lambda client=slurm: client.submit(TRUE)):
            with pytest.raises(UnsupportedVersion, match=version) as caught:
                await call()
            assert "v0.0.42" in caught.value.supported


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("", "empty"),
        ("\n  \n", "white space"),
        ("echo\n", "#!"),
        ("#!/bin/sh\r\necho\r\n", "DOS"),
        ("#!/bin/sh\n#SBATCH --tiem=5\n", "Line 2: .*--tiem"),
        ("#!/bin/sh\n\n# text\n#SBATCH --time=1h\n", "Line 4: Invalid --time"),
        ("#!/bin/sh\n#SBATCH --time=5 stray\n", "Line 2: .*stray"),
        ("#!/bin/sh\n\0", "NUL"),
        ("#!/bin/sh\n" + "#" * (4 * 1024 * 1024), "4194304"),
    ],
)
async def test_scripts_that_are_refused(script: str, words: str, client: AsyncSlurmClient) -> None:
    before = await _jobs_submitted(client)
    with pytest.raises(SpecError, match=words):
        await client.submit(script)
    # Slurm counts from midnight UTC on anew.
    assert await _jobs_submitted(client) <= before


async def test_scripts_at_the_limit_are_taken(client: AsyncSlurmClient) -> None:
    script = "#!/bin/sh\n" + "#" * (4 * 1024 * 1024 - 11) + "\n"
    assert (await client.submit(script, hold=True)).id


async def test_paths_that_are_no_script(client: AsyncSlurmClient, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="No such file"):
        await client.submit(tmp_path / "missing.sh")
    with pytest.raises(SpecError, match="directory"):
        await client.submit(tmp_path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"nmae": "x"}, "'name'"),
        ({"times": 5}, "'time'"),
        ({"nodes": "many"}, "nodes"),
        ({"nodes": -1}, "nodes"),
        ({"name": ["a"]}, "text"),
        ({"name": "x" * 1025}, "1025 bytes"),
        ({"cpus_per_task": "x"}, "whole number"),
        ({"mail_type": "NOSUCH"}, "NOSUCH"),
        ({"hold": "yes"}, "True or False"),
        ({"env": {"A": 1}}, "text"),
        ({"args": "one"}, "list"),
        ({"time": "1h"}, "time"),
        ({"mem": 1, "mem_per_cpu": 1}, "exclude"),
        ({"chdir": "relative"}, "absolute"),
    ],
)
async def test_options_that_are_refused(options: dict[str, object], words: str, client: AsyncSlurmClient) -> None:
    before = await _jobs_submitted(client)
    with pytest.raises(SpecError, match=words):
        await client.submit(TRUE, **options)  # type: ignore[arg-type]  # wrong on purpose
    # Slurm counts from midnight UTC on anew.
    assert await _jobs_submitted(client) <= before


@pytest.mark.parametrize(
    "name",
    [
        "it's",
        'say "hi"',
        "two\nlines",
        "tab\there",
        "a|b;c^^^d,e=f",
        "naïve ☃",
        "$(id)",
        "x" * 1024,
        "\x1b[31mred",
        "caf\udce9",
    ],
)
async def test_odd_names_pass_through(name: str, client: AsyncSlurmClient) -> None:
    job = await client.submit(TRUE, name=name, hold=True)
    other = await client.submit(TRUE, name="plain", hold=True)
    assert (await job.info()).name == name
    assert job.id in [record.id for record in await client.jobs(name=name)]
    assert set(await client.states([job, other])) == {job.id, other.id}
    await client.cancel([job, other])


@pytest.mark.parametrize("job_id", [0, -1, "abc", True, 1.5, None])
async def test_ids_that_cannot_be_one(job_id: object, client: AsyncSlurmClient) -> None:
    for call in (client.states, client.cancel, client.wait):
        with pytest.raises(SpecError, match="not a job id"):
            await call([job_id])  # type: ignore[list-item]  # wrong on purpose


async def test_a_missing_directory_names_the_three_ways(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_REST_WORKDIR", raising=False)
    with pytest.raises(ConfigError) as caught:
        await make_client(workdir=None).submit(TRUE)
    for way in ("chdir=", "SLURM_REST_WORKDIR", "SLURM_REST_ENVIRONMENT=submit"):
        assert way in str(caught.value)


async def test_too_many_ids_are_split(client: AsyncSlurmClient) -> None:
    job = await client.submit(TRUE, hold=True)
    states = await client.states([job.id, *range(50_000_000, 50_010_000)])
    assert set(states) == {job.id}


async def test_a_wait_for_an_unknown_job_ends(client: AsyncSlurmClient) -> None:
    with pytest.raises(JobNotFound):
        await client.job(60_000_000).wait(timeout=300)


async def test_a_job_that_slurm_makes_in_spite_of_its_errors_is_cancelled(
    client: AsyncSlurmClient, cluster: Cluster
) -> None:
    """From v0.0.41 on an unknown flag word answers 500 and makes the job; no option of ours can send one."""
    from slurm_rest.transport.base import PreparedJob

    body: dict[str, object] = {
        "script": TRUE,
        "job": {
            "name": "complaint",
            "environment": ["A=1"],
            "current_working_directory": "/tmp",
            "mail_type": ["FOO"],
            "hold": True,
        },
    }
    with pytest.raises(SubmitRejected) as caught:
        await client._transport.submit(PreparedJob(body, "slurm-rest:" + "0" * 20))
    job_id = caught.value.cancelled_job_id
    assert job_id is not None
    assert (await client.job(job_id).wait(timeout=300)).state.base == "CANCELLED"
