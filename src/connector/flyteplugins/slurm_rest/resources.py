"""``resources=`` of a task as options of sbatch. Pure, and free of flyte: Resources are read by their attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from fractions import Fraction
from typing import Protocol

__all__ = ["Device", "Resources", "resource_options"]

_QUANTITY = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE](?P<power>[+-]?[0-9]+)|(?P<unit>[mkMGTPE]|[KMGTPE]i|))"
)
_UNITS = {"": Fraction(1), "m": Fraction(1, 1000)}
_UNITS |= {letter: Fraction(1000**power) for power, letter in enumerate("kMGTPE", 1)}
_UNITS |= {f"{letter}i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", 1)}
_MIB = 1024**2
# What says the same, or what sbatch takes for a contradiction. What stands behind a slash is looked for in the value.
_CPUS = ("cpus_per_task", "cpus_per_gpu", "tres_per_task/cpu")
_MEMORY = ("mem", "mem_per_cpu", "mem_per_gpu")
_GPUS = ("gpus", "gpus_per_node", "gpus_per_task", "gpus_per_socket", "gres/gpu", "tres_per_task/gpu")
# Slurm has them as whatever the site calls them in gres.conf; graphics cards are gpu everywhere.
_GPU_CLASSES = ("GPU", "AMD_GPU")


class Device(Protocol):
    """A device of flyte."""

    @property
    def quantity(self) -> int:
        """How many."""

    @property
    def device_class(self) -> str:
        """``GPU``, ``AMD_GPU``, ``TPU`` and so on."""

    @property
    def device(self) -> str | None:
        """Its type, such as ``A100``."""

    @property
    def partition(self) -> str | None:
        """Its slice, such as ``1g.5gb``."""


class Resources(Protocol):
    """What is read of flyte's Resources. A range is a pair, its request first."""

    @property
    def cpu(self) -> object:
        """Cores."""

    @property
    def memory(self) -> object:
        """A quantity of bytes."""

    @property
    def disk(self) -> object:
        """A quantity of bytes."""

    def get_device(self) -> Device | None:
        """Return the device with its quantity, None where no device is asked for."""


def resource_options(resources: Resources, said: Mapping[str, object], processes: int = 1) -> dict[str, object]:
    """Return the JobSpec fields for what a task asks for; of a range its request.

    CPUs are for each of the job's tasks, or shared by the ``processes`` of a node; memory, GPUs and disk are for each
    node. ``said`` has the JobSpec fields that the task says in Slurm's own words, which win. Raises ValueError for a
    device that is no GPU.
    """
    found: dict[str, object] = {}
    if resources.cpu is not None and not _says(said, _CPUS):
        found["cpus_per_task"] = max(1, math.ceil(_quantity(_request(resources.cpu)) / processes))
    if resources.memory is not None and not _says(said, _MEMORY):
        found["mem"] = _mebibytes(_request(resources.memory))
    device = resources.get_device()
    if device is not None and not _says(said, _GPUS):
        found["gpus_per_node"] = _gpus(device)
    if resources.disk is not None and not _says(said, ("tmp",)):
        found["tmp"] = _mebibytes(resources.disk)
    return found


def _says(said: Mapping[str, object], names: Collection[str]) -> bool:
    for name in names:
        option, _, part = name.partition("/")
        value = said.get(option)
        if value is not None and (not part or part in str(value).lower()):
            return True
    return False


def _request(value: object) -> object:
    return value[0] if isinstance(value, tuple) else value


def _quantity(value: object) -> Fraction:
    """Read a quantity of Kubernetes: ``500m``, ``1.5``, ``2Gi``, ``1e3``; raises ValueError for anything else."""
    found = _QUANTITY.fullmatch(str(value).strip())
    if found is None:
        raise ValueError(f"resources: {value!r} is no quantity; write 500m, 2, 512Mi or 2Gi")
    scale = Fraction(10) ** int(found["power"]) if found["power"] else _UNITS[found["unit"]]
    return Fraction(found["number"]) * scale


def _mebibytes(value: object) -> str:
    return f"{max(1, math.ceil(_quantity(value) / _MIB))}M"


def _gpus(device: Device) -> str | int:
    if device.device_class not in _GPU_CLASSES:
        raise ValueError(
            f"resources: Slurm knows a {device.device or device.device_class} only by the name that the site gave it:"
            " say gres in the task's Slurm configuration"
        )
    if device.device is None:
        return device.quantity
    # gres.conf names types in lower case where Slurm finds them by itself, and a MIG slice behind its card.
    words = [device.device, *([device.partition] if device.partition else [])]
    return f"{'_'.join(words).replace(' ', '_').lower()}:{device.quantity}"
