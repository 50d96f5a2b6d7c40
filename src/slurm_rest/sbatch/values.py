"""The grammars of single options: hosts, generic resources, words."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import cast

from .hostlist import expand_hostlist
from .kinds import (
    COUNT_MAX,
    DELAY,
    PATH,
    TIME_LIMIT,
    UNLIMITED,
    Kind,
    TooLargeError,
    integer,
    show_span,
    text,
    whole,
    words_of,
)

__all__ = [
    "ACCTG_FREQ", "CLUSTERS", "DISTRIBUTION", "EXCLUSIVE", "GPUS", "GRES", "GRES_FLAGS", "HINT", "HOSTS", "LIMIT_NAMES",
    "MEM_UPDATE", "NICE", "NODE_FILE", "NO_KILL", "OPEN_MODE", "PRIORITY", "PROFILE", "PROPAGATE", "REQUEUE",
    "SWITCHES", "TOP_PRIORITY", "USER_ENV", "YES_NO", "hint_words", "switch_count", "switch_wait",
]  # fmt: skip

# --- hosts -----------------------------------------------------------------------------------------------


def _hosts(value: object) -> str:
    word = ",".join(words_of(value)) if not isinstance(value, str) else text(value)
    if not word.strip(", \t\n"):
        return ""
    if "/" not in word:
        try:
            expand_hostlist(word)
        except ValueError as error:
            raise ValueError(f"{error}; it takes names as in n1,n[3-5]") from None
    return word


HOSTS = Kind(_hosts, metavar="HOSTS")


def _node_file(value: object) -> str:
    path = cast("str", PATH.read(value))
    if not path:
        raise ValueError("takes the name of a file")
    return path


NODE_FILE = Kind(_node_file, metavar="FILE")

# --- generic resources --------------------------------------------------------------------------------------


def _gpus(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return ",".join(words_of(value)) if not isinstance(value, str) else text(value)


def _gres(value: object) -> str:
    word = ",".join(words_of(value)) if not isinstance(value, str) else text(value)
    if word.lower() in ("help", "list"):
        raise ValueError("prints what there is and submits nothing; use slurm-rest nodes")
    return "none" if word.lower() == "none" else word


GPUS = Kind(_gpus, metavar="[TYPE:]N")
GRES = Kind(_gres, metavar="NAME[:TYPE][:N]")

_GRES_FLAGS = ("disable-binding", "enforce-binding", "one-task-per-sharing", "multiple-tasks-per-sharing")


def _gres_flags(value: object) -> tuple[str, ...]:
    given = [word.lower() for word in words_of(value)]
    if "allow-task-sharing" in given:
        raise ValueError("takes no allow-task-sharing, which is for srun only")
    if any(flag not in _GRES_FLAGS for flag in given):
        raise ValueError(f"takes {', '.join(_GRES_FLAGS)}")
    for pair in (_GRES_FLAGS[:2], _GRES_FLAGS[2:]):
        if set(pair) <= set(given):
            raise ValueError(f"takes only one of {' and '.join(pair)}")
    return tuple(flag for flag in _GRES_FLAGS if flag in given)


GRES_FLAGS = Kind(_gres_flags, lambda flags: ",".join(flags), "FLAG")  # type: ignore[arg-type]  # its own tuple

# --- distribution -------------------------------------------------------------------------------------------

_LEVELS = (("block", "cyclic", "*"), ("block", "cyclic", "fcyclic", "*"), ("block", "cyclic", "fcyclic", "*"))
_DIST_ALONE = ("arbitrary", "hostfile", "pack", "nopack")
_DIST_FORMS = 'takes "node[:socket[:core]]" of block, cyclic, fcyclic, or arbitrary, plane=N, pack, nopack'
_PLANE = re.compile(r"(?a)plane[^=]*=\s*\+?([0-9]+)")


def _distribution(value: object) -> str:
    word = text(value).lower()
    if word.startswith("plane"):
        return _plane(word)
    base, _, flag = word.partition(",")
    levels = [level for level in base.split(":") if level]
    alone = levels[0] if len(levels) == 1 and levels[0] in _DIST_ALONE else ""
    if not alone and not (0 < len(levels) <= 3 and all(one in _LEVELS[at] for at, one in enumerate(levels))):
        raise ValueError(_DIST_FORMS)
    if flag not in ("", "pack", "nopack"):
        raise ValueError(_DIST_FORMS)
    if flag and alone in ("pack", "nopack"):
        if flag != alone:
            # sbatch tells the job nothing about it, slurmrestd "(null)".
            raise ValueError("takes only one of pack and nopack")
        flag = ""
    shown = alone.replace("hostfile", "arbitrary") or ":".join(levels)
    return f"{shown},{flag}" if flag else shown


def _plane(word: str) -> str:
    if "=" not in word:
        # Its size may stand in SLURM_DIST_PLANESIZE.
        return "plane"
    found = _PLANE.fullmatch(word)
    if not found or not 0 < whole(found[1]) <= COUNT_MAX + 1:
        raise ValueError("takes plane=N with N from 1 to 2147483647")
    return f"plane={whole(found[1])}"


DISTRIBUTION = Kind(_distribution, metavar="DIST")

# --- words --------------------------------------------------------------------------------------------------

_EXCLUSIVE = ("exclusive", "user", "mcs", "topo", "oversubscribe", "allocation")


def _exclusive(value: object) -> str | bool:
    if value is False:
        return False
    word = "exclusive" if value is True else text(value).lower()
    if word not in _EXCLUSIVE:
        raise ValueError(f"takes no value, {', '.join(_EXCLUSIVE)}")
    return word


EXCLUSIVE = Kind(_exclusive, metavar="user|mcs|topo")


def _no_kill(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = text(value).lower()
    if word not in ("set", "off", "no"):
        raise ValueError("takes no value, set, off or no")
    return word == "set"


NO_KILL = Kind(_no_kill, lambda value: "set" if value else "off", "off")

_HINT_WORDS = ("compute_bound", "memory_bound", "multithread", "nomultithread")


def hint_words(hint: str) -> list[str]:
    """Return the single hints; ValueError for one that does not exist."""
    words = hint.lower().split(",")
    if any(word not in _HINT_WORDS for word in words):
        raise ValueError(f"takes {', '.join(_HINT_WORDS)}")
    return words


# sbatch looks at it only where no option says the same more exactly, so this takes any text.
def _hint(value: object) -> str:
    word = text(value) if isinstance(value, str) else ",".join(words_of(value))
    if word.lower() == "help":
        raise ValueError("prints the hints and submits nothing; they are " + ", ".join(_HINT_WORDS))
    return word


HINT = Kind(_hint, metavar="HINT")


def _leading_number(value: str) -> int:
    """Return the number that a text begins with, 0 for none, as C's strtoll does."""
    found = re.match(r"(?a)\s*[+-]?[0-9]+", value)
    return whole(found[0]) if found else 0


