"""Submits one case twice, by the real sbatch and by this client over REST, and compares what slurmctld made of both."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import errno
import itertools
import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from cluster.native import Cluster
from slurm_rest.config import load_settings
from slurm_rest.errors import SlurmError, UnsupportedVersion
from slurm_rest.sbatch import JobSpec, Setting, Submitter, read_job, submit_body
from slurm_rest.sbatch.reader import options_of, split_command_line
from slurm_rest.sbatch.script import Script, check_script
from slurm_rest.transport.base import PreparedJob
from slurm_rest.transport.rest import RestTransport

BASE_ENVIRONMENT = {
    "HOME": "/home/alice",
    "USER": "alice",
    "LOGNAME": "alice",
    "SHELL": "/bin/bash",
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
}
DIRECTORY = "/home/alice"

# Fields that differ by nature: identities, clocks, and who asked how.
_BY_NATURE = frozenset(
    {
        "accrue_time", "allocating_node", "array_job_id", "command", "eligible_time", "job_id", "last_sched_evaluation",
        "sluid", "start_time", "step_id", "submit_line", "submit_time", "end_time", "het_job_id", "het_job_id_set",
        "priority_by_partition", "original_sluid", "preemptable_time", "suspend_time",
    }
)  # fmt: skip
# Besides what passed between the two submissions: times are whole seconds.
_MOMENT = 5
# The comparison's own jobs have longer ids.
_ON_NOBODY = re.compile(r"(?:after(?:any|corr)?:[0-9]{1,5}(?:\+[0-9]+)?\(unfulfilled\)[,?]?)+")
_ENVIRONMENT_BY_NATURE = frozenset({"SLURM_CONF", "PWD", "SHLVL", "_", "OLDPWD"})


@dataclass(frozen=True)
class Case:
    """One case: a script, the words of the command line, and extra variables of the submitter."""

    id: str
    script: str
    words: Sequence[str] = ("--hold",)
    environ: Mapping[str, str] = field(default_factory=dict)
    name: str = "job.sh"


@dataclass
class Outcome:
    """What came of a submission: records and environments of each component and the script, or why there is no job."""

    accepted: bool
    records: list[dict[str, object]] = field(default_factory=list)
    environments: list[dict[str, str]] = field(default_factory=list)
    script: str = ""
    reason: str = ""
    kind: str = ""

    @property
    def on_client(self) -> bool:
        """Whether a refusal came before anything was sent."""
        return not self.kind.startswith("server")


class Differential:
    """Runs cases on one cluster in one API version."""

    def __init__(self, cluster: Cluster, version: str | None = None) -> None:
        self.cluster = cluster
        self.rest = RestTransport(
            load_settings({"url": cluster.url, "token": cluster.token("alice"), "api_version": version}, {})
        )
        self.baseline: dict[str, str] = {}
        self._numbers = itertools.count()

    async def __aenter__(self) -> Differential:
        """Make room for scripts, and learn from a plain job what sbatch takes from its process: limits, umask."""
        shutil.rmtree(self.cluster.home / "alice" / "cases", ignore_errors=True)
        outcome = await self.by_sbatch(Case("baseline", "#!/bin/sh\ntrue\n"))
        self.baseline = outcome.environments[0]
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the connections."""
        await self.rest.close()

    def submitter(self, case: Case) -> Submitter:
        """Return the process that submits, as sbatch sees itself."""
        base = self.baseline
        limits = {
            name.removeprefix("SLURM_RLIMIT_"): int(value)
            for name, value in base.items()
            if name.startswith("SLURM_RLIMIT_")
        }
        return Submitter(
            environ={**BASE_ENVIRONMENT, **case.environ},
            directory=DIRECTORY,
            host=base["SLURM_SUBMIT_HOST"],
            umask=int(base["SLURM_UMASK"], 8),
            nice=int(base["SLURM_PRIO_PROCESS"]),
            limits=limits,
        )

    async def by_sbatch(self, case: Case) -> Outcome:
        """Submit with the real sbatch."""
        # A folder for each case: several run at a time, and the job is called after the file.
        folder = self.cluster.home / "alice" / "cases" / str(next(self._numbers))
        folder.mkdir(parents=True)
        (folder / case.name).write_bytes(case.script.encode("utf-8", "surrogateescape"))
        variables = {**BASE_ENVIRONMENT, **case.environ}
        words = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
        path = f"cases/{folder.name}/{case.name}"
        done = await asyncio.to_thread(self.cluster.exec, [*words, "sbatch", *case.words, path], user="alice")
        text = (done.stdout or "") + (done.stderr or "")
        found = re.search(r"(?:Submitted batch job |^)(\d+)(?:;|\s|$)", text)
        if done.returncode or not found:
            return Outcome(False, reason=text.strip()[-400:], kind=_sbatch_kind(text, done.returncode))
        return await self._read(int(found[1]))

    async def by_rest(self, case: Case) -> Outcome:
        """Submit over REST, as the command line does under the rule ``submit``."""
        try:
            version = await self.rest.api_version()
            release = self.cluster.release
            script = Script(check_script(case.script), case.name, f"{DIRECTORY}/{case.name}")
            given, rest = split_command_line(list(case.words), options_of(release))
            submitter = self.submitter(case)
            read = read_job(script, given=given, environ=submitter.environ, release=release)
            if rest:
                return Outcome(False, reason=f"{rest[0]} would be the script", kind="usage")
            setting = self._setting(read.spec, submitter, version, release, read.path)
            try:
                body, older = submit_body(read.spec, setting), ""
            except UnsupportedVersion as error:
                body, older = await self._older(read.spec, setting, error)
            submission = await self.rest.submit(
                PreparedJob(body, "slurm-rest:" + "0" * 20, user="alice", api_version=older, older_version=bool(older))
            )
        except SlurmError as error:
            number = error.error_number
            return Outcome(False, reason=str(error), kind=f"server:{number}" if number else getattr(error, "kind", ""))
        return await self._read(submission.job_id)

    async def _older(self, spec: JobSpec, setting: Setting, error: UnsupportedVersion) -> tuple[dict[str, object], str]:
        """Return the body in the newest older version that can express it, as a client sends it."""
        for version in await self.rest.older_versions():
            with contextlib.suppress(UnsupportedVersion):
                return submit_body(spec, replace(setting, version=version)), version
        raise error

    def _setting(self, spec: JobSpec, submitter: Submitter, version: str, release: str, path: str) -> Setting:
        return Setting(
            directory=DIRECTORY,
            rule="submit",
            version=version,
            release=release,
            submitter=submitter,
            now=datetime.now(),  # sbatch works in local time
            command=path,
            cluster=self.rest.connection.cluster,
            read_file=self._read_file,
        )

    def _read_file(self, path: str) -> bytes:
        inside = Path(DIRECTORY, path)
        if not inside.is_relative_to("/home"):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return (self.cluster.home / inside.relative_to("/home")).read_bytes()

    async def _read(self, job_id: int) -> Outcome:
        _, records = await self.rest.records(f"/job/{job_id}", "jobs")
        ids = [record["job_id"] for record in records]
        environments = [self._environment(int(str(one))) for one in ids]
        if any("singleton" in str(record.get("dependency")) for record in records):
            # Another job of its name would wait for it; the others may stay, held as they are.
            await self.rest.cancel([job_id])
        normal = [_normal(dict(record), ids) for record in records]
        return Outcome(True, normal, environments, self._saved(job_id, "script"))

    def _saved(self, job_id: int, name: str) -> str:
        """Return what slurmctld keeps of a job in a file; a component that asks for a burst buffer has none."""
        path = self.cluster.folder / "data" / "slurmctld" / f"hash.{job_id % 10}" / f"job.{job_id}" / name
        return path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else ""

    def _environment(self, job_id: int) -> dict[str, str]:
        """Return the environment that slurmctld saved: a few bytes of counts, then NUL-separated ``K=V``."""
        text = self._saved(job_id, "environment")
        pairs = (item.partition("=") for item in text.split("\0") if "=" in item)
        return {name: value for name, _, value in pairs if name not in _ENVIRONMENT_BY_NATURE}


