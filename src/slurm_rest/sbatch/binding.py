"""The grammars of signals, mail, binding and frequencies."""

from __future__ import annotations

import re
from typing import cast

from .kinds import Kind, text, whole, words_of

__all__ = ["CPU_FREQ", "GPU_BIND", "GPU_FREQ", "MAIL_NAMES", "MAIL_TYPE", "MEM_BIND", "SIGNAL", "SIGNAL_NUMBERS"]

# --- signals ------------------------------------------------------------------------------------------------

SIGNAL_NUMBERS = {
    "HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "USR1": 10, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15,
    "CHLD": 17, "CONT": 18, "STOP": 19, "TSTP": 20, "TTIN": 21, "TTOU": 22, "URG": 23, "XCPU": 24,
}  # fmt: skip
_U16 = 65535
_SIGNAL = re.compile(
    r"(?a):?(?:\s*(?P<number>[+-]?[0-9]+)|\s*(?P<name>[A-Za-z]+[0-9]*))\s*(?:@\s*(?P<time>\+?[0-9]*))?"
)


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
    matched = _SIGNAL.fullmatch(word)
    if not matched or len(word) > 40:
        return None
    # Slurm keeps sixteen bits of a number.
    number = int(matched["number"]) & _U16 if matched["number"] else _signal_number(matched["name"])
    seconds = 60 if matched["time"] is None else whole(matched["time"] or "0")
    if number < 1 or seconds > _U16:
        return None
    return "".join(flag for flag in "RB" if flag in flags), number, seconds


def _signal_number(name: str) -> int:
    return SIGNAL_NUMBERS.get(name.upper().removeprefix("SIG"), 0)


def _show_signal(value: object) -> str:
    flags, number, seconds = cast("tuple[str, int, int]", value)
    return f"{flags}:{number}@{seconds}" if flags else f"{number}@{seconds}"


SIGNAL = Kind(_signal, _show_signal, "[R][B]:SIGNAL[@SECONDS]")

# --- mail ---------------------------------------------------------------------------------------------------

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
    for word in (word.upper() for word in words_of(value)):
        if word == "NONE":
            return ()
        names = MAIL_NAMES.get(word, ())
        found |= {one for one in _MAIL_ORDER if set(MAIL_NAMES[one]) <= set(names)}
    if not found:
        raise ValueError(f"takes NONE, {', '.join(MAIL_NAMES)}")
    return tuple(word for word in _MAIL_ORDER if word in found)


MAIL_TYPE = Kind(_mail_type, lambda words: ",".join(words) or "NONE", "TYPE")  # type: ignore[arg-type]  # its own tuple

# --- memory -------------------------------------------------------------------------------------------------

_MEM_SHORT = {"v": "verbose", "q": "quiet", "p": "prefer", "no": "none"}
_MEM_FLAGS = ("verbose", "quiet", "prefer", "sort", "nosort")
_MEM_FORMS = "takes verbose, quiet, prefer, none, rank, local, map_mem:LIST, mask_mem:LIST"
# A comma belongs to a list where a number follows it.
_MEM_COMMA = re.compile(r",(?![0-9]|[0-9a-fA-F]*(?:,|$))")
_MEM_LIST = re.compile(r"(map_?mem|mask_?mem)[^:=]*(?:[:=]([^:=]*).*)?", re.ASCII | re.I)


def _mem_bind(value: object) -> tuple[frozenset[str], str, str]:
    """Return the flags (verbose, quiet, prefer, sort, nosort), the type, and the list of map_mem or mask_mem."""
    if isinstance(value, tuple) and isinstance(value[0], frozenset):
        value = _show_mem_bind(value)
    word = ",".join(words_of(value)) if not isinstance(value, str) else text(value)
    flags: set[str] = set()
    kind = numbers = ""
    for part in _MEM_COMMA.split(word):
        name = _MEM_SHORT.get(part.lower(), part.lower())
        listed = _MEM_LIST.fullmatch(part)
        if name in _MEM_FLAGS:
            flags -= {"verbose", "quiet"} if name in ("verbose", "quiet") else set()
            flags -= {"sort", "nosort"} if name in ("sort", "nosort") else set()
            flags.add(name)
        elif name in ("none", "rank", "local"):
            kind, numbers = name, ""
        elif listed:
            kind = "map_mem" if listed[1].lower().startswith("map") else "mask_mem"
            numbers = _mem_numbers(listed[2] or "", kind)
        else:
            raise ValueError(_MEM_FORMS)
    return frozenset(flags), kind, numbers


