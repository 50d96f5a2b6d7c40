"""Emitting the model modules, the words and the version table."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from codegen.document import CodegenError
from codegen.merge import Field, Type
from codegen.naming import constant_name
from codegen.surface import COMMON, FAMILIES, Model, Surface, model_name

WIDTH = 120
_FAMILY_DOCS = {
    COMMON: "Models that several families use: what comes with every answer, exit codes, TRES.",
    "jobs": "Models of the controller's job operations: submit, allocate, update, list, cancel, requeue.",
    "cluster": "Models of nodes, partitions, reservations, licenses and host lists.",
    "accounting": "Models of slurmdbd: finished jobs, users, accounts, associations, QOS, clusters, TRES; and shares.",
    "diagnostics": "Models of ping, diag and the running configuration.",
}
# Words that a field's docstring lists in full; a longer list is named instead.
_FEW_WORDS = 8


def model_modules(surface: Surface, header: str) -> Iterator[tuple[str, str]]:
    """File name and text of each module of models."""
    for family in (COMMON, *FAMILIES):
        models = [model for model in surface.models if model.family == family]
        yield f"{family}.py", _module(surface, family, _ordered(models), header)


def _module(surface: Surface, family: str, models: Sequence[Model], header: str) -> str:
    texts = [_class(surface, model) for model in models]
    body = "\n\n\n".join(texts)
    bases = sorted({"RequestModel" if model.request else "AnswerModel" for model in models})
    imports = []
    if re.search(r": .*\bAny\b", body):
        imports.append("from typing import Any\n\n")
    if 'wire("' in body:
        bases.append("wire")
    imports.append(f"from slurm_rest.api._model import {', '.join(bases)}\n")
    own = {model.name for model in models}
    shared = sorted({name for model in models for name in _needed(model)} - own, key=str.lower)
    if shared:
        imports.append(import_line("slurm_rest.api.common", shared))
    values = sorted(set(re.findall(r"\b(?:NoVal|NoValFloat)\b", body)))
    if values:
        imports.append(f"from slurm_rest.api.values import {', '.join(values)}\n")
    everything = "".join(f'    "{name}",\n' for name in sorted(own))
    doc = _FAMILY_DOCS[family]
    return f'"""{doc}"""\n\n{header}\n{"".join(imports)}\n__all__ = [\n{everything}]\n\n\n{body}\n'


def import_line(module: str, names: Sequence[str], indent: str = "") -> str:
    """An import as the formatter writes it; ``names`` are sorted by the caller."""
    line = f"{indent}from {module} import {', '.join(names)}\n"
    if len(line) <= WIDTH + 1:
        return line
    inner = "".join(f"{indent}    {name},\n" for name in names)
    return f"{indent}from {module} import (\n{inner}{indent})\n"


def _needed(model: Model) -> Iterator[str]:
    for one in model.fields:
        yield from _model_names(one.type)


def _model_names(kind: Type) -> Iterator[str]:
    if kind.kind == "model":
        yield model_name(kind)
    for arg in kind.args:
        yield from _model_names(arg)


def _ordered(models: Sequence[Model]) -> list[Model]:
    """Classes after those they mention: annotations are evaluated at once, which is cheaper than resolving strings."""
    by_name = {model.name: model for model in models}
    done: dict[str, Model] = {}

    def visit(model: Model, path: tuple[str, ...]) -> None:
        if model.name in path:
            raise CodegenError(f"classes mention each other in a circle: {' -> '.join((*path, model.name))}")
        if model.name not in done:
            for name in sorted(set(_needed(model)) & by_name.keys()):
                visit(by_name[name], (*path, model.name))
            done[model.name] = model

    for model in models:
        visit(model, ())
    return list(done.values())


def _class(surface: Surface, model: Model) -> str:
    base = "RequestModel" if model.request else "AnswerModel"
    lines = [f"class {model.name}({base}):"]
    about = f"``{model.component}``{_known(surface, model.versions)}"
    lines += _docstring(f"{about}{' as a request' if model.name.endswith('Req') and model.request else ''}.", "    ")
    for one in model.fields:
        lines.append("")
        lines += _field(surface, model, one)
    return "\n".join(lines)


def _field(surface: Surface, model: Model, one: Field) -> list[str]:
    annotation = _annotation(one.type)
    if one.type.kind != "noval" and annotation != "Any":
        annotation += " | None"
    default = "None"
    if len(one.wires) > 1:
        raise CodegenError(f"{model.name}.{one.name} has several wire names {one.wires}; rename them by a patch")
    if one.wires[0] != one.name:
        default = f'wire("{one.wires[0]}")'
    lines = [f"    {one.name}: {annotation} = {default}"]
    if len(lines[0]) > WIDTH:
        raise CodegenError(f"{model.name}.{one.name}: line too long")
    doc = _field_doc(surface, model, one)
    return lines + (_docstring(doc, "    ") if doc else [])


def _field_doc(surface: Surface, model: Model, one: Field) -> str:
    parts = []
    if one.description:
        text = re.sub(r"\s+", " ", one.description).rstrip(".")
        parts.append(f"{text}.")
    if one.words:
        known = surface.words[one.words]
        listing = f"``words.{constant_name(one.words)}``"
        parts.append(f"One of: {', '.join(known)}." if len(known) <= _FEW_WORDS else f"Words: {listing}.")
    if one.versions != model.versions:
        parts.append(f"Only {spans(surface.versions, one.versions)}.")
    if one.deprecated:
        parts.append("Deprecated.")
    return " ".join(parts)


def _known(surface: Surface, versions: tuple[str, ...]) -> str:
    return "" if versions == surface.versions else f", {spans(surface.versions, versions)}"


def spans(every: Sequence[str], some: Sequence[str]) -> str:
    """``v0.0.40 to v0.0.42``, ``v0.0.44 and later`` or a list."""
    if not some:
        return "no version"
    first, last = every.index(some[0]), every.index(some[-1])
    if last - first + 1 != len(some):
        return ", ".join(some)
    if last == len(every) - 1 and first:
        return f"{some[0]} and later"
    return some[0] if first == last else f"{some[0]} to {some[-1]}"


def _annotation(kind: Type) -> str:
    simple = {"str": "str", "int": "int", "float": "float", "bool": "bool", "any": "Any"}
    if kind.kind in simple:
        return simple[kind.kind]
    if kind.kind == "noval":
        return "NoValFloat" if kind.name == "float" else "NoVal"
    if kind.kind == "model":
        return model_name(kind)
    if kind.kind == "list":
        return f"list[{_annotation(kind.args[0])}]"
    return " | ".join(_annotation(arg) for arg in kind.args)


def _docstring(text: str, indent: str) -> list[str]:
    """A docstring, wrapped. The last character must not be a quote or a backslash."""
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    if text.endswith('"'):
        text += " "
    one = f'{indent}"""{text}"""'
    if len(one) <= WIDTH:
        return [one]
    wrapped = textwrap.wrap(text, WIDTH - len(indent) - 3, break_long_words=False, break_on_hyphens=False)
    return [f'{indent}"""{wrapped[0]}', *(f"{indent}{line}" for line in wrapped[1:]), f'{indent}"""']


def words_module(surface: Surface, header: str) -> str:
    """The known words of every open enumeration."""
    doc = (
        '"""The words that the documents list for flags, states and modes, all versions together.\n\n'
        "The fields themselves are plain strings: a newer Slurm may send, and take, a word that is not listed here.\n"
        '"""\n'
    )
    names = sorted(constant_name(name) for name in surface.words)
    parts = [doc, "\n", header, "\n", "__all__ = [\n", *(f'    "{name}",\n' for name in names), "]\n"]
    by_name = {constant_name(name): words for name, words in surface.words.items()}
    for name in names:
        parts.append(f"\n{name}: frozenset[str] = frozenset(\n    {{\n")
        parts.extend(f'        "{word}",\n' for word in sorted(set(by_name[name])))
        parts.append("    }\n)\n")
    return "".join(parts)


