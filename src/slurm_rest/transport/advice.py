"""What to do about Slurm's refusals. Over REST they have numbers; commands print the texts alone."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["BY_HAND", "SUBMIT_AGAIN", "advice_about", "advice_for", "advice_on"]

# What is left to say about a refusal that nothing else is known about.
BY_HAND = "Try the command there by hand: something changes what it prints."
SUBMIT_AGAIN = "Change what is wrong, and submit it again."

_ADVICE = {
    2000: "List partitions with: slurm-rest partitions",
    2003: "Ask for another partition: slurm-rest partitions",
    2006: "Check nodes=.",
    2012: "A name or comment may have 1024 bytes, a script 4 MiB.",
    2014: "No node has that much. List what they have with: slurm-rest nodes",
    2015: "Ask for less, or for another partition: slurm-rest partitions",
    2018: "List nodes with: slurm-rest nodes",
    2029: "List features with: slurm-rest nodes",
    2045: "Check account=, or ask for an association of this user.",
    2072: "List what nodes offer with: slurm-rest nodes",
    2038: "Check dependency=: it names jobs that exist, as in afterok:123.",
    2048: "Check licenses=.",
    2050: "A limit of the account or QOS stands against it: ask for less.",
    2051: "Ask for a shorter time=, or another partition.",
    2053: "List reservations with: scontrol show reservation",
    2066: "Check qos=.",
    2081: "Check array=: indices as in 0-9%2, below the cluster's MaxArraySize.",
    2166: "slurmrestd's host knows no user of that name.",
    2123: "Only operators may raise a job's priority.",
}
# Less exact ones, where no other number of an answer says more.
_VAGUE = {
    2165: "Check the user: nobody of that name or id is known there.",
    9202: "Slurm cannot read a value: times are datetimes or Unix seconds, ids are numbers.",
    9207: "This API version has no such flag: check the spelling.",
    9000: "slurmrestd misses a value or cannot read one: check names, ids and times.",
}
_NAMED = re.compile("/(node|partition|reservation)/[^/]")
# As sbatch of 24.11 and 26.05 prints them.
_TEXTS = {
    "Invalid partition name specified": 2000,
    "Node count specification invalid": 2006,
    "Requested node configuration is not available": 2014,
    "Invalid node name specified": 2018,
    "Invalid feature specification": 2029,
    "Job dependency problem": 2038,
    "Invalid license specification": 2048,
    "Invalid generic resource (gres) specification": 2072,
    "Invalid job array specification": 2081,
}


def advice_for(numbers: Collection[int]) -> str:
    """Return what to do about errors with these numbers, empty where there is nothing to say."""
    return next((table[number] for table in (_ADVICE, _VAGUE) for number in table if number in numbers), "")


def advice_about(method: str, path: str, numbers: Collection[int]) -> str:
    """Return what to do about any refusal of a request, as exactly as its numbers and its path allow."""
    named = _NAMED.search(path)
    if named and method == "GET" and not any(number in _ADVICE for number in numbers):
        # 24.11 and 26.05 say "No error" or something about the query.
        return f"Is there such a {named[1]}? get_{named[1]}s() has all."
    daemon = "slurmdbd" if path.startswith("/slurmdb/") else "slurmctld"
    return advice_for(numbers) or f"Check the arguments; the logs of slurmrestd and {daemon} may say more."


def advice_on(said: str) -> str:
    """Return what to do about what a command said, empty where there is nothing to say."""
    if "unrecognized option" in said:
        return "This sbatch is too old for that option."
    return advice_for([number for text, number in _TEXTS.items() if text in said])
