"""Reading the OpenAPI documents: one per version, names stripped of the version."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Schema = Mapping[str, Any]
_FILE = re.compile(r"v\d+\.\d+\.\d+\.json")
_REF = "#/components/schemas/"


class CodegenError(Exception):
    """The documents, the patches or the lock do not fit together."""


@dataclass(frozen=True)
class RawOperation:
    """One operation of one version, as the document has it."""

    service: str
    name: str
    method: str
    path: str
    spec: Schema


@dataclass(frozen=True)
class Document:
    """One version's document with ``v0.0.45_`` taken off the schema names and off the references."""

    version: str
    sha256: str
    schemas: dict[str, Any]
    operations: dict[tuple[str, str], RawOperation]


def version_key(version: str) -> tuple[int, ...]:
    """Sort key: v0.0.9 comes before v0.0.10."""
    return tuple(int(part) for part in version.lstrip("v").split("."))


def document_paths(folder: Path) -> dict[str, Path]:
    """The documents in ``folder`` by version, oldest first. The file names are the only list of versions there is."""
    found = {path.stem: path for path in folder.glob("v*.json") if _FILE.fullmatch(path.name)}
    if not found:
        raise CodegenError(f"no documents (vX.Y.Z.json) in {folder}")
    return dict(sorted(found.items(), key=lambda item: version_key(item[0])))


def load(path: Path) -> Document:
    """Read one document."""
    raw = path.read_bytes()
    return parse(json.loads(raw), path.stem, hashlib.sha256(raw).hexdigest())


def parse(document: Schema, version: str, sha256: str = "") -> Document:
    """Strip the version from the names of ``document`` and sort its operations by service and name."""
    prefix = f"{version}_"
    schemas = {
        name.removeprefix(prefix): _strip(schema, prefix)
        for name, schema in document["components"]["schemas"].items()
        if name.startswith(prefix)
    }
    operations = {}
    for operation in _operations(document, version, prefix):
        key = operation.service, operation.name
        if key in operations:
            raise CodegenError(f"{version}: operation {'.'.join(key)} appears twice")
        operations[key] = operation
    if not schemas or not operations:
        raise CodegenError(f"{version}: the document has no schemas or operations of that version")
    return Document(version, sha256, schemas, operations)


def _operations(document: Schema, version: str, prefix: str) -> Iterator[RawOperation]:
    mark = version.replace(".", "")
    for path, methods in document["paths"].items():
        parts = path.split("/")
        if len(parts) < 4 or parts[2] != version:
            continue
        for method, spec in methods.items():
            service, _, name = spec["operationId"].partition(f"_{mark}_")
            if service != parts[1] or not name:
                raise CodegenError(f"{version}: unexpected operationId {spec['operationId']} at {path}")
            yield RawOperation(service, name, method.upper(), "/" + "/".join(parts[3:]), _strip(spec, prefix))


def _strip(node: Any, prefix: str) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(node, dict):
        return {
            key: value.replace(_REF + prefix, "") if key == "$ref" and isinstance(value, str) else _strip(value, prefix)
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [_strip(item, prefix) for item in node]
    return node


def json_schema(spec: Schema) -> Schema:
    """The JSON schema of a request body or response (there is a YAML twin, always with the same schema)."""
    schema: Schema = spec["content"]["application/json"]["schema"]
    return schema