def _nice(value: object) -> int:
    number = _leading_number(value) if isinstance(value, str) else integer(value)
    if abs(number) > 2147483645:
        raise ValueError("takes a number within +/-2147483645")
    return number


NICE = Kind(_nice, metavar="N")
TOP_PRIORITY = 4294967293


def _priority(value: object) -> int:
    if isinstance(value, str) and value.upper() == "TOP":
        return TOP_PRIORITY
    number = _leading_number(value) if isinstance(value, str) else integer(value)
    if not 0 <= number <= TOP_PRIORITY:
        raise ValueError(f"takes a number from 0 to {TOP_PRIORITY}, or TOP")
    return number


PRIORITY = Kind(_priority, lambda value: "TOP" if value == TOP_PRIORITY else str(value), "N|TOP")


def _open_mode(value: object) -> str:
    word = text(value).lower()
    if word[:1] not in ("a", "t"):
        raise ValueError("takes append or truncate")
    return "append" if word[0] == "a" else "truncate"


OPEN_MODE = Kind(_open_mode, metavar="append|truncate")

_PROFILE_WORDS = ("energy", "lustre", "network", "task")


def _profile(value: object) -> tuple[str, ...]:
    """Return the data to profile; sbatch looks for the words anywhere in the text."""
    word = ",".join(words_of(value)).lower()
    if "none" in word or value == ():
        return ()
    found = _PROFILE_WORDS if "all" in word else tuple(name for name in _PROFILE_WORDS if name in word)
    if not found:
        raise ValueError(f"takes none, all, {', '.join(_PROFILE_WORDS)}")
    return found


PROFILE = Kind(_profile, lambda words: ",".join(words) or "none", "TYPE")  # type: ignore[arg-type]  # its own tuple


def _yes_no(value: object) -> bool | tuple[bool, bool]:
    """Return True or False, and both where the option was given twice: sbatch then sets both flags."""
    if isinstance(value, bool):
        return value
    if value == (True, False):
        return True, False
    word = text(value).lower()
    if word not in ("yes", "no"):
        raise ValueError("takes yes or no")
    return word == "yes"


YES_NO = Kind(_yes_no, lambda value: "yes" if value else "no", "yes|no")


