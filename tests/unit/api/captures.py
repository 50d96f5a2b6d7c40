"""The captured answers of real servers, each with the operation that it answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slurm_rest.api._operations import SLURM, SLURMDB, UTIL
from slurm_rest.api.base import Operation

FOLDER = Path(__file__).resolve().parents[2] / "data/captures"


@dataclass(frozen=True)
class Capture:
    """One answer."""

    name: str
    slurm: str
    version: str
    meta: dict[str, Any]
    raw: bytes

    @property
    def operation(self) -> Operation:
        """The operation whose path the request had."""
        method, url = self.meta["request"].split()[:2]
        _, service, _, *rest = url.split("?")[0].split("/")
        return find(service, method, "/" + "/".join(rest))

    def __str__(self) -> str:
        return f"{self.slurm}-{self.version}-{self.name}"


def find(service: str, method: str, path: str) -> Operation:
    """The operation of a path; one without placeholders wins."""
    fits = []
    for operation in {"slurm": SLURM, "slurmdb": SLURMDB, "util": UTIL}[service].values():
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(operation.path.rstrip("/")))
        if operation.method == method and re.fullmatch(pattern, path.rstrip("/")):
            fits.append(operation)
    return min(fits, key=lambda operation: "{" in operation.path)


def load(slurm: str, version: str, name: str) -> Capture:
    """One capture by name."""
    path = FOLDER / slurm / version / f"{name}.json"
    meta = json.loads(path.with_suffix(".meta.json").read_bytes())
    return Capture(name, slurm, version, meta, path.read_bytes())


def all_captures() -> Iterator[Capture]:
    """Every answer that has a JSON body."""
    for path in sorted(FOLDER.glob("*/*/*.meta.json")):
        slurm, version, file = path.parts[-3:]
        capture = load(slurm, version, file.removesuffix(".meta.json"))
        if capture.meta["headers"].get("content-type") == "application/json":
            yield capture
