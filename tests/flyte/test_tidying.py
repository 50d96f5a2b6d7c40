"""Files of jobs that ended long ago: which go, and that all others stay."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from flyteplugins.slurm_rest.clients import Cluster
from flyteplugins.slurm_rest.settings import ClusterAccess, Deployment
from flyteplugins.slurm_rest.tidying import Tidying, remove_old
from slurm_rest import AsyncSlurmClient, JobInfo, JobState
from slurm_rest.errors import AccountingDown, ConfigError
from slurm_rest.testing import FakeTransport
from tests.support.waiting import until_true

from .support.site import Site, attempt

DAY, NOW = timedelta(days=1), datetime.now(timezone.utc)
NAMES = {kind: f"flyte-train-r1-a0-0-{kind}" for kind in ("00000001", "00000002", "00000003", "00000004", "00000005")}
OLD, LIVE, YOUNG, UNKNOWN, OTHERS = NAMES.values()


class Accounting:
    """Stands in for accounting's answer."""

    def __init__(self, records: Sequence[JobInfo]) -> None:
        self.records, self.asked = records, list[object]()
        self.error: Exception | None = None

    async def history(self, **query: object) -> Sequence[JobInfo]:
        """Return everything, whatever was asked for."""
        self.asked.append(query["name"])
        if self.error is not None:
            raise self.error
        return self.records


def record(name: str, state: str = "COMPLETED", days: float = 40, user: str = "alice", stdout: str = "") -> JobInfo:
    ended = NOW - days * DAY if state != "RUNNING" else None
    return JobInfo(id=1, name=name, user=user, state=JobState.parse([state]), end_time=ended, stdout=stdout)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "jobs"
    folder.mkdir()
    return folder


