"""What sbatch's command line carries from one component of a het job to another, whether it is wanted or not."""

from __future__ import annotations

from collections.abc import Sequence

from slurm_rest.errors import SpecError

from .options import OPTIONS
from .spec import JobSpec

__all__ = ["refuse_leaks"]

# The client gives these to every component, or takes them out.
_APART = frozenset(
    {"bbf", "chdir", "cluster", "clusters", "comment", "export", "export_file", "get_user_env", "ignore_pbs", "name",
     "test_only", "wait"}
)  # fmt: skip
_KEPT = tuple(row.name for row in OPTIONS if row.kept and not row.inert and row.name not in _APART)


def refuse_leaks(parts: Sequence[JobSpec]) -> None:
    """Raise SpecError for an option that one component has and a command line would give to another one as well.

    What is not reset between components goes on to the next one, and from any of them back to the first.
    """
    given = [part.options() for part in parts]
    for name in _KEPT:
        has = [values.get(name) not in (None, False) for values in given]
        if any(has) and not has[0]:
            raise _leak(name, has.index(True), 0)
        for number in range(1, len(has)):
            if has[number - 1] and not has[number]:
                raise _leak(name, number - 1, number)


def _leak(name: str, source: int, other: int) -> SpecError:
    flag = f"--{name.replace('_', '-')}"
    message = f"sbatch's command line gives the {flag} of component {source} to component {other} as well"
    hint = f"Give {flag} to both, or to none; over REST each component has its own."
    return SpecError(message, field=name, kind="inexpressible", hint=hint)
