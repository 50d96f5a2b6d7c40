"""GPUs and other generic resources: the ``tres_*`` fields that sbatch makes of its options."""

from __future__ import annotations

import re
from collections.abc import Mapping

from slurm_rest.errors import SpecError

from .counts import gres_item
from .derived import Derived, Place
from .kinds import whole

__all__ = ["add_tres"]

Values = Mapping[str, object]

# What several tasks may share.
_SHARED = re.compile("gres[/:](?:shard|mps)")
# sbatch reads an int there, and makes another number of what is larger.
_MOST_GPUS = 2**31 - 1


def add_tres(values: Values, made: Derived, place: Place) -> None:
    """Add what the job, each node, each socket and each task asks for, and how GPUs are bound to tasks."""
    fields, variables = made.fields, made.variables
    for name, where in (("gpus", "tres_per_job"), ("gpus_per_socket", "tres_per_socket")):
        if name in values:
            _put_text(fields, where, _gpus(values[name]))
            variables[f"SLURM_{name.upper()}"] = str(values[name])
    _per_node(values, made, place)
    if "gpu_freq" in values:
        fields["tres_freq"] = f"gpu:{values['gpu_freq']}"
        variables["SLURM_GPU_FREQ"] = str(values["gpu_freq"])
    if "cpus_per_gpu" in values:
        fields["cpus_per_tres"] = f"gres/gpu:{values['cpus_per_gpu']}"
        variables["SLURM_CPUS_PER_GPU"] = str(values["cpus_per_gpu"])
    if "mem_per_gpu" in values:
        fields["memory_per_tres"] = f"gres/gpu:{values['mem_per_gpu']}"
        variables["SLURM_MEM_PER_GPU"] = str(values["mem_per_gpu"])
    for name in ("ntasks_per_tres", "ntasks_per_gpu"):
        if name in values:
            fields["ntasks_per_tres"] = values[name]
            variables[f"SLURM_{name.upper()}"] = str(values[name])
            break
    text = _per_task(values, place)
    _put_text(fields, "tres_per_task", text)
    if text or "tres_per_task" in values:
        variables["SLURM_TRES_PER_TASK"] = text
    _bind(values, made, text, place)
    flags = values.get("gres_flags")
    if isinstance(flags, tuple) and "one-task-per-sharing" in flags and not _SHARED.search(text):
        message = "--gres-flags=one-task-per-sharing needs the shared resource in --tres-per-task"
        hint = "For instance --tres-per-task=gres/shard=1."
        raise SpecError(message, field="gres_flags", kind="conflict", hint=hint)


def _put_text(fields: dict[str, object], name: str, text: str) -> None:
    if text:
        fields[name] = text


def _gpus(value: object) -> str:
    return ",".join(f"gres/gpu:{part}" for part in str(value).split(",") if part)


def _is_gpu(part: str) -> bool:
    return part.removeprefix("gres/").startswith("gpu")


def _per_node(values: Values, made: Derived, place: Place) -> None:
    parts = []
    if "gpus_per_node" in values:
        parts.append(_gpus(values["gpus_per_node"]))
        made.variables["SLURM_GPUS_PER_NODE"] = str(values["gpus_per_node"])
    gres = values.get("gres", "none")
    if place.dialect.one_word_for_gpus and parts and any(_is_gpu(part) for part in str(gres).split(",")):
        message = "--gpus-per-node and --gres=gpu exclude each other"
        raise SpecError(message, field="gpus_per_node", kind="conflict", hint="Give only one of them.")
    if gres != "none":
        parts += [part if part.startswith("gres/") else f"gres/{part}" for part in str(gres).split(",")]
    _put_text(made.fields, "tres_per_node", ",".join(part for part in parts if part))


def _per_task(values: Values, place: Place) -> str:
    """Join what ``--tres-per-task``, ``--gpus-per-task`` and ``-c`` ask for each task, the last ones in front."""
    text = str(values.get("tres_per_task", ""))
    for prefix in ("gres", "license") if text else ():
        text = re.sub(rf"(?i)(^|,){prefix}:", rf"\g<1>{prefix}/", text)
    for part in _gpu_parts(str(values.get("gpus_per_task", "")), first_only=place.dialect.first_gpus_only):
        text = _with_gpus(text, part)
    found = text.lower() if place.dialect.lowers_tres else text
    if "cpus_per_task" in values and "cpu" not in found:
        text = f"cpu={values['cpus_per_task']},{text}".rstrip(",")
    return text


def _gpu_parts(gpus: str, *, first_only: bool) -> list[str]:
    """Return the parts of ``--gpus-per-task`` that count: some releases read the first of a list only."""
    if not gpus:
        return []
    parts = [gpus] if first_only else gpus.removesuffix(",").split(",")
    found = [_gpus_of(part) for part in parts]
    if all(name == "gres/gpu" for name, _ in found):
        return parts[:1]
    if len(parts) > 1 and any(count <= 0 for _, count in found):
        # sbatch makes no GPUs at all of some such lists, and refuses others.
        hint = "It takes TYPE:N,TYPE:N."
        raise SpecError(f"--gpus-per-task={gpus}: a part asks for none", field="gpus_per_task", kind="value", hint=hint)
    return parts


def _gpus_of(part: str) -> tuple[str, int]:
    """Return the resource and how many; what is no number is none."""
    kind, sign, _ = part.partition(":") if ":" in part else part.partition("=")
    if "=" in kind:
        hint = "It takes TYPE:N, as in a100:2."
        raise SpecError(f"--gpus-per-task names no type: {part!r}", field="gpus_per_task", kind="value", hint=hint)
    count = _leading(part[len(kind) + 1 :] if sign else part)
    if count > _MOST_GPUS:
        hint = f"It takes at most {_MOST_GPUS}."
        raise SpecError(
            f"--gpus-per-task={part[:100]} asks for too many", field="gpus_per_task", kind="value", hint=hint
        )
    return f"gres/gpu:{kind}" if sign else "gres/gpu", count


def _with_gpus(text: str, part: str) -> str:
    """Put the GPUs of each task in front."""
    name, count = _gpus_of(part)
    if name in text:
        if _leading(text[text.index(name) + len(name) + 1 :]) <= 0:
            message = f"--gpus-per-task asks for GPUs with and without a type: {part!r}"
            raise SpecError(message, field="gpus_per_task", kind="value", hint="Say it in one of them.")
        return text
    return f"{name}={count},{text}".rstrip(",") if count else text


def _leading(text: str) -> int:
    found = re.match(r"(?a)\s*[+-]?[0-9]+", text)
    return whole(found[0]) if found else 0


def _bind(values: Values, made: Derived, per_task: str, place: Place) -> None:
    bind = f"gres/gpu:{values['gpu_bind']}" if "gpu_bind" in values else values.get("tres_bind")
    counts: dict[str, int] = {}
    for part in per_task.split(",") if per_task else ():
        found = gres_item(part)
        if found is None and part.startswith("gres/"):
            hint = "It takes gres/NAME[:TYPE]=N."
            raise SpecError(f"--tres-per-task: {part!r} is no resource", field="tres_per_task", kind="value", hint=hint)
        if found is None or found[0] in str(bind or ""):
            continue
        name, _, count = found
        if count and (name not in counts or not place.dialect.first_gpus_only):
            counts[name] = counts.get(name, 0) + count
    parts = [str(bind)] if bind else []
    parts += [f"gres/{name}:per_task:{count}" for name, count in counts.items()]
    if parts:
        made.fields["tres_bind"] = "+".join(parts)
    if parts or bind is not None:
        made.variables["SLURM_TRES_BIND"] = "+".join(parts)
