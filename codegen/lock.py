"""``openapi/lock.toml``: where each document comes from, and what it hashes to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from codegen.document import CodegenError, Document, version_key

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HEAD = """\
# Origin of the documents in this folder. Written by `scripts/codegen dump`; do not edit.
#
# slurm    the release series that a dump asks for, and that `scripts/codegen dump` without arguments asks again
# release  what the slurmrestd that printed the document calls itself
# command  the command line, run by an unprivileged user on a machine with that release; no daemon is needed
#
# v0.0.42 is served by 24.11 and 26.05. 26.05 adds DELETE reservation/{reservation_name} and differs in four
# descriptions; the document of 24.11, which every server of v0.0.42 fulfils, is the one kept.
"""


@dataclass(frozen=True)
class Entry:
    """The origin of one document."""

    version: str
    slurm: str
    release: str
    command: str
    sha256: str


def read(path: Path) -> dict[str, Entry]:
    """The entries by version; empty when there is no lock yet."""
    if not path.exists():
        return {}
    with path.open("rb") as file:
        data = tomllib.load(file)
    return {version: Entry(version=version, **fields) for version, fields in data.items()}


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Write the lock, oldest version first."""
    parts = [_HEAD]
    for entry in sorted(entries, key=lambda one: version_key(one.version)):
        fields = {name: getattr(entry, name) for name in ("slurm", "release", "command", "sha256")}
        parts.append(f'\n["{entry.version}"]\n' + "".join(f'{name} = "{value}"\n' for name, value in fields.items()))
    path.write_text("".join(parts), encoding="utf-8")


def verify(entries: dict[str, Entry], documents: Iterable[Document]) -> None:
    """Raise unless every document is locked and unchanged, and every entry has its document."""
    documents = list(documents)
    for document in documents:
        entry = entries.get(document.version)
        if entry is None:
            raise CodegenError(f"{document.version}.json is not in lock.toml; scripts/codegen dump adds it")
        if entry.sha256 != document.sha256:
            raise CodegenError(f"{document.version}.json is not what lock.toml recorded; correct it by patches.toml")
    missing = entries.keys() - {document.version for document in documents}
    if missing:
        raise CodegenError(f"lock.toml has {', '.join(sorted(missing))} but there is no such document")
