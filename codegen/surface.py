"""The one surface: merged classes, twins for requests, operations, families."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from codegen.document import CodegenError, Document, RawOperation, json_schema
from codegen.merge import Class, Field, Merger, Type, describe
from codegen.naming import class_name, python_name, request_name

COMMON = "common"
# First segment of an operation's path -> the family that carries its models. What is not listed goes to the
# service's default, so that a new version's new operations land somewhere sensible without an edit.
_FAMILIES = {
    "slurm": {
        "job": "jobs",
        "jobs": "jobs",
        "resources": "jobs",
        "ping": "diagnostics",
        "diag": "diagnostics",
        "conf": "diagnostics",
        "reconfigure": "diagnostics",
        "shares": "accounting",
    },
    "slurmdb": {"ping": "diagnostics", "diag": "diagnostics", "conf": "diagnostics"},
}
_DEFAULT_FAMILY = {"slurm": "cluster", "slurmdb": "accounting"}
# What the server adds to an answer. Some bodies are declared as the answer of the matching GET; nobody sends these.
_ENVELOPE = frozenset({"openapi_meta", "openapi_error", "openapi_warning"})
FAMILIES = ("jobs", "cluster", "accounting", "diagnostics")


@dataclass(frozen=True)
class Parameter:
    """A path or query parameter of the merged surface."""

    name: str
    kind: str
    """bool, time, list or scalar."""
    wires: tuple[tuple[str, tuple[str, ...]], ...]
    """Wire names, each with the versions that use it."""
    description: str
    note: str = ""
    words: tuple[str, ...] = ()

    @property
    def versions(self) -> frozenset[str]:
        """The versions that know the parameter under any name."""
        return frozenset(version for _, versions in self.wires for version in versions)


@dataclass(frozen=True)
class Operation:
    """An operation of the merged surface."""

    service: str
    name: str
    method: str
    path: str
    versions: tuple[str, ...]
    family: str
    summary: str
    side_effect: bool
    path_parameters: tuple[Parameter, ...]
    query: tuple[Parameter, ...]
    body: str | None
    response: str


@dataclass(frozen=True)
class Model:
    """A class to emit."""

    name: str
    component: str
    request: bool
    family: str
    fields: tuple[Field, ...]
    versions: tuple[str, ...]


@dataclass
class Surface:
    """Everything that is emitted."""

    versions: tuple[str, ...]
    models: list[Model] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)


def build(documents: Sequence[Document]) -> Surface:
    """Merge the documents (patched already), oldest first."""
    merger = Merger(documents)
    drafts = [_draft(documents, merger, key) for key in _operation_keys(documents)]
    merger.finish()
    return _assemble(merger, drafts)


def _operation_keys(documents: Sequence[Document]) -> list[tuple[str, str]]:
    order = {"slurm": 0, "slurmdb": 1}
    keys = {key for document in documents for key in document.operations}
    return sorted(keys, key=lambda key: (order.get(key[0], 2), key))


@dataclass(frozen=True)
class _Draft:
    operation: Operation
    body: Type | None
    response: Type


def _draft(documents: Sequence[Document], merger: Merger, key: tuple[str, str]) -> _Draft:
    found = [(document.version, document.operations[key]) for document in documents if key in document.operations]
    routes = {(raw.method, raw.path) for _, raw in found}
    if len(routes) != 1:
        raise CodegenError(f"{'.'.join(key)}: versions disagree about the route: {sorted(routes)}")
    newest = found[-1][1]
    response = merger.root(key[1], [(version, json_schema(raw.spec["responses"]["200"])) for version, raw in found])
    bodies = [(v, json_schema(raw.spec["requestBody"])) for v, raw in found if "requestBody" in raw.spec]
    body = merger.root(key[1], bodies) if bodies else None
    for kind in (response, *([body] if body else [])):
        if kind.kind != "model":
            raise CodegenError(f"{'.'.join(key)}: body or answer is no object")
    operation = Operation(
        service=key[0],
        name=python_name(key[1]),
        method=newest.method,
        path=newest.path,
        versions=tuple(version for version, _ in found),
        family=_FAMILIES.get(key[0], {}).get(newest.path.split("/")[1], _DEFAULT_FAMILY.get(key[0], "cluster")),
        summary=newest.spec.get("summary", "").strip(),
        side_effect=newest.method != "GET" or bool(newest.spec.get("x-side-effect")),
        path_parameters=tuple(_parameters(found, "path")),
        query=tuple(_parameters(found, "query")),
        body=None,
        response="",
    )
    return _Draft(operation, body, response)


def _parameters(found: Sequence[tuple[str, RawOperation]], place: str) -> Iterator[Parameter]:
    merged: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for version, raw in reversed(found):
        for spec in raw.spec.get("parameters", ()):
            if spec["in"] == place and not spec.get("x-drop"):
                merged.setdefault(spec.get("x-name") or python_name(spec["name"]), []).append((version, spec))
    for name, specs in merged.items():
        wires: dict[str, list[str]] = {}
        for version, spec in reversed(specs):
            wires.setdefault(spec["name"], []).append(version)
        words = dict.fromkeys(word for _, spec in specs for word in spec["schema"].get("enum", ()))
        yield Parameter(
            name=name,
            kind=_parameter_kind(name, specs[0][1]),
            wires=tuple((wire, tuple(versions)) for wire, versions in wires.items()),
            description=next(filter(None, (describe(spec) for _, spec in specs)), ""),
            note=next((spec["x-note"] for _, spec in specs if "x-note" in spec), ""),
            words=tuple(words),
        )


def _parameter_kind(name: str, spec: dict[str, Any]) -> str:
    """What a parameter takes. Every one is declared a string; the documents' other hints tell them apart."""
    if "x-kind" in spec:
        return str(spec["x-kind"])
    if spec.get("allowEmptyValue"):
        return "bool"
    description = spec.get("description", "")
    if "timestamp" in description.lower() or name == "update_time":
        return "time"
    if spec["schema"].get("enum") or "CSV" in description:
        return "list"
    return "scalar"


