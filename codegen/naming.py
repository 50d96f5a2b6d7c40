"""Python names for what the documents call things."""

from __future__ import annotations

import keyword
import re

# A field of one of these names would hide the type from the annotations that follow it in the class body, or hide a
# method of pydantic's BaseModel.
_TAKEN = frozenset({"list", "int", "str", "float", "bool", "dict", "copy", "json", "schema", "validate", "construct"})


def class_name(component: str) -> str:
    """``job_desc_msg`` -> ``JobDescMsg``."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", component) if part)


def python_name(wire: str) -> str:
    """The snake_case name of a field or parameter: ``MaxDBDMsgs`` -> ``max_dbd_msgs``, ``as`` -> ``as_``."""
    # The third letter keeps plurals of abbreviations together: CPUs -> cpus.
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z][a-z])", "_", wire)
    name = re.sub(r"[^A-Za-z0-9]+", "_", split).strip("_").lower()
    if not name:
        raise ValueError(f"no Python name can be made of {wire!r}")
    if name[0].isdigit():
        name = f"n{name}"
    if keyword.iskeyword(name) or name in _TAKEN or name.startswith("model_"):
        name = f"{name}_"
    return name


def request_name(component: str) -> str:
    """The name of the request twin of a component that answers use as well: ``accounts_resp`` -> ``accounts_req``."""
    stem = re.sub(r"_resp$", "", component)
    return stem if stem.endswith("_req") else f"{stem}_req"


def constant_name(component: str) -> str:
    """``job_state`` -> ``JOB_STATE``."""
    return python_name(component).upper()
