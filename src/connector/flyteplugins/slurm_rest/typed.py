"""Outputs of a script that are values: which types there are, and how the text of a small file becomes one.

A text is what the file has without its last line end; a number, a truth value, a moment (ISO 8601, UTC where it names
no zone) or a duration (seconds, or ISO 8601) is written plainly; lists, mappings and structures are JSON.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import types
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone
from enum import Enum
from typing import Annotated, Any, Union, cast, get_args, get_origin

import pydantic
from flyte.io import Dir, File
from flyte.types import TypeEngine, TypeTransformer
from flyte.types._pickle import FlytePickleTransformer
from flyteidl2.core.literals_pb2 import Literal
from flyteidl2.core.types_pb2 import LiteralType, SimpleType
from google.protobuf.json_format import MessageToDict, MessageToJson, Parse

from .options import shown
from .schemas import schema_problem

__all__ = [
    *("ALL_VALUES_LIMIT", "VALUE_LIMIT", "MalformedValue", "check_input_type", "check_value_type", "declared_value"),
    *("read_value", "type_text"),
]

# All values of a task travel in one message of gRPC, which takes 4 MiB. A list of numbers is four times its text there.
VALUE_LIMIT, ALL_VALUES_LIMIT = 256 * 1024, 3 * 1024 * 1024
# Larger ones are read beside the event loop.
_AT_ONCE = 4 * 1024
_CONTAINERS = (list, dict, tuple, set, frozenset)
_PLAIN = (bool, int, float, str, datetime, date, timedelta)


class MalformedValue(Exception):
    """A file does not hold what its output is declared to be. The text says what is wrong and is bounded."""


# --- where the task is defined -----------------------------------------------------------------------------------


def check_value_type(kind: object) -> None:
    """Raise ValueError for a type that no file of text can give, or that flyte would carry as a pickle."""
    _walk(kind, top=True)


def _walk(kind: object, *, top: bool = False) -> None:
    origin, inner = get_origin(kind), get_args(kind)
    if kind in (File, Dir):
        raise ValueError("File and Dir are outputs by themselves, not parts of others")
    if origin in (Union, types.UnionType):
        for one in inner:
            if one is not type(None):
                _walk(one)
        return
    if origin is list:
        _walk(inner[0])
        return
    if origin is dict:
        if inner[0] is not str:
            raise ValueError("the keys of a dict are texts: dict[str, ...]")
        _walk(inner[1])
        return
    if kind in _PLAIN or kind is dict or (top and isinstance(kind, type) and issubclass(kind, Enum)):
        return
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, pydantic.BaseModel)):
        # The connector has the description of the type, not the class.
        TypeEngine.guess_python_type(TypeEngine.to_literal_type(kind))
        return
    raise ValueError(
        "a script's outputs are flyte.io.File, flyte.io.Dir, int, float, bool, str, datetime, timedelta, an Enum, a"
        " dataclass or pydantic model, dict, and list[...], dict[str, ...] and unions of those"
    )


def check_input_type(kind: object) -> None:
    """Raise ValueError for a type of which no value can be told to a script: flyte would carry it as a pickle."""
    origin = get_origin(kind)
    if origin is Annotated:
        check_input_type(get_args(kind)[0])
    elif origin in (Union, types.UnionType, *_CONTAINERS):
        for one in get_args(kind):
            check_input_type(one)
    elif origin is None and not isinstance(kind, type):
        # None stands for its type, and what typing has beside classes is flyte's affair.
        if kind not in (None, ...) and type(kind).__module__ not in ("typing", "typing_extensions"):
            raise ValueError(f"it is {shown(kind)}, which is no type")
    elif isinstance(kind, type) and kind not in (*_CONTAINERS, object, Any) and _is_pickled(kind):
        raise ValueError(
            f"no script reads a {kind.__name__}, which flyte would carry as a pickle: it takes texts, numbers, times,"
            " lists, mappings, dataclasses, files and directories"
        )


def _is_pickled(kind: type) -> bool:
    return isinstance(TypeEngine.get_transformer(kind), FlytePickleTransformer)


def type_text(literal_type: LiteralType) -> str:
    """Return a type as text, for a job's metadata and for the version of a cache."""
    return str(MessageToJson(literal_type, indent=None, sort_keys=True))


# --- in the connector ---------------------------------------------------------------------------------------------


class _List(list[object]):
    """A list that knows its literal: flyte's service sees ``type(value)`` alone, and pickles a plain list."""

    literal: Literal


class _Dict(dict[str, object]):
    """The same for a mapping whose values have a declared type."""

    literal: Literal


class _KnownLiteral(TypeTransformer[Any]):
    """Gives the literal that a value brings along."""

    def get_literal_type(self, t: object) -> LiteralType:
        """Return any type: nothing looks at it."""
        return LiteralType(simple=SimpleType.STRUCT)

    async def to_literal(self, python_val: object, python_type: object, expected: LiteralType) -> Literal:
        """Return the literal of the value."""
        return cast("_List", python_val).literal

    async def to_python_value(self, lv: Literal, expected_python_type: object) -> object:
        """Refuse: flyte asks every transformer for it, and a value of these types is only ever written."""
        raise NotImplementedError("an output of a script is read by its declared type, not by the one that carries it")