def write(folder: Path, name: str, days: float = 40) -> None:
    path = folder / name
    if name.endswith(".outputs"):
        path.mkdir()
        (path / "model").write_text("x")
    else:
        path.write_text("x")
    moment = time.time() - days * 86400
    os.utime(path, (moment, moment))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def cluster(home: Path, accounting: Accounting, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    client = AsyncSlurmClient(transport=FakeTransport(), path_map={"/home/alice": str(home.parent)}, environ={})
    monkeypatch.setattr(client, "history", accounting.history)
    return Cluster(ClusterAccess(rest_url="http://slurm"), client)


async def test_only_old_files_of_ended_jobs_of_ours_go(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = [
        f"{LIVE}.out",
        f"{YOUNG}.out",
        f"{UNKNOWN}.out",
        f"{OTHERS}.out",
        "flyte-notes.out",
        "flyte-legacy-1a2b3c4d.out",
        f"{OLD}.txt",
        f"{OLD}.out.gz",
        f"my-{OLD}.out",
        "slurm-1.out",
    ]
    for name in (f"{OLD}.out", f"{OLD}.err", f"{OLD}.outputs", f"{OLD}-7.out", *kept):
        write(home, name)
    accounting = Accounting(
        [record(OLD), record(LIVE, "RUNNING"), record(YOUNG, days=3), record(OTHERS, user="bob"), record("flyte-notes")]
    )
    assert await remove_old(cluster(home, accounting, monkeypatch), "/home/alice/jobs", "alice", 30 * DAY) == 1
    assert names(home) == sorted(kept)
    assert accounting.asked == [[OLD, LIVE, YOUNG, UNKNOWN, OTHERS]]


async def test_the_output_of_another_place_is_not_taken_for_this_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, f"{OLD}.out")
    accounting = Accounting([record(OLD, stdout=f"/scratch/{OLD}.out")])
    assert await remove_old(cluster(home, accounting, monkeypatch), "/home/alice/jobs", "alice", 30 * DAY) == 0


async def test_a_file_that_was_written_lately_stays_whatever_accounting_says(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home, f"{OLD}.out", days=40)
    write(home, f"{OLD}.err", days=1)
    accounting = Accounting([record(OLD)])
    assert await remove_old(cluster(home, accounting, monkeypatch), "/home/alice/jobs", "alice", 30 * DAY) == 0
    assert names(home) == [f"{OLD}.err", f"{OLD}.out"]


async def test_a_link_to_somewhere_else_is_not_followed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious/data").write_text("x")
    write(home, f"{OLD}.outputs")
    (home / f"{OLD}.outputs/link").symlink_to(tmp_path / "precious")
    moment = time.time() - 40 * 86400
    os.utime(home / f"{OLD}.outputs", (moment, moment))
    accounting = Accounting([record(OLD)])
    assert await remove_old(cluster(home, accounting, monkeypatch), "/home/alice/jobs", "alice", 30 * DAY) == 1
    assert (tmp_path / "precious/data").exists()
    assert not (home / f"{OLD}.outputs").exists()


async def test_of_a_link_in_the_place_of_a_file_at_most_the_link_goes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that leads to nothing, or out of what is at hand, stays and keeps no other job's files."""
    precious = tmp_path / "jobs/precious"
    precious.mkdir()
    write(precious, "data")
    moment = time.time() - 40 * 86400
    os.utime(precious, (moment, moment))
    (home / f"{OLD}.outputs").symlink_to("precious")
    (home / f"{YOUNG}.out").symlink_to("nothing")
    (home / f"{UNKNOWN}.out").symlink_to("/etc/passwd")
    write(home, f"{OTHERS}.out")
    accounting = Accounting([record(name) for name in NAMES.values()])
    assert await remove_old(cluster(home, accounting, monkeypatch), "/home/alice/jobs", "alice", 30 * DAY) == 2
    assert names(home) == sorted([f"{YOUNG}.out", f"{UNKNOWN}.out", "precious"])
    assert (precious / "data").exists()


async def test_each_user_of_a_shared_directory_is_looked_after(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accounting = Accounting([])
    shared, tidying = cluster(home, accounting, monkeypatch), Tidying()
    for name in (OLD, OTHERS):
        write(home, f"{name}.out")
    for user in ("alice", "bob", "alice"):
        tidying.begin(shared, "/home/alice/jobs", user, 30 * DAY)
    await until_true(lambda: len(accounting.asked) == 2, "both users' look")


async def test_without_accounting_nothing_goes(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home, f"{OLD}.out")
    accounting = Accounting([])
    accounting.error = AccountingDown("slurmdbd is away")
    with pytest.raises(AccountingDown):
        await remove_old(cluster(home, accounting, monkeypatch), "/home/alice/jobs", "alice", 30 * DAY)
    assert (home / f"{OLD}.out").exists()


async def test_the_connector_tidies_when_a_job_is_made_and_keeps_by_default(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = site.files / "alice/.flyte/jobs"
    jobs.mkdir(parents=True)
    write(jobs, f"{OLD}.out")
    asked = []

    async def history(self: object, **query: object) -> list[JobInfo]:
        asked.append(query)
        return [record(OLD)]

    monkeypatch.setattr(AsyncSlurmClient, "history", history)
    await site.create()
    assert not site.connector.known.tidying._tasks
    monkeypatch.setenv("FLYTE_SLURM_JOB_FILES_TTL", "30d")
    for run in ("r2", "r3"):
        await site.create(execution=attempt(run))
    await until_true(lambda: not (jobs / f"{OLD}.out").exists(), "the old file removed")
    assert len(asked) == 1, "not for each job"


def test_the_age_is_read() -> None:
    assert Deployment.read({}).job_files_ttl is None
    assert Deployment.read({"FLYTE_SLURM_JOB_FILES_TTL": "0"}).job_files_ttl is None
    assert Deployment.read({"FLYTE_SLURM_JOB_FILES_TTL": "30d"}).job_files_ttl == 30 * DAY
    with pytest.raises(ConfigError, match="FLYTE_SLURM_JOB_FILES_TTL is '1 month'"):
        Deployment.read({"FLYTE_SLURM_JOB_FILES_TTL": "1 month"})
