"""What sbatch makes of its options: the fields of the job description and the variables of the job.

One function for each topic; each takes the canonical values and adds to a Derived. The facts are those of sbatch
24.11.5 and 26.05.5, observed side by side with what slurmctld recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from slurm_rest.errors import SpecError

from .option import Option
from .options import OPTIONS
from .tasks import add_tasks
from .times import resolve
from .values import MAIL_NAMES, SIGNAL_NUMBERS

__all__ = ["Derived", "Place", "derive"]

Values = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when a job is submitted: the directory that relative names start from, and naive local time."""

    directory: str
    now: datetime
    release: str = "24.11"
    read_file: Callable[[str], bytes] | None = None


@dataclass(slots=True)
class Derived:
    """Fields of the REST job description, and variables that sbatch adds to the job's environment."""

    fields: dict[str, object] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)


def derive(values: Values, place: Place) -> Derived:
    """Return what sbatch would send for one component."""
    made = Derived()
    for row in OPTIONS:
        if row.put and row.name in values:
            made.fields[row.put] = values[row.name]
    for step in (_times, _memory, _files, _flags, _sharing, _words, _tres, _hosts, _hint):
        step(values, made, place)
    add_tasks(values, made.fields, made.variables, made.flags)
    _own_variables(values, made)
    if made.flags:
        made.fields["flags"] = made.flags
    return made


def no_val(number: object) -> dict[str, object]:
    """Return a number in the form that slurmrestd takes for set; without ``set`` it would be unset, silently."""
    return {"set": True, "infinite": False, "number": number}


