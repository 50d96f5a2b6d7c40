"""Runs a job's script as a process of this machine, as slurmd would on a node."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from slurm_rest.within import within

from .jobs import FakeJob

__all__ = ["Ended", "Runner", "expand"]

# Slurm's mark for a job whose directory or output could not be opened.
_NOT_LAUNCHED = 53
_PATTERN = re.compile(r"%(\d*)([%aAjJnNstuxq])")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its exit code, or the signal that ended it."""

    code: int = 0
    signal: int = 0


class Runner:
    """Starts scripts under ``root``: the homes of users, and a spool for scripts. Nothing runs as another user."""

    def __init__(self, root: str | os.PathLike[str] | None, kill_wait: float) -> None:
        self._root = None if root is None else Path(root).absolute()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._kill_wait = kill_wait
        self._groups: dict[FakeJob, int] = {}
        # What is sent to a job whose process is not there yet reaches it when it is.
        self._early: dict[FakeJob, list[int]] = {}
        self._gone: dict[FakeJob, asyncio.Event] = {}

    @property
    def root(self) -> Path:
        """The folder of everything; a temporary one is made when it is first needed."""
        if self._root is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="slurm-rest-fake-")
            self._root = Path(self._temporary.name)
        return self._root

    def close(self) -> None:
        """Remove the temporary folder."""
        if self._temporary is not None:
            self._temporary.cleanup()
            self._temporary = self._root = None

    def home(self, user: str) -> Path:
        """Return the home of a user, which is made when it is first asked for."""
        path = self.root / "home" / re.sub(r"[^\w.-]", "_", user)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def signal(self, job: FakeJob, number: int) -> None:
        """Send a signal to all processes of a job."""
        group = self._groups.get(job)
        if group is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)
        elif job in self._early:
            self._early[job].append(number)

    async def end(self, job: FakeJob) -> None:
        """Ask a job's processes to end, and kill them when they take too long."""
        self.signal(job, signal.SIGCONT)
        self.signal(job, signal.SIGTERM)
        gone = self._gone.get(job)
        if gone is None:
            return
        try:
            await within(self._kill_wait, gone.wait())
        except TimeoutError:
            self.signal(job, signal.SIGKILL)

    def expect(self, job: FakeJob) -> None:
        """Take note of a job that will run: what is sent to it from now on reaches its process."""
        self._gone[job], self._early[job] = asyncio.Event(), []

    async def run(self, job: FakeJob, variables: Mapping[str, str]) -> Ended:
        """Run the script of a job that is expected to its end."""
        try:
            return await self._launch(job, variables)
        finally:
            self._early.pop(job, None)
            self._gone.pop(job).set()

    async def _launch(self, job: FakeJob, variables: Mapping[str, str]) -> Ended:
        spool = self.root / "spool" / f"job{job.id:05d}"
        spool.mkdir(parents=True, exist_ok=True)
        script = spool / "slurm_script"
        # Closed before it is executed: a script that is open for writing cannot be.
        script.write_bytes(job.request.script.encode("utf-8", "surrogateescape"))
        script.chmod(0o700)
        try:
            files = self._open(job)
        except (OSError, ValueError):
            return Ended(signal=_NOT_LAUNCHED)
        try:
            return await self._execute(job, script, files, variables)
        finally:
            for file in files:
                file.close()
            shutil.rmtree(spool, ignore_errors=True)

    async def _execute(
        self, job: FakeJob, script: Path, files: tuple[IO[bytes], ...], variables: Mapping[str, str]
    ) -> Ended:
        try:
            process = await self._started(job, script, files, variables)
        except ValueError:
            return Ended(signal=_NOT_LAUNCHED)
        except OSError as error:
            # slurmstepd ends with the number of the error when the script cannot be executed.
            return Ended(code=error.errno or 1)
        self._groups[job] = process.pid
        for number in self._early.pop(job):
            self.signal(job, number)
        try:
            code = await process.wait()
        finally:
            # What a script leaves behind in its session does not outlive it.
            self.signal(job, signal.SIGKILL)
            del self._groups[job]
            await process.wait()
        return Ended(code=code) if code >= 0 else Ended(signal=-code)

    async def _started(
        self, job: FakeJob, script: Path, files: tuple[IO[bytes], ...], variables: Mapping[str, str]
    ) -> asyncio.subprocess.Process:
        stdin, stdout = files[:2]
        environment = {**self._login(job), **variables}
        while True:
            try:
                return await asyncio.create_subprocess_exec(
                    script,
                    *job.request.argv[1:],
                    stdin=stdin,
                    stdout=stdout,
                    stderr=files[-1],
                    cwd=job.request.directory,
                    env=environment,
                    start_new_session=True,
                )
            except OSError as error:
                if error.errno != errno.ETXTBSY:
                    raise
            # What another thread forked while the script was written holds it open until it executes something else.
            await asyncio.sleep(0.01)

    def _open(self, job: FakeJob) -> tuple[IO[bytes], ...]:
        if not os.path.isdir(job.request.directory):
            raise NotADirectoryError(job.request.directory)
        mode = "ab" if "APPEND" in job.request.words("open_mode") else "wb"
        error = job.request.text("standard_error")
        paths = [(job.request.text("standard_input") or "/dev/null", "rb"), (output_of(job), mode)]
        found: list[IO[bytes]] = []
        try:
            for path, how in [*paths, *([(error, mode)] if error else [])]:
                found.append(Path(expand(job, path, node=job.nodes[0])).open(how))  # noqa: SIM115  # closed below
        except OSError:
            for file in found:
                file.close()
            raise
        return tuple(found)

    def _login(self, job: FakeJob) -> dict[str, str]:
        """Return the environment that the job starts with: a login's where the job asks for one, else nothing."""
        given = dict(one.split("=", 1) for one in job.request.environment if "=" in one)
        if not given.pop("SLURM_GET_USER_ENV", ""):
            return given
        user = job.owner.name
        path = os.environ.get("PATH") or "/usr/local/bin:/usr/bin:/bin"
        home = str(self.home(user))
        return {"HOME": home, "USER": user, "LOGNAME": user, "SHELL": "/bin/sh", "PATH": path, **given}


def output_of(job: FakeJob) -> str:
    """Return the path of a job's output as it was asked for, or Slurm's own."""
    return job.request.text("standard_output") or ("slurm-%j.out" if job.task_id is None else "slurm-%A_%a.out")


def expand(job: FakeJob, path: str, *, node: str | None = None) -> str:
    """Expand the patterns of a path; it is relative to the job's directory. ``%N`` stays without a ``node``."""
    values = {
        "%": "%",
        "A": str(job.array_id or job.id),
        "a": str(4294967294 if job.task_id is None else job.task_id),
        "j": str(job.id or job.array_id),
        "J": str(job.id or job.array_id),
        "u": job.owner.name,
        "x": job.request.name or "",
        "s": "batch",
        "t": "0",
        "n": "0",
        "q": job.request.text("qos"),
    }
    if node is not None:
        values["N"] = node
    text = _PATTERN.sub(lambda found: values.get(found[2], found[0]).zfill(min(int(found[1] or 0), 10)), path)
    return os.path.join(job.request.directory, text)
