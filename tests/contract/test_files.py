# small files of a test: no loop waits for them
"""The cluster's files on real clusters: over a shared directory and over SFTP, and where jobs really write."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from cluster.native import Cluster
from slurm_rest import AsyncJob, AsyncSlurmClient
from slurm_rest.errors import FileMissing, FilesError, Unreachable
from slurm_rest.transport.files import Files, sftp, stored
from tests.contract.ways import Way
from tests.support.transports import ssh_way
from tests.support.waiting import until, until_true

SharedCluster = Callable[[str], Cluster]
_numbers = itertools.count()


def mounted(cluster: Cluster) -> dict[str, Any]:
    return {"path_map": {"/home": str(cluster.home)}}


# --- both ways to a file --------------------------------------------------------------------------------------


class Place:
    """A directory of alice's, and a way to it."""

    def __init__(self, cluster: Cluster, files: Files, *, over_sftp: bool = False) -> None:
        self.files, self.over_sftp = files, over_sftp
        self.name = f"/home/alice/files-{next(_numbers)}"
        self.here = cluster.home / self.name.removeprefix("/home/")
        self.here.mkdir()
        self._owner = (cluster.home / "alice").stat()
        self.own(self.here)

    def own(self, path: Path) -> Path:
        """Give a file to alice."""
        os.chown(path, self._owner.st_uid, self._owner.st_gid, follow_symlinks=False)
        return path

    def write(self, name: str, content: bytes = b"") -> Path:
        path = self.here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        self.own(path.parent)
        return self.own(path)


@pytest.fixture(params=[mounted, ssh_way], ids=["directory", "sftp"])
async def place(request: pytest.FixtureRequest, shared_cluster: SharedCluster) -> AsyncIterator[Place]:
    cluster = shared_cluster("24.11")
    async with Way("rest", cluster).client(**request.param(cluster)) as client:
        yield Place(cluster, client.files, over_sftp=request.param is ssh_way)


async def test_a_directory_is_made_for_the_user(place: Place) -> None:
    path = f"{place.name}/.flyte/jobs of é"
    for _ in range(2):
        await place.files.make_directory(path)
    found, above = (place.here / ".flyte/jobs of é").stat(), place.here.stat()
    assert (found.st_uid, found.st_gid) == (above.st_uid, above.st_gid)
    if place.over_sftp:
        assert await place.files.home() == "/home/alice"
        with pytest.raises(FilesError, match="Permission denied"):
            await place.files.make_directory("/root/x")


async def test_a_private_file_is_the_users_alone(place: Place) -> None:
    for data in (b"first", b"second"):
        await place.files.write_private(f"{place.name}/secret é", data)
    found, above = (place.here / "secret é").stat(), place.here.stat()
    assert (found.st_mode & 0o7777, found.st_uid) == (0o600, above.st_uid)
    assert (place.here / "secret é").read_bytes() == b"second"
    assert await place.files.names(place.name) == ["secret é"]
    with pytest.raises(FileMissing):
        await place.files.write_private(f"{place.name}/not there/x", b"")


@pytest.mark.parametrize("name", ["a\nb", "a'b\"c", "-rf *", "\udcff\udcfe", "é", "$(id)"])
async def test_odd_names(place: Place, name: str) -> None:
    place.write(name, b"text")
    assert await place.files.names(place.name) == [name]
    path = f"{place.name}/{name}"
    assert (await place.files.tail(path)).data == b"text"
    assert (await place.files.stat(path)).size == 4
    assert [(entry.relative, entry.kind) async for entry in place.files.walk(place.name)] == [(name, "file")]
    assert await place.files.remove(path) is True
    assert await place.files.remove(path) is False


async def test_a_file_in_pieces_and_its_end(place: Place) -> None:
    data = os.urandom(300_000) + b"\nlast\nlines"
    path = f"{place.name}/f"
    place.write("f", data)
    pieces = [piece async for piece in place.files.read_chunks(path, offset=5, size=70_000)]
    assert b"".join(pieces) == data[5:]
    assert max(map(len, pieces)) <= 70_000
    assert (await place.files.tail(path, lines=2)).data == b"last\nlines"
    assert (await place.files.tail(path, max_bytes=8)).data == b"lines"


