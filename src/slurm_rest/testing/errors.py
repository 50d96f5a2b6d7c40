"""Slurm's own errors, by number."""

from __future__ import annotations

__all__ = ["WORDS", "Refused"]

# As slurmrestd of 24.11.5 and 26.05.5 writes them.
WORDS = {
    1007: "Protocol authentication error",
    1800: "Unable to contact slurm controller (connect failure)",
    2000: "Invalid partition name specified",
    2002: "Access/permission denied",
    2010: "Invalid user id",
    2012: "Pathname of a file, directory or other parameter too long",
    2014: "Requested node configuration is not available",
    2015: "Requested partition configuration not available now",
    2017: "Invalid job id specified",
    2019: "I/O error writing script/environment to file",
    2021: "Job/step already completing or completed",
    2024: "Job is pending execution",
    2038: "Job dependency problem",
    2042: "Job is in held state, pending scheduler release",
    2063: "Job cannot be submitted without the current working directory specified.",
    2073: "Job is no longer pending execution",
    2081: "Invalid job array specification",
    2084: "Job has already finished",
    2123: "Invalid --nice value",
    2127: "Environment is missing in job",
    2173: "Invalid signal jobs request, at least one job id or filter is required.",
    6010: "Rejecting authentication of user nobody or group nobody",
    7000: "Unable to connect to database",
    9000: "Query empty or not RFC7320 compliant",
    9202: "Unable to convert Data type",
    9207: "Data parser unable to parse invalid flag",
    9208: "Data parser expected a list",
    9209: "Data parser expected a dictionary or object",
    -1: "Unspecified error",
    0: "No error",
}


class Refused(Exception):
    """Slurm says no, with a number."""

    def __init__(self, number: int) -> None:
        super().__init__(f"{WORDS.get(number, 'error')} [{number}]")
        self.number = number
