"""Emitting the operations: their table, and the typed methods over it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from codegen.emit_models import WIDTH, bits, import_line, mask, spans
from codegen.surface import Operation, Parameter, Surface

_SERVICES = {
    "slurm": ("Slurm", "slurmctld: jobs, nodes, partitions, reservations"),
    "slurmdb": ("Slurmdb", "slurmdbd: accounting"),
    "util": ("Util", "slurmrestd itself: host lists"),
}
_QUERY_TYPES = {"bool": "bool", "time": "Time", "list": "Values", "scalar": "str | int"}


def services(surface: Surface) -> list[str]:
    """The services that the documents have, known ones first."""
    found = {operation.service for operation in surface.operations}
    return [name for name in _SERVICES if name in found] + sorted(found - _SERVICES.keys())


def _of(surface: Surface, service: str) -> list[Operation]:
    return [operation for operation in surface.operations if operation.service == service]


def operations_module(surface: Surface, header: str) -> str:
    """The table of operations."""
    parts = [
        '"""Every operation of every version, as data."""\n\n',
        header,
        "\nfrom slurm_rest.api._operation import Operation, QueryParam, versions_of\n\n",
    ]
    names = [service.upper() for service in services(surface)]
    parts.append("__all__ = [" + ", ".join(f'"{name}"' for name in sorted(names)) + "]\n")
    for service in services(surface):
        parts.append(f"\n{service.upper()}: dict[str, Operation] = {{\n")
        for operation in _of(surface, service):
            parts += _entry(surface, operation)
        parts.append("}\n")
    return "".join(parts)


def _entry(surface: Surface, operation: Operation) -> Iterator[str]:
    every = surface.versions
    yield f'    "{operation.name}": Operation(\n'
    yield f'        name="{operation.name}",\n'
    yield f'        service="{operation.service}",\n'
    yield f'        method="{operation.method}",\n'
    yield f'        path="{operation.path}",\n'
    yield f"        versions=versions_of({bits(mask(every, operation.versions))}),\n"
    params = [
        f'QueryParam("{parameter.name}", "{wire}", versions_of({bits(mask(every, versions))}), "{parameter.kind}")'
        for parameter in operation.query
        for wire, versions in parameter.wires
    ]
    if len(params) == 1:
        yield f"        query=({params[0]},),\n"
    elif params:
        yield "        query=(\n" + "".join(f"            {param},\n" for param in params) + "        ),\n"
    if operation.body:
        yield f'        body="{operation.body}",\n'
    yield f'        response="{operation.response}",\n'
    yield f'        family="{operation.family}",\n'
    if not operation.side_effect:
        yield "        safe=True,\n"
    yield "    ),\n"


def client_module(surface: Surface, header: str) -> str:
    """The typed methods, as coroutines and their blocking twins."""
    parts = [
        '"""One typed method per operation: ``AsyncSlurmApi`` and its blocking twin ``SlurmApi``."""\n\n',
        header,
        "\n# ruff: noqa: A002 - parameters are called what Slurm calls them: id, format\n",
        "\nfrom __future__ import annotations\n\n",
        "from collections.abc import Mapping\nfrom typing import TYPE_CHECKING, cast\n\n",
        "from slurm_rest.api._operations import " + ", ".join(sorted(s.upper() for s in services(surface))) + "\n",
        "from slurm_rest.api.base import ApiCaller, AsyncOperations, Runner, SyncOperations, Time, Values\n\n",
        "if TYPE_CHECKING:\n",
    ]
    family = {model.name: model.family for model in surface.models}
    used = {name for one in surface.operations for name in (one.body, one.response) if name}
    for module in sorted({family[name] for name in used}):
        names = sorted((name for name in used if family[name] == module), key=str.lower)
        parts.append(import_line(f"slurm_rest.api.{module}", names, "    "))
    children = [name for name in services(surface) if name != "slurm"]
    exported = sorted(f"{prefix}{_class(service)}Api" for service in services(surface) for prefix in ("", "Async"))
    parts.append("\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in exported) + "]\n")
    for service in [*children, "slurm"]:
        parts.append(_async_class(surface, service, children if service == "slurm" else []))
        parts.append(_sync_class(surface, service, children if service == "slurm" else []))
    return "".join(parts)


def _class(service: str) -> str:
    return _SERVICES[service][0] if service in _SERVICES else service.capitalize()


def _attribute(service: str) -> str:
    return {"slurmdb": "db"}.get(service, service)


def _async_class(surface: Surface, service: str, children: Sequence[str]) -> str:
    doc = _SERVICES.get(service, ("", service))[1]
    lines = [f"\n\nclass Async{_class(service)}Api(AsyncOperations):", f'    """The operations of {doc}."""']
    if children:
        lines += ["", "    def __init__(self, caller: ApiCaller) -> None:", "        super().__init__(caller)"]
        lines += [f"        self.{_attribute(child)} = Async{_class(child)}Api(caller)" for child in children]
    for operation in _of(surface, service):
        lines += _async_method(surface, operation)
    return "\n".join(lines) + "\n"


def _sync_class(surface: Surface, service: str, children: Sequence[str]) -> str:
    name = _class(service)
    doc = _SERVICES.get(service, ("", service))[1]
    lines = [
        f"\n\nclass {name}Api(SyncOperations):",
        f'    """The operations of {doc}; each blocks until it is answered."""',
        "",
        f"    def __init__(self, api: Async{name}Api, run: Runner) -> None:",
        "        super().__init__(run)",
        "        self._api = api",
    ]
    lines += [
        f"        self.{_attribute(child)} = {_class(child)}Api(api.{_attribute(child)}, run)" for child in children
    ]
    for operation in _of(surface, service):
        lines += _sync_method(surface, operation)
    return "\n".join(lines) + "\n"


def _arguments(operation: Operation) -> list[str]:
    kinds = {"job_id": "int | str", "id": "int | str"}
    arguments = ["self", *(f"{one.name}: {kinds.get(one.name, 'str')}" for one in operation.path_parameters)]
    if operation.body:
        arguments.append(f"body: {operation.body} | Mapping[str, object]")
    if operation.query:
        arguments.append("*")
        arguments += [f"{one.name}: {_QUERY_TYPES[one.kind]} | None = None" for one in operation.query]
    return arguments


def _signature(prefix: str, operation: Operation) -> list[str]:
    arguments = _arguments(operation)
    head, tail = f"    {prefix} {operation.name}(", f") -> {operation.response}:"
    one = f"{head}{', '.join(arguments)}{tail}"
    if len(one) <= WIDTH:
        return [one]
    inner = f"        {', '.join(arguments)}"
    # Ruff puts all arguments on one line of their own when they fit.
    if len(inner) <= WIDTH:
        return [head, inner, f"    {tail}"]
    return [head, *(f"        {argument}," for argument in arguments), f"    {tail}"]


def _async_method(surface: Surface, operation: Operation) -> list[str]:
    lines = ["", *_signature("async def", operation), *_method_doc(surface, operation)]
    arguments = [f'{operation.service.upper()}["{operation.name}"]']
    if operation.path_parameters:
        arguments.append(f"path={_dict(operation.path_parameters, 12)}")
    if operation.query:
        arguments.append(f"query={_dict(operation.query, 12)}")
    if operation.body:
        arguments.append("body=body")
    one = f"        answer = await self._call({', '.join(arguments)})"
    if "\n" not in one and len(one) <= WIDTH:
        lines.append(one)
    elif "\n" not in one and len(", ".join(arguments)) + 12 <= WIDTH:
        lines += ["        answer = await self._call(", f"            {', '.join(arguments)}", "        )"]
    else:
        lines.append("        answer = await self._call(")
        lines += [f"            {argument}," for argument in arguments]
        lines.append("        )")
    lines.append(f'        return cast("{operation.response}", answer)')
    return lines


def _dict(parameters: Sequence[Parameter], indent: int) -> str:
    items = [f'"{one.name}": {one.name}' for one in parameters]
    one = "{" + ", ".join(items) + "}"
    if len(one) + indent + len("query=,") <= WIDTH:
        return one
    pad = " " * indent
    return "{\n" + "".join(f"{pad}    {item},\n" for item in items) + pad + "}"


def _sync_method(surface: Surface, operation: Operation) -> list[str]:
    lines = ["", *_signature("def", operation), *_method_doc(surface, operation)]
    arguments = [one.name for one in operation.path_parameters]
    if operation.body:
        arguments.append("body")
    arguments += [f"{one.name}={one.name}" for one in operation.query]
    one = f"        return self._run(self._api.{operation.name}({', '.join(arguments)}))"
    if len(one) <= WIDTH:
        return [*lines, one]
    middle = f"            self._api.{operation.name}({', '.join(arguments)})"
    if len(middle) <= WIDTH:
        return [*lines, "        return self._run(", middle, "        )"]
    inner = f"                {', '.join(arguments)}"
    inside = [inner] if len(inner) <= WIDTH else [f"                {argument}," for argument in arguments]
    return [
        *lines,
        "        return self._run(",
        f"            self._api.{operation.name}(",
        *inside,
        "            )",
        "        )",
    ]


def _method_doc(surface: Surface, operation: Operation) -> list[str]:
    pad = "        "
    summary = operation.summary.rstrip(".") or operation.name
    summary = summary[0].upper() + summary[1:]
    lines = textwrap.wrap(f"{summary}.", WIDTH - len(pad) - 3)
    notes = [f"``{operation.method} /{operation.service}/<version>{operation.path}``"]
    if operation.versions != surface.versions:
        notes.append(f"only {spans(surface.versions, operation.versions)}")
    if operation.side_effect and operation.method == "GET":
        notes.append("changes the cluster although it is a GET")
    if len(lines) > 1:
        lines = [summary.split(".")[0][: WIDTH - len(pad) - 4] + "."]
    body = [*lines, "", *textwrap.wrap("; ".join(notes) + ".", WIDTH - len(pad))]
    described = [line for one in operation.query for line in _parameter_doc(surface, operation, one)]
    if described:
        body += ["", "Args:", *described]
    return [f'{pad}"""{body[0]}', *(f"{pad}{line}" if line else "" for line in body[1:]), f'{pad}"""']


def _parameter_doc(surface: Surface, operation: Operation, one: Parameter) -> list[str]:
    notes = [one.description.removeprefix("CSV ").rstrip(".")] if one.description else []
    if one.note:
        notes.append(one.note)
    if one.words:
        notes.append("words: " + ", ".join(one.words))
    missing = [version for version in operation.versions if version not in one.versions]
    if missing:
        notes.append(f"only {spans(surface.versions, [v for v in operation.versions if v in one.versions])}")
    text = f"{one.name}: {'; '.join(notes)}." if notes else f"{one.name}: see the name."
    return textwrap.wrap(text, WIDTH - 12, initial_indent="    ", subsequent_indent="        ")
