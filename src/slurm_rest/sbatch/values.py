"""The grammars of single options: node counts, signals, mail types, distributions and the like."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import cast

from .hostlist import expand_hostlist
from .kinds import COUNT_MAX, WAIT, Kind, integer, show_span, text, words_of

__all__ = [
    "ACCTG_FREQ",
    "CPU_FREQ",
    "DISTRIBUTION",
    "EXCLUSIVE",
    "GPUS",
    "GRES",
    "GRES_FLAGS",
    "HINT",
    "HOSTS",
    "LIMIT_NAMES",
    "MAIL_NAMES",
    "MAIL_TYPE",
    "MEM_BIND",
    "NICE",
    "NODES",
    "NODE_INFO",
    "NO_KILL",
    "OPEN_MODE",
    "PRIORITY",
    "PROFILE",
    "PROPAGATE",
    "REQUEUE",
    "SIGNAL",
    "SIGNAL_NUMBERS",
    "SWITCHES",
    "USER_ENV",
    "YES_NO",
    "node_bounds",
]

# --- node counts --------------------------------------------------------------------------------------------

_COUNTED = re.compile(r"([0-9]+)([kKmM]?)")
_NODE_FORMS = 'takes a number, "MIN-MAX", or a set such as "1,3" or "2-8:2"'


def _counted(word: str) -> int:
    found = _COUNTED.fullmatch(word)
    if not found:
        raise ValueError(_NODE_FORMS)
    number = int(found[1]) * {"": 1, "k": 1024, "m": 1048576}[found[2].lower()]
    if number > COUNT_MAX:
        raise ValueError(_NODE_FORMS)
    return number


def _nodes(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    word = text(value).rstrip()
    if "," in word or ":" in word:
        _node_set(word)
        return word
    least, dash, most = word.partition("-")
    low = _counted(least) if least or not dash else 1
    high = _counted(most) if dash else low
    if high < low:
        raise ValueError(_NODE_FORMS)
    return f"{low}-{high}" if dash else str(low)


def _node_set(word: str) -> set[int]:
    members: set[int] = set()
    for part in word.split(","):
        found = re.fullmatch(r"([0-9]+)(?:-([0-9]+)(?::([0-9]+))?)?", part)
        if not found or int(found[2] or found[1]) < int(found[1]) or found[3] == "0":
            raise ValueError(_NODE_FORMS)
        members.update(
            range(int(found[1]), min(int(found[2] or found[1]), int(found[1]) + 65536) + 1, int(found[3] or 1))
        )
    return members


def node_bounds(nodes: str) -> tuple[int, int, bool]:
    """Return the least and the greatest number of nodes, and whether they are the ends of a set."""
    if "," in nodes or ":" in nodes:
        members = _node_set(nodes)
        return min(members), max(members), True
    least, _, most = nodes.partition("-")
    return int(least), int(most or least), False


NODES = Kind(_nodes, metavar="N[-M]")


def _node_info(value: object) -> str:
    """``S[:C[:T]]``: counts, ``MIN-MAX`` of which only the minimum counts, ``*`` or nothing."""
    parts = text(value).split(":")
    if len(parts) > 3:
        raise ValueError('takes "SOCKETS[:CORES[:THREADS]]"')
    try:
        found = ["" if part in ("", "*") else str(_counted(part.partition("-")[0])) for part in parts]
    except ValueError:
        raise ValueError('takes "SOCKETS[:CORES[:THREADS]]", each a number, MIN-MAX or *') from None
    return ":".join(found) or "*"


NODE_INFO = Kind(_node_info, metavar="S[:C[:T]]")


def _hosts(value: object) -> str:
    word = ",".join(words_of(value)) if not isinstance(value, str) else text(value)
    if "/" not in word:
        try:
            expand_hostlist(word)
        except ValueError as error:
            raise ValueError(f"{error}; it takes names as in n1,n[3-5]") from None
    return word


HOSTS = Kind(_hosts, metavar="HOSTS")

# --- generic resources --------------------------------------------------------------------------------------


def _gpus(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    parts = words_of(value)
    if not parts:
        raise ValueError('takes a number, or text such as "a100:2"')
    return ",".join(parts)


def _gres(value: object) -> str:
    parts = words_of(value)
    if not parts:
        raise ValueError('takes text such as "gpu:2" or "gpu:a100:1"')
    if parts[0].lower() in ("help", "list"):
        raise ValueError("prints what there is and submits nothing; use slurm-rest nodes")
    return "none" if [part.lower() for part in parts] == ["none"] else ",".join(parts)


GPUS = Kind(_gpus, metavar="[TYPE:]N")
GRES = Kind(_gres, metavar="NAME[:TYPE][:N]")

_GRES_FLAGS = ("disable-binding", "enforce-binding", "one-task-per-sharing", "multiple-tasks-per-sharing")


def _gres_flags(value: object) -> tuple[str, ...]:
    flags = tuple(word.lower() for word in words_of(value))
    if "allow-task-sharing" in flags:
        raise ValueError("allow-task-sharing is for srun only")
    if not flags or any(flag not in _GRES_FLAGS for flag in flags):
        raise ValueError(f"takes {', '.join(_GRES_FLAGS)}")
    return flags


GRES_FLAGS = Kind(_gres_flags, lambda flags: ",".join(flags), "FLAG")  # type: ignore[arg-type]  # its own tuple

# --- signals, mail, binding ---------------------------------------------------------------------------------

SIGNAL_NUMBERS = {
    "HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "USR1": 10, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15,
    "CHLD": 17, "CONT": 18, "STOP": 19, "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23, "XCPU": 24,
}  # fmt: skip
_U16 = 65535


def _signal(value: object) -> tuple[str, int, int]:
    """``[R][B][:]SIGNAL[@SECONDS]`` as flags, signal number and seconds (60 unless given)."""
    if isinstance(value, tuple):
        value = _show_signal(value)
    found = _signal_form(str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value))
    if found is None:
        raise ValueError('takes "[R][B]:SIGNAL[@SECONDS]", for instance B:USR1@120')
    return found


def _signal_form(word: str) -> tuple[str, int, int] | None:
    flags = ""
    while word[:1].upper() in ("R", "B") and word[:1].upper() not in flags:
        flags, word = flags + word[0].upper(), word[1:]
    matched = re.fullmatch(r":?([A-Za-z0-9]+)(?:@([0-9]*))?", word)
    if not matched:
        return None
    name = matched[1].upper().removeprefix("SIG")
    number = int(name) if name.isdigit() else SIGNAL_NUMBERS.get(name, 0)
    seconds = 60 if matched[2] is None else int(matched[2] or 0)
    if not 1 <= number <= _U16 or seconds > _U16:
        return None
    return "".join(flag for flag in "RB" if flag in flags), number, seconds


def _show_signal(value: object) -> str:
    flags, number, seconds = value  # type: ignore[misc]  # what _signal returns
    return f"{flags}:{number}@{seconds}" if flags else f"{number}@{seconds}"


SIGNAL = Kind(_signal, _show_signal, "[R][B]:SIGNAL[@SECONDS]")

MAIL_NAMES = {
    "BEGIN": ("BEGIN",),
    "END": ("END",),
    "FAIL": ("FAIL",),
    "REQUEUE": ("REQUEUE",),
    "ALL": ("BEGIN", "END", "FAIL", "INVALID_DEPENDENCY", "REQUEUE", "STAGE_OUT"),
    "INVALID_DEPEND": ("INVALID_DEPENDENCY",),
    "STAGE_OUT": ("STAGE_OUT",),
    "TIME_LIMIT": ("TIME=100%",),
    "TIME_LIMIT_90": ("TIME=90%",),
    "TIME_LIMIT_80": ("TIME=80%",),
    "TIME_LIMIT_50": ("TIME=50%",),
    "ARRAY_TASKS": ("ARRAY_TASKS",),
}
_MAIL_ORDER = tuple(word for word in MAIL_NAMES if word != "ALL")


def _mail_type(value: object) -> tuple[str, ...]:
    """Return sbatch's words in one order. NONE ends the list and empties it; unknown words among known are dropped."""
    if value == ():
        return ()
    found: set[str] = set()
    given = [word.upper() for word in words_of(value)]
    for word in given:
        if word == "NONE":
            return ()
        names = MAIL_NAMES.get(word, ())
        found |= {one for one in _MAIL_ORDER if set(MAIL_NAMES[one]) <= set(names)}
    if not found:
        raise ValueError(f"takes NONE, {', '.join(MAIL_NAMES)}")
    return tuple(word for word in _MAIL_ORDER if word in found)


