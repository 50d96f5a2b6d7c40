"""The command ``slurm-rest``. Only what a command needs is loaded, and only when it runs."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0, 1 for refused or failed, 2 for usage, 130 after ^C."""
    try:
        # Loading takes a tenth of a second and more, in which ^C can come as well.
        from .failures import run

        return run(arguments)
    except KeyboardInterrupt:
        from .terminal import INTERRUPTED, complain

        complain("", kind="interrupted")
        return INTERRUPTED
