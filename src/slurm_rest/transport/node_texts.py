"""Nodes and partitions as sinfo and scontrol print them, into the values of models.py. Nothing here does I/O."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace

from slurm_rest.models import Node, Partition

from .job_texts import Question, read_fields, read_number, read_span
from .shell import Finished, Program, quote

__all__ = ["nodes_question", "partitions_program", "read_nodes", "read_partitions"]

# StateComplete tells all flags, ``mixed+drain``; CPUsState is allocated/idle/other/total.
_NODE = (
    *("NodeList", "StateComplete", "PartitionName", "CPUsState", "Memory", "AllocMem", "Gres", "GresUsed"),
    *("Features", "Reason"),
)
_NOTHING = frozenset({"(null)", "none", "N/A", "n/a", "NONE"})


def nodes_question() -> Question:
    """Ask for every node, once for each of its partitions."""
    mark = f"~{secrets.token_hex(4)}~"
    form = ",".join(f"{name}:{mark}" for name in _NODE)
    return Question(Program("sinfo", quote(["sinfo", "-h", "-a", "-N", "-O", form])), _NODE, mark)


def read_nodes(question: Question, done: Finished) -> list[Node]:
    """Return each node once, with all of its partitions."""
    found: dict[str, Node] = {}
    for record in read_fields(question, done, trailing=True):
        node = _node(record)
        before = found.get(node.name)
        found[node.name] = node if before is None else replace(before, partitions=before.partitions + node.partitions)
    return list(found.values())


def _node(record: Mapping[str, str]) -> Node:
    told = {name: "" if text in _NOTHING else text for name, text in record.items()}
    cpus = [*told["CPUsState"].split("/"), "", "", "", ""]
    # A star behind the state means that the node does not answer, a minus that it is planned; the rest is power.
    state = told["StateComplete"].upper().rstrip("*~#!%$@^-")
    return Node(
        name=told["NodeList"],
        state=tuple(word for word in state.split("+") if word),
        partitions=tuple(word for word in (told["PartitionName"].rstrip("*"),) if word),
        cpus=read_number(cpus[3]),
        cpus_allocated=read_number(cpus[0]),
        memory=read_number(told["Memory"]),
        memory_allocated=read_number(told["AllocMem"]),
        gres=told["Gres"],
        gres_used=told["GresUsed"],
        features=tuple(word for word in told["Features"].split(",") if word),
        reason=told["Reason"],
        raw=dict(record),
    )


def partitions_program() -> Program:
    """Ask for every partition; administrators' words alone, and no blanks within them."""
    return Program("scontrol", quote(["scontrol", "-a", "show", "partition", "-o"]))


def read_partitions(done: Finished) -> list[Partition]:
    """Read one line for each partition."""
    found = []
    for line in done.stdout.splitlines():
        told = dict(word.split("=", 1) for word in line.split() if "=" in word)
        if told.get("PartitionName"):
            found.append(
                Partition(
                    name=told["PartitionName"],
                    state=tuple(word for word in (told.get("State", ""),) if word),
                    is_default={"YES": True, "NO": False}.get(told.get("Default", "")),
                    nodes="" if told.get("Nodes", "") in _NOTHING else told.get("Nodes", ""),
                    node_count=read_number(told.get("TotalNodes", "")),
                    cpus=read_number(told.get("TotalCPUs", "")),
                    max_time=read_span(told.get("MaxTime", "")),
                    default_time=read_span(told.get("DefaultTime", "")),
                    max_nodes=read_number(told.get("MaxNodes", "")),
                    raw=told,
                )
            )
    return found
