"""The grammars of node counts: ``-N`` and ``-B``."""

from __future__ import annotations

import re

from .kinds import COUNT_MAX, Kind, text, whole

__all__ = ["NODES", "NODE_INFO", "node_bounds", "node_members"]

_COUNTED = re.compile(r"\s*(?:\+|-(?=0+(?![0-9])))?([0-9]+)([kK]?)([mM]?)\s*", re.ASCII)
# A number that is missing is 0.
_NODE_RANGE = re.compile(r"(?P<low>(?:\s*\+?[0-9]+)?)(?P<dash>-(?P<high>(?:\s*\+?[0-9]+)?))?", re.ASCII)
_NODE_STEP = re.compile(r"([0-9]{1,10})-([0-9]{1,10}):(0{0,9}[1-9][0-9]{0,9})")
_NODE_FORMS = 'takes a number, "MIN-MAX", or a set such as "1,3" or "2-8:2"'
_MOST_NODES = 65536


def _counted(word: str) -> int:
    found = _COUNTED.fullmatch(word)
    if not found:
        raise ValueError(_NODE_FORMS)
    number = whole(found[1]) * (1024 if found[2] else 1) * (1048576 if found[3] else 1)
    if number > COUNT_MAX:
        raise ValueError(_NODE_FORMS)
    return number


def _nodes(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        # As text, "-2" means "1-2" to sbatch.
        if value < 0:
            raise ValueError(_NODE_FORMS)
        value = str(value)
    word = text(value)
    if "," in word or ":" in word:
        if not node_members(word):
            raise ValueError(_NODE_FORMS)
        return re.sub("(?a)\\s", "", word)
    least, dash, most = word.partition("-")
    low = _counted(least) if least.strip() or not dash else 1
    high = _counted(most) if dash else low
    # A greatest number of 0 is none.
    if 0 < high < low:
        raise ValueError(_NODE_FORMS)
    return f"{low}-{high}" if dash else str(low)


def node_members(word: str) -> set[int]:
    """Return the numbers of a set such as ``1,3`` or ``2-8:2``; ValueError for what is none."""
    if stepped := _NODE_STEP.fullmatch(word):
        low, high, step = (int(part) for part in stepped.groups())
        # Behind a step the end itself is left out: 2-4:2 is 2.
        return set(range(low, min(high, low + _MOST_NODES), step))
    if word.startswith(",") or ":" in word:
        raise ValueError(_NODE_FORMS)
    members: set[int] = set()
    for part in word.split(","):
        found = _NODE_RANGE.fullmatch(part)
        if not found:
            raise ValueError(_NODE_FORMS)
        low = whole(found["low"] or "0")
        high = whole(found["high"] or "0") if found["dash"] else low
        if max(low, high) > _MOST_NODES:
            raise ValueError(_NODE_FORMS)
        members.update(range(low, high + 1))
    return members


def node_bounds(nodes: str) -> tuple[int, int, bool]:
    """Return the least and the greatest number of nodes, and whether they are the ends of a set."""
    if "," in nodes or ":" in nodes:
        members = node_members(nodes)
        return min(members), max(members), True
    least, _, most = nodes.partition("-")
    return int(least), int(most or least), False


NODES = Kind(_nodes, metavar="N[-M]")
_INFO_PART = re.compile(r"\s*\+?([0-9]+)([kKmM]?)(?:-\s*\+?(0*[1-9][0-9]*)[kKmM]?(?:-.*)?)?", re.ASCII)


def _node_info(value: object) -> str:
    """``S[:C[:T]]``: counts, ``MIN-MAX`` of which only the minimum counts, ``*`` or nothing; more is not looked at."""
    return ":".join(_info_part(part) for part in text(value).split(":")[:3]) or "*"


def _info_part(part: str) -> str:
    if not part or part.startswith("*"):
        return ""
    found = _INFO_PART.fullmatch(part)
    number = whole(found[1]) * {"": 1, "k": 1024, "m": 1048576}[found[2].lower()] if found else COUNT_MAX + 1
    if number > COUNT_MAX:
        raise ValueError('takes "SOCKETS[:CORES[:THREADS]]", each a number, MIN-MAX or *')
    return str(number)


NODE_INFO = Kind(_node_info, metavar="S[:C[:T]]")
