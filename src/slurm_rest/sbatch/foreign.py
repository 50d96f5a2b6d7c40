"""``#PBS`` and ``#BSUB`` lines, which sbatch also reads, and which win over ``#SBATCH`` ones.

They count in the whole script until more than 100 lines have passed that do not begin with ``#``; ``#PBS`` lines only
where there is no ``#BSUB`` line. Each magic word has options of its own, which become options of sbatch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurm_rest.errors import SpecError

from .getopt import Given, Options, parse_words
from .kinds import TEXT, whole
from .layers import Layer, apply_given, is_on
from .lexer import Word, split_words
from .option import NONE, OPTIONAL, Option

__all__ = ["apply_foreign"]

_PLAIN_LINES = 100
_MOST_DIGITS = 400

# A name with a blank is one that nobody can write: sbatch has only the letter.
_BSUB = Options(
    (
        Option("cwd", TEXT, "chdir", "c"),
        Option("error_file", TEXT, "error", "e"),
        Option("job_name", TEXT, "job-name", "J"),
        Option("hostname", TEXT, "nodelist", "m"),
        Option("memory_limit", TEXT, "mem-per-cpu", "M"),
        Option(" n", TEXT, "ntasks", "n"),
        Option("output_file", TEXT, "output", "o"),
        Option("queue_name", TEXT, "partition", "q"),
        Option("time", TEXT, "time", "W"),
        Option("exclusive", TEXT, "exclusive", "x", NONE),
    ),
    "#BSUB",
)
# Those without a name in the third place are read and ignored, or have a function of their own.
_PBS = Options(
    (
        Option("start_time", TEXT, "begin", "a"),
        Option("account", TEXT, "account", "A"),
        Option("checkpoint", TEXT, short="c"),
        Option("working_dir", TEXT, short="C"),
        Option("error", TEXT, "error", "e"),
        Option(" d", TEXT, "chdir", "d"),
        Option("hold", TEXT, "hold", "h", NONE),
        Option("interactive", TEXT, short="I", takes=NONE),
        Option("join", TEXT, takes=OPTIONAL),
        Option(" j", TEXT, short="j"),
        Option("job_array", TEXT, "array", "J"),
        Option("keep", TEXT, short="k"),
        Option("resource_list", TEXT, short="l"),
        Option("mail_options", TEXT, short="m"),
        Option("mail_user_list", TEXT, "mail-user", "M"),
        Option("job_name", TEXT, "job-name", "N"),
        Option("out", TEXT, "output", "o"),
        Option("priority", TEXT, "nice", "p"),
        Option("destination", TEXT, "partition", "q"),
        Option("rerunable", TEXT, short="r"),
        Option("script_path", TEXT, short="S"),
        Option("array", TEXT, "array", "t"),
        Option("running_user", TEXT, short="u"),
        Option("variable_list", TEXT, short="v"),
        Option("all_env", TEXT, short="V", takes=NONE),
        Option(" w", TEXT, "chdir", "w"),
        Option("attributes", TEXT, short="W"),
        Option("no_std", TEXT, short="z", takes=NONE),
    ),
    "#PBS",
)


def apply_foreign(layer: Layer, script: str, options: Options) -> dict[str, str]:
    """Apply the lines to ``layer``, and return variables for the job: ``-W umask=`` is one."""
    reader = _Reader(layer, options)
    for magic, table, read in (("#BSUB", _BSUB, reader.bsub), ("#PBS", _PBS, reader.pbs)):
        words = list(_words(script, magic)) if magic in script else []
        if words:
            given, rest = parse_words([word for word in words if word.text], table)
            for one in given:
                read(one)
            if rest:
                raise _refused(f"{rest[0].text!r} is no option of {magic}", rest[0].line)
            break
    return reader.variables


def _words(script: str, magic: str) -> Iterator[Word]:
    """Return the words of all lines; an empty one first, so that a line without words counts as well."""
    plain = count = 0
    for number, line in enumerate(script.split("\n"), 1):
        if not line.startswith(magic):
            plain += not line.startswith("#")
            if plain > _PLAIN_LINES:
                return
            continue
        yield Word("", number)
        for word in split_words(line[len(magic) :], number, separators=True):
            # -cwd is two letters too long for an option with one dash; it is only known in an option's place.
            translated = magic == "#BSUB" and word.text == "-cwd" and count % 2 == 0
            yield Word("-c", number) if translated else word
            count += 1


def _refused(problem: str, line: int) -> SpecError:
    hint = "sbatch reads #PBS and #BSUB lines too; --ignore-pbs leaves them out."
    return SpecError(f"Line {line}: {problem}", kind="usage", line=line, hint=hint)


_MAIL = {"b": "BEGIN", "e": "END", "a": "FAIL"}


class _Reader:
    """Turns the options of the other systems into sbatch's."""

    def __init__(self, layer: Layer, options: Options) -> None:
        self.layer = layer
        self.options = options
        self.variables: dict[str, str] = {}

    def put(self, name: str, value: str | None, line: int) -> None:
        """Give an option of sbatch."""
        apply_given(self.layer, [Given(self.options.long(name, line), value, line)], self.options, in_script=True)

    def bsub(self, one: Given) -> None:
        """Apply one option of ``#BSUB``."""
        value = one.value
        if value is not None and one.option.short == "m":
            value = value.replace(" ", ",")
        if value is not None and one.option.short == "n" and "," in value:
            # MIN,MAX: sbatch takes the greater.
            value = value.partition(",")[2]
        if value is not None and one.option.short == "M" and re.fullmatch("[0-9]+", value):
            value += "K"
        self.put(one.option.put, value, one.line)

    def pbs(self, one: Given) -> None:
        """Apply one option of ``#PBS``."""
        special = {"l": self.resources, "m": self.mail, "v": self.export, "W": self.attributes}.get(one.option.short)
        if special is not None:
            special(one.value or "", one.line)
        elif one.option.put:
            self.put(one.option.put, one.value, one.line)

    def mail(self, value: str, line: int) -> None:
        """``-m abe``: a FAIL, b BEGIN, e END, n none."""
        letters = value.lower()
        words = ["NONE"] if "n" in letters else [word for letter, word in _MAIL.items() if letter in letters]
        self.put("mail-type", ",".join(words), line)

    def export(self, value: str, line: int) -> None:
        """``-v``: more of ``--export``."""
        before = self.layer.values.get("export")
        self.put("export", value if before is None else f"{before},{value}", line)

    def attributes(self, value: str, line: int) -> None:
        """``-W umask=`` and ``-W depend=``."""
        name, _, rest = value.partition("=")
        if name.lower() == "depend":
            self.put("dependency", rest, line)
        elif name.lower() == "umask":
            mask = _c_number(rest)
            # It is read like a variable that turns something on: 0 is off.
            if not is_on(rest):
                self.variables.pop("SLURM_UMASK", None)
            elif 0 <= mask <= 0o777:
                self.variables["SLURM_UMASK"] = f"{mask:04o}"
            else:
                raise _refused(f"-W umask={rest} is no umask", line)

    def resources(self, value: str, line: int) -> None:
        """``-l``: read from left to right; what it does not know is skipped letter by letter."""
        place, seen = 0, set[str]()
        gpus = 0
        while place < len(value):
            name, until = _resource_at(value, place)
            if not name:
                place += 1
                continue
            start = place + len(name) + 1
            if name == "accelerator":
                gpus = max(gpus, int(value[start : start + 4].lower() == "true"))
                place = start
                continue
            end = value.find(until, start)
            text, place = (value[start:], len(value)) if end < 0 else (value[start:end], end + 1)
            seen.add(name)
            if name == "naccelerators":
                gpus = _count(text, line)
            else:
                self.resource(name, text, line)
            if name == "proc":
                # sbatch skips one more.
                place = value.find(",", place) + 1 or len(value)
        self.finish_resources(seen, gpus, line)

    def resource(self, name: str, text: str, line: int) -> None:
        """Apply one resource."""
        if name in ("mem", "file"):
            text = text[:-1] if text[-1:] in ("b", "B") else text
        if name == "nodes":
            self.nodes(text, line)
        elif name == "proc":
            before = self.layer.values.get("constraint")
            self.put("constraint", f"{text},{before}" if before else text, line)
        elif name in _RESOURCE_OF:
            self.put(_RESOURCE_OF[name], text, line)

    def finish_resources(self, seen: set[str], gpus: int, line: int) -> None:
        """CPUs of each task, where all of select, ncpus and mpiprocs say so, and GPUs of each node."""
        values = self.layer.values
        cpus, tasks = values.get("mincpus"), values.get("ntasks_per_node")
        if (
            {"select", "ncpus", "mpiprocs"} <= seen
            and isinstance(cpus, int)
            and isinstance(tasks, int)
            and cpus > tasks
        ):
            self.put("cpus-per-task", str(cpus // tasks), line)
        if gpus > 0:
            before = values.get("gres")
            self.put("gres", f"{before},gpu:{gpus}" if before else f"gpu:{gpus}", line)

    def nodes(self, text: str, line: int) -> None:
        """``N:ppn=P:gpus=G``, names of hosts, and several of them joined by ``+``."""
        count = each = 0
        hosts: list[str] = []
        for part in re.split(r"[+:]", text):
            if part.startswith("ppn="):
                each += _leading(part[4:])
            elif part.startswith("gpus="):
                self.put("gpus-per-node", part[5:], line)
            elif "0" <= part[:1] <= "9":
                count += _leading(part)
            elif part[:1].isalpha():
                hosts.append(part)
        if count:
            self.put("nodes", str(count), line)
        if each:
            self.put("ntasks", str(each * (count or 1)), line)
        if hosts:
            self.put("nodelist", ",".join(hosts), line)


_RESOURCE_OF = {
    "cput": "time", "pcput": "time", "walltime": "time", "mem": "mem", "file": "tmp", "ncpus": "mincpus",
    "mpiprocs": "ntasks-per-node", "nice": "nice", "select": "nodes",
}  # fmt: skip
# In sbatch's order; those of any case come with the letter that ends their value.
_RESOURCES = (
    "accelerator", "arch", "cput", "file", "host", "mem", "mpiprocs", "naccelerators", "ncpus", "nice", "nodes",
    "opsys", "other", "pcput", "pmem", "proc", "pvmem", "select", "software", "vmem", "walltime",
)  # fmt: skip
_ANY_CASE = frozenset({"accelerator", "mpiprocs", "naccelerators", "ncpus", "select"})
_UNTIL_COLON = frozenset({"mpiprocs", "ncpus", "select"})
_RESOURCE = re.compile("|".join(f"(?ai:{name})=" if name in _ANY_CASE else f"{name}=" for name in _RESOURCES))


def _resource_at(value: str, place: int) -> tuple[str, str]:
    found = _RESOURCE.match(value, place)
    if not found:
        return "", ""
    name = found[0][:-1].lower()
    return name, ":" if name in _UNTIL_COLON else ","


def _count(text: str, line: int) -> int:
    if not re.fullmatch(r"(?a)\s*\+?0*[1-9][0-9]*", text):
        raise _refused(f"{text!r} is no number", line)
    return whole(text)


def _leading(text: str) -> int:
    found = re.match(r"(?a)\s*[+-]?[0-9]+", text)
    return whole(found[0]) if found else 0


def _c_number(text: str) -> int:
    """Return a number as C reads it: octal behind 0, hexadecimal behind 0x, 0 for none."""
    found = re.match(r"(?a)\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[0-9]+)", text)
    if not found:
        return 0
    digits = found[2]
    base = 16 if digits[:2].lower() == "0x" else 8 if digits.startswith("0") else 10
    # Slurm has no field for more, and Python reads no more than 4300 decimal digits.
    return int(digits[:_MOST_DIGITS], base) * (-1 if found[1] == "-" else 1)
