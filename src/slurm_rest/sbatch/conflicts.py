"""What sbatch refuses as a combination, and what it silently takes back when sources contradict each other.

Two options that exclude each other are refused when both come from script or command line, or both from variables;
of two from different sources the given one counts.
"""

from __future__ import annotations

import re

from slurm_rest.errors import SpecError

from .dialect import dialect_of
from .layers import Layer

__all__ = ["check_conflicts"]

_CPU = re.compile(r"(?ai)cpu(?:[=:](?P<count>[^,]*))?")
_GPU = re.compile(r"(?ai)gres[/:]gpu(?P<kind>:[^,=:]*(?=[=:]))?[=:](?P<count>[^,]*)")
_GPU_TYPE = re.compile(r"(?ai)gres[/:]gpu:[^,=:0-9][^,=:]*")
_NOT_PER_TASK = ("mem", "energy", "node", "billing", "fs", "vmem", "pages", "bb")


def check_conflicts(layer: Layer, release: str) -> None:
    """Refuse, and take back, in sbatch's order."""
    _tasks_per_gpu(layer, release)
    _specialized(layer)
    _memory(layer)
    _refuse(layer.given("exclusive") and layer.given("oversubscribe"), "exclusive", "oversubscribe")
    _per_task(layer, release)
    _cpus_per_gpu(layer)
    _hint(layer)
    values = layer.values
    _refuse("bb" in values and "bbf" in values, "bb", "bbf")


def _tasks_per_gpu(layer: Layer, release: str) -> None:
    values = layer.values
    name = "ntasks_per_gpu" if "ntasks_per_gpu" in values else "ntasks_per_tres"
    if name not in values:
        return
    both = "ntasks_per_gpu" in values and "ntasks_per_tres" in values
    _refuse(both and values["ntasks_per_gpu"] != values["ntasks_per_tres"], "ntasks_per_gpu", "ntasks_per_tres")
    for other in ("tres_per_task", "gpus_per_task", "gpus_per_socket", "ntasks_per_node", "tasks_per_node"):
        overlooks = other == "tres_per_task" and dialect_of(release).overlooks_tres_variable
        overlooked = overlooks and layer.from_environment(other)
        _refuse(other in values and not (overlooked and "gpu" not in str(values[other])), name, other)


def _specialized(layer: Layer) -> None:
    core, thread = layer.sources.get("core_spec"), layer.sources.get("thread_spec")
    _refuse(core is not None and core is thread, "core_spec", "thread_spec")


_MEMORY = ("mem", "mem_per_cpu", "mem_per_gpu")


def _memory(layer: Layer) -> None:
    """``--mem``, ``--mem-per-cpu`` and ``--mem-per-gpu``: only one of each source, and a given one counts."""
    if len([name for name in _MEMORY if name in layer.sources]) < 2:
        return
    given = [name for name in _MEMORY if layer.given(name)]
    _refuse(len(given) > 1, *given[:2])
    variables = [name for name in _MEMORY if layer.from_environment(name)]
    if given:
        layer.drop(*variables)
    else:
        _refuse(len(variables) > 1, *variables[:2])


def _per_task(layer: Layer, release: str) -> None:
    """``--tres-per-task`` against ``-c`` and ``--gpus-per-task``, which are parts of it."""
    values = layer.values
    text = values.get("tres_per_task")
    if not isinstance(text, str):
        return
    for name in _NOT_PER_TASK:
        if text.lower().startswith(name) or f",{name}" in text.lower():
            hint = "It takes cpu, gres/NAME and license/NAME."
            raise SpecError(f"--tres-per-task cannot count {name}", field="tres_per_task", kind="value", hint=hint)
    _part(layer, "gpus_per_task", _GPU, release)
    _part(layer, "cpus_per_task", _CPU, release)


def _part(layer: Layer, name: str, pattern: re.Pattern[str], release: str) -> None:
    text = str(layer.values["tres_per_task"])
    found = pattern.search(text)
    if found is None:
        return
    both_variables = layer.from_environment(name) and layer.from_environment("tres_per_task")
    both_variables = both_variables and dialect_of(release).takes_variables_apart
    _refuse(both_variables or (layer.given(name) and layer.given("tres_per_task")), "tres_per_task", name)
    if layer.given(name):
        # The variable's part is replaced by what was given.
        kind, _, count = str(layer.values[name]).replace("=", ":").rpartition(":")
        mine = f"cpu={count}" if pattern is _CPU else f"gres/gpu{':' if kind else ''}{kind}={count}"
        layer.values["tres_per_task"] = text[: found.start()] + mine + text[found.end() :]
    elif not _counts(found, pattern):
        what = f"--tres-per-task asks for no number of {found[0].partition('=')[0]}"
        hint = "For instance cpu=2 or gres/gpu:a100=1."
        raise SpecError(f"{what}: {text!r}", field="tres_per_task", kind="value", hint=hint)
    layer.drop(name)


def _counts(found: re.Match[str], pattern: re.Pattern[str]) -> bool:
    """Return whether a part says how many; a type of GPUs alone means one of them."""
    if pattern is _CPU:
        return bool(re.match("0*[1-9]", found["count"] or ""))
    return found["count"][:1].isdecimal() or _GPU_TYPE.fullmatch(found[0]) is not None


def _cpus_per_gpu(layer: Layer) -> None:
    if "cpus_per_gpu" not in layer.values:
        return
    per_task = ["cpus_per_task"]
    text = str(layer.values.get("tres_per_task", ""))
    if "cpu" in text.lower():
        per_task.append("tres_per_task")
    given = [name for name in per_task if layer.given(name)]
    variables = [name for name in per_task if layer.from_environment(name)]
    _refuse(bool(given) and layer.given("cpus_per_gpu"), "cpus_per_gpu", *given[:1])
    _refuse(bool(variables) and layer.from_environment("cpus_per_gpu"), "cpus_per_gpu", *variables[:1])
    if given:
        layer.drop("cpus_per_gpu")
    elif variables:
        layer.drop("cpus_per_task")
        left = [part for part in text.split(",") if not part.lower().startswith("cpu")]
        layer.values["tres_per_task"] = ",".join(left)
        if not left:
            layer.drop("tres_per_task")


_MORE_EXACT = ("ntasks_per_core", "threads_per_core", "extra_node_info")


def _hint(layer: Layer) -> None:
    """Of ``--hint`` and what says the same more exactly, the given one counts; derive.py judges two given ones."""
    if layer.given("hint"):
        layer.drop(*(name for name in _MORE_EXACT if layer.from_environment(name)))
    elif "hint" in layer.values and any(name in layer.values for name in _MORE_EXACT):
        layer.drop("hint")


def _refuse(wrong: bool, *names: str) -> None:
    if wrong:
        first, second = (f"--{name.replace('_', '-')}" for name in names)
        raise SpecError(
            f"{first} and {second} exclude each other", field=names[0], kind="conflict", hint="Give only one of them."
        )
