"""Building requests: a pure function from an operation and its arguments to what goes over the wire."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from slurm_rest.api._answers import model_class
from slurm_rest.api._operation import ApiRequest, Operation, QueryParam, known_in
from slurm_rest.api._versions import API_VERSIONS, PLAIN
from slurm_rest.errors import SpecError, UnsupportedVersion

if TYPE_CHECKING:
    from slurm_rest.api._model import RequestModel

# The first second that Slurm's time parser takes: what is earlier it holds for a mistake. Nothing of Slurm is older.
_EARLIEST = 1_000_000


# slurmrestd 26.05.5 ends at a POST /slurmdb/v0.0.45/jobs/ without it.
_NEEDED = {"OpenapiJobModifyReq": "job_rec"}
_NO_NUL = "Slurm's texts end at the first one."


def build_request(
    operation: Operation,
    version: str,
    *,
    path: Mapping[str, object] | None = None,
    query: Mapping[str, object] | None = None,
    body: RequestModel | Mapping[str, object] | None = None,
) -> ApiRequest:
    """Build the request of ``operation`` in ``version``.

    Raises:
        UnsupportedVersion: The version lacks the operation, a parameter or a field; the error names those that have it.
        SpecError: A parameter or field does not exist (the nearest is named) or has a value that cannot be sent.
    """
    if version not in operation.versions:
        raise _unsupported(f"{operation.service} {operation.name}", version, operation.versions)
    _refuse_to_delete_all(operation, query or {})
    return ApiRequest(
        operation=operation,
        version=version,
        path=f"/{operation.service}/{version}{_path(operation, path or {})}",
        query=tuple(_query(operation, version, query or {})),
        body=_body(operation, version, body),
    )


def _refuse_to_delete_all(operation: Operation, query: Mapping[str, object]) -> None:
    """Slurm takes a deletion without a filter for one of everything: DELETE associations/ ends the whole database."""
    if operation.method != "DELETE" or "{" in operation.path or operation.body is not None:
        return
    filters = [param.name for param in operation.query if param.kind == "list"]
    if all(query.get(name) is None for name in filters):
        names = ", ".join(dict.fromkeys(filters))
        raise SpecError(f"{operation.name} without a filter would delete everything", hint=f"give one of {names}")


def _unsupported(what: str, version: str, supported: Sequence[str]) -> UnsupportedVersion:
    if version not in API_VERSIONS:
        return UnsupportedVersion(
            f"this client does not know API version {version}",
            version=version,
            supported=API_VERSIONS,
            hint=f"it speaks {', '.join(API_VERSIONS)}",
        )
    return UnsupportedVersion(
        f"API version {version} has no {what}",
        version=version,
        supported=supported,
        hint=f"versions that have it: {', '.join(supported)}",
    )


def _path(operation: Operation, values: Mapping[str, object]) -> str:
    text = operation.path
    for name, value in values.items():
        place = f"{{{name}}}"
        if place not in text:
            hint = f"Its path is {operation.path}."
            raise SpecError(f"{operation.name} has no path parameter {name!r}", field=name, hint=hint)
        text = text.replace(place, _segment(operation, name, value))
    if "{" in text:
        missing = text[text.index("{") + 1 : text.index("}")]
        raise SpecError(f"{operation.name} needs {missing}", field=missing, hint=f"Its path is {operation.path}.")
    return text


def _segment(operation: Operation, name: str, value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        message = f"{operation.name}: {name} must be text or a number, got {value!r}"
        raise SpecError(message, field=name, hint="It is one part of the path.")
    text = str(value)
    # An empty one would name the collection, dots would be resolved away by whatever lies on the way.
    if text in ("", ".", ".."):
        hint = "It is one part of the path, and names one thing."
        raise SpecError(f"{operation.name}: {name} must not be {text!r}", field=name, hint=hint)
    if "\0" in text:
        raise SpecError(f"{operation.name}: {name} contains a NUL character", field=name, hint=_NO_NUL)
    return quote(_bytes(text, name), safe="")


def _query(operation: Operation, version: str, values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if value is None:
            continue
        known = [param for param in operation.query if param.name == name]
        if not known:
            raise _unknown_parameter(operation, name)
        param = next((param for param in known if version in param.versions), None)
        if param is None:
            have = {one for param in known for one in param.versions}
            ordered = [one for one in operation.versions if one in have]
            raise _unsupported(f"query parameter {name!r} of {operation.name}", version, ordered)
        for text in dict.fromkeys(_texts(param, value)):
            yield param.wire, text


def _unknown_parameter(operation: Operation, name: str) -> SpecError:
    names = [param.name for param in operation.query]
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(names) or 'none'}"
    return SpecError(f"{operation.name} has no query parameter {name!r}", field=name, hint=hint)


def _texts(param: QueryParam, value: object) -> Iterator[str]:
    """The texts of one parameter. Order is kept; the caller drops duplicates, for which Slurm answers twice."""
    if isinstance(value, (str, int, float, datetime)):
        yield _text(param, value)
        return
    if param.kind != "list" or not isinstance(value, Iterable) or isinstance(value, (Mapping, bytes)):
        raise _unsendable(param, value)
    count = 0
    for item in value:
        count += 1
        yield _text(param, item)
    if not count:
        # Sent as nothing at all, it would ask for everything.
        hint = "leave it out to ask without this filter"
        raise SpecError(f"query parameter {param.name!r} is an empty list", field=param.name, hint=hint)


def _text(param: QueryParam, value: object) -> str:
    if isinstance(value, bool) or param.kind == "bool":
        if not isinstance(value, bool) or param.kind != "bool":
            raise _unsendable(param, value)
        return "true" if value else "false"
    if param.kind == "time":
        return _time(param, value)
    if not isinstance(value, (str, int)):
        raise _unsendable(param, value)
    text = str(value)
    if not text or "\0" in text:
        raise _unsendable(param, value)
    return text


def _time(param: QueryParam, value: object) -> str:
    """Epoch seconds as ``uts1795977202``; v0.0.40 and 41 refuse plain digits. Slurm's own words go as they are."""
    if isinstance(value, str) and not value.isdecimal():
        if not value or "\0" in value:
            raise _unsendable(param, value)
        return value
    if isinstance(value, datetime):
        value = value.timestamp()
    if not isinstance(value, (str, int, float)) or not math.isfinite(float(value)) or float(value) < 0:
        raise _unsendable(param, value)
    return f"uts{max(int(float(value)), _EARLIEST)}"


