"""What became of a task, as its own files in the object store tell: the state of its job is not enough.

The entrypoint exits 0 when the task's Python raised, after writing ``error.pb`` (flyte 2.12).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field

import flyte.storage as storage
from flyteidl2.core.execution_pb2 import ErrorDocument

__all__ = ["Outcome", "read_outcome"]

_ERROR, _OUTPUTS = "error.pb", "outputs.pb"
_RECOVERABLE = 1
# What a task's error says is up to the task, and the connector's memory is every task's.
_LARGEST = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a task ended. ``outputs`` are None where the platform reads ``outputs.pb`` itself."""

    is_success: bool
    message: str = ""
    code: str = ""
    is_recoverable: bool = False
    outputs: Mapping[str, object] | None = field(default=None, repr=False)


async def read_outcome(prefix: str, *, expects_outputs: bool, exited_zero: bool) -> Outcome | None:
    """Look for the task's error first, then for its outputs; None when neither says more than the job's state.

    Raises what the store raises: a store that is away says nothing about the task.
    """
    error_path = storage.join(prefix, _ERROR)
    if await storage.exists(error_path):
        return await _error(error_path)
    if not exited_zero:
        return None
    if not expects_outputs or await storage.exists(storage.join(prefix, _OUTPUTS)):
        return Outcome(True)
    message = (
        f"The job ended with exit code 0, but the task wrote neither {_OUTPUTS} nor {_ERROR} to {prefix}. Did its"
        " entrypoint run? With Slurm's own containers, oci.conf must have IgnoreFileConfigJson=false."
    )
    return Outcome(False, message, "MissingOutputs")


async def _error(path: str) -> Outcome:
    raw = bytearray()
    async with aclosing(storage.get_stream(path)) as chunks:
        async for chunk in chunks:
            raw += chunk
            if len(raw) > _LARGEST:
                text = f"The task failed, with an error of more than {_LARGEST:,} bytes, which is at {path}"
                return Outcome(False, text, "Unknown")
    return _read_error(bytes(raw), path)


def _read_error(raw: bytes, path: str) -> Outcome:
    document = ErrorDocument()
    try:
        document.ParseFromString(raw)
    except Exception:  # protobuf has an exception of its own in each implementation
        return Outcome(False, f"The task failed, and its error at {path} cannot be read", "Unknown")
    error = document.error
    return Outcome(False, error.message, error.code or "Unknown", is_recoverable=int(error.kind) == _RECOVERABLE)