MAIL_TYPE = Kind(_mail_type, lambda words: ",".join(words) or "NONE", "TYPE")  # type: ignore[arg-type]  # its own tuple

MEM_BIND_TYPES = ("none", "rank", "local", "map_mem", "mask_mem")


def _mem_bind(value: object) -> tuple[frozenset[str], str, str]:
    """Return the flags (verbose, quiet, prefer, sort, nosort), the type, and the list of map_mem or mask_mem."""
    if isinstance(value, tuple) and isinstance(value[0], frozenset):
        value = _show_mem_bind(value)
    flags: set[str] = set()
    kind = numbers = ""
    words = words_of(value)
    for place, word in enumerate(words):
        name, _, rest = word.partition(":")
        name = {"v": "verbose", "q": "quiet", "p": "prefer"}.get(name.lower(), name.lower())
        if name in ("verbose", "quiet", "prefer", "sort", "nosort"):
            flags.add(name)
        elif name in MEM_BIND_TYPES:
            kind = name
            if name in ("map_mem", "mask_mem"):
                numbers = ",".join([rest, *words[place + 1 :]])
                break
        else:
            raise ValueError(f"takes verbose, quiet, prefer, {', '.join(MEM_BIND_TYPES)}")
    if not flags and not kind:
        raise ValueError(f"takes verbose, quiet, prefer, {', '.join(MEM_BIND_TYPES)}")
    return frozenset(flags), kind, numbers


