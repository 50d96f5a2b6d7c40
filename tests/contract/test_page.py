"""docs/slurmrestd.md against real daemons: what it tells administrators to write is what works."""

from __future__ import annotations

import asyncio
import configparser
import contextlib
import re
import shlex
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncSlurmClient
from slurm_rest.errors import TokenMissing, Unreachable
from tests.contract.ways import Way
from tests.support.waiting import until_true

PAGE = (Path(__file__).resolve().parents[2] / "docs/slurmrestd.md").read_text()
SharedCluster = Callable[[str], Cluster]


def block(first: str) -> list[str]:
    """Return the lines of the page's block that begins with this one."""
    found = re.search(rf"^```\n({re.escape(first)}\n.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, first
    return found[1].splitlines()


@pytest.fixture(params=("24.11", "26.05"))
def cluster(request: pytest.FixtureRequest, shared_cluster: SharedCluster) -> Cluster:
    return shared_cluster(request.param)


def listens(cluster: Cluster, path: str) -> bool:
    """Return whether somebody takes connections there: the socket is there a moment before."""
    there = ["grep", "-q", f" 00010000 .* {path}$", "/proc/net/unix"]
    return cluster.exec(there).returncode == cluster.exec(["test", "-S", path]).returncode == 0


@contextlib.asynccontextmanager
async def started(cluster: Cluster) -> AsyncIterator[str]:
    """Do what systemd would do with the page's unit; yield the socket's path in the cluster."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]  # as its documentation says
    unit.read_string("\n".join(block("# /etc/systemd/system/slurmrestd.service")))
    service = unit["Service"]
    user, folder = service["User"], f"/run/{service['RuntimeDirectory']}"
    mode = service["RuntimeDirectoryMode"]
    cluster.exec(["install", "-d", "-o", user, "-g", service["Group"], "-m", mode, folder], check=True)
    environment = dict(entry.split("=", 1) for entry in shlex.split(service["Environment"]))
    # systemd looks for no number of the process either: this is how it is ended.
    line = f"echo $$ > /shared/page.pid; exec {service['ExecStart']}"
    with (cluster.shared / "page.log").open("wb") as log:
        command = cluster.command(["sh", "-c", line], user=user, env=environment)
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
    path = service["ExecStart"].rpartition("unix:")[2]
    try:
        await until_true(lambda: listens(cluster, path), "the socket")
        yield path
    finally:
        cluster.exec(["sh", "-c", f"kill -9 $(cat /shared/page.pid); rm -rf {folder} /shared/page.pid"])
        await process.wait()


def through(cluster: Cluster, path: str, user: str, token: str | None) -> AsyncSlurmClient:
    return Way("ssh", cluster).client(user, transport="rest", ssh_tunnel=True, url=f"unix:{path}", token=token)


async def test_the_pages_unit_serves_tokens_to_those_whom_its_directory_lets_in(cluster: Cluster) -> None:
    async with started(cluster) as path:
        async with through(cluster, path, "bob", cluster.token("bob")) as slurm:
            with pytest.raises(Unreachable, match=re.escape(path)):
                await slurm.ping()
        # As the proxy's user does.
        cluster.exec(["sed", "-i", "s/^slurmrestd:.*/&alice/", "/etc/group"], check=True)
        try:
            async with through(cluster, path, "alice", cluster.token("alice")) as slurm:
                await slurm.ping_accounting()
                record = await (await slurm.submit("#!/bin/sh\nexit 3\n")).wait(timeout=300)
                assert (record.user, record.exit_code.code) == ("alice", 3)
            async with through(cluster, path, "alice", None) as slurm:
                with pytest.raises(TokenMissing):
                    await slurm.ping()
        finally:
            cluster.exec(["sed", "-i", "s/^\\(slurmrestd:.*\\)alice$/\\1/", "/etc/group"], check=True)


async def test_both_daemons_have_the_pages_lines(cluster: Cluster) -> None:
    _, *lines = block("# slurm.conf and slurmdbd.conf")
    assert len(lines) == 2
    for name in ("slurm.conf", "slurmdbd.conf"):
        there = cluster.exec(["cat", f"/etc/slurm/{name}"], check=True).stdout.splitlines()
        for line in lines:
            # The key lies elsewhere.
            assert any(own.startswith(line.partition("/etc")[0]) for own in there), (name, line)
