"""Makes the shapes of ``slurm_rest.testing`` from captures of real daemons: one example of each kind of record.

    python -m codegen.shapes [--check]

The fake server fills its own values into them, so its answers have every key, in the form, of the real ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
CAPTURES = REPOSITORY / "tests/data/captures"
OUT = REPOSITORY / "src/slurm_rest/testing/shapes"
# Kind of record: the capture and the key that holds it.
_SOURCES = {
    "job": ("job_completed", "jobs"),
    "accounting_job": ("slurmdb_jobs", "jobs"),
    "node": ("nodes", "nodes"),
    "partition": ("partitions", "partitions"),
    "diag": ("diag", "statistics"),
    "ping": ("ping", "pings"),
    "accounting_ping": ("slurmdb_ping", "pings"),
    "cluster": ("slurmdb_clusters", "clusters"),
    "user": ("slurmdb_users", "users"),
    "association": ("slurmdb_associations", "associations"),
    "qos": ("slurmdb_qos", "qos"),
    "meta": ("ping", "meta"),
}


def main(argv: list[str]) -> int:
    """Write the shapes, or with ``--check`` tell whether they would change."""
    wanted = shapes()
    old = {path.name: path.read_text() for path in OUT.glob("*.json")}
    stale = sorted(name for name in {*wanted, *old} if wanted.get(name) != old.get(name))
    if stale and "--check" in argv:
        print(f"codegen.shapes: would change {', '.join(stale)}", file=sys.stderr)
        return 1
    for name in stale:
        if name in wanted:
            (OUT / name).write_text(wanted[name])
        else:
            (OUT / name).unlink()
    return 0


def shapes() -> dict[str, str]:
    """Return the files: name and text."""
    return {
        f"{'.'.join(place.parent.name.split('.')[:2])}-{place.name}.json": _one_line_each(_records(place))
        for place in sorted(CAPTURES.glob("2[46].*/v*"))
    }


def _records(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for kind, (capture, key) in _SOURCES.items():
        path = place / f"{capture}.json"
        if path.exists():
            content = json.loads(path.read_text())[key]
            found[kind] = content[0] if isinstance(content, list) else content
    # A handful of counters is enough to show what they look like; the daemon sends hundreds.
    found["diag"] = {key: value[:1] if isinstance(value, list) else value for key, value in found["diag"].items()}
    return found


def _one_line_each(records: dict[str, Any]) -> str:
    lines = (f"{json.dumps(kind)}: {json.dumps(record)}" for kind, record in records.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
