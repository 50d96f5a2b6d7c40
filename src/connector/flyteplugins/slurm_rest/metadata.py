"""What the platform keeps of a job between two calls: enough for any replica, and nothing secret."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from flyte.connectors import ResourceMeta

from slurm_rest.identity import Identity

from .settings import AskedConnection

if TYPE_CHECKING:
    from typing_extensions import Self

    from slurm_rest import JobInfo

__all__ = ["SlurmJobMetadata"]


@dataclass
class SlurmJobMetadata(ResourceMeta):
    """One job. The fields up to ``declared_outputs`` are flyteplugins-slurm's, so that its jobs are followed as well.

    ``submission_key`` is what the job's comment ends in: it tells this job from another one with the same id.
    """

    job_id: str
    job_name: str
    host: str
    username: str
    port: int
    stdout_path: str
    stderr_path: str
    known_hosts: str | None = None
    skip_host_key_verification: bool = False
    declared_outputs: dict[str, dict[str, str]] = field(default_factory=dict)
    # Ours, all with defaults: older ones must be readable.
    task_type: str = ""
    output_prefix: str = ""
    submission_key: str = ""
    submitted: str = ""
    rest_url: str = ""
    rest_api_version: str = ""
    expects_outputs: bool = False
    # What --array says, and then the paths of the output have %a for the number of a task.
    array: str = ""
    # Seconds that it may wait for its first start, 0 for any.
    max_queued: float = 0.0
    # Its name in FLYTE_SLURM_CLUSTERS, also where the task named none: another one may be the first tomorrow.
    cluster: str = ""
    # ``srun`` where each of the job's tasks is a process of the same Python task.
    launcher: str = ""
    # Where the secrets are that the connector sent it, until it is over.
    secret_file: str = ""
    # Whom the deployment's rule found for it, empty where jobs are the configured user's.
    run_as: str = ""

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what the platform kept: also of a newer release, whose further fields are passed over.

        Raises ValueError for what no connector for Slurm wrote.
        """
        try:
            found = json.loads(data)
            # What is not said has its default; flyteplugins-slurm writes null for some.
            meta = cls(**{name: found[name] for name in _NAMES if found.get(name) is not None})
            meta._check()
            return meta
        except (AttributeError, ValueError, TypeError, KeyError, OverflowError):
            raise ValueError("What the platform kept of this task is not of a Slurm job, or damaged") from None

    def _check(self) -> None:
        """Raise an error where a field is not of its kind: it would be met much later, and told as something else."""
        plain = type(self)("", "", "", "", 0, "", "")
        kinds: dict[type, tuple[type, ...]] = {int: (int, float), float: (int, float), type(None): (str, type(None))}
        for one in fields(self):
            kind = type(getattr(plain, one.name))
            if not isinstance(getattr(self, one.name), kinds.get(kind, (kind,))):
                raise TypeError(one.name)
        if not all({"uri", "kind", "written_to"} <= place.keys() for place in self.declared_outputs.values()):
            raise ValueError("declared_outputs")
        # Both are read from texts and numbers.
        _ = self.sent, self.queue_limit

    def is_of(self, record: JobInfo) -> bool:
        """Tell whether a record is this job's: without a key, as flyteplugins-slurm's are, its name tells."""
        return bool(self.submission_key) or not (self.job_name and record.name) or self.job_name == record.name

    def identity(self) -> Identity:
        """Return which job this is, also when its id is given anew. Raises ValueError for an id that is no number."""
        if not (self.job_id.isascii() and self.job_id.isdecimal()):
            raise ValueError(f"The platform kept {self.job_id!r} as the id of a Slurm job, which is a number")
        return Identity(int(self.job_id), key=self.submission_key, sent=self.sent)

    @property
    def sent(self) -> datetime | None:
        """When it was submitted, None where this was not seen."""
        return datetime.fromisoformat(self.submitted) if self.submitted else None

    @property
    def queue_limit(self) -> timedelta | None:
        """How long it may wait for its first start, None for any time."""
        return timedelta(seconds=self.max_queued) if self.max_queued else None

    def asked(self) -> AskedConnection:
        """Return the connection that the task asked for when the job was made."""
        return AskedConnection(
            host=self.host,
            port=int(self.port) or None,
            username=self.username,
            known_hosts=self.known_hosts or "",
            rest_url=self.rest_url,
            rest_api_version=self.rest_api_version,
            cluster=self.cluster,
        )


# Thousands of these are read in one moment.
_NAMES = tuple(one.name for one in fields(SlurmJobMetadata))