def versions_module(surface: Surface, header: str) -> str:
    """Which version knows which field. One string per model and set of versions keeps it small and fast to load."""
    every = surface.versions
    lines = [
        '"""Which API versions there are, and which of them knows which field of which model."""\n',
        header,
        "API_VERSIONS: tuple[str, ...] = ("
        + ", ".join(f'"{version}"' for version in every)
        + ("," if len(every) == 1 else "")
        + ")",
        '"""Every version that this client speaks, oldest first."""\n',
        "FAMILY: dict[str, str] = {",
    ]
    lines += [f'    "{model.name}": "{model.family}",' for model in surface.models]
    lines += ["}", '"""The module that has a model."""\n', "FIELDS: dict[str, dict[int, str]] = {"]
    for model in surface.models:
        lines.append(f'    "{model.name}": {{')
        by_mask: dict[int, list[str]] = {}
        for one in model.fields:
            by_mask.setdefault(mask(every, one.versions), []).append(one.name)
        for which, names in sorted(by_mask.items()):
            lines += _names_entry(which, names)
        lines.append("    },")
    lines += ["}", '"""Model -> bits of API_VERSIONS (1 is the oldest) -> the fields that exactly these know."""\n']
    lines.append("PLAIN: dict[str, dict[str, int]] = {")
    for model in surface.models:
        plain = {one.name: mask(every, one.plain) for one in model.fields if one.plain and model.request}
        if plain:
            inner = ", ".join(f'"{name}": {bits(which)}' for name, which in plain.items())
            lines.append(f'    "{model.name}": {{{inner}}},')
    lines += ["}", '"""Request fields that these versions want as a bare number, not as {set, infinite, number}."""']
    return "\n".join(lines) + "\n"


def _names_entry(which: int, names: Sequence[str]) -> list[str]:
    one = f'        {bits(which)}: "{" ".join(names)}",'
    if len(one) <= WIDTH:
        return [one]
    wrapped = textwrap.wrap(" ".join(names), WIDTH - 16)
    parts = [f'"{line} "' for line in wrapped[:-1]] + [f'"{wrapped[-1]}"']
    return [f"        {bits(which)}: (", *(f"            {part}" for part in parts), "        ),"]


def bits(value: int) -> str:
    """A mask as the formatter writes it."""
    return f"0x{value:X}"


def mask(every: Sequence[str], some: Iterable[str]) -> int:
    """The set of versions as bits, the oldest first."""
    return sum(1 << every.index(version) for version in some)