async def test_links_inside_are_followed_and_others_reported(place: Place) -> None:
    place.write("run_3/log", b"text")
    for name, target in {
        "latest": "run_3",
        "up": "..",
        "etc": "/etc",
        "none": "nowhere",
        "a": "b",
        "b": "a",
        "run_3/top": place.name,
    }.items():
        (place.here / name).symlink_to(target)
    found = {entry.relative: entry async for entry in place.files.walk(place.name)}
    problems = {name: entry.problem for name, entry in found.items() if entry.problem}
    # SFTP has one error for a link that leads nowhere and for one that leads back to itself.
    knot = "dangling" if place.over_sftp else "loop"
    assert problems == {
        "up": "outside",
        "etc": "outside",
        "none": "dangling",
        "a": knot,
        "b": knot,
        "run_3/top": "loop",
        "latest/top": "loop",
    }
    assert found["latest/log"].path == f"{place.name}/run_3/log"
    assert await place.files.remove(f"{place.name}/latest")
    with pytest.raises(FilesError, match="recursive=True"):
        await place.files.remove(f"{place.name}/run_3")
    assert await place.files.remove(f"{place.name}/run_3", recursive=True)
    # What links lead to is left alone.
    assert await place.files.names(place.name) == ["a", "b", "etc", "none", "up"]


async def test_removing_goes_through_no_link(place: Place) -> None:
    kept = place.write("outside/kept", b"kept")
    place.write("tree/x")
    for name in ("link", "back"):
        (place.here / "tree" / name).symlink_to("../outside")
    for end in ("/.", "/./", "/..", "/../"):
        with pytest.raises(FilesError, match="not to be removed as a whole"):
            await place.files.remove(f"{place.name}/tree/link{end}", recursive=True)
    assert await place.files.remove(f"{place.name}/tree/link/", recursive=True)
    assert kept.read_bytes() == b"kept"
    assert sorted(os.listdir(place.here / "tree")) == ["back", "x"]
    # Behind a link .. leads to where the link's target is, as it does when the file is read.
    assert await place.files.remove(f"{place.name}/tree/back/../tree/x")
    assert os.listdir(place.here / "tree") == ["back"]


async def test_what_is_missing_and_what_is_no_file(place: Place) -> None:
    place.write("f")
    os.mkfifo(place.here / "pipe")
    for name in ("none", "none/deeper", "f/below"):
        with pytest.raises(FileMissing):
            await place.files.tail(f"{place.name}/{name}")
    for path in (f"{place.name}/pipe", place.name):
        with pytest.raises(FilesError, match="no regular file"):
            await place.files.tail(path)


async def test_a_file_that_may_not_be_read(shared_cluster: SharedCluster) -> None:
    cluster = shared_cluster("24.11")
    async with Way("rest", cluster).client(**ssh_way(cluster)) as client:
        place = Place(cluster, client.files)
        secret = place.here / "secret"
        secret.touch(mode=0o600)
        with pytest.raises(FilesError, match="Permission denied") as caught:
            await client.files.tail(f"{place.name}/secret")
        assert (caught.value.kind, caught.value.path) == ("denied", f"{place.name}/secret")


# --- where jobs write -----------------------------------------------------------------------------------------

PATTERNS = [
    *("slurm-%j.out", "%x-%A-%a", "w%4j-%12j", "n%N-%j", "%u%4u", "t%t%n%s%3s%J", "b%b", "%3x%5A", "sub dir/%j"),
    *("p%%j", "%%%j", "e\\%j", "q%5z%z", "d%4%j", "tr%", "en%10", "%05j"),
]
# What the records of a release spoil: only those who submitted know better.
SPOILT = {
    "22.05": {"p%%j", "%%%j", "e\\%j", "d%4%j"},
    "24.11": {"e\\%j", "q%5z%z", "d%4%j", "en%10", "%05j"},
    "26.05": set[str](),
}


