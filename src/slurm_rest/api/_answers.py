"""Reading answers."""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
from typing import TYPE_CHECKING, Any, cast

from slurm_rest.api._versions import FAMILY

if TYPE_CHECKING:
    from pydantic import ValidationError

    from slurm_rest.api._model import AnswerModel, RequestModel
    from slurm_rest.api._operation import Operation

_log = logging.getLogger("slurm_rest.api")


def decode_json(raw: bytes) -> object:
    """Decode a body. One job name that is not UTF-8 makes all of it so; such bytes become surrogates, not errors."""
    try:
        return json.loads(raw.decode("utf-8", "surrogateescape"))
    except RecursionError:
        raise ValueError("the body is nested too deeply to be an answer of Slurm") from None


def model_class(name: str) -> type[AnswerModel] | type[RequestModel]:
    """The generated class of that name; its module is loaded when the first of its classes is asked for."""
    module = importlib.import_module(f"slurm_rest.api.{FAMILY[name]}")
    return cast("type[AnswerModel] | type[RequestModel]", getattr(module, name))


def read_answer(operation: Operation, raw: bytes, *, strict: bool = False) -> AnswerModel:
    """Read the body of an answer into the operation's model.

    A value of a type that the documents do not allow for becomes None and is logged: one odd field of a newer Slurm
    must not hide ten thousand jobs. With ``strict`` it raises. What is no JSON object raises ValueError. An empty body,
    with which slurmrestd says (304) that there was nothing to change, is an answer without any field.
    """
    from pydantic import ValidationError

    model = cast("type[AnswerModel]", model_class(operation.response))
    if not raw:
        return model()
    with contextlib.suppress(ValidationError):
        return model.model_validate_json(raw)
    # Either the bytes are not UTF-8, on which pydantic's JSON parser insists, or a value does not fit.
    data = decode_json(raw)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        if strict or not isinstance(data, dict):
            raise
        _drop(operation, data, error)
        return model.model_validate(data)


def _drop(operation: Operation, data: dict[str, Any], error: ValidationError) -> None:
    """Set what does not fit to None, and say so once per answer."""
    places = set()
    for one in error.errors(include_input=False, include_url=False):
        node: Any = data
        path = list(one["loc"])
        place = []
        # The location may end in the name of a union's branch, which is no key of the data.
        while path and _has(node, path[0]) and isinstance(inner := node[path[0]], (dict, list)) and len(path) > 1:
            if not _has(inner, path[1]):
                break
            place.append(str(path.pop(0)))
            node = inner
        if path and _has(node, path[0]):
            node[path[0]] = None
            places.add(".".join("*" if part.isdigit() else part for part in [*place, str(path[0])]))
    _log.warning("%s: ignored values of unexpected types in %s", operation.name, ", ".join(sorted(places)))


def _has(node: object, key: int | str) -> bool:
    if isinstance(node, dict):
        return key in node
    return isinstance(node, list) and isinstance(key, int) and key < len(node)
