"""The command line of the generator."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from codegen import document, dump, lock, patches, surface
from codegen.document import CodegenError, Document
from codegen.emit_api import client_module, operations_module
from codegen.emit_models import model_modules, versions_module, words_module

REPOSITORY = Path(__file__).resolve().parent.parent
_MARK = "# Generated, do not edit; remake with scripts/codegen."


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``scripts/codegen``; the exit status is 1 on drift and on every error."""
    options = _parser().parse_args(argv)
    try:
        if options.command == "dump":
            for version in dump.dump(options.openapi, options.versions, options.slurm):
                print(f"dumped {version}")
            print("now run scripts/codegen")
            return 0
        files = generate(options.openapi, tell=_quiet if options.check else _note)
    except CodegenError as error:
        print(f"codegen: {error}", file=sys.stderr)
        return 1
    if options.check:
        return _report(drift(files, options.out))
    write(files, options.out)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/codegen", description="Make src/slurm_rest/api from openapi/.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if anything would change")
    parser.add_argument("--openapi", type=Path, default=REPOSITORY / "openapi", help="folder of documents")
    parser.add_argument("--out", type=Path, default=REPOSITORY / "src/slurm_rest/api", help="folder of the output")
    commands = parser.add_subparsers(dest="command", metavar="dump")
    dumping = commands.add_parser("dump", help="have real slurmrestds print their documents again (needs root)")
    dumping.add_argument("--slurm", help="release to ask, for instance 26.05; by default the one in lock.toml")
    dumping.add_argument("versions", nargs="*", help="versions; by default all in lock.toml")
    return parser


def _note(text: str) -> None:
    print(f"codegen: {text}", file=sys.stderr)


def _quiet(_: str) -> None:
    """Say nothing."""


def generate(openapi: Path, tell: Callable[[str], None] = _quiet) -> dict[str, str]:
    """File name -> text of everything that is generated from the documents in ``openapi``.

    ``tell`` is called with what a new document makes worth a look: fields of which versions have types that exclude
    each other.
    """
    documents = [document.load(path) for path in document.document_paths(openapi).values()]
    lock.verify(lock.read(openapi / "lock.toml"), documents)
    merged = surface.build(patches.apply(documents, patches.load(openapi / "patches.toml")))
    for conflict in merged.conflicts:
        tell(f"a union, since versions disagree: {conflict}")
    header = _header(documents)
    files = dict(model_modules(merged, header))
    files["words.py"] = words_module(merged, header)
    files["_versions.py"] = versions_module(merged, header)
    files["_operations.py"] = operations_module(merged, header)
    files["_client.py"] = client_module(merged, header)
    return files


def _header(documents: Sequence[Document]) -> str:
    sources = "".join(f"#   {one.version} {one.sha256[:16]}\n" for one in documents)
    return f"{_MARK}\n# Sources (sha256 in openapi/lock.toml):\n{sources}"


def drift(files: dict[str, str], out: Path) -> list[str]:
    """What differs between ``files`` and what is in ``out``; generated files that should not be there count too."""
    found = []
    for name, text in files.items():
        path = out / name
        if not path.exists():
            found.append(f"{name} is missing")
        elif path.read_bytes() != text.encode():
            found.append(f"{name} differs")
    found += [f"{name} is no longer generated" for name in _stale(files, out)]
    return found


def _stale(files: dict[str, str], out: Path) -> list[str]:
    return [
        path.name for path in sorted(out.glob("*.py")) if path.name not in files and _MARK in path.read_text("utf-8")
    ]


def write(files: dict[str, str], out: Path) -> None:
    """Write what changed and remove generated files that are generated no more."""
    out.mkdir(parents=True, exist_ok=True)
    for name in _stale(files, out):
        (out / name).unlink()
    for name, text in files.items():
        path = out / name
        if not path.exists() or path.read_bytes() != text.encode():
            path.write_bytes(text.encode())
            print(f"wrote {name}")


def _report(found: list[str]) -> int:
    for line in found:
        print(f"codegen --check: {line}", file=sys.stderr)
    if found:
        print("run scripts/codegen and commit the result", file=sys.stderr)
    return 1 if found else 0
