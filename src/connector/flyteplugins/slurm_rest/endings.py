"""What is left to do when a job has ended: which work a task's kind and the job's phase ask for."""

from __future__ import annotations

import os

from slurm_rest.errors import ConfigError
from slurm_rest.within import within

from .clients import Cluster
from .metadata import SlurmJobMetadata
from .outcome import Outcome, read_outcome
from .receipts import Receipts
from .settings import PREFIX, parse_size
from .settling import UnknownCeiling, Work
from .states import Phase
from .template import NATIVE
from .transfers import Transfer, collect

__all__ = ["work_for"]

# A store that does not answer is asked again.
_PATIENCE = 60.0


def work_for(
    meta: SlurmJobMetadata, cluster: Cluster, phase: Phase, receipts: Receipts | None, key: str
) -> Work | None:
    """Return what is left to do when a job has ended so; None when its state is all there is.

    ``key`` is the job's identity where no submission key tells it; without ``receipts`` nobody else could do the work.
    """
    if meta.declared_outputs and phase is Phase.SUCCEEDED:

        async def moved() -> Outcome:
            transfer = Transfer(meta.job_id, meta.declared_outputs, _ceiling(meta), meta.submission_key or key)
            with cluster.in_use():
                return await collect(transfer, cluster.client.files, receipts)

        return moved
    if meta.task_type == NATIVE and phase in (Phase.SUCCEEDED, Phase.FAILED):
        expects, zero = meta.expects_outputs, phase is Phase.SUCCEEDED

        async def outcome() -> Outcome | None:
            reading = read_outcome(meta.output_prefix, expects_outputs=expects, exited_zero=zero)
            return await within(_PATIENCE, reading)

        return outcome
    return None


def _ceiling(meta: SlurmJobMetadata) -> int | None:
    if all(place.get("upload") != "connector" for place in meta.declared_outputs.values()):
        return None
    name = f"{PREFIX}CONNECTOR_UPLOAD_MAX_BYTES"
    try:
        return parse_size(os.environ.get(name, ""))
    except ConfigError as error:
        raise UnknownCeiling(error.message, hint=error.hint) from None