for _carrier in (_List, _Dict):
    TypeEngine.register(_KnownLiteral(_carrier.__name__, _carrier))


async def read_value(raw: bytes, described: str) -> tuple[object, int]:
    """Return the value in a file, checked, and its size in a message; ``described`` is what ``type_text`` wrote.

    A structure (a dataclass, a pydantic model) comes as a mapping of JSON values. Raises MalformedValue.
    """
    if len(raw) <= _AT_ONCE:
        return await _read(raw, described)
    # Flyte takes seconds for a long list, a task of asyncio for each item: all other jobs' calls would wait.
    return await asyncio.to_thread(lambda: asyncio.run(_read(raw, described)))


async def _read(raw: bytes, described: str) -> tuple[object, int]:
    literal_type = Parse(described, LiteralType())
    hint = cast("type", TypeEngine.guess_python_type(literal_type))
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise MalformedValue("it is no UTF-8 text") from None
    is_structure = literal_type.simple == SimpleType.STRUCT
    if is_structure and (problem := schema_problem(_parsed(text), MessageToDict(literal_type.metadata))):
        raise MalformedValue(f"{_short(text)}: {problem}")
    value = _checked(text, hint, is_structure=is_structure)
    if literal_type.HasField("enum_type") and value not in literal_type.enum_type.values:
        raise MalformedValue(f"{_short(text)} is none of {', '.join(literal_type.enum_type.values)}")
    return await _with_literal(value, hint, literal_type)


def _checked(text: str, hint: type, *, is_structure: bool) -> object:
    text = text.removesuffix("\n").removesuffix("\r")
    options = set(get_args(hint)) if get_origin(hint) in (Union, types.UnionType) else {hint}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return text
    optional = type(None) in options
    if optional and text.strip() in ("", "null"):
        return None
    if options <= {str, type(None)}:
        return text
    if not text.strip():
        raise MalformedValue("the file is empty")
    adapter: pydantic.TypeAdapter[object] = pydantic.TypeAdapter(hint)
    try:
        value = adapter.validate_python(_parsed(text))
        # Flyte carries structures as JSON values under their fields' names.
        return _with_numbers(adapter.dump_python(value, mode="json"), value) if is_structure else _in_utc(value)
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise MalformedValue(f"{_short(text)}: {f'{place}: ' if place else ''}{first['msg']}") from None


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


def _in_utc(value: object) -> object:
    """Return moments with a zone, UTC where they have none: the connector's own zone means nothing to a script."""
    if isinstance(value, list):
        return [_in_utc(one) for one in value]
    if isinstance(value, dict):
        return {name: _in_utc(one) for name, one in value.items()}
    return value.replace(tzinfo=timezone.utc) if isinstance(value, datetime) and value.tzinfo is None else value


def _with_numbers(plain: object, value: object) -> object:
    """Return JSON values with the nan and inf of parts without a type, for which pydantic writes None there."""
    if isinstance(plain, dict):
        given = value if isinstance(value, dict) else getattr(value, "__dict__", {})
        return {name: _with_numbers(one, given.get(name)) for name, one in plain.items()}
    if isinstance(plain, list) and isinstance(value, list):
        return [_with_numbers(*pair) for pair in zip(plain, value, strict=True)]
    return value if plain is None and isinstance(value, float) else plain


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


async def _with_literal(value: object, hint: type, literal_type: LiteralType) -> tuple[object, int]:
    """Return the value in a form of which flyte's service makes the literal that the interface declares."""
    kind = hint if isinstance(value, (list, dict)) and literal_type.simple != SimpleType.STRUCT else type(value)
    try:
        wanted = literal_type if kind is hint else TypeEngine.to_literal_type(kind)
        literal = await TypeEngine.to_literal(value, kind, wanted)
        size = len(literal.SerializeToString())
    except Exception as error:  # each type has its own, for too large an integer say
        raise MalformedValue(f"flyte cannot hold it: {type(error).__name__}") from None
    if kind is not hint or not isinstance(value, (list, dict)):
        return value, size
    carrier: _List | _Dict = _List(value) if isinstance(value, list) else _Dict(value)
    carrier.literal = literal
    return carrier, size


def declared_value(value: object, kind: object) -> object:
    """Return a value as an instance of the type that its task declares: in a local run nobody else does."""
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind[str(value)]
    if isinstance(value, (list, Mapping)) or kind is date:
        # The connector's structures are its own classes, known by their description.
        plain = pydantic.TypeAdapter(Any).dump_python(value)
        return pydantic.TypeAdapter(cast("type", kind)).validate_python(plain)
    return value