def _show_mem_bind(value: object) -> str:
    flags, kind, numbers = value  # type: ignore[misc]  # what _mem_bind returns
    order = [flag for flag in ("verbose", "quiet", "prefer", "sort", "nosort") if flag in flags]
    return ",".join([*order, *([f"{kind}:{numbers}" if numbers else kind] if kind else [])])


MEM_BIND = Kind(_mem_bind, _show_mem_bind, "TYPE")

# --- words --------------------------------------------------------------------------------------------------

_BASE = r"(?:block|cyclic|\*)"
_LOWER = r"(?:block|cyclic|fcyclic|\*)"
_DISTRIBUTION = re.compile(
    rf"(?:{_BASE}(?::{_LOWER}(?::{_LOWER})?)?|arbitrary|hostfile|plane=[0-9]+)(?:,(?:pack|nopack))?|pack|nopack"
)


def _distribution(value: object) -> str:
    word = text(value).lower()
    if not _DISTRIBUTION.fullmatch(word):
        raise ValueError('takes "node[:socket[:core]]" of block, cyclic, fcyclic, or arbitrary, plane=N, pack, nopack')
    return word.replace("hostfile", "arbitrary")


DISTRIBUTION = Kind(_distribution, metavar="DIST")

_EXCLUSIVE = ("exclusive", "user", "mcs", "topo", "oversubscribe", "allocation")


def _exclusive(value: object) -> str | bool:
    if value is False:
        return False
    word = "exclusive" if value is True else text(value).lower()
    if word not in _EXCLUSIVE:
        raise ValueError(f"takes no value, {', '.join(_EXCLUSIVE)}")
    return "exclusive" if word == "allocation" else word


EXCLUSIVE = Kind(_exclusive, metavar="user|mcs|topo")


