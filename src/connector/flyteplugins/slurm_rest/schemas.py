"""Checks a JSON value against the schema that flyte keeps of a structure, as far as flyte uses JSON Schema. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast

__all__ = ["schema_problem"]

_Schema = Mapping[str, object]
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def schema_problem(value: object, schema: _Schema, place: str = "", root: _Schema | None = None) -> str:
    """Return the first thing that is wrong with a value, with its place; empty when there is none."""
    root = schema if root is None else root
    if "$ref" in schema:
        return schema_problem(value, _referred(str(schema["$ref"]), root), place, root)
    options = schema.get("anyOf")
    if isinstance(options, Sequence) and options:
        problems = [schema_problem(value, cast("_Schema", one), place, root) for one in options]
        return "" if "" in problems else problems[0]
    at = f"{place}: " if place else ""
    wanted = schema.get("type")
    if isinstance(wanted, str) and not _is(value, wanted):
        return f"{at}declared as {wanted}"
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and value not in choices:
        return f"{at}none of {', '.join(map(str, choices))}"
    if schema.get("format") == "date-time" and not _is_moment(str(value)):
        return f"{at}no moment in ISO form"
    if isinstance(value, list) and isinstance(items := schema.get("items"), Mapping):
        return _first(schema_problem(one, items, _below(place, number), root) for number, one in enumerate(value))
    return _fields_problem(value, schema, place, root) if isinstance(value, dict) else ""


def _fields_problem(value: Mapping[str, object], schema: _Schema, place: str, root: _Schema) -> str:
    named = cast("Mapping[str, _Schema]", schema.get("properties") or {})
    for name in cast("Sequence[str]", schema.get("required") or ()):
        if name not in value:
            return f"{_below(place, name)}: it is missing"
    others = schema.get("additionalProperties")
    for name, one in value.items():
        if name in named:
            problem = schema_problem(one, named[name], _below(place, name), root)
        elif isinstance(others, Mapping):
            problem = schema_problem(one, others, _below(place, name), root)
        else:
            problem = f"{_below(place, name)}: there is no such field" if others is False else ""
        if problem:
            return problem
    return ""


def _first(problems: Iterable[str]) -> str:
    return next((one for one in problems if one), "")


def _below(place: str, part: str | int) -> str:
    return f"{place}.{part}" if place else str(part)


def _is(value: object, wanted: str) -> bool:
    # A bool is an int to Python and not to JSON.
    return isinstance(value, _TYPES.get(wanted, (object,))) and (not isinstance(value, bool) or wanted == "boolean")


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return False
    return True


def _referred(name: str, root: _Schema) -> _Schema:
    found: object = root
    for part in name.removeprefix("#/").split("/"):
        found = found.get(part) if isinstance(found, Mapping) else None
    return cast("_Schema", found) if isinstance(found, Mapping) else {}
