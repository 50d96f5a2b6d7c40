"""JobSpec to the JSON body of ``job/submit``, with the fields that sbatch derives from its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slurm_rest.errors import SpecError

from .options import OPTIONS
from .spec import JobSpec

__all__ = ["submit_body"]


def submit_body(spec: JobSpec, *, directory: str, environment: Sequence[str], command: str = "") -> dict[str, object]:
    """Return the body for ``spec``.

    ``directory`` is the job's directory where the spec has none; ``environment`` the ``K=V`` list that ``spec.env``
    is put on top of; ``command`` becomes the job's Command in Slurm (``argv[0]``).
    """
    values = spec.values()
    job: dict[str, object] = {
        option.field: values[option.name] for option in OPTIONS if option.field and option.name in values
    }
    job.setdefault("name", "sbatch")
    job["current_working_directory"] = _absolute(str(job.get("current_working_directory") or directory))
    job["environment"] = _environment(environment, spec.env)
    if spec.args or command:
        job["argv"] = [command or str(job["name"]), *spec.args]
    _add_counts(job, values)
    _add_tres(job, values)
    if job.get("hold") is not True:
        job.pop("hold", None)
    else:
        # With both, slurmrestd lets the priority win and the job is not held; sbatch holds it.
        job.pop("priority", None)
    return {"script": spec.script, "job": job}


def _absolute(directory: str) -> str:
    if not directory.startswith("/"):
        hint = "A relative one would be taken as is, and the job runs elsewhere."
        raise SpecError(f"The job's directory {directory!r} is not absolute", field="chdir", hint=hint)
    return directory


def _environment(base: Sequence[str], extra: Mapping[str, str]) -> list[str]:
    kept = [item for item in base if item.partition("=")[0] not in extra]
    return [*kept, *(f"{name}={value}" for name, value in extra.items())]


def _add_counts(job: dict[str, object], values: Mapping[str, object]) -> None:
    nodes = values.get("nodes")
    tasks = values.get("ntasks")
    if isinstance(nodes, tuple):
        least, most = nodes
        if isinstance(tasks, int):
            # sbatch never asks for more nodes than there are tasks.
            least, most = min(least, tasks), min(most, tasks)
        job["minimum_nodes"], job["maximum_nodes"] = least, most
    cpus = values.get("cpus_per_task")
    if isinstance(cpus, int):
        job["cpus_per_task"] = cpus
        job["minimum_cpus_per_node"] = cpus
        job["minimum_cpus"] = cpus * (tasks if isinstance(tasks, int) else 1)
        # Without it the record lacks TresPerTask and srun inside the job does not see the request.
        job["tres_per_task"] = f"cpu={cpus}"


def _add_tres(job: dict[str, object], values: Mapping[str, object]) -> None:
    per_node = [str(values[name]) for name in ("gpus_per_node", "gres") if values.get(name)]
    if per_node:
        job["tres_per_node"] = ",".join(per_node)
