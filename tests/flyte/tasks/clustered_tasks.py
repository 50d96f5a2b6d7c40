"""Tasks of clustered environments that run on several nodes: imported there, and by the tests."""

from __future__ import annotations

import asyncio
import os

import flyte
from flyte.clustered import ClusteredTaskEnvironment, ClusterFailurePolicy

from flyteplugins.slurm_rest import Slurm

SLURM = Slurm(container_runtime="none", python_environment="/shared/flyte", time_limit="5")
IMAGE = flyte.Image.from_base("python:3.11")
gang = ClusteredTaskEnvironment(
    name="gang",
    replicas=2,
    nproc_per_node=1,
    failure_policy=ClusterFailurePolicy(max_restarts=1),
    plugin_config=SLURM,
    image=IMAGE,
)


async def meet() -> list[str]:
    """Have all ranks tell the first one where they are, over the port that each of them is given."""
    place = flyte.ctx()
    assert place is not None
    words = (place.rank, place.local_rank, place.world_size, place.local_world_size, place.node_rank, place.nnodes)
    mine = f"{' '.join(map(str, words))} {place.master_addr} {os.environ['SLURMD_NODENAME']}"
    port = place.master_port
    if place.rank:
        while True:
            try:
                # The nodes of the tests are one host, which does not know their names.
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                break
            except ConnectionRefusedError:
                await asyncio.sleep(0.05)
        writer.write(f"{mine}\n".encode())
        writer.close()
        return []
    told, all_told = [mine], asyncio.Event()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        told.append((await reader.readline()).decode().strip())
        writer.close()
        if len(told) == place.world_size:
            all_told.set()

    async with await asyncio.start_server(hear, "127.0.0.1", port):
        await all_told.wait()
    return sorted(told)


@gang.task
async def gather(fail: int) -> list[str]:
    """Return where each rank was, after the last one has failed for ``fail`` times."""
    place = flyte.ctx()
    assert place is not None
    if place.rank == 1 and (place.restart_attempt or 0) < fail:
        raise ValueError("a rank has failed")
    return [f"restarted {place.restart_attempt}", *await meet()]