def _normal(record: dict[str, object], ids: Sequence[object]) -> dict[str, object]:
    kept = {name: value for name, value in record.items() if name not in _BY_NATURE}
    found = {name: _without_ids(value, ids) for name, value in kept.items()}
    if isinstance(found.get("flags"), list):
        # Whether the scheduler has looked at the dependencies already is a matter of when one asks.
        found["flags"] = [flag for flag in found["flags"] if flag != "DEPENDENT"]  # type: ignore[attr-defined]
    return found


def _without_ids(value: object, ids: Sequence[object]) -> object:
    """Put a mark for the job's own ids into texts; they are so large that nothing else has the same digits."""
    if isinstance(value, str):
        for place, one in enumerate(ids):
            value = str(value).replace(str(one), f"<JOB{place}>")
        return value
    if isinstance(value, list):
        return [_without_ids(item, ids) for item in value]
    return value


def _sbatch_kind(text: str, status: int) -> str:
    if "Batch job submission failed" in text:
        return "server"
    if "mutually exclusive" in text or "can not have" in text.lower():
        return "conflict"
    if "ambiguous" in text or "unrecognized option" in text or "invalid option" in text or "requires an arg" in text:
        return "usage"
    return f"exit{status}"


def _same(name: str, mine: object, real: object, apart: float) -> bool:
    """Compare two values; the two submissions are ``apart`` by so many seconds, and so may their moments be."""
    if name in ("begin_time", "deadline") and isinstance(mine, dict) and isinstance(real, dict):
        return bool(mine["set"] == real["set"] and abs(mine["number"] - real["number"]) <= _MOMENT + apart)
    if name == "dependency" and "" in (mine, real):
        # One that waits for jobs that never were is gone as soon as the scheduler looks at it.
        return mine == real or bool(_ON_NOBODY.fullmatch(f"{mine}{real}"))
    return mine == real


