"""Writes the records that slurmrestd sends, in the shape of a release and an API version."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from slurm_rest.records import ranges
from slurm_rest.sbatch.hosts import ranged

from .habits import habits_of
from .jobs import FakeJob
from .nodes import Node, Partition
from .runner import expand, output_of
from .shapes import RELEASES, Record, fill, shape

if TYPE_CHECKING:
    from .cluster import FakeCluster

__all__ = ["Answers"]

_NEVER = _NO_TASK = 4294967294
_INFINITE = float("inf")
# A job without a time limit is expected to end a year after its start.
_YEAR = 365 * 86400
_DEFAULTS = ("USING_DEFAULT_ACCOUNT", "USING_DEFAULT_PARTITION", "USING_DEFAULT_QOS", "USING_DEFAULT_WCKEY")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class Answers:
    """The records of one cluster for one API version."""

    def __init__(self, cluster: FakeCluster, version: str) -> None:
        self._cluster, self.release, self.version = cluster, cluster.release, version
        self._habits = habits_of(cluster.release)

    def meta(self, service: str = "slurmctld") -> Record:
        """Return ``meta``, which every answer has."""
        record = self._shape("meta")
        release = RELEASES[self.release]
        return fill(
            record,
            {
                "plugin/type": f"openapi/{service}",
                "plugin/name": f"Slurm OpenAPI {service}",
                "slurm/release": release,
                "slurm/cluster": self._cluster.name,
                "client/source": "127.0.0.1",
            },
        )

    def _shape(self, kind: str) -> Record:
        return shape(self.release, self.version, kind)

    # --- jobs in the controller -----------------------------------------------------------------------------

    def state_rows(self, jobs: Iterable[FakeJob]) -> list[Record]:
        """Return the elements of ``jobs/state/``."""
        # A task that has started comes under its own id, but in v0.0.40 under the array's.
        own = self.version != "v0.0.40"
        rows: list[Record] = []
        for job in jobs:
            label = str(job.id)
            if job.task_id is not None:
                task = "*" if job.is_remainder else job.task_id
                label = f"{(job.id if own else 0) or job.array_id}_{task}"
            elif job.offset is not None:
                label = f"{job.id}+{job.offset}"
            rows.append({"job_id": label, "state": job.states})
        return rows

    def job_records(self, jobs: Sequence[FakeJob]) -> list[Record]:
        """Return the elements of ``jobs``: tasks of an array that have no id of their own yet are one record."""
        records: list[Record] = []
        packed: dict[int, list[FakeJob]] = {}
        for job in jobs:
            if job.id:
                records.append(self._job(job))
            else:
                packed.setdefault(job.array_id, []).append(job)
        # What has the array's own id comes first: what still waits, or the task that started last.
        records.sort(key=lambda one: one["job_id"] != _number(one["array_job_id"]))
        return [*(self._packed(tasks) for tasks in packed.values()), *records]

    def _packed(self, tasks: list[FakeJob]) -> Record:
        whole = copy.copy(tasks[0])
        whole.task_id = _NO_TASK
        record = self._job(whole)
        limit = f"%{tasks[0].array_limit}" if tasks[0].array_limit else ""
        values = {
            "job_id": tasks[0].array_id,
            "array_task_id": None,
            "array_task_string": "" if whole.is_remainder else ranges(task.task_id or 0 for task in tasks) + limit,
            "step_id/job_id": tasks[0].array_id,
        }
        return fill(record, values)

    def _job(self, job: FakeJob) -> Record:
        record = self._shape("job")
        started = bool(job.nodes)
        cluster, request = self._cluster, job.request
        partition = cluster.machines.partition_of(job).name
        tres = f"cpu={request.cpus},mem={request.memory or 16384}M,node={request.node_count},billing={request.cpus}"
        values: Record = {
            "account": request.text("account"),
            "association_id": 0,
            "array_job_id": job.array_id,
            "array_task_id": job.task_id,
            "array_max_tasks": job.array_limit,
            "batch_host": job.nodes[0] if started else "",
            "billable_tres": float(request.cpus) if started else None,
            "cluster": cluster.name,
            "command": request.argv[0] if request.argv else "",
            "comment": job.comment,
            "cpus": request.cpus,
            "cpus_per_task": request.cpus_per_task,
            "current_working_directory": request.directory,
            "dependency": request.dependency if job.is_pending else "",
            # That of the steps, of which a script without srun has none.
            "derived_exit_code": _exit_record(0, 0),
            "eligible_time": 0 if job.held else int(max(job.submit_time, job.begin)),
            "exit_code": _exit_record(job.exit_code, job.signal),
            "exclusive": [],
            "flags": self._flags(job),
            "group_id": job.owner.uid,
            "group_name": job.owner.name,
            "het_job_id": job.het_id,
            "het_job_id_set": ranges(one.id for one in cluster.members(job.het_id)) if job.het_id else "",
            "het_job_offset": job.offset or 0,
            "hold": bool(job.held),
            "job_id": job.id or job.array_id,
            "job_state": job.states,
            "last_sched_evaluation": int(job.start_time or job.submit_time),
            "mail_user": job.owner.name,
            "memory_per_node": request.memory or 0,
            "name": request.name or "allocation",
            "node_count": len(job.nodes) or request.node_count,
            "nodes": ranged(list(job.nodes)) if started else "",
            "partition": request.partition or partition,
            "priority": 0 if job.held else 1,
            "qos": request.text("qos") or "normal",
            "restart_cnt": job.restarts,
            "shared": [],
            # 24.11 repeats the path of the output for errors that go there too.
            "standard_error": self._path(
                job, request.text("standard_error") or (output_of(job) if self._habits.errors_repeat_output else "")
            ),
            "standard_input": self._path(job, request.text("standard_input")) or record["standard_input"],
            "standard_output": self._path(job, output_of(job)),
            "state_description": job.description,
            "state_reason": job.reason,
            "stderr_expanded": self._path(job, request.text("standard_error"), always=True),
            "stdin_expanded": self._path(job, request.text("standard_input"), always=True),
            "stdout_expanded": self._path(job, output_of(job), always=True),
            "step_id/job_id": job.id,
            "tasks": request.tasks,
            "time_limit": _INFINITE if job.time_limit is None else job.time_limit,
            "tres_alloc_str": tres if started else "",
            "tres_req_str": tres,
            "user_id": job.owner.uid,
            "user_name": job.owner.name,
            **self._times(job),
        }
        if not started:
            values["job_resources"] = {} if self.version == "v0.0.40" else None
        else:
            values["job_resources/nodes/list"] = ranged(list(job.nodes))
            values["job_resources/cpus"] = request.cpus
        return fill(record, values)

    def _times(self, job: FakeJob) -> Record:
        end = job.end_time
        if not end and job.start_time:
            end = job.start_time + (_YEAR if job.time_limit is None else job.time_limit * 60)
        return {
            "accrue_time": int(job.submit_time),
            "end_time": int(end),
            "start_time": int(job.start_time or (job.begin if job.is_pending else 0)),
            "submit_time": int(job.submit_time),
        }

    def _flags(self, job: FakeJob) -> list[str]:
        running = ("JOB_WAS_RUNNING",) if job.base == "RUNNING" else ()
        held = ("DEPENDENT",) if job.held else ()
        return [*running, *_DEFAULTS, *held, "PARTITION_ASSIGNED"]

    def _path(self, job: FakeJob, path: str, *, always: bool = False) -> str:
        """Return a path: up to v0.0.42 expanded, from v0.0.43 on as it was asked for, beside the expanded one."""
        if not path:
            return ""
        # 24.11 leaves the node's pattern in the record.
        node = None if self._habits.keeps_node_pattern else job.nodes[0] if job.nodes else "(null)"
        return expand(job, path, node=node) if always or "stdout_expanded" not in self._shape("job") else path

    # --- jobs in accounting ---------------------------------------------------------------------------------

    def accounting_records(self, jobs: Sequence[FakeJob], *, steps: bool = True) -> list[Record]:
        """Return the elements of slurmdb's ``jobs``, one for each incarnation; waiting tasks are one record."""
        records: list[Record] = []
        packed: dict[tuple[int, str], list[FakeJob]] = {}
        for job in jobs:
            if job.id:
                records.append(self._accounting_job(job, steps=steps))
            else:
                packed.setdefault((job.array_id, job.base), []).append(job)
        for tasks in packed.values():
            record = self._accounting_job(tasks[0], steps=steps)
            bits = sum(1 << (task.task_id or 0) for task in tasks)
            values = {"job_id": tasks[0].array_id, "array/task_id": None, "array/task": f"0x{bits:X}"}
            records.append(fill(record, values))
        return records

    def _accounting_job(self, job: FakeJob, *, steps: bool) -> Record:
        record = self._shape("accounting_job")
        request, started = job.request, bool(job.nodes)
        partition = self._cluster.machines.partition_of(job).name
        now = self._cluster.now()
        # 24.11 keeps no signal of what was cancelled or took too long.
        silent = self._habits.forgets_signals and job.base in ("CANCELLED", "TIMEOUT")
        code, signal = (0, 0) if silent else (job.exit_code, job.signal)
        end = int(job.end_time)
        values: Record = {
            "account": request.text("account"),
            "allocation_nodes": len(job.nodes),
            "array/job_id": job.array_id,
            "array/limits/max/running/tasks": job.array_limit,
            "array/task_id": job.task_id,
            "cluster": self._cluster.name,
            # The comment reaches accounting with the end of the job.
            "comment/job": _stored(job.comment) if job.is_over else "",
            # Of a script that never began there is no exit code at all: the node failed to launch it.
            "derived_exit_code": _exit_record(0, 0, status="PENDING" if _is_unlaunched(job) else ""),
            "exit_code": _exit_record(code, signal),
            "group": job.owner.name,
            "het/job_id": job.het_id,
            "het/job_offset": job.offset if job.het_id else None,
            "hold": bool(job.held),
            "job_id": job.id,
            "kill_request_user": job.killed_by,
            "name": _stored(request.name or "allocation"),
            "nodes": ranged(list(job.nodes)) if started else "None assigned",
            "partition": request.partition or partition,
            "priority": 0 if job.held else 1,
            "qos": request.text("qos") or "normal",
            "required/CPUs": request.cpus,
            "restart_cnt": job.restarts,
            "state/current": job.states,
            "state/reason": "None",
            "stderr": request.text("standard_error"),
            "stdin": request.text("standard_input"),
            "stdout": output_of(job),
            "stderr_expanded": self._path(job, request.text("standard_error"), always=True),
            "stdin_expanded": self._path(job, request.text("standard_input"), always=True),
            "stdout_expanded": self._path(job, output_of(job), always=True),
            "time/elapsed": int((job.end_time or now) - job.start_time) if started else 0,
            "time/eligible": 0 if job.held else int(max(job.submit_time, job.begin)),
            "time/end": end if job.is_over or "REQUEUED" in job.flags else 0,
            "time/limit": _INFINITE if job.time_limit is None else job.time_limit,
            "time/start": int(job.start_time) if started else (_NEVER if job.is_over else 0),
            "time/submission": int(job.submit_time),
            "user": job.owner.name,
            "working_directory": request.directory,
        }
        fill(record, values)
        association = {"account": "", "user": "", "cluster": self._cluster.name}
        fill(record, {f"association/{key}": value for key, value in association.items()})
        if not started:
            fill(record, {"tres/allocated": []})
        self._set_steps(record, job, end, steps=steps and started)
        return record

    def _set_steps(self, record: Record, job: FakeJob, end: int, *, steps: bool) -> None:
        found = record.get("steps")
        if not steps or not isinstance(found, list):
            record["steps"] = []
            return
        state = job.states[0] if job.base != "PENDING" else "CANCELLED"
        times = {"time/start": int(job.start_time), "time/end": end or 0, "time/elapsed": 0, "state": [state]}
        nodes = {"nodes/count": 1, "nodes/range": job.nodes[0], "nodes/list": [job.nodes[0]]}
        step = {"step/id": f"{job.id}.batch", "exit_code": _exit_record(job.exit_code, job.signal)}
        record["steps"] = [fill(found[0], {**times, **nodes, **step})]

    # --- the rest -------------------------------------------------------------------------------------------

    def node(self, node: Node) -> Record:
        """Return one element of ``nodes``."""
        values: Record = {
            "name": node.name,
            "hostname": node.name,
            "cpus": node.cpus,
            "effective_cpus": node.cpus,
            "alloc_cpus": node.used,
            "alloc_idle_cpus": node.cpus - node.used,
            "real_memory": node.memory,
            "features": list(node.features),
            "active_features": list(node.features),
            "state": node.states,
            "reason": node.reason,
            "partitions": [partition.name for partition in self._cluster.partitions],
            "tres": f"cpu={node.cpus},mem={node.memory}M,billing={node.cpus}",
            "tres_used": f"cpu={node.used}" if node.used else "",
            "version": RELEASES[self.release],
        }
        return fill(self._shape("node"), values)

    def partition(self, partition: Partition) -> Record:
        """Return one element of ``partitions``."""
        nodes = self._cluster.machines.nodes
        values: Record = {
            "name": partition.name,
            "nodes/configured": ranged([node.name for node in nodes]),
            "nodes/total": len(nodes),
            "cpus/total": sum(node.cpus for node in nodes),
            "maximums/time": _INFINITE if partition.max_time is None else partition.max_time,
            "maximums/nodes": _INFINITE if partition.max_nodes is None else partition.max_nodes,
            "maximums/oversubscribe/flags": [],
            "partition/state": ["UP"],
            "flags": ["DEFAULT"] if partition.is_default else [],
            "cluster": "",
        }
        return fill(self._shape("partition"), values)

    def diag(self) -> Record:
        """Return ``statistics``."""
        cluster = self._cluster
        jobs = list(cluster.all_jobs())
        counts = {f"jobs_{name}": count for name, count in cluster.counts.items()}
        values: Record = {
            **counts,
            "jobs_pending": sum(job.is_pending for job in jobs),
            "jobs_running": sum(job.base == "RUNNING" for job in jobs),
            "req_time": int(cluster.now()),
            "req_time_start": int(cluster.started_at),
            "job_states_ts": int(cluster.now()),
        }
        return fill(self._shape("diag"), values)

    def pings(self, *, is_up: bool = True, status: str = "") -> list[Record]:
        """Return the elements of ``pings``; ``status`` says what is wrong."""
        values: Record = {
            "hostname": "fake",
            "responding": is_up,
            "pinged": "UP" if is_up else "DOWN",
            "status": status or "No error",
        }
        return [fill(self._shape("ping"), values)]

    def example(self, kind: str, **values: object) -> list[Record]:
        """Return a list with one record whose content does not matter here."""
        return [fill(self._shape(kind), values)]


def _number(value: object) -> object:
    return value.get("number") if isinstance(value, dict) else value


def _is_unlaunched(job: FakeJob) -> bool:
    return job.base == "CANCELLED" and bool(job.nodes) and not job.exit_code and not job.signal


def _exit_record(code: int, signal: int, status: str = "") -> Record:
    status = status or ("SIGNALED" if signal else "ERROR" if code else "SUCCESS")
    unset: Record = {"set": False, "infinite": False, "number": 0}
    return {
        "status": [status],
        "return_code": unset if signal else {"set": True, "infinite": False, "number": code},
        "signal": {
            "id": {"set": True, "infinite": False, "number": signal} if signal else unset,
            "name": _signal_name(signal),
        },
    }


def _signal_name(number: int) -> str:
    if not number:
        return ""
    # slurmrestd has names for a few; others are shown as numbers.
    names = {1: "HUP", 2: "INT", 3: "QUIT", 9: "KILL", 10: "USR1", 12: "USR2", 15: "TERM"}
    return names.get(number, str(number))


def _stored(text: str) -> str:
    """Return a text as accounting keeps it."""
    return _NOT_UTF8.sub("?", text).replace('"', "`")
