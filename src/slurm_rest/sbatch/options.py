"""One table of the options that a JobSpec takes: a row drives checking, the REST body and the documentation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import grammar

__all__ = ["OPTIONS", "Option"]


@dataclass(frozen=True, slots=True)
class Option:
    """One sbatch option.

    ``name`` is its keyword, ``long`` sbatch's spelling, ``field`` the field of the REST body (empty where body.py
    derives several from it), ``read`` turns a caller's value into that field's JSON value or raises ValueError.
    """

    name: str
    field: str
    read: Callable[[object], object]
    long: str = ""
    short: str = ""
    help: str = ""

    @property
    def flag(self) -> str:
        """Return ``--ntasks-per-node`` for ``ntasks_per_node``."""
        return "--" + (self.long or self.name.replace("_", "-"))


def _number(read: Callable[[object], int]) -> Callable[[object], object]:
    # A bare {"number": 5} is taken as unset by slurmrestd, silently.
    return lambda value: {"set": True, "infinite": False, "number": read(value)}


def _mode(value: object) -> list[str]:
    word = grammar.text(value).lower()
    if word not in ("append", "truncate"):
        raise ValueError('takes "append" or "truncate"')
    return [word.upper()]


_MAIL = {
    "INVALID_DEPEND": ["INVALID_DEPENDENCY"],
    "TIME_LIMIT": ["TIME=100%"],
    "TIME_LIMIT_90": ["TIME=90%"],
    "TIME_LIMIT_80": ["TIME=80%"],
    "TIME_LIMIT_50": ["TIME=50%"],
    "ALL": ["BEGIN", "END", "FAIL", "INVALID_DEPENDENCY", "REQUEUE", "STAGE_OUT"],
    **{word: [word] for word in ("BEGIN", "END", "FAIL", "REQUEUE", "STAGE_OUT", "ARRAY_TASKS")},
}


def _mail_type(value: object) -> list[str]:
    # From v0.0.41 on an unknown word answers HTTP 500 and still creates the job, so it must not be sent.
    words = [word.upper() for word in grammar.word_list(value)]
    unknown = [word for word in words if word not in _MAIL and word != "NONE"]
    if unknown:
        raise ValueError(f"does not know {unknown[0]}; it takes NONE, {', '.join(_MAIL)}")
    return [] if "NONE" in words else list(dict.fromkeys(name for word in words for name in _MAIL[word]))


_EXCLUSIVE = {"exclusive": "none", "user": "user", "mcs": "mcs", "topo": "topo", "oversubscribe": "oversubscribe"}


def _exclusive(value: object) -> list[str]:
    if isinstance(value, bool):
        return ["none"] if value else []
    word = grammar.text(value).lower()
    if word not in _EXCLUSIVE:
        raise ValueError(f"takes True, {', '.join(_EXCLUSIVE)}")
    return [_EXCLUSIVE[word]]


def _nice(value: object) -> int:
    number = grammar.integer(value)
    if abs(number) > 2147483645:
        raise ValueError("takes a number within +/-2147483645")
    return number


def _priority(value: object) -> int:
    number = grammar.integer(value)
    if not 0 <= number <= 4294967293:
        raise ValueError("takes a number from 0 to 4294967293")
    return number


OPTIONS: tuple[Option, ...] = (
    Option("name", "name", grammar.text, "job-name", "J", "name of the job, at most 1024 bytes"),
    Option("account", "account", grammar.text, short="A", help="account to charge"),
    Option("partition", "partition", grammar.comma_list, short="p", help="partition, or several in order"),
    Option("qos", "qos", grammar.text, short="q", help="quality of service"),
    Option("time", "time_limit", grammar.minutes, short="t", help="time limit: minutes, H:M:S or D-H:M:S"),
    Option("time_min", "time_minimum", grammar.minutes, help="least time limit that will do"),
    Option("nodes", "", grammar.node_range, short="N", help="number of nodes, or MIN-MAX"),
    Option("ntasks", "tasks", grammar.count, short="n", help="number of tasks"),
    Option("ntasks_per_node", "tasks_per_node", grammar.count, help="tasks on each node"),
    Option("cpus_per_task", "", grammar.count, short="c", help="CPUs for each task"),
    Option("mem", "memory_per_node", _number(grammar.mebibytes), help="memory for each node: MiB or 4G"),
    Option("mem_per_cpu", "memory_per_cpu", _number(grammar.mebibytes), help="memory for each CPU"),
    Option("gpus", "tres_per_job", grammar.gpus, short="G", help="GPUs for the job: 1 or a100:2"),
    Option("gpus_per_node", "", grammar.gpus, help="GPUs for each node"),
    Option("gres", "", grammar.gres, help="generic resources for each node: gpu:a100:1"),
    Option("constraint", "constraints", grammar.text, short="C", help="node features"),
    Option("licenses", "licenses", grammar.comma_list, short="L", help="licences: matlab:1"),
    Option("nodelist", "required_nodes", grammar.word_list, short="w", help="nodes to use"),
    Option("exclude", "excluded_nodes", grammar.word_list, short="x", help="nodes not to use"),
    Option("exclusive", "shared", _exclusive, help="whole nodes: no value, user, mcs or topo"),
    Option("array", "array", grammar.text, short="a", help="array of jobs: 0-9%2"),
    Option("dependency", "dependency", grammar.text, short="d", help="start after other jobs: afterok:12"),
    Option("begin", "begin_time", _number(grammar.moment), short="b", help="earliest start"),
    Option("deadline", "deadline", grammar.moment, help="latest end"),
    Option("hold", "hold", grammar.switch, short="H", help="submit in held state"),
    Option("requeue", "requeue", grammar.switch, help="may be requeued"),
    Option("chdir", "current_working_directory", grammar.path, short="D", help="the job's directory"),
    Option("output", "standard_output", grammar.path, short="o", help="file for standard output"),
    Option("error", "standard_error", grammar.path, short="e", help="file for standard error"),
    Option("input", "standard_input", grammar.path, short="i", help="file for standard input"),
    Option("open_mode", "open_mode", _mode, help="append or truncate the output files"),
    Option("comment", "comment", grammar.text, help="text kept with the job"),
    Option("mail_type", "mail_type", _mail_type, help="events to send mail for"),
    Option("mail_user", "mail_user", grammar.text, help="who gets the mail"),
    Option("nice", "nice", _nice, help="lower priority by this much"),
    Option("priority", "priority", _number(_priority), help="priority, for operators"),
    Option("reservation", "reservation", grammar.comma_list, help="reservation to run in"),
    Option("wckey", "wckey", grammar.text, help="workload characterisation key"),
)
