"""``scripts/codegen dump``: have real slurmrestds print their documents."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from codegen import lock
from codegen.document import CodegenError, parse

_USER = "nobody"
_RELEASE = re.compile(r"\d+\.\d+\.\d+")


def dump(folder: Path, versions: Sequence[str], slurm: str | None) -> list[str]:
    """Print the documents of ``versions`` into ``folder`` and lock them; returns what was written.

    Without ``slurm`` each version is asked of the release that it came from. Without ``versions`` all that are locked
    (for ``slurm``, if given) are printed again.
    """
    entries = lock.read(folder / "lock.toml")
    wanted = list(versions) or [entry.version for entry in entries.values() if slurm in (None, entry.slurm)]
    if not wanted:
        raise CodegenError("nothing to dump: name versions, for instance: dump --slurm 26.05 v0.0.45")
    for version in wanted:
        release = slurm or (entries[version].slurm if version in entries else None)
        if release is None:
            raise CodegenError(f"{version} is not in lock.toml; say which release prints it with --slurm")
        entries[version] = _dump_one(folder, version, release)
    lock.write(folder / "lock.toml", entries.values())
    return wanted


def _dump_one(folder: Path, version: str, slurm: str) -> lock.Entry:
    # Here, because only a dump needs the machinery of clusters; generating does not.
    from cluster.errors import ClusterError
    from cluster.root import ensure_root, run_in_root

    try:
        root = ensure_root(slurm)
        command = command_line(version, plugins(root))
        done = run_in_root(root, command, user=_USER)
    except ClusterError as error:
        raise CodegenError(f"no slurmrestd of {slurm}: {error}") from error
    if done.returncode or not done.stdout:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise CodegenError(f"slurmrestd of {slurm} prints no {version}: {last}")
    document = json.loads(done.stdout)
    parse(document, version)
    raw = pretty(document)
    (folder / f"{version}.json").write_bytes(raw)
    found = _RELEASE.search(document["info"]["version"])
    return lock.Entry(
        version=version,
        slurm=slurm,
        release=found.group() if found else document["info"]["version"],
        command=shlex.join(command),
        sha256=hashlib.sha256(raw).hexdigest(),
    )


def plugins(root: Path) -> list[str]:
    """The OpenAPI plugins that a release has; asking for one it lacks is fatal to slurmrestd."""
    found = {path.stem.removeprefix("openapi_") for path in root.glob("usr/lib/*/slurm*/openapi_*.so")}
    return [f"openapi/{name}" for name in sorted(found)]


def command_line(version: str, plugin_names: Sequence[str]) -> list[str]:
    """The recipe. v0.0.41 inlines nearly everything unless told prefer_refs; the others take no notice of it."""
    return ["slurmrestd", "-d", f"{version}+prefer_refs", "-s", ",".join(plugin_names), "--generate-openapi-spec"]


def pretty(document: object) -> bytes:
    """Sorted and indented, so that two dumps can be compared."""
    return (json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
