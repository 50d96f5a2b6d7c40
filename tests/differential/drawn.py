"""Draws odd submissions: options with good, strange and broken values, from every source that sbatch reads.

The same seed draws the same cases. Values come from ``drawn.json``, where ``{n}`` stands for a small number, and are
changed by a letter now and then.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path

from slurm_rest.sbatch.option import NONE, OPTIONAL, Option
from slurm_rest.sbatch.options import OPTIONS
from tests.differential.harness import Case, Comparison, Verdict

__all__ = ["draw_cases", "is_documented"]

_DATA = Path(__file__).parent.parent / "data" / "sbatch"
_HEADS = ("#!/bin/bash", "#!/bin/sh", "#!/usr/bin/env python3", "#! /bin/bash -l")
_TAILS = ("env\n", "true\n", 'echo "$1"\n', "import os\n", "env")
_NAMES = ("job.sh", "job.sh", "job.sh", "a b.sh", "ü.sbatch", "x")
_SEPARATORS = ("#SBATCH hetjob", "#SBATCH packjob", "#SBATCH HetJob -n 9")
_LETTERS = "0123456789abN-=,:;@%#'\"\\ \t[]*&|+.k"
# sbatch would wait for the end of a held job, or submit nothing.
_NEVER = ("wait", "test-only")
_ONLY_IN_SCRIPTS = ("help", "usage", "version", "wrap", "quiet", "autocomplete", "external")
_UNLIKE_VARIABLES = ("SBATCH_WAIT", "SBATCH_DEBUG", "SBATCH_IGNORE_PBS")


def draw_cases(seed: int, count: int, cluster: str) -> list[Case]:
    """Return that many cases for the cluster of that name."""
    drawer = _Drawer(seed, cluster)
    return [drawer.case(f"{seed}-{number}") for number in range(count)]


# What docs/sbatch.md says that REST, or sbatch's own faults, make unavoidable.
_DOCUMENTED = (
    "cannot express",
    "--resv-ports needs --stepmgr",
    "--core-spec=0 cannot be said",
    "--external is a job without a script",
    "in a heterogeneous job",
    "stays in the directory before",
    "takes only one of pack and nopack",
    # Numbers that sbatch cuts to the size of a field.
    "to 65533",
    "to 32767",
    "less than 136 years",
    "less than 68 years",
)
# sbatch makes huge numbers of times below zero.
_NEGATIVE = re.compile(r"Invalid --(?:time|time-min|delay-boot) specification '\s*-")


def is_documented(found: Comparison) -> bool:
    """Return whether a difference is one that users are told about."""
    if found.verdict is Verdict.ELSEWHERE:
        return True
    if found.verdict is not Verdict.REFUSED:
        return False
    return bool(_NEGATIVE.search(found.text)) or any(words in found.text for words in _DOCUMENTED)


class _Drawer:
    def __init__(self, seed: int, cluster: str) -> None:
        self.random = random.Random(seed)
        self.data = json.loads((_DATA / "drawn.json").read_text().replace("{CLUSTER}", cluster))
        self.rows = [row for row in OPTIONS if row.long not in _NEVER]
        self.given = [row for row in self.rows if row.long not in _ONLY_IN_SCRIPTS]
        self.variables = {name: row for row in self.rows for name in row.variables if name not in _UNLIKE_VARIABLES}
        texts = [file.read_text().replace("{CLUSTER}", cluster) for file in sorted((_DATA / "cases").glob("*.json"))]
        self.held = [item for text in texts for item in json.loads(text) if _ends(item)]

    def case(self, name: str) -> Case:
        """Draw one case."""
        kinds: dict[Callable[[str], Case], int] = {
            self._one_option: 20,
            self._several: 25,
            self._variables: 15,
            self._command_line: 8,
            self._components: 10,
            self._other_systems: 8,
            self._odd_lines: 8,
            self._changed: 6,
        }
        (kind,) = self.random.choices(list(kinds), list(kinds.values()))
        return kind(name)

    # --- kinds of cases -------------------------------------------------------------------------------------------

    def _one_option(self, name: str) -> Case:
        return self._make(name, self._directives(1, 0.0))

    def _several(self, name: str) -> Case:
        return self._make(name, self._directives(self.random.randint(2, 6), self._care()))

    def _variables(self, name: str) -> Case:
        care = self._care()
        words = self._words(self.random.randint(1, 2), care) if self._now(0.6) else []
        environ = dict(self._variable(care) for _ in range(self.random.randint(1, 3)))
        return self._make(name, self._directives(self.random.randint(0, 3), care), words, environ)

    def _command_line(self, name: str) -> Case:
        care = self._care()
        lines = self._directives(self.random.randint(0, 2), care)
        return self._make(name, lines, self._words(self.random.randint(1, 4), care))

    def _components(self, name: str) -> Case:
        lines, words = self._directives(self.random.randint(0, 3), 0.95), list[str]()
        for _ in range(self.random.randint(1, 2)):
            lines.append(self.random.choice(_SEPARATORS))
            lines += self._directives(self.random.randint(0, 3), 0.95)
        if self._now(0.4):
            words = self._words(self.random.randint(0, 2), 0.95)
            for _ in range(self.random.randint(0, 2)):
                words += [":", *self._words(self.random.randint(0, 2), 0.95)]
        return self._make(name, lines, words, dict([self._variable(0.9)]) if self._now(0.3) else {})

    def _other_systems(self, name: str) -> Case:
        magic = self.random.choice(("PBS", "PBS", "BSUB"))
        lines = self._directives(self.random.randint(0, 2), 0.9)
        lines += [f"#{magic} {self.random.choice(self.data[magic.lower()])}" for _ in range(self.random.randint(1, 4))]
        if self._now(0.3):
            self.random.shuffle(lines)
        words = self.random.choice((["--ignore-pbs"], ["-J", "cl"], ["-t", "5"])) if self._now(0.2) else []
        environ = {"SBATCH_IGNORE_PBS": self.random.choice(self.data["switches"])} if self._now(0.1) else {}
        return self._make(name, lines, words, environ)

    def _odd_lines(self, name: str) -> Case:
        return self._make(name, [self.random.choice(self.data["lines"]) for _ in range(self.random.randint(1, 4))])

    def _changed(self, name: str) -> Case:
        """Change some letters of a case that is held as data."""
        item = self.random.choice(self.held)
        script = item.get("script") or f"#!/bin/bash\n#SBATCH {item.get('options', '')}\nenv\n"
        for _ in range(self.random.randint(1, 3)):
            script = script[:2] + self._with_change(script[2:])
        if any(f"--{word[:2]}" in script for word in _NEVER):
            return self._changed(name)
        return Case(name, script, item.get("words", ["--hold"]), item.get("environ", {}), item.get("name", "job.sh"))

    # --- their parts ----------------------------------------------------------------------------------------------

    def _now(self, share: float) -> bool:
        return self.random.random() < share

    def _care(self) -> float:
        """Return how likely a value is one of the first, which are good."""
        return self.random.choice((0.35, 0.65, 0.9))

    def _make(
        self, name: str, lines: list[str], words: list[str] | None = None, environ: dict[str, str] | None = None
    ) -> Case:
        script = "\n".join([self.random.choice(_HEADS), *lines, self.random.choice(_TAILS)])
        return Case(name, script, ["--hold", *(words or [])], environ or {}, self.random.choice(_NAMES))

    def _directives(self, count: int, care: float) -> list[str]:
        given = [self._directive(care) for _ in range(count)]
        if self._now(0.3) and len(given) > 1:
            return ["#SBATCH " + " ".join(given)]
        return [f"#SBATCH {one}" for one in given]

    def _directive(self, care: float) -> str:
        row = self.random.choice(self.rows)
        return " ".join(self._quoted(word) for word in self._option(row, care))

    def _words(self, count: int, care: float) -> list[str]:
        return [word for _ in range(count) for word in self._option(self.random.choice(self.given), care)]

    def _variable(self, care: float) -> tuple[str, str]:
        if self._now(0.25):
            name = self.random.choice(sorted(self.data["variables"]))
            return name, self.random.choice(self.data["variables"][name])
        name = self.random.choice(sorted(self.variables))
        value = self._value(self.variables[name], care)
        return name, self.random.choice(self.data["switches"]) if value is None else value

    def _option(self, row: Option, care: float) -> list[str]:
        """Return the words of an option with a value: long, abbreviated, short, glued or apart."""
        value = self._value(row, care)
        long = row.long[: self.random.randint(2, len(row.long))] if self._now(0.12) else row.long
        if any(name.startswith(long) for name in _NEVER):
            long = row.long
        if row.short and self._now(0.3):
            if value is None:
                return [f"-{row.short}"]
            glued = row.takes is OPTIONAL or self._now(0.5)
            return [f"-{row.short}{value}"] if glued else [f"-{row.short}", value]
        if value is None:
            return [f"--{long}"]
        glued = row.takes is OPTIONAL or self._now(0.8)
        return [f"--{long}={value}"] if glued else [f"--{long}", value]

    def _value(self, row: Option, care: float) -> str | None:
        values = self.data["values"].get(row.long)
        if isinstance(values, str):
            values = self.data["shared"][values[1:]]
        if not values:
            return None if row.takes is NONE and self._now(0.97) else "x"
        good = values[: max(1, min(6, len(values) // 3))]
        value: str | None = self.random.choice(good if self._now(care) else values)
        if value is None:
            return None
        while "{n}" in value:
            value = value.replace("{n}", str(self.random.choice((0, 1, 1, 2, 2, 3, 4, 5, 8, 12, 90))), 1)
        return self._with_change(value) if self._now((1 - care) * 0.4) else value

    def _with_change(self, text: str) -> str:
        """Put in, replace or take out one letter."""
        place = self.random.randint(0, len(text))
        letter: str = self.random.choice(("", *_LETTERS))
        return text[:place] + letter + text[place + self.random.randint(0, 1) :]

    def _quoted(self, word: str) -> str:
        """Return a word as a directive may have it: plain, in quotes, or with backslashes."""
        name, equals, value = word.partition("=") if word.startswith("--") and "=" in word else ("", "", word)
        special = any(letter in value for letter in " \t'\"#\\") or not value
        style = self.random.random()
        if not special and style < 0.7:
            return word
        for quote, most in (('"', 0.85), ("'", 1.0)):
            if style < most and quote not in value and "\\" not in value:
                return f"{name}{equals}{quote}{value}{quote}"
        return name + equals + "".join(f"\\{letter}" if letter in " \t'\"#\\" else letter for letter in value)


def _ends(item: object) -> bool:
    text = json.dumps(item)
    return not any(word in text for word in _NEVER)
