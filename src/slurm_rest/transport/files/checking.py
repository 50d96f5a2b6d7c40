"""Whether the cluster's files can be reached, and over which way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone

from slurm_rest.config import Settings
from slurm_rest.errors import FileMissing, FilesError, SlurmError
from slurm_rest.models import FilesWay, TransportHealth
from slurm_rest.within import within

from .base import Files

__all__ = ["NO_FILES", "NO_FILES_HINT", "FilesCheck"]

NO_FILES = "Nothing leads to the cluster's files: job output cannot be read"
NO_FILES_HINT = (
    "Set SLURM_REST_PATH_MAP where a directory is mounted here (for instance /home=/mnt/home), or SLURM_REST_SSH_HOST"
    " to read files over SFTP; slurmrestd moves none."
)
# A file server that is away holds whoever looks for as long as it likes.
_SECONDS = 10.0


class FilesCheck:
    """Looks at each way that the settings name, and remembers what came of it."""

    def __init__(self, settings: Settings, files: Callable[[], Files]) -> None:
        self._files = files
        self._tops = settings.path_map.pairs
        self._ways = list(_configured(settings))
        self._since: datetime | None = None

    async def check(self) -> list[FilesWay]:
        """Try each way, one after the other; raises nothing but bugs."""
        self._ways = [await self._tried(place, way) for place, way in enumerate(self._ways)]
        self._since = datetime.now(timezone.utc)
        return self._ways

    def health(self) -> TransportHealth:
        """Return all ways as one row, as they were found the last time; open where one is not to be used."""
        bad = [way for way in self._ways if way.kind == "none" or way.reachable is False]
        where = ", ".join(way.where for way in self._ways)
        reason = "; ".join(f"{way.reason}. {way.hint}".strip() for way in bad)
        return TransportHealth(
            transport="files", where=where, state="open" if bad else "closed", reason=reason, since=self._since
        )

    async def _tried(self, place: int, way: FilesWay) -> FilesWay:
        if way.kind == "none":
            return way
        try:
            await within(_SECONDS, self._look(place, way))
        except TimeoutError:
            reason, hint = f"{way.where} gave no answer within {_SECONDS:g} s", "Does its file server answer?"
            return replace(way, reachable=False, reason=reason, hint=hint, error="Timeout")
        except SlurmError as error:
            hint = error.hint or "Check SLURM_REST_PATH_MAP; is it mounted?"
            return replace(way, reachable=False, reason=error.message, hint=hint, error=type(error).__name__)
        return replace(way, reachable=True, reason="", hint="", error=None)

    async def _look(self, place: int, way: FilesWay) -> None:
        if way.kind == "sftp":
            await self._files().home()
        elif way.kind == "directory":
            path, local = self._tops[place]
            try:
                found = await self._files().stat(path)
            except FileMissing:
                raise FileMissing(f"There is no {local} here", path=path) from None
            if found.kind != "directory":
                raise FilesError(f"{path} is no directory here", path=path, kind="kind")
        else:
            await self._files().stat("/")


def _configured(settings: Settings) -> Sequence[FilesWay]:
    """Return the ways in the order in which they are tried for a path; see ``choose_files``."""
    ways = [FilesWay(kind="directory", where=_shown(*pair)) for pair in settings.path_map.pairs]
    if settings.ways()[0] == "cli" or settings.environment == "submit":
        ways.append(FilesWay(kind="host", where="this host"))
    elif settings.ssh_host:
        user = f"{settings.ssh_user}@" if settings.ssh_user else ""
        ways.append(FilesWay(kind="sftp", where=f"SFTP at {user}{settings.ssh_host}"))
    none = FilesWay(kind="none", where="nowhere", reachable=False, reason=NO_FILES, hint=NO_FILES_HINT)
    return ways or [none]


def _shown(cluster: str, local: str) -> str:
    return cluster if cluster == local else f"{cluster} at {local}"