@pytest.mark.parametrize(
    ("way", "release", "version"),
    [
        ("ssh", "22.05", None),
        ("rest", "24.11", None),
        ("rest", "26.05", None),
        # The oldest of each release: 26.05 tells expanded paths beside the pattern since v0.0.43.
        ("rest", "24.11", "v0.0.40"),
        ("rest", "26.05", "v0.0.42"),
    ],
)
async def test_the_output_is_found_whatever_its_name(
    way: str, release: str, version: str | None, shared_cluster: SharedCluster
) -> None:
    cluster = shared_cluster(release)
    places = [f"/home/alice/pattern-{os.getpid()}-{next(_numbers)}.d" for _ in PATTERNS]
    mkdir = ["mkdir", "-p", *(f"{place}/sub dir" for place in places)]
    await asyncio.to_thread(cluster.exec, mkdir, user="alice", check=True)
    here = (ssh_way if way == "ssh" else mounted)(cluster)
    async with Way(way, cluster).client(**here, api_version=version) as client:

        async def submit(pattern: str, place: str) -> AsyncJob:
            return await client.submit(f"#!/bin/sh\necho 'of {pattern}'\n", name="na", output=pattern, chdir=place)

        async def read(job: AsyncJob) -> str:
            try:
                return await job.stdout()
            except FileMissing as error:
                return error.message

        jobs = await asyncio.gather(*map(submit, PATTERNS, places))
        await client.wait(jobs)
        told = await asyncio.gather(*map(read, jobs))
        assert dict(zip(PATTERNS, told, strict=True)) == {pattern: f"of {pattern}\n" for pattern in PATTERNS}
        # Others have the records alone.
        good = {pattern: job.id for pattern, job in zip(PATTERNS, jobs, strict=True) if pattern not in SPOILT[release]}
        told = await asyncio.gather(*(read(client.job(job_id)) for job_id in good.values()))
        assert dict(zip(good, told, strict=True)) == {pattern: f"of {pattern}\n" for pattern in good}


def connections(cluster: Cluster) -> set[str]:
    """Return the processes of sshd that serve alice: one a connection."""
    return set(cluster.exec(["pgrep", "-u", "alice", "sshd"]).stdout.split())


async def test_sftp_shares_the_connection_of_the_commands(shared_cluster: SharedCluster) -> None:
    cluster = shared_cluster("24.11")
    async with Way("ssh", cluster).client() as client:
        await client.ping()
        before = await asyncio.to_thread(connections, cluster)
        assert await client.files.names("/home/alice")
        # Those of other tests may end meanwhile.
        assert await asyncio.to_thread(connections, cluster) <= before


@pytest.fixture(params=[("rest", "26.05"), ("ssh", "22.05"), ("cli", "24.11")], ids="-".join)
def cluster_and_way(request: pytest.FixtureRequest, shared_cluster: SharedCluster) -> tuple[Cluster, str]:
    name, release = request.param
    return shared_cluster(release), name


@pytest.fixture
async def client(cluster_and_way: tuple[Cluster, str]) -> AsyncIterator[AsyncSlurmClient]:
    cluster, name = cluster_and_way
    async with Way(name, cluster).client(**(ssh_way if name == "ssh" else mounted)(cluster)) as slurm:
        yield slurm
        await slurm.cancel([job.id for job in await slurm.jobs(user="alice") if not job.state.is_terminal])


async def test_arrays_streams_and_jobs_without_output(client: AsyncSlurmClient) -> None:
    script = "#!/bin/sh\necho out $SLURM_ARRAY_TASK_ID; echo err >&2\n"
    array = await client.submit(script, array="2,11", error="%x-%A-%2a", name="files")
    joined = await client.submit(script)
    nothing = await client.submit(script, output="/dev/null")
    held = await client.submit(script, hold=True)
    with pytest.raises(FileMissing, match="has not started"):
        await held.stdout()
    await held.cancel()
    await client.wait([array, joined, nothing, held])
    assert [await task.stdout() for task in await array.tasks()] == ["out 2\n", "out 11\n"]
    assert [await task.stderr() for task in await array.tasks()] == ["err\n", "err\n"]
    assert await joined.stdout() == await joined.stderr() == "out\nerr\n"
    assert await nothing.stdout() == ""
    with pytest.raises(FileMissing, match="ended CANCELLED"):
        _ = [text async for text in held.follow()]


async def test_a_het_job_writes_where_its_first_component_does(client: AsyncSlurmClient) -> None:
    job = await client.submit("#!/bin/sh\n#SBATCH -n1\n#SBATCH hetjob\n#SBATCH -n1\necho both\n", output="h%j")
    await job.wait()
    assert await job.stdout() == "both\n"
    assert [await part.stdout() for part in await job.components()] == ["both\n", "both\n"]


