"""Whether a process is there."""

from __future__ import annotations

from pathlib import Path

__all__ = ["is_running"]


def is_running(pid: int) -> bool:
    """Tell whether a process is there and not merely waiting for its parent to take note of its end."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # gone before it was opened, or before it was read
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
