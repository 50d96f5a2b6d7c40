"""Merging the documents of all versions into one set of classes.

All versions are walked together, position by position (``jobs[].job_resources.nodes``). So a shape that one version
writes inline and another names is one class, under the newest name. Classes collect what every version says about
them until nothing new turns up; the types of their fields are decided afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from codegen.document import CodegenError, Document, Schema
from codegen.naming import python_name

Pair = tuple[str, Schema]
_NO_VAL = frozenset({"set", "infinite", "number"})
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
# What the documents repeat after the description proper, about forms that the value types take care of.
_NOISE = re.compile(
    r"\s*\((?:\d+ bit (?:integer|floating point) number with flags|UNIX timestamp or time string [^)]*\)[^)]*)\)"
)


@dataclass(frozen=True)
class Type:
    """A merged type. ``kind``: str, int, float, bool, any, noval, model, list or union."""

    kind: str
    name: str = ""
    args: tuple[Type, ...] = ()

    def models(self) -> Iterable[str]:
        """The classes that the type mentions."""
        if self.kind == "model":
            yield self.name
        for arg in self.args:
            yield from arg.models()


@dataclass(frozen=True)
class Field:
    """One field of a class: its names, its type, who knows it."""

    name: str
    wires: tuple[str, ...]
    type: Type
    versions: tuple[str, ...]
    description: str
    words: str | None = None
    deprecated: bool = False
    plain: tuple[str, ...] = ()
    """Versions that want a bare number where the others take ``{set, infinite, number}``."""


@dataclass
class Class:
    """One class under construction: every (version, schema) that describes it."""

    component: str
    sources: dict[tuple[str, int], Schema] = field(default_factory=dict)
    fields: list[Field] = field(default_factory=list)
    versions: tuple[str, ...] = ()

    def add(self, version: str, schema: Schema) -> bool:
        """Remember one more description; False if it was known."""
        key = version, id(schema)
        if key in self.sources:
            return False
        self.sources[key] = schema
        return True


@dataclass(frozen=True)
class _Seen:
    """A schema with its references followed."""

    version: str
    schema: Schema
    name: str | None
    kind: str


class Merger:
    """Collects classes and word lists from positions."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = {document.version: document for document in documents}
        self.versions = tuple(self.documents)
        self.classes: dict[str, Class] = {}
        self.words: dict[str, dict[str, None]] = {}
        self.conflicts: list[str] = []
        self._dirty: dict[str, None] = {}
        # Names that a component has anywhere: an inline shape must not take one by accident.
        self._taken = {
            name
            for document in self.documents.values()
            for name, schema in document.schemas.items()
            if schema.get("type") == "object"
        }

    def root(self, name: str, pairs: Iterable[Pair]) -> Type:
        """Merge the schemas of one body or answer, and all they lead to."""
        merged = self._position(list(pairs), name, name)
        while self._dirty:
            component = next(iter(self._dirty))
            del self._dirty[component]
            self._fields(self.classes[component])
        return merged

    def finish(self) -> None:
        """Decide the fields of all classes."""
        self.conflicts.clear()
        for cls in list(self.classes.values()):
            versions = {version for version, _ in cls.sources}
            cls.versions = tuple(version for version in self.versions if version in versions)
            cls.fields = self._fields(cls)
        if self._dirty:
            raise CodegenError("the merge did not settle")

    def _fields(self, cls: Class) -> list[Field]:
        by_name: dict[str, list[tuple[str, Pair]]] = {}
        for (version, _), schema in sorted(cls.sources.items(), key=lambda item: self.versions.index(item[0][0])):
            for wire, sub in schema.get("properties", {}).items():
                by_name.setdefault(python_name(wire), []).append((wire, (version, sub)))
        return [self._field(cls.component, name, found) for name, found in sorted(by_name.items())]

    def _field(self, component: str, name: str, found: list[tuple[str, Pair]]) -> Field:
        pairs = [pair for _, pair in found]
        where = f"{component}.{name}"
        merged = self._position(pairs, f"{component}_{name}".replace("__", "_").rstrip("_"), where)
        seen = [self._see(pair) for pair in pairs]
        newest_first = [schema for _, schema in reversed(pairs)]
        versions = {version for version, _ in pairs}
        plain = {one.version for one in seen if one.kind in ("int", "float")} if merged.kind == "noval" else set()
        return Field(
            name=name,
            wires=tuple(dict.fromkeys(wire for wire, _ in reversed(found))),
            type=merged,
            versions=tuple(version for version in self.versions if version in versions),
            description=next(filter(None, map(describe, newest_first)), ""),
            words=self._words_of(merged, seen),
            deprecated=bool(newest_first[0].get("deprecated")),
            plain=tuple(version for version in self.versions if version in plain),
        )

    @staticmethod
    def _words_of(merged: Type, seen: list[_Seen]) -> str | None:
        inner = merged.args[0] if merged.kind == "list" else merged
        return inner.name or None if inner.kind == "str" and seen else None

    def _see(self, pair: Pair) -> _Seen:
        version, schema = pair
        name = None
        while "$ref" in schema:
            name = schema["$ref"]
            try:
                schema = self.documents[version].schemas[name]
            except KeyError:
                raise CodegenError(f"{version}: reference to {name!r}, which is not there") from None
        return _Seen(version, schema, name, _kind(schema))

    def _position(self, pairs: list[Pair], hint: str, where: str) -> Type:
        seen = [self._see(pair) for pair in pairs]
        by_kind: dict[str, list[_Seen]] = {}
        for one in reversed(seen):
            by_kind.setdefault(one.kind, []).append(one)
        _fold(by_kind)
        types = [self._one_kind(kind, list(reversed(some)), hint, where) for kind, some in by_kind.items()]
        if len(types) == 1:
            return types[0]
        self.conflicts.append(
            f"{where}: "
            + ", ".join(f"{kind} ({' '.join(sorted({o.version for o in some}))})" for kind, some in by_kind.items())
        )
        return Type("union", args=tuple(types))

    def _one_kind(self, kind: str, seen: list[_Seen], hint: str, where: str) -> Type:
        if kind == "object":
            return self._object(seen, hint)
        if kind == "array":
            items = [(one.version, one.schema.get("items", {})) for one in seen]
            name = next((one.name for one in reversed(seen) if one.name), None)
            return Type("list", args=(self._position(items, name or hint, where + "[]"),))
        if kind == "str":
            return Type("str", self._enum(seen, hint))
        if kind == "noval":
            floating = seen[-1].schema.get("properties", {}).get("number", seen[-1].schema).get("type") == "number"
            return Type("noval", "float" if floating else "int")
        return Type(kind)

    def _enum(self, seen: list[_Seen], hint: str) -> str:
        listed = [one for one in seen if one.schema.get("enum")]
        if not listed:
            return ""
        name = next((one.name for one in reversed(listed) if one.name), hint)
        known = self.words.setdefault(name, {})
        for one in listed:
            known.update(dict.fromkeys(one.schema["enum"]))
        return name

    def _object(self, seen: list[_Seen], hint: str) -> Type:
        name = next((one.name for one in reversed(seen) if one.name), None)
        if name is None:
            name = f"{hint}_item" if hint in self._taken else hint
        cls = self.classes.setdefault(name, Class(name))
        # Each must run: any() would stop at the first that is new.
        if sum([cls.add(one.version, one.schema) for one in seen]):
            self._dirty[name] = None
        return Type("model", name)


def describe(schema: Schema) -> str:
    """The description of a position without what the value types take care of."""
    return _NOISE.sub("", schema.get("description", "")).strip()


def _kind(schema: Schema) -> str:
    declared = schema.get("type")
    if declared == "object":
        properties: Mapping[str, Any] = schema.get("properties", {})
        return "noval" if properties.keys() == _NO_VAL else "object" if properties else "any"
    if declared == "array":
        return "array"
    if declared is None:
        return "any"
    return _SCALARS[declared]


def _fold(by_kind: dict[str, list[_Seen]]) -> None:
    """Drop the kinds that another one present includes."""
    if len(by_kind) > 1:
        by_kind.pop("any", None)
    if "noval" in by_kind:
        # The value type reads bare numbers as well.
        for kind in ("int", "float"):
            by_kind.pop(kind, None)
    if "float" in by_kind:
        by_kind.pop("int", None)
