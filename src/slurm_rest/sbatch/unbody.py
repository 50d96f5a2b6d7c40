"""The JSON body of ``job/submit`` back to a JobSpec.

Several specs can give one body: sbatch has several words for one thing, and what follows from options stands in the
body beside them. The one that comes back is the normal form: ``name`` and ``chdir`` written out, paths absolute,
moments as Unix seconds, hints and ``-B`` as the counts that they mean, ``--gpu-bind`` as ``--tres-bind``, GPUs of a
task as ``--tres-per-task``, files that options name as what was in them, and what the job is told as ``env``. The
normal form gives the body that was read; a body for which no option does is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import product

from slurm_rest.errors import SpecError

from .binding import MAIL_NAMES, SIGNAL_NUMBERS
from .body import Setting, submit_body
from .derive import FLAG_OF, GRES_FLAG_OF, INFINITE, INVALID_DEP_OF, PUT
from .kinds import UNLIMITED
from .limits import FIRST_RELEASE
from .spec import JobSpec

__all__ = ["read_body"]

_Job = Mapping[str, object]
_Values = dict[str, object]

# Rows that write a field under another name for the same, and fields that need more than a copy.
_NOT_COPIED = frozenset({"tasks_per_node", "cpus_per_task"})
_COPIED = tuple((name, put) for name, put in PUT if name not in _NOT_COPIED)


def read_body(body: Mapping[str, object], api_version: str = "") -> JobSpec:
    """Return the normal form of the specs that give ``body``; SpecError for a body that none gives."""
    script = body.get("script")
    jobs = _jobs_of(body)
    if not isinstance(script, str) or not jobs:
        hint = "slurm-rest convert prints one."
        raise SpecError('A body has "script" and "job", or "jobs"', field="body", kind="value", hint=hint)
    release = FIRST_RELEASE.get(api_version, "24.11")
    told = _environment(jobs[0])
    parts = [_component(job, number, len(jobs), told, script, release) for number, job in enumerate(jobs)]
    whole = JobSpec.of(script, parts[0].options(), components=parts[1:])
    made = _jobs_of(submit_body(whole, _setting(release)))
    # What the job is told beside what follows from its options.
    env = [
        {name: value for name, value in _environment(job).items() if _environment(mine).get(name) != value}
        for job, mine in zip(jobs, made, strict=True)
    ]
    argv = jobs[0].get("argv")
    args = argv[1:] if isinstance(argv, list) else ()
    components = [part.replace(env=one) for part, one in zip(parts[1:], env[1:], strict=True)]
    return JobSpec.of(script, parts[0].options(), args=args, env=env[0], components=components)


def _jobs_of(body: Mapping[str, object]) -> list[_Job]:
    several = body.get("jobs")
    found = several if isinstance(several, list) else [body.get("job")]
    return [job for job in found if isinstance(job, Mapping)]


def _setting(release: str) -> Setting:
    # The moment matters to no value that a body has.
    return Setting("/", release=release, now=datetime(2026, 1, 1))


def _component(job: _Job, number: int, count: int, told: Mapping[str, str], script: str, release: str) -> JobSpec:
    def variable(name: str) -> str | None:
        return told.get(name if count == 1 else f"{name}_HET_GROUP_{number}")

    values: _Values = {name: job[put] for name, put in _COPIED if put in job}
    values["chdir"] = job.get("current_working_directory", "/")
    for step in (_times, _memory, _files, _flags, _words, _hosts):
        step(job, values)
    _resources(job, values, variable("SLURM_GPUS_PER_NODE"), variable("SLURM_NTASKS_PER_GPU"))
    own = _environment(job)
    if "SLURM_EXPORT_ENV" in own and (not number or "SLURM_EXPORT_ENV" not in told):
        # Later components find that of the first one in sbatch's own environment.
        values["export"] = own["SLURM_EXPORT_ENV"]
    elif own and "SLURM_GET_USER_ENV" not in own:
        values["export"] = "ALL"
    return _counted(job, values, script, release)


def _number(value: object) -> int | None:
    """Return a number in either of the forms that slurmrestd takes, None for unset."""
    if isinstance(value, Mapping):
        value = value.get("number") if value.get("set") is not False else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _span(seconds: int) -> timedelta:
    try:
        return timedelta(seconds=seconds)
    except OverflowError:
        hint = "Times are seconds or minutes of 32 bits."
        raise SpecError("The body has a time beyond all that Slurm can hold", field="body", hint=hint) from None


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []


def _environment(job: _Job) -> dict[str, str]:
    given = job.get("environment")
    if isinstance(given, Mapping):
        return {str(name): str(value) for name, value in given.items()}
    return {name: value for name, _, value in (item.partition("=") for item in _texts(given))}


def _times(job: _Job, values: _Values) -> None:
    for name, put in (("time", "time_limit"), ("time_min", "time_minimum")):
        if put in job:
            minutes = _number(job[put])
            values[name] = UNLIMITED if minutes is None else _span(60 * minutes)
    for name, put in (("begin", "begin_time"), ("deadline", "deadline")):
        if put in job:
            values[name] = _number(job[put])
    delay = _number(job.get("delay_boot"))
    if delay is not None:
        values["delay_boot"] = UNLIMITED if delay == INFINITE else _span(delay)
    if "kill_warning_signal" in job:
        word = str(job["kill_warning_signal"])
        seconds = _number(job.get("kill_warning_delay"))
        flags = "".join(flag[0] for flag in _texts(job.get("kill_warning_flags")))
        number = int(word) if word.isdecimal() else SIGNAL_NUMBERS.get(word.removeprefix("SIG"), 0)
        values["signal"] = (flags, number, 60 if seconds is None else seconds)


def _memory(job: _Job, values: _Values) -> None:
    for name, put in (("mem", "memory_per_node"), ("mem_per_cpu", "memory_per_cpu")):
        if put in job:
            values[name] = _number(job[put])
    if "memory_update_margin" in job:
        values["mem_update"] = f"{job['memory_update_margin']}@{job.get('memory_update_delay')}"
    kinds = _texts(job.get("memory_binding_type"))
    if kinds:
        names = {"MAP": "map_mem", "MASK": "mask_mem"}
        flags = frozenset(kind.lower() for kind in kinds if kind in ("VERBOSE", "PREFER", "SORT"))
        kind = next((names.get(one, one.lower()) for one in kinds if one.lower() not in flags), "")
        values["mem_bind"] = (flags, kind, str(job.get("memory_binding", "")))


def _files(job: _Job, values: _Values) -> None:
    for name in ("input", "output", "error"):
        path = job.get(f"standard_{name}")
        if path is not None and (name, path) != ("input", "/dev/null"):
            values[name] = path


def _flags(job: _Job, values: _Values) -> None:
    flags = set(_texts(job.get("flags")))
    values.update({name: True for name, flag in FLAG_OF.items() if flag in flags})
    words = tuple(word for word, flag in GRES_FLAG_OF.items() if flag in flags)
    if words:
        values["gres_flags"] = words
    for value, both in INVALID_DEP_OF.items():
        if flags & {"KILL_INVALID_DEPENDENCY", "NO_KILL_INVALID_DEPENDENCY"} == set(both):
            values["kill_on_invalid_dep"] = value
    if "requeue" in job:
        again = "expedite" if "EXPEDITED_REQUEUE" in flags else True
        values.update({"requeue": again} if job["requeue"] else {"no_requeue": True})
    if job.get("kill_on_node_fail") is False:
        values["no_kill"] = True
    if "priority" in job:
        values["priority"] = _number(job["priority"])


def _words(job: _Job, values: _Values) -> None:
    shared = _texts(job.get("shared"))
    if shared == ["oversubscribe"]:
        values["oversubscribe"] = True
    elif shared:
        values["exclusive"] = "exclusive" if shared == ["none"] else shared[0]
    mail = set(_texts(job.get("mail_type")))
    if mail:
        values["mail_type"] = tuple(word for word, names in MAIL_NAMES.items() if len(names) == 1 and names[0] in mail)
    if "profile" in job:
        words = tuple(word.lower() for word in _texts(job["profile"]))
        values["profile"] = () if words == ("none",) else words
    if "open_mode" in job:
        values["open_mode"] = "".join(_texts(job["open_mode"])).lower()
    if "wait_all_nodes" in job:
        values["wait_all_nodes"] = int(job["wait_all_nodes"] is True)
    if "core_specification" in job:
        values["core_spec"] = job["core_specification"]
    if "segment_size" in job:
        values["segment"] = _number(job["segment_size"])
    count, wait = _number(job.get("required_switches")), _number(job.get("wait_for_switch"))
    if count is not None or wait is not None:
        values["switches"] = (count or 0, None if wait is None else _span(wait))


def _hosts(job: _Job, values: _Values) -> None:
    for name, put in (("nodelist", "required_nodes"), ("exclude", "excluded_nodes")):
        hosts = job.get(put)
        if hosts:
            values[name] = hosts if isinstance(hosts, str) else ",".join(_texts(hosts))


def _resources(job: _Job, values: _Values, gpus_per_node: str | None, tasks_per_gpu: str | None) -> None:
    """Generic resources; two variables of the job tell which of two options it was."""
    for name, put in (("gpus", "tres_per_job"), ("gpus_per_socket", "tres_per_socket")):
        if put in job:
            values[name] = ",".join(part.removeprefix("gres/gpu:") for part in str(job[put]).split(","))
    parts = [part.removeprefix("gres/") for part in str(job.get("tres_per_node", "")).split(",") if part]
    if gpus_per_node is not None:
        values["gpus_per_node"] = gpus_per_node
        parts = parts[len([part for part in gpus_per_node.split(",") if part]) :]
    if parts:
        values["gres"] = ",".join(parts)
    for name, put in (("gpu_freq", "tres_freq"), ("cpus_per_gpu", "cpus_per_tres"), ("mem_per_gpu", "memory_per_tres")):
        if put in job:
            values[name] = str(job[put]).rpartition("gpu:")[2]
    if "ntasks_per_tres" in job:
        values["ntasks_per_tres" if tasks_per_gpu is None else "ntasks_per_gpu"] = job["ntasks_per_tres"]
    if "tres_bind" in job:
        values["tres_bind"] = job["tres_bind"]
    _per_task(job, values)


def _per_task(job: _Job, values: _Values) -> None:
    text = str(job.get("tres_per_task", ""))
    cpus = f"cpu={job.get('cpus_per_task')}"
    if text.partition(",")[0] == cpus:
        values["cpus_per_task"] = job["cpus_per_task"]
        text = text[len(cpus) + 1 :]
    if text:
        values["tres_per_task"] = text


def _counted(job: _Job, values: _Values, script: str, release: str) -> JobSpec:
    """Return the spec whose tasks, nodes and CPUs come out as the body has them.

    A body may leave out what slurmctld works out by itself; one that has all of it decides.
    """
    problem = ""
    nearly: JobSpec | None = None
    for counts in _guesses(job):
        given = {name: value for name, value in {**values, **counts}.items() if value is not None}
        try:
            spec = JobSpec("", **given)  # type: ignore[arg-type]  # checked as it is made
            (found,) = _jobs_of(submit_body(JobSpec.of(script, spec.options()), _setting(release)))
        except SpecError as error:
            problem = str(error)
            continue
        wrong = next((name for name in job if name not in _COMPARED_APART and not _same(name, job, found)), None)
        if wrong is None and all(name in job or name not in found for name in _WORKED_OUT):
            return spec
        if wrong is None:
            nearly = nearly or spec
        else:
            problem = f"no options of sbatch give its {wrong}"
    if nearly is not None:
        return nearly
    hint = "slurm-rest convert prints bodies that can be read back."
    raise SpecError(f"This body is no job of sbatch's: {problem}", field="body", kind="value", hint=hint)


_COMPARED_APART = frozenset({"environment", "argv"})
_WORKED_OUT = ("tasks", "flags", "minimum_nodes", "maximum_nodes", "minimum_cpus", "minimum_cpus_per_node")


def _guesses(job: _Job) -> Iterator[_Values]:
    """Options for the counts of a body, the fewest first: others may follow from these."""
    least, most = _number(job.get("minimum_nodes")), _number(job.get("maximum_nodes"))
    nodes: list[object] = [None]
    if "nodes" in job:
        nodes.append(job["nodes"])
    elif least is not None:
        nodes += [str(least)] if most in (None, least) else []
        # GPUs may have lowered the greatest number, and the number of tasks.
        nodes += [f"{least}-{most or 0}", *([f"{least}-{most + 1}"] if most else [])]
    tasks = [None, _number(job.get("tasks"))] if "tasks" in job else [None]
    all_cpus, each = _number(job.get("minimum_cpus")), _number(job.get("cpus_per_task"))
    tasks += [all_cpus // (each or 1)] if len(tasks) > 1 and all_cpus else []
    cpus = [None, job["minimum_cpus_per_node"]] if "minimum_cpus_per_node" in job else [None]
    for one, other, third in product(nodes, tasks, cpus):
        yield {"nodes": one, "ntasks": other, "mincpus": third}


def _same(name: str, job: _Job, found: _Job) -> bool:
    mine, other = job[name], found.get(name)
    if name == "flags":
        return set(_texts(mine)) == set(_texts(other))
    if _number(mine) is not None or isinstance(mine, Mapping):
        return _number(mine) == _number(other)
    return mine == other