def _no_kill(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = text(value).lower()
    if word not in ("set", "off", "no"):
        raise ValueError("takes no value, set, off or no")
    return word == "set"


NO_KILL = Kind(_no_kill, lambda value: "set" if value else "off", "off")

HINT_WORDS = ("compute_bound", "memory_bound", "multithread", "nomultithread")


def _hint(value: object) -> str:
    words = words_of(value)
    if not words or any(word not in HINT_WORDS for word in words):
        raise ValueError(f"takes {', '.join(HINT_WORDS)}")
    return ",".join(words)


HINT = Kind(_hint, metavar="HINT")


def _nice(value: object) -> int:
    if isinstance(value, str):
        # sbatch reads 0 from what is no number.
        found = re.match(r"\s*[+-]?[0-9]+", value)
        value = int(found[0]) if found else 0
    number = integer(value)
    if abs(number) > 2147483645:
        raise ValueError("takes a number within +/-2147483645")
    return number


NICE = Kind(_nice, metavar="N")
TOP_PRIORITY = 4294967294


def _priority(value: object) -> int:
    if isinstance(value, str) and value.upper() == "TOP":
        return TOP_PRIORITY
    if isinstance(value, str):
        found = re.match(r"\s*[+-]?[0-9]+", value)
        value = int(found[0]) if found else 0
    number = integer(value)
    if not 0 <= number <= TOP_PRIORITY:
        raise ValueError("takes a number from 0 to 4294967293, or TOP")
    return number


PRIORITY = Kind(_priority, lambda value: "TOP" if value == TOP_PRIORITY else str(value), "N|TOP")


def _open_mode(value: object) -> str:
    word = text(value).lower()
    if word[:1] not in ("a", "t"):
        raise ValueError("takes append or truncate")
    return "append" if word[0] == "a" else "truncate"


OPEN_MODE = Kind(_open_mode, metavar="append|truncate")

PROFILE_WORDS = ("energy", "lustre", "network", "task")


def _profile(value: object) -> tuple[str, ...]:
    """Return the data to profile; sbatch looks for the words anywhere in the text."""
    word = ",".join(words_of(value)).lower()
    if "none" in word or value == ():
        return ()
    found = PROFILE_WORDS if "all" in word else tuple(name for name in PROFILE_WORDS if name in word)
    if not found:
        raise ValueError(f"takes none, all, {', '.join(PROFILE_WORDS)}")
    return found


PROFILE = Kind(_profile, lambda words: ",".join(words) or "none", "TYPE")  # type: ignore[arg-type]  # its own tuple


def _yes_no(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = text(value).lower()
    if word not in ("yes", "no"):
        raise ValueError("takes yes or no")
    return word == "yes"


YES_NO = Kind(_yes_no, lambda value: "yes" if value else "no", "yes|no")


def _switches(value: object) -> tuple[int, timedelta | None]:
    """``COUNT[@TIME]``: the count, and how long to wait for it."""
    if isinstance(value, tuple):
        count, wait = value
        value = str(count) if wait is None else f"{count}@{show_span(wait)}"
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    count, at, wait = text(value).partition("@")
    number = integer(count)
    if number < 1:
        raise ValueError('takes "COUNT[@TIME]"')
    return number, cast("timedelta", WAIT.read(wait)) if at else None


def _show_switches(value: object) -> str:
    count, wait = value  # type: ignore[misc]  # what _switches returns
    return str(count) if wait is None else f"{count}@{show_span(wait)}"


SWITCHES = Kind(_switches, _show_switches, "COUNT[@TIME]")

_FREQUENCY = r"(?:[0-9]+|low|medium|high|highm1)"
_GOVERNOR = r"(?:conservative|ondemand|performance|powersave|schedutil|userspace)"
_CPU_FREQ = re.compile(rf"{_FREQUENCY}(?:-{_FREQUENCY})?(?::{_GOVERNOR})?|{_GOVERNOR}", re.IGNORECASE)


def _cpu_freq(value: object) -> str:
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
    if not _CPU_FREQ.fullmatch(word):
        raise ValueError('takes "P1[-P2[:GOVERNOR]]" or a governor; P is kHz, low, medium, high or highm1')
    return word


CPU_FREQ = Kind(_cpu_freq, metavar="P1[-P2[:GOV]]")


def _acctg_freq(value: object) -> str:
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
    for part in word.split(","):
        if not re.fullmatch(r"(?:(?:task|energy|network|filesystem)=)?[0-9]+", part, re.IGNORECASE):
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
    if not re.fullmatch(r"[0-9]*[SLsl]?", word):
        raise ValueError('takes no value, or "[SECONDS][S|L]"')
    return word or True


USER_ENV = Kind(_user_env, lambda value: value if isinstance(value, str) else "", "[SECONDS][S|L]")

LIMIT_NAMES = ("CPU", "FSIZE", "DATA", "STACK", "CORE", "RSS", "NPROC", "NOFILE", "MEMLOCK", "AS")


def _propagate(value: object) -> tuple[str, ...]:
    if value == ():
        return ()
    words = ["ALL"] if value is True else [word.upper().removeprefix("RLIMIT_") for word in words_of(value)]
    if "NONE" in words and len(words) == 1:
        return ()
    found = LIMIT_NAMES if "ALL" in words else tuple(name for name in LIMIT_NAMES if name in words)
    if not words or any(word not in (*LIMIT_NAMES, "ALL") for word in words):
        raise ValueError(f"takes ALL, NONE, {', '.join(LIMIT_NAMES)}")
    return found


def _show_limits(value: object) -> str:
    return "ALL" if value == LIMIT_NAMES else ",".join(value) or "NONE"  # type: ignore[arg-type]  # its own tuple


PROPAGATE = Kind(_propagate, _show_limits, "LIMITS")