def differences(ours: Outcome, theirs: Outcome, apart: float = 0) -> list[str]:
    """Return what is not the same, empty for the same job or both refused; both took no longer than ``apart``."""
    if ours.accepted != theirs.accepted:
        return [
            f"sbatch {'took' if theirs.accepted else 'refused'} it ({theirs.reason}), REST: {ours.reason or 'took it'}"
        ]
    if not ours.accepted:
        return []
    found = []
    if len(ours.records) != len(theirs.records):
        return [f"{len(theirs.records)} components by sbatch, {len(ours.records)} over REST"]
    for place, (mine, real) in enumerate(zip(ours.records, theirs.records, strict=True)):
        found += [
            f"[{place}] {name}: sbatch {real.get(name)!r}, REST {mine.get(name)!r}"
            for name in sorted({*mine, *real})
            if not _same(name, mine.get(name), real.get(name), apart)
        ]
    if ours.script != theirs.script:
        found.append(f"script: sbatch {theirs.script!r}, REST {ours.script!r}")
    for place, (mine_env, real_env) in enumerate(zip(ours.environments, theirs.environments, strict=True)):
        found += [
            f"[{place}] ${name}: sbatch {real_env.get(name)!r}, REST {mine_env.get(name)!r}"
            for name in sorted({*mine_env, *real_env})
            if mine_env.get(name) != real_env.get(name)
        ]
    return found


class Verdict(enum.Enum):
    """What came of a comparison."""

    SAME = "the same"
    ELSEWHERE = "refused by both, but by the client here and by Slurm there"
    REFUSED = "refused here, taken by sbatch"
    SILENT = "taken here, with another job or against sbatch"


@dataclass(frozen=True)
class Comparison:
    """A case, what came of it, and what differs in one text, empty for nothing."""

    case: Case
    verdict: Verdict
    text: str = ""
    accepted: bool = False


async def compare(differential: Differential, case: Case) -> Comparison:
    """Submit one case in both ways; again where a minute ended meanwhile, since ``16:00`` means another day then."""
    while True:
        minute, began = datetime.now().minute, time.monotonic()
        theirs = await differential.by_sbatch(case)
        ours = await differential.by_rest(case)
        found = differences(ours, theirs, time.monotonic() - began)
        if not found or datetime.now().minute == minute:
            break
    if found:
        verdict = Verdict.SILENT if ours.accepted else Verdict.REFUSED
        return Comparison(case, verdict, "; ".join(found), theirs.accepted)
    if not theirs.accepted and theirs.on_client != ours.on_client:
        text = f"refused by {'sbatch' if theirs.on_client else 'Slurm'} ({theirs.reason}), REST: {ours.reason}"
        return Comparison(case, Verdict.ELSEWHERE, text)
    return Comparison(case, Verdict.SAME, accepted=theirs.accepted)


async def compare_cases(differential: Differential, cases: Sequence[Case]) -> list[Comparison]:
    """Compare several cases at a time; in the order of the cases."""
    gate = asyncio.Semaphore(4)

    async def run(case: Case) -> Comparison:
        async with gate:
            try:
                return await compare(differential, case)
            except Exception as error:
                raise AssertionError(f"no comparison of {case}") from error

    return await asyncio.gather(*(run(case) for case in cases))
