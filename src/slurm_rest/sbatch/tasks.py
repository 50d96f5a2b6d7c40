"""Tasks, nodes and CPUs: what sbatch works out of ``-N``, ``-n``, ``-c``, ``-w``, ``-B`` and their relatives.

sbatch starts from one task on one node and sends what it arrives at, so that slurmctld records the same job.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import cast

from slurm_rest.errors import SpecError

from .counts import read_count
from .dialect import dialect_of
from .gpus import Counts, balance
from .kinds import whole
from .nodes import node_bounds, node_members

__all__ = ["add_tasks"]

Fields = dict[str, object]

# In any case on 24.11, in lower case on 26.05.
_CPU = re.compile(r"(?a)cpu[=:](([0-9]+)(?:(?i:[kmgtp](?:i?b)?)(?=,|$))?)")
_MOST_CPUS = 2**31 - 1


@dataclass(slots=True)
class _Plan:
    """The numbers while they are worked out. ``most`` 0 is no limit; ``nodes_set`` and ``tasks_set`` as in sbatch."""

    tasks: int = 1
    tasks_set: bool = False
    least: int = 1
    most: int = 0
    nodes_set: bool = False
    size: str = ""
    per_node: int | None = None
    cpus: int | None = None


def add_tasks(
    values: Mapping[str, object], fields: Fields, variables: dict[str, str], flags: list[str], *, release: str
) -> None:
    """Add the counts to ``fields``, and what sbatch tells the job about them to ``variables`` and ``flags``."""
    plan = _given(values, fields, release)
    _add_hosts(plan, values, fields)
    _check_plane(plan, values)
    if dialect_of(release).checks_segment:
        _check_segment(plan, values)
    _settle(plan, values, fields)
    if _base(values) == "arbitrary" and not plan.tasks_set:
        plan.tasks, plan.tasks_set = len(cast("list[str]", fields["required_nodes"])), True
    if plan.tasks_set:
        fields["tasks"] = plan.tasks
        flags.append("EXACT_TASK_COUNT_REQUESTED")
        if plan.tasks > 0:
            variables["SLURM_NTASKS"] = variables["SLURM_NPROCS"] = str(plan.tasks)
    if plan.cpus is not None:
        fields["cpus_per_task"] = plan.cpus
        flags.append("EXACT_CPU_COUNT_REQUESTED")
        variables["SLURM_CPUS_PER_TASK"] = str(plan.cpus)
    least_cpus = max(_number(values, "mincpus") or 0, plan.cpus or 0)
    if least_cpus:
        fields["minimum_cpus_per_node"] = least_cpus
    fields["minimum_cpus"] = _minimum_cpus(plan, values)
    _put_nodes(plan, fields)
    if "clusters" not in values and "cluster" not in values:
        _balance(plan, fields)


def _number(values: Mapping[str, object], *names: str) -> int | None:
    for name in names:
        found = values.get(name)
        if isinstance(found, int):
            return found
    return None


def _given(values: Mapping[str, object], fields: Fields, release: str) -> _Plan:
    plan = _Plan(per_node=_number(values, "ntasks_per_node", "tasks_per_node"), cpus=_number(values, "cpus_per_task"))
    tasks = _number(values, "ntasks")
    if tasks is not None:
        plan.tasks, plan.tasks_set = tasks, True
    nodes = values.get("nodes")
    if isinstance(nodes, str):
        plan.least, plan.most, is_set = node_bounds(nodes)
        plan.nodes_set, plan.size = True, nodes if is_set else ""
    per_task = str(fields.get("tres_per_task", ""))
    found = _CPU.search(per_task.lower() if dialect_of(release).lowers_tres else per_task) if per_task else None
    if found:
        plan.cpus = (read_count(found[1]) if dialect_of(release).counts_cpus_with_units else None) or whole(found[2])
        if plan.cpus > _MOST_CPUS:
            message, hint = f"--tres-per-task={found[0][:100]} asks for too many", f"It takes at most {_MOST_CPUS}."
            raise SpecError(message, field="tres_per_task", kind="value", hint=hint)
    return plan


def _add_hosts(plan: _Plan, values: Mapping[str, object], fields: Fields) -> None:
    hosts = fields.get("required_nodes")
    arbitrary = _base(values) == "arbitrary"
    if arbitrary and plan.nodes_set:
        message = "--nodes cannot be combined with --distribution=arbitrary"
        raise SpecError(message, field="nodes", kind="conflict", hint="Leave it out: the hosts that are named count.")
    if not isinstance(hosts, list) or not hosts:
        if arbitrary:
            hint = "Give --nodelist."
            raise SpecError("--distribution=arbitrary needs hosts", field="distribution", kind="conflict", hint=hint)
        if "nodelist" in values and not plan.nodes_set:
            # A list that names nobody counts as no nodes.
            plan.least, plan.nodes_set = 0, True
        return
    count = len(set(hosts))
    if not plan.nodes_set:
        plan.least = count
    plan.nodes_set = True


def _base(values: Mapping[str, object]) -> str:
    return str(values.get("distribution", "")).partition(",")[0]


def _check_plane(plan: _Plan, values: Mapping[str, object]) -> None:
    kind, _, size = _base(values).partition("=")
    if kind != "plane":
        return
    if not size:
        hint = "Say plane=4, for instance."
        raise SpecError("--distribution=plane has no size", field="distribution", kind="value", hint=hint)
    planes = int(size)
    if (plan.least <= 0 or plan.tasks // planes < plan.least) and (plan.least - 1) * planes >= plan.tasks:
        message = f"Too few tasks ({plan.tasks}) for planes of {planes} on {plan.least} nodes"
        hint = "Ask for more tasks, fewer nodes or smaller planes."
        raise SpecError(message, field="distribution", kind="conflict", hint=hint)


def _settle(plan: _Plan, values: Mapping[str, object], fields: Fields) -> None:
    """Let tasks follow from an exact number of nodes, or nodes from tasks."""
    exact = plan.most in (0, plan.least)
    if (plan.nodes_set or "extra_node_info" in values) and exact and not plan.tasks_set and not plan.per_node:
        plan.tasks = max(plan.least, 1)
        for name in ("sockets_per_node", "cores_per_socket", "threads_per_core"):
            found = _number(fields, name)
            if found is not None:
                plan.tasks *= found
                plan.tasks_set = True
    elif plan.nodes_set and plan.tasks_set:
        if plan.tasks < plan.most:
            plan.most, plan.size = plan.tasks, ""
        if plan.tasks < plan.least:
            plan.least = plan.most = plan.tasks
            plan.size = ""


def _check_segment(plan: _Plan, values: Mapping[str, object]) -> None:
    segment = _number(values, "segment")
    if not segment or "nodes" not in values:
        return
    # A segment may be larger than the job.
    sizes = sorted(node_members(plan.size)) if plan.size else [plan.least]
    wrong = next((size for size in sizes if size > segment and size % segment), None)
    if wrong is not None:
        message = f"--segment={segment} does not divide the number of nodes, {wrong}"
        raise SpecError(message, field="segment", kind="conflict", hint="Ask for a multiple of it.")


def _minimum_cpus(plan: _Plan, values: Mapping[str, object]) -> int:
    estimate = plan.tasks
    if plan.per_node and not plan.tasks_set and plan.most in (0, plan.least):
        estimate = plan.least * plan.per_node
    if values.get("overcommit") is True:
        return max(plan.least, 1)
    if plan.cpus is not None:
        return estimate * plan.cpus
    return 0 if plan.nodes_set and plan.least == 0 else estimate


def _put_nodes(plan: _Plan, fields: Fields) -> None:
    if plan.size:
        # slurmrestd expands a set, or a step, by itself.
        fields["nodes"] = plan.size
    elif plan.nodes_set:
        fields["minimum_nodes"] = plan.least
        if plan.most:
            fields["maximum_nodes"] = plan.most
    elif plan.tasks_set and not plan.tasks:
        fields["minimum_nodes"] = 0
    elif plan.tasks_set and plan.per_node:
        fields["minimum_nodes"] = ceil(plan.tasks / plan.per_node)


def _balance(plan: _Plan, fields: Fields) -> None:
    """Make tasks, nodes and GPUs agree, as sbatch does at the very end."""
    counts = Counts(
        tasks=plan.tasks if plan.tasks_set else None,
        least=_number(fields, "minimum_nodes") if not plan.size else plan.least,
        most=_number(fields, "maximum_nodes") if not plan.size else plan.most,
        per_node=plan.per_node,
        per_socket=_number(fields, "tasks_per_socket"),
        sockets=_number(fields, "sockets_per_node"),
        cpus=plan.cpus,
        per_gpu=_number(fields, "ntasks_per_tres"),
    )
    balance(fields, counts)
    if counts.tasks is not None:
        fields["tasks"] = counts.tasks
    if not plan.size:
        for name, found in (("minimum_nodes", counts.least), ("maximum_nodes", counts.most)):
            if found is not None:
                fields[name] = found
