"""What to do about Slurm's refusals. Over REST they have numbers; commands print the texts alone."""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["advice_for", "advice_on"]

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
    return next((_ADVICE[number] for number in numbers if number in _ADVICE), "")


def advice_on(said: str) -> str:
    """Return what to do about what a command said, empty where there is nothing to say."""
    if "unrecognized option" in said:
        return "This sbatch is too old for that option."
    return advice_for([number for text, number in _TEXTS.items() if text in said])