def _unsendable(param: QueryParam, value: object) -> SpecError:
    wanted = {"bool": "True or False", "time": "a datetime or epoch seconds", "list": "text, numbers or a list of them"}
    hint = f"it takes {wanted.get(param.kind, 'text or a number')}"
    return SpecError(f"query parameter {param.name!r} cannot be {value!r}", field=param.name, hint=hint)


def _body(operation: Operation, version: str, body: RequestModel | Mapping[str, object] | None) -> bytes | None:
    if operation.body is None:
        if body is not None:
            raise SpecError(f"{operation.name} takes no body", hint="Leave it out.")
        return None
    if body is None:
        hint = f"Give a {operation.body} of slurm_rest.api, or a dict of its fields."
        raise SpecError(f"{operation.name} needs a body ({operation.body})", hint=hint)
    model = _validated(operation, body)
    needed = _NEEDED.get(type(model).__name__)
    if needed and getattr(model, needed) is None:
        hint = "slurmrestd 26.05 would end without it."
        raise SpecError(f"{operation.name} needs {needed}", field=needed, hint=hint)
    data = cast("dict[str, object]", model.model_dump(mode="json", by_alias=True, exclude_none=True))
    _fit(model, data, version, "")
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # The server would cut the text there.
    if "\\u0000" in text and any("\0" in one for one in _strings(data)):
        message = f"the body of {operation.name} contains a NUL character, at which Slurm would cut the text"
        raise SpecError(message, hint=_NO_NUL)
    return _bytes(text, "body")


def _validated(operation: Operation, body: RequestModel | Mapping[str, object]) -> RequestModel:
    from pydantic import ValidationError

    expected = cast("type[RequestModel]", model_class(cast("str", operation.body)))
    if isinstance(body, expected):
        return body
    if not isinstance(body, Mapping):
        message = f"{operation.name} takes a {expected.__name__}, not a {type(body).__name__}"
        raise SpecError(message, hint="A dict of its fields does as well.")
    try:
        return expected.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        hint = f"See {expected.__name__} in {expected.__module__}."
        if unknown := first.get("ctx", {}).get("field"):
            raise SpecError(first["msg"], field=f"{place}.{unknown}".lstrip("."), hint=hint) from None
        raise SpecError(f"{place}: {first['msg']}" if place else first["msg"], field=place, hint=hint) from None


def _fit(model: RequestModel, data: dict[str, object], version: str, place: str) -> None:
    """Refuse what is set and unknown to the version; write bare numbers where the version wants them."""
    name = type(model).__name__
    plain = PLAIN.get(name, {})
    bit = 1 << API_VERSIONS.index(version)
    for field, info in type(model).model_fields.items():
        value = getattr(model, field)
        if value is None:
            continue
        where = f"{place}.{field}" if place else field
        supported = known_in(name, field)
        if version not in supported:
            raise _unsupported(f"field {where!r}", version, supported)
        wire = info.serialization_alias or field
        if plain.get(field, 0) & bit:
            if not isinstance(value, (int, float)):
                raise SpecError(
                    f"API version {version} knows no {value!r} for {where}", field=where, hint="It takes a number."
                )
            data[wire] = value
        _fit_inner(value, data[wire], version, where)


def _fit_inner(value: object, data: object, version: str, where: str) -> None:
    from slurm_rest.api._model import RequestModel

    if isinstance(value, RequestModel):
        _fit(value, cast("dict[str, object]", data), version, where)
    elif isinstance(value, list) and isinstance(data, list):
        for index, (item, inner) in enumerate(zip(value, data, strict=True)):
            _fit_inner(item, inner, version, f"{where}[{index}]")


def _strings(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _strings(value)
    elif isinstance(data, list):
        for value in data:
            yield from _strings(value)


def _bytes(text: str, name: str) -> bytes:
    """UTF-8; bytes that were not, read as surrogates, go back as they came."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        hint = "Text from bytes is decoded with surrogateescape."
        raise SpecError(f"{name} contains a lone surrogate, which has no bytes", field=name, hint=hint) from None
