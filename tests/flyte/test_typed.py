"""Outputs that are values: what a small file may hold, and the literal that becomes of it on the platform."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from enum import Enum
from typing import Any

import pydantic
import pytest
from flyte.connectors import Resource
from flyte.connectors._connector import get_resource_proto
from flyte.io import Dir, File
from flyte.types import TypeEngine
from flyteidl2.core.execution_pb2 import TaskExecution
from google.protobuf.json_format import MessageToDict

from flyteplugins.slurm_rest import Slurm, SlurmScriptTask
from flyteplugins.slurm_rest.typed import MalformedValue, declared_value, read_value, type_text


@dataclass
class Layer:
    """A structure inside another."""

    width: int


@dataclass
class Model:
    """A structure."""

    name: str
    at: datetime
    layers: list[Layer] = field(default_factory=list)
    note: str | None = None


class Scores(pydantic.BaseModel):
    """The same of pydantic."""

    f1: float
    by_class: dict[str, float] = {}


class Color(Enum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


NOON = datetime(2026, 1, 2, 12, tzinfo=timezone.utc)
MODEL = '{"name": "m", "at": "2026-01-02T12:00:00+00:00", "layers": [{"width": 3}]}'


async def read(text: str | bytes, kind: Any) -> object:
    raw = text.encode() if isinstance(text, str) else text
    return (await read_value(raw, type_text(TypeEngine.to_literal_type(kind))))[0]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (int, "42\n", 42),
        (int, " -7 \n\n", -7),
        (float, "0.93\n", 0.93),
        (float, "1e-3", 0.001),
        (bool, "true\n", True),
        (bool, "False\n", False),
        (str, "a 'b'\n", "a 'b'"),
        (str, " é\nline\n\n", " é\nline\n"),
        (str, "", ""),
        (str, "12\n", "12"),
        (datetime, "2026-01-02T13:00:00+01:00\n", NOON),
        (datetime, "2026-01-02 12:00:00\n", NOON),
        (date, "2026-01-02\n", date(2026, 1, 2)),
        (timedelta, "90.5\n", timedelta(seconds=90.5)),
        (timedelta, "PT1M\n", timedelta(minutes=1)),
        (list[int], "[1, 2]\n", [1, 2]),
        (list[str], "[]", []),
        (list[list[float]], "[[1.5], []]", [[1.5], []]),
        (dict[str, int], '{"a": 1}\n', {"a": 1}),
        (dict, '{"a": [1, null, {"b": "c"}]}', {"a": [1, None, {"b": "c"}]}),
        (int | None, "null\n", None),
        (int | None, "", None),
        (int | None, "3", 3),
        (str | None, "text\n", "text"),
        (int | str, "12", 12),
        (Color, "BLUE\n", Color.BLUE),
        (Model, MODEL, Model("m", NOON, [Layer(3)])),
        (Scores, '{"f1": 0.5}', Scores(f1=0.5)),
        (list[Layer], '[{"width": 1}]', [Layer(1)]),
    ],
)
async def test_a_file_is_the_literal_that_is_declared(kind: Any, text: str, value: Any) -> None:
    found = await read(text, kind)
    assert declared_value(found, kind) == value, "in a local run"
    answer = await get_resource_proto(Resource(phase=TaskExecution.SUCCEEDED, outputs={"v": found}))
    (pair,) = answer.outputs.literals
    back = await TypeEngine.to_python_value(pair.value, kind)
    assert back == value, "for the next task"
    if found is not None:
        wanted = await TypeEngine.to_literal(value, kind, TypeEngine.to_literal_type(kind))
        shape = next(iter(MessageToDict(wanted)))
        assert shape == next(iter(MessageToDict(pair.value))), "no other kind of literal"


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        (int, "", "the file is empty"),
        (int, "3.5\n", "'3.5': .*valid integer"),
        (int, "lots", "'lots': Input should be a valid integer"),
        (int, str(2**63), "flyte cannot hold it"),
        (list[int], f"[{2**63}]", "flyte cannot hold it"),
        (float, "[1]", "valid number"),
        (bool, "perhaps", "boolean"),
        (str, b"\xff\xfe", "no UTF-8"),
        (datetime, "yesterday", "datetime"),
        (list[int], "1, 2", "valid list"),
        (list[int], '[1, "x"]', "1: Input should be a valid integer"),
        (dict[str, int], '{"a": {}}', "a: Input should be a valid integer"),
        (dict[str, int], '{"a": 1', "dictionary"),
        (Model, '{"name": "m"}', "at: it is missing"),
        (Model, '{"name": "m", "at": "soon"}', "at: no moment"),
        (Model, MODEL.replace("name", "nom"), "name: it is missing"),
        (Model, MODEL.replace("}]", '}], "more": 1'), "more: there is no such field"),
        (Model, "[]", "declared as object"),
        (Scores, '{"f1": true}', "f1: declared as number"),
        (Model, '{"name": "m", "at": "2026-01-02", "layers": [{"width": "w"}]}', "layers.0.width"),
        (Color, "GREEN\n", "none of RED, BLUE"),
        (int, "9" * 5000, "99\\.\\.\\."),
    ],
)
async def test_what_a_file_must_not_hold(kind: Any, text: str | bytes, reason: str) -> None:
    with pytest.raises(MalformedValue, match=reason) as caught:
        await read(text, kind)
    assert len(str(caught.value)) < 300


async def test_deep_nesting_does_no_harm() -> None:
    with pytest.raises(MalformedValue):
        await read("[" * 100_000, list[int])


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (list, "flyte.io.File, flyte.io.Dir, int"),
        (Any, "dict\\[str, ...\\] and unions"),
        (dict[str, Any], "unions of those"),
        (dict[int, str], "keys of a dict are texts"),
        (list[File], "not parts of others"),
        (Dir | None, "not parts of others"),
        (bytes, "is a bytes"),
    ],
)
def test_a_type_that_no_text_gives_is_refused_by_name(kind: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=f"(?s)The output 'thing' of 'legacy'.*{reason}"):
        SlurmScriptTask("legacy", "#!/bin/sh\n", Slurm(), outputs={"thing": kind})


def test_the_type_of_a_value_is_kept_as_text() -> None:
    assert json.loads(type_text(TypeEngine.to_literal_type(list[int]))) == {"collectionType": {"simple": "INTEGER"}}


@dataclass
class Untyped:
    """A structure with a part that may be anything."""

    scores: dict  # type: ignore[type-arg]  # that is the point
    best: float | None = None


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (dict, '{"a": {"b": [1, %s]}}'),
        (list[dict], '[{"a": [%s]}]'),  # type: ignore[type-arg]  # that is the point
        (dict[str, float], '{"a": %s}'),
        (Untyped, '{"scores": {"a": [%s]}}'),
    ],
)
async def test_numbers_that_json_has_not_do_not_become_none(kind: Any, text: str, number: str) -> None:
    found = await read(text.replace("%s", number), kind)
    assert number in json.dumps(found)
    # Not a number is no number, also not itself.
    assert json.dumps(declared_value(found, kind), default=vars) == json.dumps(found)


@pytest.mark.parametrize("kind", [list[datetime], list[list[datetime]], dict[str, datetime]])
async def test_moments_in_others_are_in_utc_as_well(kind: Any) -> None:
    text = '["2026-01-02T12:00:00"]' if kind == list[datetime] else '[["2026-01-02T12:00:00"]]'
    found = await read('{"a": "2026-01-02T12:00:00"}' if kind == dict[str, datetime] else text, kind)
    assert found in ([NOON], [[NOON]], {"a": NOON})