def _switches(value: object) -> tuple[int, timedelta | None]:
    """``COUNT[@TIME]``: the count, and how long to wait for it, None for as long as it takes.

    Count 0 stands for none, where only SBATCH_WAIT4SWITCH is set.
    """
    if isinstance(value, tuple):
        count, wait = value
        return integer(count), None if wait is None else cast("timedelta", DELAY.read(wait))
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    given, at, wait_text = text(value).partition("@")
    return switch_count(given), switch_wait(wait_text) if at else None


def switch_count(value: object) -> int:
    """Return how many switches; SBATCH_REQ_SWITCH takes only that."""
    number = integer(value)
    if not 1 <= number <= COUNT_MAX:
        raise ValueError('takes "COUNT[@TIME]"')
    return number


def switch_wait(word: str) -> timedelta | None:
    """Return how long to wait for switches; sbatch sends nothing for what is no time."""
    try:
        wait = DELAY.read(word)
    except TooLargeError:
        raise
    except ValueError:
        return None
    return wait if isinstance(wait, timedelta) else None


def _show_switches(value: object) -> str:
    count, wait = cast("tuple[int, timedelta | None]", value)
    return str(count) if wait is None else f"{count}@{show_span(wait)}"


SWITCHES = Kind(_switches, _show_switches, "COUNT[@TIME]")

_FREQ_TOKEN = re.compile(r"\s*[+-]?[0-9]+.*|.*(?:task|energy|network|filesystem)=\s*[+-]?[0-9]+.*", re.ASCII | re.I)


def _acctg_freq(value: object) -> str:
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
    for part in words_of(word):
        if not _FREQ_TOKEN.fullmatch(part) or re.match(r"(?a)\s*-0*1(?![0-9])", part):
            raise ValueError("takes seconds, or task|energy|network|filesystem=SECONDS")
    return word


ACCTG_FREQ = Kind(_acctg_freq, metavar="SECONDS")


def _requeue(value: object) -> bool | str:
    if isinstance(value, bool):
        return value
    word = text(value).lower()
    if word not in ("", "expedite"):
        raise ValueError("takes True, False or expedite")
    return word or True


REQUEUE = Kind(_requeue, lambda value: value if isinstance(value, str) else "", "expedite")


def _user_env(value: object) -> str | bool:
    """``[SECONDS][S|L]``, which 24.11 takes and nobody uses."""
    if isinstance(value, bool):
        return value
    word = text(value)
    if not re.fullmatch(r"(?a)(?:\s*[+-]?[0-9]+)?(?:[SLsl].*)?", word):
        raise ValueError('takes no value, or "[SECONDS][S|L]"')
    # Less than no time is sbatch's way to say that the option was not given.
    return False if _leading_number(word) < 0 else word or True


USER_ENV = Kind(_user_env, lambda value: value if isinstance(value, str) else "", "[SECONDS][S|L]")

LIMIT_NAMES = ("CPU", "FSIZE", "DATA", "STACK", "CORE", "RSS", "NPROC", "NOFILE", "MEMLOCK", "AS")


def _propagate(value: object) -> tuple[str, ...]:
    if value in ((), "NONE"):
        return ()
    if value is True or value in ("ALL", ("ALL",), ["ALL"]):
        return LIMIT_NAMES
    # Blanks part the names as well.
    words = [word.removeprefix("RLIMIT_") for part in words_of(value) for word in part.split()]
    if any(word not in LIMIT_NAMES for word in words):
        raise ValueError(f"takes ALL, NONE, or some of {', '.join(LIMIT_NAMES)}")
    return tuple(name for name in LIMIT_NAMES if name in words)


def _show_limits(value: object) -> str:
    return "ALL" if value == LIMIT_NAMES else ",".join(value) or "NONE"  # type: ignore[arg-type]  # its own tuple


PROPAGATE = Kind(_propagate, _show_limits, "LIMITS")


def _mem_update(value: object) -> str:
    """``MARGIN@DELAY``: percent, and minutes in any form of a time."""
    margin, at, delay = text(value).partition("@")
    span = TIME_LIMIT.read(delay) if at else UNLIMITED
    if not isinstance(span, timedelta) or not re.fullmatch(r"[0-9]{1,5}", margin) or not 1 <= int(margin) <= 65535:
        raise ValueError('takes "MARGIN@DELAY": percent from 1 to 65535, and a time')
    return f"{int(margin)}@{int(span.total_seconds()) // 60}"


MEM_UPDATE = Kind(_mem_update, metavar="MARGIN@DELAY")


def _clusters(value: object) -> str:
    if not text(value):
        raise ValueError("takes the name of a cluster")
    return text(value)


CLUSTERS = Kind(_clusters, metavar="NAME")
