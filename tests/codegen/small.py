"""Small documents for the tests of the generator."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codegen.document import Document, parse
from codegen.lock import Entry, write

NO_VAL = {
    "type": "object",
    "properties": {"set": {"type": "boolean"}, "infinite": {"type": "boolean"}, "number": {"type": "integer"}},
}
TEXT = {"type": "string"}
NUMBER = {"type": "integer"}


def ref(name: str) -> dict[str, str]:
    """A reference as it looks before the version is stripped; ``V`` stands for the version."""
    return {"$ref": f"#/components/schemas/V_{name}"}


def obj(**properties: Any) -> dict[str, Any]:
    """An object schema."""
    return {"type": "object", "properties": properties}


def array(items: Any) -> dict[str, Any]:
    """An array schema."""
    return {"type": "array", "items": items}


def operation(response: Any, *, body: Any = None, parameters: Any = ()) -> dict[str, Any]:
    """An operation that answers with ``response``."""
    content = {"content": {"application/json": {"schema": response}}}
    spec: dict[str, Any] = {"responses": {"200": content}, "parameters": list(parameters), "summary": "do it"}
    if body is not None:
        spec["requestBody"] = {"content": {"application/json": {"schema": body}}}
    return spec


def query(name: str, **more: Any) -> dict[str, Any]:
    """A query parameter."""
    return {"name": name, "in": "query", "schema": {"type": "string"}, **more}


def raw(version: str, schemas: Mapping[str, Any], operations: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A document; ``operations`` by ``"GET /slurm/jobs/ get_jobs"``."""
    paths: dict[str, Any] = {}
    for key, spec in operations.items():
        method, path, name = key.split()
        service, rest = path[1:].split("/", 1)
        mark = version.replace(".", "")
        paths.setdefault(f"/{service}/{version}/{rest}", {})[method.lower()] = {
            **spec,
            "operationId": f"{service}_{mark}_{name}",
        }
    document = {
        "components": {"schemas": {f"{version}_{name}": schema for name, schema in schemas.items()}},
        "paths": paths,
        "info": {"version": "Slurm-99.11.1"},
    }
    text = json.dumps(document).replace("#/components/schemas/V_", f"#/components/schemas/{version}_")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def document(version: str, schemas: Mapping[str, Any], operations: Mapping[str, Mapping[str, Any]]) -> Document:
    """The same, loaded."""
    return parse(raw(version, schemas, operations), version)


def jobs(version: str, row: Any, /, **more: Any) -> Document:
    """A document with one operation that lists jobs of the schema ``row``."""
    answer = operation(ref("jobs_resp"))
    return document(version, {"jobs_resp": obj(jobs=array(row)), **more}, {"GET /slurm/jobs/ get_jobs": answer})


def store(folder: Path, *documents: dict[str, Any], versions: tuple[str, ...]) -> None:
    """Write documents, an empty patch file and the lock."""
    entries = []
    for version, one in zip(versions, documents, strict=True):
        text = json.dumps(one).encode()
        (folder / f"{version}.json").write_bytes(text)
        entries.append(Entry(version, "99.11", "99.11.1", "cmd", hashlib.sha256(text).hexdigest()))
    write(folder / "lock.toml", entries)
    (folder / "patches.toml").touch()
