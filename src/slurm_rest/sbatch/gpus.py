"""Generic resources against tasks and nodes: sbatch's last check, which also fills in what follows from the others.

A request may say so many GPUs for the job, each node, each socket and each task; they have to fit each other, and
where the number of tasks or nodes is missing, it follows from them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurm_rest.errors import SpecError

from .counts import gres_item

__all__ = ["Counts", "balance"]


_MOST_TASKS = 2**31 - 1


@dataclass(slots=True)
class Counts:
    """Numbers of the request; None where it does not say. ``balance`` changes them."""

    tasks: int | None
    least: int | None
    most: int | None
    per_node: int | None
    per_socket: int | None
    sockets: int | None
    cpus: int | None
    per_gpu: int | None


@dataclass(slots=True)
class _Resource:
    """What is asked of one resource (of one type): for the job, each node, each socket, each task; 0 for nothing."""

    name: str
    job: int = 0
    node: int = 0
    socket: int = 0
    task: int = 0
    total: int = 0
    cpus: int = 0


def _items(text: object) -> Iterator[tuple[str, str, int]]:
    for part in str(text).split(",") if text else ():
        found = gres_item(part)
        if found:
            yield found


def balance(fields: Mapping[str, object], counts: Counts) -> None:
    """Fill in ``counts``; SpecError for numbers that do not fit each other."""
    _tasks_of_nodes(fields, counts)
    resources, gpus_asked = _collect(fields, counts)
    _tasks_of_gpus(resources, counts, gpus_asked)
    for name, option in (("memory_per_tres", "mem_per_gpu"), ("cpus_per_tres", "cpus_per_gpu")):
        if name in fields and fields[name] != "gres/gpu:0" and not gpus_asked and not counts.per_gpu:
            raise _unfit(f"--{option.replace('_', '-')} needs a request for GPUs", option)
    for (name, kind), resource in resources.items():
        plain = resources.get((name, ""))
        if kind and plain and (plain.job or plain.node or plain.socket or plain.task):
            raise _unfit(f"{name} is asked for with and without a type", "gres")
        _check_order(resource, counts)
        _fit_nodes(resource, counts)
        _fit_tasks(resource, counts)
        _fit_places(resource, counts)


def _tasks_of_nodes(fields: Mapping[str, object], counts: Counts) -> None:
    asked = bool(fields.get("tres_per_task")) or counts.per_gpu is not None
    if not asked or counts.tasks is not None or counts.least is None or counts.least != counts.most:
        return
    if counts.per_gpu is not None:
        counts.tasks = counts.least * counts.per_gpu
    elif counts.per_node is not None:
        counts.tasks = counts.least * counts.per_node
    elif counts.cpus is None:
        counts.tasks = counts.least


def _collect(fields: Mapping[str, object], counts: Counts) -> tuple[dict[tuple[str, str], _Resource], bool]:
    found: dict[tuple[str, str], _Resource] = {}
    gpus_asked = False
    for text, slot in (("cpus_per_tres", "cpus"), ("tres_per_job", "job"), ("tres_per_node", "node"),
                       ("tres_per_socket", "socket"), ("tres_per_task", "task"), ("memory_per_tres", "")):  # fmt: skip
        for name, kind, count in _items(fields[text]) if text in fields else ():
            resource = found.setdefault((name, kind), _Resource(name))
            if slot:
                setattr(resource, slot, count)
            if slot in ("job", "node", "socket", "task"):
                gpus_asked = gpus_asked or name == "gpu"
                resource.total = max(resource.total, count * _times(slot, counts))
    return found, gpus_asked


def _times(slot: str, counts: Counts) -> int:
    if slot == "node":
        return counts.least if counts.least is not None else 1
    if slot == "task":
        return counts.tasks if counts.tasks is not None else 1
    if slot == "job":
        return 1
    if counts.least is not None and counts.sockets is not None:
        return counts.least * counts.sockets
    if counts.tasks is not None and counts.per_socket:
        return -(-counts.tasks // counts.per_socket)
    return counts.sockets if counts.sockets is not None else 1


def _tasks_of_gpus(resources: dict[tuple[str, str], _Resource], counts: Counts, gpus_asked: bool) -> None:
    if not counts.per_gpu:
        return
    if gpus_asked:
        counts.tasks = counts.per_gpu * sum(one.total for one in resources.values() if one.name == "gpu")
        if counts.tasks > _MOST_TASKS:
            raise _unfit(f"{counts.tasks} tasks are more than Slurm can count", "ntasks_per_gpu")
    elif counts.tasks:
        gpus = counts.tasks // counts.per_gpu
        if gpus and counts.tasks % counts.per_gpu:
            raise _unfit("--ntasks has to be a multiple of --ntasks-per-gpu", "ntasks")
        if gpus:
            resources[("gpu", "")] = _Resource("gpu", job=gpus, total=gpus)
    else:
        raise _unfit("--ntasks-per-gpu needs GPUs, or a number of nodes or tasks", "ntasks_per_gpu")


def _check_order(one: _Resource, counts: Counts) -> None:
    """The job has at least what a node has, a node what a socket or a task has."""
    name = f"--{one.name}s"
    if one.job and max(one.node, one.task, one.socket) > one.job:
        raise _unfit(f"{name} is less than what each node, socket or task asks for", "gpus")
    if one.node and max(one.task, one.socket) > one.node:
        raise _unfit(f"{name}-per-node is less than what each socket or task asks for", "gpus_per_node")
    if one.socket and counts.sockets is None:
        raise _unfit(f"{name}-per-socket needs --sockets-per-node", "gpus_per_socket")
    if one.cpus and counts.cpus is not None:
        raise _unfit("--cpus-per-gpu and --cpus-per-task exclude each other", "cpus_per_gpu")


def _fit_nodes(one: _Resource, counts: Counts) -> None:
    if one.job and one.node:
        if one.job % one.node:
            raise _unfit("--gpus is not a multiple of --gpus-per-node", "gpus")
        nodes = one.job // one.node
        if (counts.least is not None and nodes < counts.least) or (counts.most and nodes > counts.most):
            raise _unfit(f"--gpus and --gpus-per-node mean {nodes} nodes, but --nodes asks for others", "nodes")
        counts.least = counts.most = nodes
    if one.node and one.socket:
        if one.node % one.socket:
            raise _unfit("--gpus-per-node is not a multiple of --gpus-per-socket", "gpus_per_node")
        if one.node // one.socket != counts.sockets:
            raise _unfit("--gpus-per-node and --gpus-per-socket mean other --sockets-per-node", "sockets_per_node")


def _fit_tasks(one: _Resource, counts: Counts) -> None:
    if not one.task:
        return
    if one.job:
        if one.job % one.task:
            raise _unfit("--gpus is not a multiple of --gpus-per-task", "gpus")
        tasks = one.job // one.task
        if counts.tasks not in (None, tasks):
            raise _unfit(f"--gpus and --gpus-per-task mean {tasks} tasks, but --ntasks asks for others", "ntasks")
        counts.tasks = tasks
    elif counts.tasks is not None:
        one.job = counts.tasks * one.task
    else:
        raise _unfit("--gpus-per-task and --tres-per-task need --gpus, --ntasks or an exact --nodes", "gpus_per_task")


def _fit_places(one: _Resource, counts: Counts) -> None:
    if one.node and one.task:
        if one.node % one.task:
            raise _unfit("--gpus-per-node is not a multiple of --gpus-per-task", "gpus_per_node")
        if counts.per_node not in (None, 0, one.node // one.task):
            raise _unfit("--gpus-per-node and --gpus-per-task mean other --ntasks-per-node", "ntasks_per_node")
    if one.socket and one.task:
        if one.socket % one.task:
            raise _unfit("--gpus-per-socket is not a multiple of --gpus-per-task", "gpus_per_socket")
        if counts.per_socket not in (None, 0, one.socket // one.task):
            raise _unfit("--gpus-per-socket and --gpus-per-task mean other --ntasks-per-socket", "ntasks_per_socket")
    if one.cpus and one.task and counts.cpus not in (None, 0, one.cpus * one.task):
        raise _unfit("--cpus-per-gpu and --gpus-per-task mean other --cpus-per-task", "cpus_per_task")
    if one.job and counts.least is not None and one.job < counts.least:
        raise _unfit(f"{one.job} GPUs are fewer than {counts.least} nodes", "gpus")
    if one.job and counts.most and one.job < counts.most:
        counts.most = one.job


def _unfit(message: str, name: str) -> SpecError:
    return SpecError(message, field=name, kind="conflict", hint="sbatch makes no job of numbers that do not fit.")
