"""Tasks, nodes and CPUs: what sbatch works out of ``-N``, ``-n``, ``-c`` and their relatives.

sbatch starts from one task on one node and sends what it arrives at, so that slurmctld records the same job.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from slurm_rest.errors import SpecError

from .values import node_bounds

__all__ = ["add_tasks"]


class _Plan:
    """The numbers while they are worked out. ``most`` 0 and ``tasks`` None mean not set."""

    def __init__(self, values: Mapping[str, object], fields: Mapping[str, object]) -> None:
        self.values = values
        self.fields = fields
        self.least, self.most, self.is_set = 1, 0, False
        self.tasks: int | None = None
        self.send_tasks = False
        # Tasks that follow from GPUs are sent, but sbatch does not tell the job of them.
        self.from_tres = False

    def number(self, *names: str) -> int | None:
        """Return the first of these options that is given."""
        return next((found for name in names if isinstance(found := self.values.get(name), int)), None)

    def field(self, name: str) -> int | None:
        """Return a field that is already made."""
        found = self.fields.get(name)
        return found if isinstance(found, int) else None


def add_tasks(
    values: Mapping[str, object], fields: dict[str, object], variables: dict[str, str], flags: list[str]
) -> None:
    """Add the counts to ``fields``, and what sbatch tells the job about them to ``variables`` and ``flags``."""
    plan = _Plan(values, fields)
    _nodes(plan)
    _tasks(plan)
    _tasks_of_tres(plan)
    cpus = _cpus_per_task(plan, values)
    if "nodes" in values or plan.least != 1 or plan.most:
        _put_nodes(plan, fields, values)
    if plan.send_tasks and plan.tasks is not None:
        fields["tasks"] = plan.tasks
    if plan.send_tasks or "ntasks" in values:
        flags.append("EXACT_TASK_COUNT_REQUESTED")
        if not plan.from_tres:
            variables["SLURM_NTASKS"] = variables["SLURM_NPROCS"] = str(plan.tasks)
    if cpus is not None:
        fields["cpus_per_task"] = cpus
        flags.append("EXACT_CPU_COUNT_REQUESTED")
        variables["SLURM_CPUS_PER_TASK"] = str(cpus)
    least_cpus = max(plan.number("mincpus") or 0, cpus or 0)
    if least_cpus:
        fields["minimum_cpus_per_node"] = least_cpus
    fields["minimum_cpus"] = _minimum_cpus(plan, cpus)


def _cpus_per_task(plan: _Plan, values: Mapping[str, object]) -> int | None:
    for part in str(values.get("tres_per_task", "")).split(","):
        name, _, count = part.replace(":", "=").partition("=")
        if name == "cpu" and count.isdigit():
            return int(count)
    return plan.number("cpus_per_task")


def _nodes(plan: _Plan) -> None:
    nodes = plan.values.get("nodes")
    hosts = plan.fields.get("required_nodes")
    if isinstance(nodes, str):
        plan.least, plan.most, plan.is_set = node_bounds(nodes)
    elif isinstance(hosts, list) and hosts:
        plan.least = len(set(hosts))


def _tasks(plan: _Plan) -> None:
    given = plan.number("ntasks")
    per_node = plan.number("ntasks_per_node", "tasks_per_node")
    has_nodes = "nodes" in plan.values
    if given is not None:
        plan.tasks, plan.send_tasks = given, True
        if has_nodes and not plan.is_set:
            plan.most = min(plan.most, given) if plan.most else plan.most
            plan.least = min(plan.least, given)
        if per_node and not has_nodes:
            plan.least = ceil(given / per_node)
        return
    exact = plan.most in (0, plan.least)
    if (has_nodes or "extra_node_info" in plan.values) and exact and not per_node:
        plan.tasks = max(plan.least, 1)
        for name in ("sockets_per_node", "cores_per_socket", "threads_per_core"):
            found = plan.field(name)
            if found is not None and _is_given(plan, name):
                plan.tasks *= found
                plan.send_tasks = True


def _is_given(plan: _Plan, name: str) -> bool:
    return name in plan.values or "extra_node_info" in plan.values


def _tasks_of_tres(plan: _Plan) -> None:
    """Work out the tasks from GPUs, or for exact node counts when something is asked for each task."""
    per_tres = plan.number("ntasks_per_gpu", "ntasks_per_tres")
    if plan.send_tasks:
        return
    plan.from_tres = True
    gpus = _gpus(plan)
    if per_tres and gpus:
        plan.tasks, plan.send_tasks = gpus * per_tres, True
        return
    exact = "nodes" in plan.values and plan.least == plan.most
    if exact and (per_tres or "tres_per_task" in plan.fields):
        per_node = plan.number("ntasks_per_node", "tasks_per_node")
        if per_tres:
            plan.tasks, plan.send_tasks = plan.least * per_tres, True
        elif per_node:
            plan.tasks, plan.send_tasks = plan.least * per_node, True
        elif _cpus_per_task(plan, plan.values) is None:
            plan.tasks, plan.send_tasks = plan.least, True


def _gpus(plan: _Plan) -> int:
    nodes = max(plan.least, 1)
    sockets = plan.field("sockets_per_node") or 1
    for name, times in (("gpus", 1), ("gpus_per_node", nodes), ("gpus_per_socket", nodes * sockets)):
        if name in plan.values:
            counts = [part.rpartition(":")[2] for part in str(plan.values[name]).split(",")]
            return times * sum(int(count) for count in counts if count.isdigit())
    return 0


def _minimum_cpus(plan: _Plan, cpus: int | None) -> int:
    per_node = plan.number("ntasks_per_node", "tasks_per_node")
    estimate = plan.tasks
    if estimate is None:
        exact = "nodes" in plan.values and plan.least == plan.most
        estimate = plan.least * per_node if exact and per_node else 1
    if plan.values.get("overcommit") is True:
        return max(plan.least, 1)
    if cpus is not None:
        return estimate * cpus
    if plan.least == 0:
        return 0
    return estimate


def _put_nodes(plan: _Plan, fields: dict[str, object], values: Mapping[str, object]) -> None:
    if plan.is_set:
        # slurmrestd expands a set, or a step, by itself.
        fields["nodes"] = values["nodes"]
        return
    if plan.most and plan.most < plan.least:
        raise SpecError("--nodes asks for less than --ntasks needs", field="nodes", kind="conflict")
    fields["minimum_nodes"] = plan.least
    if plan.most:
        fields["maximum_nodes"] = plan.most