def _minutes(value: object) -> dict[str, object]:
    if isinstance(value, timedelta):
        return no_val(int(value.total_seconds()) // 60)
    return {"set": False, "infinite": True, "number": 0}


def _times(values: Values, made: Derived, place: Place) -> None:
    fields = made.fields
    if "time" in values:
        fields["time_limit"] = _minutes(values["time"])
    if "time_min" in values:
        fields["time_minimum"] = _minutes(values["time_min"])
    begin = deadline = None
    if "begin" in values:
        begin = _moment(values["begin"], place)
        fields["begin_time"] = no_val(begin)
    if "deadline" in values:
        deadline = _moment(values["deadline"], place)
        fields["deadline"] = deadline
    if deadline is not None and deadline < (begin or int(place.now.timestamp())):
        raise SpecError("The deadline is before the job may begin", field="deadline", kind="conflict")
    delay = values.get("delay_boot")
    if isinstance(delay, timedelta):
        fields["delay_boot"] = int(delay.total_seconds())
    if "signal" in values:
        flags, number, seconds = values["signal"]  # type: ignore[misc]  # what its grammar returns
        names = {number: name for name, number in SIGNAL_NUMBERS.items()}
        fields["kill_warning_signal"] = names.get(number, str(number))
        fields["kill_warning_delay"] = no_val(seconds)
        words = {"B": "BATCH_JOB", "R": "RESERVATION_JOB"}
        if flags:
            fields["kill_warning_flags"] = [words[flag] for flag in "BR" if flag in flags]


def _moment(value: object, place: Place) -> int:
    return resolve(value, place.now) if isinstance(value, (str, int)) else 0


def _memory(values: Values, made: Derived, place: Place) -> None:
    if "mem" in values:
        made.fields["memory_per_node"] = no_val(values["mem"])
    if "mem_per_cpu" in values:
        made.fields["memory_per_cpu"] = no_val(values["mem_per_cpu"])
    if "mem_per_gpu" in values:
        _need(
            values, "mem_per_gpu", "gpus", "gpus_per_node", "gpus_per_socket", "gpus_per_task", "gres", "tres_per_task"
        )
        made.fields["memory_per_tres"] = f"gres/gpu:{values['mem_per_gpu']}"
        made.variables["SLURM_MEM_PER_GPU"] = str(values["mem_per_gpu"])
    if "mem_update" in values:
        margin, _, delay = str(values["mem_update"]).partition("@")
        made.fields["memory_update_margin"] = int(margin) if margin.isdigit() else 0
        made.fields["memory_update_delay"] = int(delay) if delay.isdigit() else 0


def _need(values: Values, name: str, *others: str) -> None:
    if not any(other in values for other in others):
        named = " or ".join(f"--{other.replace('_', '-')}" for other in others[:2])
        raise SpecError(f"--{name.replace('_', '-')} needs {named}", field=name, kind="conflict")


def _files(values: Values, made: Derived, place: Place) -> None:
    for name in ("input", "output", "error"):
        if name in values:
            path = str(values[name])
            if path.lower() == "none":
                path = "/dev/null"
            made.fields[f"standard_{name}"] = path if path.startswith("/") else f"{place.directory}/{path}"
    made.fields.setdefault("standard_input", "/dev/null")


_FLAG_OF = {
    "spread_job": "SPREAD_JOB",
    "use_min_nodes": "PREFER_MINIMUM_NODE_COUNT",
    "stepmgr": "STEPMGR_ENABLED",
    "consolidate_segments": "CONSOLIDATE_SEGMENTS",
    "spread_segments": "SPREAD_SEGMENTS",
}
_GRES_FLAG_OF = {
    "disable-binding": "GRES_BINDING_DISABLED",
    "enforce-binding": "GRES_BINDING_ENFORCED",
    "one-task-per-sharing": "GRES_ONE_TASK_PER_SHARING",
    "multiple-tasks-per-sharing": "GRES_MULTIPLE_TASKS_PER_SHARING",
}


def _flags(values: Values, made: Derived, place: Place) -> None:
    made.flags += [flag for name, flag in _FLAG_OF.items() if values.get(name) is True]
    for word in _tuple(values.get("gres_flags")):
        made.flags.append(_GRES_FLAG_OF[word])
    if "kill_on_invalid_dep" in values:
        made.flags.append("KILL_INVALID_DEPENDENCY" if values["kill_on_invalid_dep"] else "NO_KILL_INVALID_DEPENDENCY")
    if "no_requeue" in values:
        made.fields["requeue"] = values["no_requeue"] is not True
    if "requeue" in values:
        made.fields["requeue"] = values["requeue"] is not False
        if values["requeue"] == "expedite":
            made.flags.append("EXPEDITED_REQUEUE")
    if values.get("no_kill") is True:
        made.fields["kill_on_node_fail"] = False
    if values.get("hold") is not True:
        made.fields.pop("hold", None)
        priority = values.get("priority")
        if priority:
            made.fields["priority"] = no_val(priority)
    for name in ("contiguous", "overcommit", "reboot"):
        if values.get(name) is not True:
            made.fields.pop(name, None)


def _tuple(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _sharing(values: Values, made: Derived, place: Place) -> None:
    exclusive = values.get("exclusive")
    if exclusive:
        made.fields["shared"] = ["none" if exclusive in (True, "exclusive") else exclusive]
    if values.get("oversubscribe") is True:
        made.fields["shared"] = ["oversubscribe"]


def _words(values: Values, made: Derived, place: Place) -> None:
    fields = made.fields
    mail = _tuple(values.get("mail_type"))
    if mail:
        fields["mail_type"] = [MAIL_NAMES[word][0] for word in mail]
    if "profile" in values:
        fields["profile"] = [word.upper() for word in _tuple(values["profile"])] or ["NONE"]
    if "open_mode" in values:
        fields["open_mode"] = [str(values["open_mode"]).upper()]
    if "wait_all_nodes" in values:
        fields["wait_all_nodes"] = values["wait_all_nodes"] == 1
    if "core_spec" in values:
        fields["core_specification"] = values["core_spec"]
    if "switches" in values:
        count, wait = values["switches"]  # type: ignore[misc]  # what its grammar returns
        fields["required_switches"] = count
        if wait is not None:
            fields["wait_for_switch"] = int(wait.total_seconds())
    if "segment" in values:
        fields["segment_size"] = no_val(values["segment"])
    if "resources" in values:
        fields["licenses"] = ",".join(str(values[name]) for name in ("licenses", "resources") if name in values)
    if "mem_bind" in values:
        _mem_bind(values["mem_bind"], made)


def _mem_bind(value: object, made: Derived) -> None:
    flags, kind, numbers = value  # type: ignore[misc]  # what its grammar returns
    names = {"map_mem": "MAP", "mask_mem": "MASK"}
    words = [names.get(kind, kind.upper())] if kind else []
    words += [flag.upper() for flag in ("verbose", "prefer", "sort") if flag in flags]
    if words:
        made.fields["memory_binding_type"] = words
    if numbers:
        made.fields["memory_binding"] = numbers.replace("0x", "")
    shown = [flag for flag in ("verbose", "prefer", "sort") if flag in flags]
    made.variables["SLURM_MEM_BIND"] = ",".join([*shown, *([f"{kind}:{numbers}" if numbers else kind] if kind else [])])
    made.variables["SLURM_MEM_BIND_VERBOSE"] = "verbose" if "verbose" in flags else "quiet"
    if "sort" in flags:
        made.variables["SLURM_MEM_BIND_SORT"] = "sort"


def _gpu_parts(value: object) -> list[str]:
    return [part for part in str(value).split(",") if part]


def _tres(values: Values, made: Derived, place: Place) -> None:
    fields, variables = made.fields, made.variables
    if "gpus" in values:
        fields["tres_per_job"] = ",".join(f"gres/gpu:{part}" for part in _gpu_parts(values["gpus"]))
        variables["SLURM_GPUS"] = str(values["gpus"])
    per_node = [f"gres/gpu:{part}" for part in _gpu_parts(values.get("gpus_per_node", ""))]
    if per_node:
        variables["SLURM_GPUS_PER_NODE"] = str(values["gpus_per_node"])
    gres = str(values.get("gres", ""))
    if gres and gres != "none":
        per_node += [part if part.startswith("gres/") else f"gres/{part}" for part in gres.split(",")]
    if per_node:
        fields["tres_per_node"] = ",".join(per_node)
    if "gpus_per_socket" in values:
        _need(values, "gpus_per_socket", "sockets_per_node", "extra_node_info")
        fields["tres_per_socket"] = ",".join(f"gres/gpu:{part}" for part in _gpu_parts(values["gpus_per_socket"]))
        variables["SLURM_GPUS_PER_SOCKET"] = str(values["gpus_per_socket"])
    if "gpu_freq" in values:
        fields["tres_freq"] = f"gpu:{values['gpu_freq']}"
        variables["SLURM_GPU_FREQ"] = str(values["gpu_freq"])
    if "cpus_per_gpu" in values:
        fields["cpus_per_tres"] = f"gres/gpu:{values['cpus_per_gpu']}"
        variables["SLURM_CPUS_PER_GPU"] = str(values["cpus_per_gpu"])
    for name, variable in (("ntasks_per_tres", "SLURM_NTASKS_PER_TRES"), ("ntasks_per_gpu", "SLURM_NTASKS_PER_GPU")):
        if name in values:
            fields["ntasks_per_tres"] = values[name]
            variables[variable] = str(values[name])
    _tres_per_task(values, made, place)


def _tres_per_task(values: Values, made: Derived, place: Place) -> None:
    """Join what ``-c``, ``--gpus-per-task`` and ``--tres-per-task`` ask for each task, and bind GPUs to tasks."""
    parts: list[str] = []
    binds: list[str] = []
    if "cpus_per_task" in values:
        parts.append(f"cpu={values['cpus_per_task']}")
    for item in str(values.get("tres_per_task", "")).split(",") if "tres_per_task" in values else ():
        parts.append(_task_tres(item))
    gpus = _gpu_parts(values.get("gpus_per_task", ""))
    if gpus and place.release < "26.05":
        # 24.11 reads the first of a list only.
        gpus = gpus[:1]
    for part in gpus:
        kind, _, count = part.rpartition(":")
        parts.append(f"gres/gpu:{kind}={count}" if kind else f"gres/gpu={count}")
    for part in parts:
        name, _, count = part.rpartition("=" if "=" in part else ":")
        if name.startswith("gres/"):
            binds.append(f"{name.partition(':')[0]}:per_task:{count}")
    bind = _given_bind(values)
    if bind:
        binds = [bind, *(one for one in binds if one.split(":")[0] not in bind)]
    if parts:
        made.fields["tres_per_task"] = made.variables["SLURM_TRES_PER_TASK"] = ",".join(parts)
    if binds:
        made.fields["tres_bind"] = made.variables["SLURM_TRES_BIND"] = "+".join(binds)
    if any(part.startswith("gres/gpu") for part in parts):
        _need(
            values, "gpus_per_task" if gpus else "tres_per_task", "gpus", "ntasks", "ntasks_per_node", "ntasks_per_gpu"
        )


_NOT_PER_TASK = frozenset({"mem", "energy", "node", "billing", "fs", "vmem", "pages", "bb"})


def _task_tres(item: str) -> str:
    """Return one element in Slurm's form: ``gres:gpu:1`` and ``gres/gpu=1`` are the same."""
    for prefix in ("gres:", "license:"):
        if item.startswith(prefix):
            item = prefix[:-1] + "/" + item[len(prefix) :]
    name, equals, count = item.rpartition("=") if "=" in item else item.rpartition(":")
    if not equals:
        return item
    if name.split("/")[0] in _NOT_PER_TASK:
        raise SpecError(f"--tres-per-task cannot count {name}", field="tres_per_task", kind="value")
    if name == "cpu":
        return f"cpu={count}"
    return f"{name}:{count}" if ":" in item and "=" not in item else f"{name}={count}"


def _given_bind(values: Values) -> str:
    if "gpu_bind" in values:
        return f"gres/gpu:{values['gpu_bind']}"
    return str(values.get("tres_bind", ""))


def _hosts(values: Values, made: Derived, place: Place) -> None:
    from .hosts import hosts_of

    for name, where in (("nodelist", "required_nodes"), ("nodefile", "required_nodes"), ("exclude", "excluded_nodes")):
        if name in values:
            made.fields[where] = hosts_of(name, str(values[name]), values, place.read_file)


_HINTS_YIELD = ("ntasks_per_core", "threads_per_core", "extra_node_info")
_HINTS_YIELD_26 = ("cores_per_socket", "sockets_per_node")


def _hint(values: Values, made: Derived, place: Place) -> None:
    """Apply ``-B`` and ``--hint``; a hint yields silently to options that say the same more exactly."""
    names = ("sockets_per_node", "cores_per_socket", "threads_per_core")
    for name, part in zip(names, str(values.get("extra_node_info", "")).split(":"), strict=False):
        if part.isdigit():
            made.fields[name] = int(part)
    if "hint" not in values:
        return
    yields = _HINTS_YIELD + (_HINTS_YIELD_26 if place.release >= "26.05" else ())
    if any(name in values for name in yields):
        return
    for word in str(values["hint"]).split(","):
        if word in ("compute_bound", "nomultithread", "memory_bound"):
            made.fields["threads_per_core"] = 1
        if word == "memory_bound":
            made.fields["cores_per_socket"] = 1
        if word == "multithread":
            made.fields["tasks_per_core"] = 65535
    made.variables["SLURM_HINT"] = str(values["hint"])


_VARIABLE_OF = {
    "dependency": "SLURM_JOB_DEPENDENCY",
    "container": "SLURM_CONTAINER",
    "container_id": "SLURM_CONTAINER_ID",
    "container_type": "SLURM_CONTAINER_TYPE",
    "ntasks_per_core": "SLURM_NTASKS_PER_CORE",
    "ntasks_per_node": "SLURM_NTASKS_PER_NODE",
    "tasks_per_node": "SLURM_NTASKS_PER_NODE",
    "ntasks_per_socket": "SLURM_NTASKS_PER_SOCKET",
}


def _own_variables(values: Values, made: Derived) -> None:
    for name, variable in _VARIABLE_OF.items():
        if name in values:
            made.variables[variable] = str(values[name])
    if "threads_per_core" in made.fields:
        made.variables["SLURM_THREADS_PER_CORE"] = str(made.fields["threads_per_core"])


def rows_with_fields() -> dict[str, Option]:
    """Return the option behind each REST field that one option makes by itself."""
    return {row.put: row for row in OPTIONS if row.put}
