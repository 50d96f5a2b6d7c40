"""What sbatch makes of its options: the fields of the job description and the variables of the job.

One function for each topic; each takes the canonical values and adds to a Derived. The facts are those of sbatch
24.11.5 and 26.05.5, observed side by side with what slurmctld recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import cast

from slurm_rest.errors import SpecError

from .binding import MAIL_NAMES, SIGNAL_NUMBERS
from .derived import Derived, Place
from .hosts import hosts_of, ranged
from .options import OPTIONS
from .tasks import add_tasks
from .times import resolve
from .tres import add_tres
from .values import hint_words

__all__ = ["FLAG_OF", "GRES_FLAG_OF", "INFINITE", "INVALID_DEP_OF", "PUT", "derive"]

Values = Mapping[str, object]

PUT = tuple((row.name, row.put) for row in OPTIONS if row.put)
_PUT_OF = dict(PUT)
_SIGNAL_NAMES = {number: name for name, number in SIGNAL_NUMBERS.items()}


def derive(values: Values, place: Place) -> Derived:
    """Return what sbatch would send for one component; ``values`` are in the order of OPTIONS."""
    made = Derived()
    for name, value in values.items():
        if name in _PUT_OF:
            made.fields[_PUT_OF[name]] = value
    for step in (_times, _memory, _files, _flags, _sharing, _words, _hint, add_tres, _hosts):
        step(values, made, place)
    add_tasks(values, made.fields, made.variables, made.flags, release=place.release)
    if str(values.get("distribution", "")).startswith("arbitrary"):
        made.fields["required_nodes"] = [ranged(cast("list[str]", made.fields["required_nodes"]))]
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
    begin = _moment(values.get("begin"), place)
    deadline = _moment(values.get("deadline"), place)
    if begin:
        fields["begin_time"] = no_val(begin)
    if deadline:
        fields["deadline"] = deadline
    if begin and deadline and deadline < begin:
        hint = "Give a later --deadline or an earlier --begin."
        raise SpecError("The deadline is before the job may begin", field="deadline", kind="conflict", hint=hint)
    delay = values.get("delay_boot")
    if delay is not None:
        fields["delay_boot"] = int(delay.total_seconds()) if isinstance(delay, timedelta) else INFINITE
    if "signal" in values:
        flags, number, seconds = cast("tuple[str, int, int]", values["signal"])
        fields["kill_warning_signal"] = _SIGNAL_NAMES.get(number, str(number))
        fields["kill_warning_delay"] = no_val(seconds)
        words = {"B": "BATCH_JOB", "R": "RESERVATION_JOB"}
        if flags:
            fields["kill_warning_flags"] = [words[flag] for flag in "BR" if flag in flags]


# The number that stands for no limit in fields without a form of their own for it.
INFINITE = 0xFFFFFFFF


def _moment(value: object, place: Place) -> int:
    return resolve(value, place.now) if isinstance(value, (str, int)) else 0


def _memory(values: Values, made: Derived, place: Place) -> None:
    if "mem" in values:
        made.fields["memory_per_node"] = no_val(values["mem"])
    if "mem_per_cpu" in values:
        made.fields["memory_per_cpu"] = no_val(values["mem_per_cpu"])
    if "mem_update" in values:
        margin, _, delay = str(values["mem_update"]).partition("@")
        made.fields["memory_update_margin"] = int(margin)
        made.fields["memory_update_delay"] = int(delay)


def _files(values: Values, made: Derived, place: Place) -> None:
    for name in ("input", "output", "error"):
        if name in values:
            path = str(values[name])
            if path.lower() == "none":
                path = "/dev/null"
            made.fields[f"standard_{name}"] = path if path.startswith("/") else f"{place.directory}/{path}"
    made.fields.setdefault("standard_input", "/dev/null")


FLAG_OF = {
    "spread_job": "SPREAD_JOB",
    "use_min_nodes": "PREFER_MINIMUM_NODE_COUNT",
    "stepmgr": "STEPMGR_ENABLED",
    "consolidate_segments": "CONSOLIDATE_SEGMENTS",
    "spread_segments": "SPREAD_SEGMENTS",
}
GRES_FLAG_OF = {
    "disable-binding": "GRES_BINDING_DISABLED",
    "enforce-binding": "GRES_BINDING_ENFORCED",
    "one-task-per-sharing": "GRES_ONE_TASK_PER_SHARING",
    "multiple-tasks-per-sharing": "GRES_MULTIPLE_TASKS_PER_SHARING",
}
INVALID_DEP_OF: dict[object, tuple[str, ...]] = {
    True: ("KILL_INVALID_DEPENDENCY",),
    False: ("NO_KILL_INVALID_DEPENDENCY",),
    (True, False): ("KILL_INVALID_DEPENDENCY", "NO_KILL_INVALID_DEPENDENCY"),
}


def _flags(values: Values, made: Derived, place: Place) -> None:
    fields, flags = made.fields, made.flags
    flags += [flag for name, flag in FLAG_OF.items() if values.get(name) is True]
    flags += [GRES_FLAG_OF[word] for word in _tuple(values.get("gres_flags"))]
    if "kill_on_invalid_dep" in values:
        flags += INVALID_DEP_OF[cast("bool", values["kill_on_invalid_dep"])]
    if "no_requeue" in values:
        fields["requeue"] = values["no_requeue"] is not True
    if "requeue" in values:
        fields["requeue"] = values["requeue"] is not False
        flags += ["EXPEDITED_REQUEUE"] if values["requeue"] == "expedite" else []
    if values.get("no_kill") is True:
        fields["kill_on_node_fail"] = False
    # A priority that is sent along would undo the hold.
    if values.get("hold") is not True and values.get("priority"):
        fields["priority"] = no_val(values["priority"])
    for name in ("contiguous", "overcommit", "reboot", "hold"):
        if values.get(name) is not True:
            fields.pop(name, None)


def _tuple(value: object) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _sharing(values: Values, made: Derived, place: Place) -> None:
    exclusive = values.get("exclusive")
    if exclusive:
        made.fields["shared"] = ["none" if exclusive in ("exclusive", "allocation") else exclusive]
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
    if values.get("core_spec"):
        fields["core_specification"] = values["core_spec"]
    if "switches" in values:
        count, wait = cast("tuple[int, timedelta | None]", values["switches"])
        fields.update({"required_switches": count} if count else {})
        fields.update({"wait_for_switch": int(wait.total_seconds())} if wait is not None else {})
    if "segment" in values:
        fields["segment_size"] = no_val(values["segment"])
    if "resources" in values:
        fields["licenses"] = ",".join(str(values[name]) for name in ("licenses", "resources") if name in values)
    if "mem_bind" in values:
        _mem_bind(values["mem_bind"], made)


def _mem_bind(value: object, made: Derived) -> None:
    flags, kind, numbers = cast("tuple[frozenset[str], str, str]", value)
    names = {"map_mem": "MAP", "mask_mem": "MASK"}
    shown = [flag for flag in ("verbose", "prefer", "sort") if flag in flags]
    words = [*([names.get(kind, kind.upper())] if kind else []), *(flag.upper() for flag in shown)]
    if not words:
        return
    made.fields["memory_binding_type"] = words
    if numbers:
        made.fields["memory_binding"] = numbers
    made.variables["SLURM_MEM_BIND"] = ",".join([*shown, *([f"{kind}:{numbers}" if numbers else kind] if kind else [])])
    made.variables["SLURM_MEM_BIND_VERBOSE"] = "verbose" if "verbose" in flags else "quiet"
    if "sort" in flags:
        made.variables["SLURM_MEM_BIND_SORT"] = "sort"


def _hosts(values: Values, made: Derived, place: Place) -> None:
    for name, where in (("nodelist", "required_nodes"), ("nodefile", "required_nodes"), ("exclude", "excluded_nodes")):
        if values.get(name):
            made.fields[where] = hosts_of(name, str(values[name]), values, place.read_file)


_HINTS_YIELD = ("ntasks_per_core", "threads_per_core", "extra_node_info")
_PLACES_YIELD = ("cores_per_socket", "sockets_per_node")
_PLACES = ("sockets_per_node", "cores_per_socket", "threads_per_core")


def _hint(values: Values, made: Derived, place: Place) -> None:
    """Apply ``-B`` and ``--hint``; a hint yields silently to options that say the same more exactly."""
    fields = made.fields
    for name, part in zip(_PLACES, str(values.get("extra_node_info", "")).split(":"), strict=False):
        if part.isdigit() and name not in values:
            fields[name] = int(part)
    yields = _HINTS_YIELD + (_PLACES_YIELD if place.dialect.hint_yields_to_places else ())
    if "hint" in values and not any(name in values for name in yields):
        _apply_hint(str(values["hint"]), made)
    per_core, threads = fields.get("tasks_per_core"), fields.get("threads_per_core")
    if isinstance(per_core, int) and isinstance(threads, int) and per_core > threads:
        message = f"--ntasks-per-core ({per_core}) is larger than --threads-per-core ({threads})"
        raise SpecError(message, field="ntasks_per_core", kind="conflict", hint="Lower the first or raise the second.")


def _apply_hint(hint: str, made: Derived) -> None:
    fields = made.fields
    try:
        words = hint_words(hint)
    except ValueError as error:
        raise SpecError(f"Invalid --hint specification {hint!r}: it {error}", field="hint", kind="value") from None
    for name in _PLACES:
        fields.pop(name, None)
    for word in words:
        if word == "multithread":
            fields["tasks_per_core"] = 65535
            fields.pop("threads_per_core", None)
        else:
            fields["threads_per_core"] = 1
        if word == "memory_bound":
            fields["cores_per_socket"] = 1
        elif word == "compute_bound":
            fields.pop("cores_per_socket", None)
    made.shared["SLURM_HINT"] = hint


_SHARED_VARIABLE_OF = {
    "dependency": "SLURM_JOB_DEPENDENCY",
    "container": "SLURM_CONTAINER",
    "container_id": "SLURM_CONTAINER_ID",
    "container_type": "SLURM_CONTAINER_TYPE",
}
_VARIABLE_OF = {
    "tasks_per_core": "SLURM_NTASKS_PER_CORE",
    "tasks_per_node": "SLURM_NTASKS_PER_NODE",
    "tasks_per_socket": "SLURM_NTASKS_PER_SOCKET",
    "threads_per_core": "SLURM_THREADS_PER_CORE",
}


def _own_variables(values: Values, made: Derived) -> None:
    for name, variable in _SHARED_VARIABLE_OF.items():
        if name in values:
            made.shared[variable] = str(values[name])
    for name, variable in _VARIABLE_OF.items():
        if name in made.fields:
            made.variables[variable] = str(made.fields[name])
