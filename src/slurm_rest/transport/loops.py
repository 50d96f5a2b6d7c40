"""Connections belong to the event loop that made them."""

from __future__ import annotations

import asyncio

from slurm_rest.errors import SlurmError

__all__ = ["check_loop"]


def check_loop(loop: asyncio.AbstractEventLoop | None) -> None:
    """Raise SlurmError in any other loop than this one."""
    if loop is not asyncio.get_running_loop():
        hint = "Make one in each: async with AsyncSlurmClient(...) inside asyncio.run(...)."
        raise SlurmError("This client was used in another event loop before", hint=hint)
