"""The command ``slurm-rest``. Only what a command needs is loaded, and only when it runs."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1 for refused or failed, 2 for usage, 130 after ^C."""
    from .terminal import INTERRUPTED, complain

    try:
        from .failures import run

        return run(arguments)
    except KeyboardInterrupt:
        complain("", kind="interrupted")
        return INTERRUPTED