def _assemble(merger: Merger, drafts: Iterable[_Draft]) -> Surface:
    drafts = list(drafts)
    answers = _reachable(merger, [(draft.operation.family, draft.response) for draft in drafts])
    bodies = [(draft.operation.family, draft.body) for draft in drafts if draft.body]
    requests = _reachable(merger, bodies, without=_ENVELOPE)
    names = _request_names(answers, requests)
    surface = Surface(merger.versions, conflicts=sorted(merger.conflicts))
    for component, families in answers.items():
        surface.models.append(_model(merger.classes[component], class_name(component), families, request=False))
    for component, families in requests.items():
        model = _model(merger.classes[component], names[component], families, request=True)
        fields = tuple(
            replace(one, type=_renamed(one.type, names)) for one in model.fields if not _ENVELOPE & {*one.type.models()}
        )
        surface.models.append(replace(model, fields=fields))
    for draft in drafts:
        body = names[draft.body.name] if draft.body else None
        response = class_name(draft.response.name)
        surface.operations.append(replace(draft.operation, body=body, response=response))
    used = {one.words for model in surface.models for one in model.fields if one.words}
    surface.words = {name: tuple(merger.words[name]) for name in sorted(used)}
    surface.models.sort(key=lambda model: model.name)
    _check_names(surface)
    return surface


def _reachable(
    merger: Merger, roots: Iterable[tuple[str, Type]], without: frozenset[str] = frozenset()
) -> dict[str, set[str]]:
    """Component -> the families that need it."""
    reached: dict[str, set[str]] = {}
    stack = [(family, name) for family, root in roots for name in root.models()]
    while stack:
        family, name = stack.pop()
        if name in without:
            continue
        families = reached.setdefault(name, set())
        if family not in families:
            families.add(family)
            stack.extend((family, sub) for one in merger.classes[name].fields for sub in one.type.models())
    return reached


def _request_names(answers: dict[str, set[str]], requests: dict[str, set[str]]) -> dict[str, str]:
    return {
        component: class_name(request_name(component) if component in answers else component) for component in requests
    }


def _renamed(kind: Type, names: dict[str, str]) -> Type:
    if kind.kind == "model":
        return replace(kind, name="=" + names[kind.name])
    return replace(kind, args=tuple(_renamed(arg, names) for arg in kind.args))


def _model(cls: Class, name: str, families: set[str], *, request: bool) -> Model:
    family = next(iter(families)) if len(families) == 1 else COMMON
    return Model(name, cls.component, request, family, tuple(cls.fields), cls.versions)


def model_name(kind: Type) -> str:
    """The class that a type of kind model names (requests have theirs renamed already, marked with ``=``)."""
    return kind.name[1:] if kind.name.startswith("=") else class_name(kind.name)


def _check_names(surface: Surface) -> None:
    seen: dict[str, Model] = {}
    for model in surface.models:
        if model.name in seen:
            raise CodegenError(f"{model.component} and {seen[model.name].component} both become {model.name}")
        seen[model.name] = model
