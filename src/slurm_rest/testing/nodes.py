"""The nodes and partitions of a fake cluster, and who has their CPUs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .jobs import FakeJob, JobRequest

__all__ = ["Machines", "Node", "Partition"]


@dataclass(slots=True)
class Node:
    """A node that is pretended: its CPUs are counted, its jobs run on this machine. ``memory`` is in MiB."""

    name: str
    cpus: int
    memory: int = 16384
    used: int = 0
    reason: str = ""
    is_down: bool = False
    features: tuple[str, ...] = ("intel", "avx512")

    @property
    def states(self) -> list[str]:
        """Its state as Slurm calls it."""
        if self.is_down:
            return ["DOWN"]
        return ["IDLE" if not self.used else "ALLOCATED" if self.used >= self.cpus else "MIXED"]


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition over all nodes. ``max_time`` is in minutes."""

    name: str
    is_default: bool = False
    max_time: int | None = None
    max_nodes: int | None = None


class Machines:
    """All nodes, and two partitions over them."""

    def __init__(self, nodes: int, cpus: int) -> None:
        self.nodes = [Node(f"n{number}", cpus) for number in range(1, nodes + 1)]
        self.partitions: Sequence[Partition] = (
            Partition("normal", is_default=True, max_time=7 * 24 * 60),
            Partition("debug", max_time=30, max_nodes=1),
        )
        self._taken: dict[FakeJob, dict[str, int]] = {}

    @property
    def names(self) -> set[str]:
        """The names of the partitions."""
        return {partition.name for partition in self.partitions}

    def partition_of(self, job: FakeJob) -> Partition:
        """Return where a job runs: the first partition that it named, or the default."""
        wanted = job.request.partition.split(",")[0]
        return next((one for one in self.partitions if one.name == wanted), self.partitions[0])

    def could_take(self, request: JobRequest) -> bool:
        """Tell whether a job could ever run here, all nodes up and free."""
        largest, everything = max(node.cpus for node in self.nodes), sum(node.cpus for node in self.nodes)
        return request.node_count <= len(self.nodes) and request.cpus_per_task <= largest and request.cpus <= everything

    def room(self, job: FakeJob) -> list[str]:
        """Return nodes that have room for a job; none where there is not enough."""
        count = max(job.request.node_count, 1)
        share = -(-job.request.cpus // count)
        avoided = set(job.request.words("excluded_nodes"))
        free = [
            node
            for node in self.nodes
            if not node.is_down and node.cpus - node.used >= share and node.name not in avoided
        ]
        if len(free) >= count:
            return [node.name for node in free[:count]]
        # More CPUs than one node has: as many nodes as it takes.
        chosen, left = [], job.request.cpus
        for node in self.nodes:
            if left > 0 and not node.is_down and node.cpus > node.used and node.name not in avoided:
                chosen.append(node.name)
                left -= node.cpus - node.used
        return chosen if left <= 0 and count == 1 else []

    def take(self, job: FakeJob) -> None:
        """Give a job its CPUs."""
        self._taken[job] = taken = {}
        left = job.request.cpus
        for place, name in enumerate(job.nodes, 1):
            node = next((one for one in self.nodes if one.name == name), None)
            share = left if place == len(job.nodes) else -(-job.request.cpus // len(job.nodes))
            if node is not None:
                taken[name] = min(share, left)
                node.used += taken[name]
                left -= taken[name]

    def give_back(self, job: FakeJob) -> None:
        """Take them back."""
        taken = self._taken.pop(job, {})
        for node in self.nodes:
            node.used -= taken.get(node.name, 0)