class Reader:
    """Follows a job's output."""

    def __init__(self, job: AsyncJob) -> None:
        self.text = ""
        self._job = job
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for text in self._job.follow():
            self.text += text

    async def has(self, text: str) -> None:
        await until_true(lambda: self.text == text or self.task.done(), text)
        if self.task.done():
            await self.task
        assert self.text == text


def waits_for(name: str) -> str:
    return f"while [ ! -e {name}-$SLURM_JOB_ID ]; do sleep 0.05; done"


def go(cluster: Cluster, job: AsyncJob, name: str) -> None:
    (cluster.home / f"alice/{name}-{job.id}").touch()


async def test_an_output_is_followed_from_before_it_is_there_to_its_end(
    client: AsyncSlurmClient, cluster_and_way: tuple[Cluster, str]
) -> None:
    cluster, _ = cluster_and_way
    job = await client.submit(f"#!/bin/sh\nprintf first; {waits_for('go')}; echo ' last'\n", hold=True, output="%N-%j")
    # What only the node knows of the name before 26.05 could be this.
    older = cluster.home / f"alice/older-{job.id}"
    older.write_text("of somebody else")
    os.utime(older, (0, 0))
    (cluster.home / f"alice/folder-{job.id}").mkdir()
    reader = Reader(job)
    await asyncio.to_thread(cluster.exec, ["scontrol", "release", str(job.id)], check=True)
    await reader.has("first")
    go(cluster, job, "go")
    await reader.task
    assert reader.text == "first last\n"


async def test_a_requeued_job_is_followed_through_both_its_runs(shared_cluster: SharedCluster) -> None:
    cluster = shared_cluster("24.11")
    async with Way("rest", cluster).client(**mounted(cluster)) as client:
        script = f"#!/bin/sh\necho run ${{SLURM_RESTART_COUNT:-0}}; {waits_for('go')}; echo over\n"
        job = await client.submit(script, requeue=True)
        reader = Reader(job)
        await reader.has("run 0\n")
        await asyncio.to_thread(cluster.exec, ["scontrol", "requeue", str(job.id)], check=True)

        async def waits() -> bool:
            state = (await client.states([job])).get(job.id)
            return state is not None and state.is_pending and not state.flags

        await until(waits, "the requeued job's waiting")
        # By itself it waits for two minutes; one that starts again within the same second fails (24.11).
        sooner = ["scontrol", "update", f"JobId={job.id}", "StartTime=now+2"]
        await asyncio.to_thread(cluster.exec, sooner, check=True)
        go(cluster, job, "go")
        await reader.task
        # What is between is slurmstepd's remark.
        assert [line for line in reader.text.splitlines() if "slurmstepd" not in line] == ["run 0", "run 1", "over"]


# --- when sshd is killed, or hangs ----------------------------------------------------------------------------


async def written(cluster: Cluster, job: AsyncJob, text: str) -> None:
    await until_true(lambda: (cluster.home / f"alice/f{job.id}").read_text() == text)


async def test_nothing_is_lost_when_sshd_is_killed_or_hangs(
    own_cluster: Callable[[str], Cluster], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = own_cluster("24.11")
    sshd = cluster.service("sshd")
    script = f"#!/bin/sh\necho one; {waits_for('go')}; echo two; {waits_for('end')}; echo three\n"
    async with Way("rest", cluster).client(**ssh_way(cluster)) as client:
        job, other = [await client.submit(script, output="f%j") for _ in range(2)]
        reader, lost = Reader(job), Reader(other)
        await reader.has("one\n")
        await lost.has("one\n")

        sshd.kill()
        go(cluster, job, "go")
        await written(cluster, job, "one\ntwo\n")
        sshd.start()
        await reader.has("one\ntwo\n")

        with cluster.frozen("sshd"), monkeypatch.context() as hasty:
            hasty.setattr(sftp, "_SECONDS", 0.5)
            go(cluster, job, "end")
            await job.wait()
            assert not reader.task.done()
        await reader.task
        assert reader.text == "one\ntwo\nthree\n"

        # One that does not come back is an error, not an end.
        monkeypatch.setattr(stored, "_PATIENCE", 1.0)
        sshd.kill()
        for name in ("go", "end"):
            go(cluster, other, name)
        with pytest.raises(Unreachable, match=r"sshd|connection"):
            await lost.task
        assert lost.text == "one\n"
