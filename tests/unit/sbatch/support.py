"""What several tests of this folder use."""

from __future__ import annotations

from datetime import datetime

from slurm_rest.sbatch import JobSpec, Setting, submit_body

HEAD = "#!/bin/sh\n"


def job(release: str = "24.11", version: str = "v0.0.42", **options: object) -> dict[str, object]:
    setting = Setting("/home/alice", version=version, release=release, now=datetime(2026, 11, 29, 17, 38))
    found = submit_body(JobSpec(f"{HEAD}true\n", **options), setting)["job"]  # type: ignore[arg-type]
    assert isinstance(found, dict)
    return found
