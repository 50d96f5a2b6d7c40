"""The help of ``submit`` and ``convert``: sbatch's options by what they are about, the common ones first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import click

from slurm_rest.sbatch.option import NONE, OPTIONAL, Option

__all__ = ["GROUPS", "write_options"]

# The first group in the order in which people think of them, the others by name.
GROUPS: dict[str, str] = {
    "Common options": "job-name partition account time nodes ntasks cpus-per-task mem gpus array dependency"
    " output error chdir env wrap wait idempotency-key api-version",
    "Resources": "contiguous core-spec cores-per-socket cpus-per-gpu exclusive extra-node-info gpus-per-node"
    " gpus-per-socket gpus-per-task gres licenses mem-per-cpu mem-per-gpu mem-update mincpus network ntasks-per-core"
    " ntasks-per-gpu ntasks-per-node ntasks-per-socket ntasks-per-tres overcommit oversubscribe resources resv-ports"
    " sockets-per-node tasks-per-node thread-spec threads-per-core tmp tres-per-task bb bbf",
    "Nodes and placement": "batch consolidate-segments constraint cpu-freq distribution exclude gpu-bind gpu-freq"
    " gres-flags hint mem-bind nodefile nodelist prefer reboot segment spread-job spread-segments switches tres-bind"
    " use-min-nodes wait-all-nodes",
    "Scheduling": "begin cluster cluster-constraint clusters deadline delay-boot hold nice priority qos reservation"
    " time-min",
    "While it runs": "acctg-freq kill-on-invalid-dep mail-type mail-user no-kill no-requeue oom-kill-step profile"
    " requeue signal stepmgr",
    "Files and environment": "container container-id container-type export export-file get-user-env input open-mode"
    " propagate",
    "Labels": "comment context extra mcs-label wckey",
    "The command itself": "help ignore-pbs parsable quiet usage verbose version",
    "Not for REST": "autocomplete external gid test-only uid",
}
_REST = "Others"
_METAVARS = {
    "NAME": "account batch cluster cluster-constraint clusters container-id container-type gid job-name mail-user"
    " mcs-label qos uid wckey",
    "FEATURES": "constraint prefer",
    "DIR": "chdir container",
    "LIST": "dependency export",
    "INDEXES": "array",
    "COMMAND": "wrap",
    "NAME=VALUE": "env",
    "VERSION": "api-version",
    "TEXT": "idempotency-key",
    "SPEC": "bb network resources",
    "BINDING": "gpu-bind tres-bind",
    "FREQUENCY": "gpu-freq",
    "MARGIN@DELAY": "mem-update",
    "TRES": "tres-per-task",
    "WORD": "autocomplete",
}
_METAVAR_OF = {name: metavar for metavar, names in _METAVARS.items() for name in names.split()}
_HELP = {
    "help": "show this text",
    "usage": "show the form of the command line",
    "version": "show this program's version",
    "verbose": "tell what is being done; twice: each request",
    "wait": "follow the job to its end and exit as it did",
    "quiet": "no progress display and no warnings",
    "parsable": "print the job id alone, which is so anyway",
}
# Wide enough for most, so that few names push their text onto a line of its own.
_NAME_COLUMN = 34


def write_options(formatter: click.HelpFormatter, rows: Sequence[Option]) -> None:
    """Write a section for each group, a line for each option."""
    for title, group in _grouped(rows):
        with formatter.section(title):
            formatter.write_dl([_line(row) for row in group], col_max=_NAME_COLUMN)


def _grouped(rows: Sequence[Option]) -> Iterator[tuple[str, list[Option]]]:
    by_name = {row.long: row for row in rows}
    for title, text in GROUPS.items():
        names: Iterable[str] = text.split() if title == next(iter(GROUPS)) else sorted(text.split())
        found = [by_name.pop(name) for name in names if name in by_name]
        if found:
            yield title, found
    if by_name:
        yield _REST, list(by_name.values())


def _line(row: Option) -> tuple[str, str]:
    value = _METAVAR_OF.get(row.long, row.kind.metavar) if row.takes is not NONE else ""
    shown = f"[={value}]" if row.takes is OPTIONAL else f" {value}" if value else ""
    names = f"-{row.short}, --{row.long}" if row.short else f"    --{row.long}"
    text = _HELP.get(row.long, row.help)
    since = f" (Slurm {row.since})" if row.since else ""
    return f"{names}{shown}", f"{text[:1].upper()}{text[1:]}{since}."
