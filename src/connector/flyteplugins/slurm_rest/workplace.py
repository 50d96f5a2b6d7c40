"""Where a job's files go, and that the directory is there: Slurm makes none for a job's output."""

from __future__ import annotations

import logging
import posixpath
from dataclasses import dataclass

from slurm_rest import SlurmError
from slurm_rest.errors import ConfigError, FileMissing, FilesError, TransportError

from .clients import Cluster
from .launching import RefusedUser
from .plan import JobPlan

__all__ = ["Workplace", "find_workplace", "never_began", "require_files"]

log = logging.getLogger("flyteplugins.slurm_rest")

_DEFAULT = ".flyte/jobs"


@dataclass(frozen=True, slots=True)
class Workplace:
    """Two directories of the cluster: for the files of jobs, and where scripts run."""

    directory: str
    home: str


async def find_workplace(cluster: Cluster, asked: str, user: str) -> Workplace:
    """Return the directories for a user's jobs; ``asked`` is what task or deployment want, may have ``{user}``.

    The home is what the login node says, else /home/USER. Where the connector has no way to the cluster's files it
    makes no directory: then the default is the home itself, and one that is asked for has to be there.
    """
    home = await _home(cluster, user)
    below = asked.replace("{user}", user) if asked else _DEFAULT
    path = posixpath.join(home, "" if below == "~" else below.removeprefix("~/"))
    try:
        made = await _make(cluster, path)
    except FileMissing:
        # What is above it is the top of a mount, which is the user's own.
        hint = "Is the user known to the cluster? A directory of FLYTE_SLURM_FILES has to be there already."
        raise RefusedUser(f"{path} cannot be made for {user}: nothing is there", hint=hint) from None
    return Workplace(path if made or asked else home, home)


async def _home(cluster: Cluster, user: str) -> str:
    if cluster.access.has_ssh or cluster.access.transport == "cli":
        try:
            return await cluster.client.files.home()
        except TransportError as error:
            if not cluster.access.has_rest:
                raise
            log.warning("The home of %s is taken to be /home/%s: %s", user, user, error.message)
    return f"/home/{user}"


async def _make(cluster: Cluster, path: str) -> bool:
    """Make a directory where there is a way to; return whether it is there for certain.

    It is looked at for each job: somebody may have tidied up since the last one, whose output would have no place.
    """
    if cluster.directories.get(path, True):
        try:
            await cluster.client.files.make_directory(path)
        except ConfigError:
            cluster.directories[path] = False
        except TransportError as error:
            if not cluster.access.has_rest:
                raise
            log.warning("%s cannot be looked at now: %s", path, error.message)
            return False
        except FilesError as error:
            if cluster.access.has_ssh or cluster.access.transport == "cli":
                raise
            # On a mount the connector is not the user whose directory it is, and may not be allowed to write at all.
            log.warning("The connector cannot make a directory: %s", error.message)
            cluster.directories[path] = False
        else:
            cluster.directories[path] = True
    return cluster.directories[path]


async def never_began(cluster: Cluster, plan: JobPlan) -> bool:
    """Tell whether no job of this attempt has begun, for certain: Slurm makes the output file when one does.

    Of an array any task may be the first.
    """
    if not plan.key or plan.spec.array:
        return False
    try:
        await cluster.client.files.stat(plan.stdout)
    except FileMissing:
        return True
    except SlurmError as error:
        log.warning("Whether the job %s has begun cannot be seen: %s", plan.name, error.message)
    return False


async def require_files(cluster: Cluster, plan: JobPlan) -> None:
    """Raise ConfigError for a job whose outputs nobody could fetch: before it runs, not after."""
    if not plan.reads_files:
        return
    try:
        await cluster.client.files.stat(plan.directory)
    except (FileMissing, TransportError):
        return
    except (ConfigError, FilesError) as error:
        raise ConfigError(
            f"output_upload='connector' needs a way to the cluster's files, and there is none: {error.message}",
            hint="Set FLYTE_SLURM_HOST (SFTP) or FLYTE_SLURM_FILES (a shared mount) on the connector, or"
            " output_upload='job' or 'presigned' on the task, whose script then uploads by itself.",
        ) from error
