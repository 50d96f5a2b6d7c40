"""Reads exit records through whatever leads to the cluster's files."""

from __future__ import annotations

from collections.abc import Callable

from .config import Settings
from .errors import FileMissing, SlurmError, TransportError
from .exits import ExitRecord, name_of, read_exit_record
from .transport.base import SlurmTransport
from .transport.files import Files

__all__ = ["ExitReader"]

_MAX_BYTES = 4096


class ExitReader:
    """The exit records of the transport's user. ``files`` is called when the first record is read."""

    def __init__(self, settings: Settings, transport: SlurmTransport, files: Callable[[], Files]) -> None:
        self._settings, self._transport, self._files = settings, transport, files

    async def read(self, job_id: int, task_id: int | None = None) -> ExitRecord | str:
        """Return the record of a job or task, or why there is none; raises TransportError when the way is broken."""
        template = self._settings.exit_records
        if not template:
            return ""
        try:
            user = self._settings.user or await self._transport.user_name()
            directory = Settings.for_user(template, user, "SLURM_REST_EXIT_RECORDS").rstrip("/")
            path = f"{directory}/{name_of(job_id, task_id)}"
            data = (await self._files().tail(path, max_bytes=_MAX_BYTES)).data
        except TransportError:
            raise
        except FileMissing:
            return f"it left no exit record in {directory}"
        except SlurmError as error:
            return f"its exit record cannot be read: {error.message}"
        return read_exit_record(data) or f"{path} is no exit record"
