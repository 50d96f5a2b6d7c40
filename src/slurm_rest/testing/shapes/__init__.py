"""What slurmrestd's records look like, one example of each kind by release and API version; see codegen/shapes.py.

Data and the one way to use it: ``fill`` puts values into a copy of an example, in the form that the example has.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import cast

__all__ = ["RELEASES", "Record", "fill", "shape", "versions_of"]

Record = dict[str, object]

RELEASES: dict[str, str] = {"24.11": "24.11.5", "26.05": "26.05.5"}
_VERSIONS = {
    "24.11": ("v0.0.40", "v0.0.41", "v0.0.42"),
    "26.05": ("v0.0.42", "v0.0.43", "v0.0.44", "v0.0.45"),
}


def versions_of(release: str) -> tuple[str, ...]:
    """Return the API versions that a release serves, oldest first."""
    return _VERSIONS[release]


@cache
def _examples(release: str, version: str) -> Mapping[str, Record]:
    text = resources.files(__package__).joinpath(f"{release}-{version}.json").read_text()
    return cast("Mapping[str, Record]", json.loads(text))


def shape(release: str, version: str, kind: str) -> Record:
    """Return an example that may be changed."""
    return copy.deepcopy(_examples(release, version)[kind])


def fill(record: Record, values: Mapping[str, object]) -> Record:
    """Put values into a record, by ``key`` or ``outer/inner``; what this version does not have is left out.

    Where the record has a number that may be unset or infinite, None is unset and infinity is infinite.
    """
    for path, value in values.items():
        *outer, last = path.split("/")
        place: object = record
        for key in outer:
            place = place.get(key) if isinstance(place, dict) else None
        if isinstance(place, dict) and last in place:
            place[last] = _formed(place[last], value)
    return record


def _formed(example: object, value: object) -> object:
    if not (isinstance(example, dict) and set(example) == {"set", "infinite", "number"}):
        return value
    # Some are written 0.0, also when they are unset.
    nothing = type(example["number"])(0)
    if value is None:
        return {"set": False, "infinite": False, "number": nothing}
    if value == float("inf"):
        return {"set": False, "infinite": True, "number": nothing}
    return {"set": True, "infinite": False, "number": value}