def _mem_numbers(given: str, kind: str) -> str:
    """Return the list as sbatch sends it: without 0x, and with what ``*`` multiplies written out."""
    digits = r"[0-9]+" if kind == "map_mem" else r"(?:0x)?[0-9a-fA-F]+"
    found: list[str] = []
    for part in given.split(","):
        matched = re.fullmatch(rf"({digits})(?:\*([0-9]{{1,5}}))?", part)
        if not matched:
            raise ValueError(f"takes numbers behind {kind}")
        found += [matched[1].removeprefix("0x")] * int(matched[2] or 1)
    return ",".join(found)


def _show_mem_bind(value: object) -> str:
    flags, kind, numbers = cast("tuple[frozenset[str], str, str]", value)
    order = [flag for flag in _MEM_FLAGS if flag in flags]
    return ",".join([*order, *([f"{kind}:{numbers}" if numbers else kind] if kind else [])])


MEM_BIND = Kind(_mem_bind, _show_mem_bind, "TYPE")

# --- GPUs ---------------------------------------------------------------------------------------------------

_GPU_LIST = r"[0-9]+(?:\*[0-9]+)?"
_GPU_MASK = r"(?:0x)?[0-9a-fA-F]+(?:\*[0-9]+)?"
_GPU_BIND = re.compile(
    rf"(?:verbose,)?(?:(?:closest|none).*|map_gpu:(?:{_GPU_LIST}(?:,{_GPU_LIST})*,?)?|mask_gpu:(?:{_GPU_MASK}(?:,{_GPU_MASK})*,?)?"
    rf"|(?:per_task|single):(?!\s*-\s*0*[1-9]).*)",
    re.ASCII | re.IGNORECASE | re.DOTALL,
)


def _gpu_bind(value: object) -> str:
    word = text(value)
    if not _GPU_BIND.fullmatch(word):
        raise ValueError("takes closest, none, map_gpu:LIST, mask_gpu:LIST, per_task:N or single:N")
    return word


GPU_BIND = Kind(_gpu_bind, metavar="TYPE")

_LEVEL = r"(?:[0-9]+|low|medium|high|highm1)"
_GPU_FREQ = re.compile(rf"(?=.),*(?:(?:memory={_LEVEL}|{_LEVEL}|verbose)(?:,+|$))*")


def _gpu_freq(value: object) -> str:
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
    if not _GPU_FREQ.fullmatch(word):
        raise ValueError('takes "[memory=]LEVEL" with low, medium, high, highm1 or MHz, and verbose')
    return word


GPU_FREQ = Kind(_gpu_freq, metavar="LEVEL")

# --- CPUs ---------------------------------------------------------------------------------------------------

# sbatch looks at the first letters only, apart from highm1.
_LEVELS = {"lo": 1, "med": 2, "hi": 4}
_HIGH_BUT_ONE = 3
_GOVERNORS = ("cons", "onde", "perf", "powe", "sche", "user")
_CPU_FORMS = 'takes "P1[-P2:GOVERNOR]", "P1:UserSpace" or a governor; P is kHz, low, medium, high or highm1'


def _cpu_freq(value: object) -> str:
    word = str(value) if isinstance(value, int) and not isinstance(value, bool) else text(value)
    span, colon, governor = word.partition(":")
    low, dash, high = span.partition("-")
    named = governor[:4].lower()
    if low[:4].lower() in _GOVERNORS and not dash and not colon:
        return word
    least, most = _frequency(low), _frequency(high) if dash else (0, 0)
    if not least[1] or (dash and (not most[1] or most < least)):
        raise ValueError(_CPU_FORMS)
    # A range needs a governor that can keep to one, and only UserSpace goes without one.
    one = named == "user" and "-" not in governor and least != (0, 0)
    if (dash and (named not in _GOVERNORS or named == "user")) or (colon and not dash and not one):
        raise ValueError(_CPU_FORMS)
    return word


def _frequency(word: str) -> tuple[int, int]:
    """Return something that sorts: kHz before names."""
    if word.isascii() and word.isdigit():
        return 0, whole(word)
    word = word.lower()
    level = max((number for letters, number in _LEVELS.items() if word.startswith(letters)), default=0)
    return 1, _HIGH_BUT_ONE if word == "highm1" else level


CPU_FREQ = Kind(_cpu_freq, metavar="P1[-P2:GOV]")
