"""Corrections of the documents, as data: ``openapi/patches.toml``.

A patch that no longer applies is an error, so that none outlives the lie that it corrects.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from codegen.document import CodegenError, Document, RawOperation, version_key

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ACTIONS = frozenset({"answer", "property", "rename", "parameter", "side_effect"})


@dataclass(frozen=True)
class Patch:
    """One correction. ``since``/``until`` bound the versions (inclusive); both may be left out."""

    action: str
    target: str
    reason: str
    value: Any = None
    since: str | None = None
    until: str | None = None

    def covers(self, version: str) -> bool:
        """Whether the patch is meant for ``version``."""
        key = version_key(version)
        if self.since is not None and key < version_key(self.since):
            return False
        return self.until is None or key <= version_key(self.until)


@dataclass(frozen=True)
class PatchSet:
    """All patches, and the schemas that no document has and that patches refer to."""

    patches: tuple[Patch, ...]
    schemas: Mapping[str, Any]


def load(path: Path) -> PatchSet:
    """Read the patch file."""
    with path.open("rb") as file:
        data = tomllib.load(file)
    patches = []
    for number, entry in enumerate(data.get("patch", ()), 1):
        try:
            patch = Patch(**entry)
        except TypeError as error:
            raise CodegenError(f"{path.name}: patch {number}: {error}") from error
        if patch.action not in _ACTIONS:
            raise CodegenError(f"{path.name}: patch {number}: unknown action {patch.action!r}")
        if not patch.reason.strip():
            raise CodegenError(f"{path.name}: patch {number} ({patch.target}) gives no reason")
        patches.append(patch)
    schemas = {name: json.loads(text) for name, text in data.get("schemas", {}).items()}
    return PatchSet(tuple(patches), schemas)


def apply(documents: Iterable[Document], patches: PatchSet) -> list[Document]:
    """The documents with every patch applied to every version it covers."""
    changed = [_with_schemas(document, patches.schemas) for document in documents]
    for patch in patches.patches:
        hits = 0
        for document in changed:
            if patch.covers(document.version):
                hits += _APPLY[patch.action](document, patch)
        if not hits:
            raise CodegenError(f"patch {patch.action} {patch.target!r} applies to no document; remove or mend it")
    return changed


def _with_schemas(document: Document, extra: Mapping[str, Any]) -> Document:
    clash = extra.keys() & document.schemas.keys()
    if clash:
        raise CodegenError(f"{document.version} has its own {', '.join(sorted(clash))}; the patch file must not")
    schemas = copy.deepcopy(document.schemas) | copy.deepcopy(dict(extra))
    operations = {key: replace(op, spec=copy.deepcopy(dict(op.spec))) for key, op in document.operations.items()}
    return replace(document, schemas=schemas, operations=operations)


def _select(document: Document, target: str) -> list[RawOperation]:
    """Operations by ``service.name``; ``service.*`` and ``*`` are allowed."""
    service, _, name = target.partition(".")
    return [
        operation
        for (own_service, own_name), operation in document.operations.items()
        if service in ("*", own_service) and name in ("", "*", own_name)
    ]


def _answer(document: Document, patch: Patch) -> int:
    operations = _select(document, patch.target)
    for operation in operations:
        if patch.value not in document.schemas:
            raise CodegenError(f"patch of {patch.target}: no schema {patch.value!r}")
        for response in operation.spec["responses"].values():
            for content in response["content"].values():
                if content["schema"] == {"$ref": patch.value}:
                    raise CodegenError(f"patch answer {patch.target}: {document.version} needs it no more")
                content["schema"] = {"$ref": patch.value}
    return len(operations)


def _properties(document: Document, target: str) -> tuple[dict[str, Any], str]:
    """The properties that hold the last name of ``component/property/[]/property``, and that name."""
    component, *keys = target.split("/")
    node: Mapping[str, Any] = document.schemas.get(component, {})
    for key in keys[:-1]:
        node = node.get("items", {}) if key == "[]" else node.get("properties", {}).get(key, {})
    properties: dict[str, Any] = node.get("properties", {})
    return properties, keys[-1]


def _property(document: Document, patch: Patch) -> int:
    """Set the schema of a property; a value of "" removes it."""
    properties, key = _properties(document, patch.target)
    new = json.loads(patch.value) if patch.value else None
    if not properties or properties.get(key) == new:
        return 0
    if new is None:
        del properties[key]
    else:
        properties[key] = {"description": properties.get(key, {}).get("description", ""), **new}
    return 1


def _rename(document: Document, patch: Patch) -> int:
    properties, old = _properties(document, patch.target)
    if old not in properties:
        return 0
    properties[patch.value] = properties.pop(old)
    return 1


def _parameter(document: Document, patch: Patch) -> int:
    """``service.operation?wire``: merge ``value`` (x-name, x-kind, ...) into the parameter."""
    where, _, wire = patch.target.partition("?")
    hits = 0
    for operation in _select(document, where):
        for parameter in operation.spec.get("parameters", ()):
            if parameter["name"] == wire:
                parameter.update(patch.value)
                hits += 1
    return hits


def _side_effect(document: Document, patch: Patch) -> int:
    operations = _select(document, patch.target)
    for operation in operations:
        if operation.method != "GET":
            raise CodegenError(f"patch side_effect {patch.target}: not a GET in {document.version}")
        operation.spec["x-side-effect"] = True  # type: ignore[index]  # our own deep copy
    return len(operations)


_APPLY = {
    "answer": _answer,
    "property": _property,
    "rename": _rename,
    "parameter": _parameter,
    "side_effect": _side_effect,
}
