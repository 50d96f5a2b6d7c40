"""What slurmrestd does otherwise from one release to the next: the one table that says so.

What shapes and versions a release has, the captures tell. Observed on 24.11.5 and 26.05.5.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HABITS", "Habits", "habits_of"]


@dataclass(frozen=True, slots=True)
class Habits:
    """How one release answers. The fields without a value here are words, numbers and HTTP statuses that it uses.

    ``tells_bad_token``: slurmdbd's answers tell a refused token from a dead database. ``errors_repeat_output``: a job
    without a file for errors has the output's path there too. ``keeps_node_pattern``: a record keeps ``%N``.
    ``forgets_signals``: accounting keeps no signal of what was cancelled or took too long. ``refuses_partitions``: an
    unknown partition is an error, not a warning. ``refuses_nobody``: a job of a user whom nobody knows is refused.
    ``refuses_too_large``: one that fits no nodes is refused unless it is held, instead of waiting with a warning.
    """

    unread_query: int
    unread_type: tuple[int, str]
    unread_body: str
    lost_page: str
    no_environment: int
    other_error: int
    permission_error: int
    nothing_found: str
    specifying: str
    tells_bad_token: bool = False
    errors_repeat_output: bool = False
    keeps_node_pattern: bool = False
    forgets_signals: bool = False
    refuses_partitions: bool = False
    refuses_nobody: bool = False
    refuses_too_large: bool = False


HABITS: dict[str, Habits] = {
    "24.11": Habits(
        unread_query=400,
        unread_type=(400, "Unable to parse query."),
        unread_body="Unable to parse query.",
        lost_page="Unable find requested URL. Please view /openapi/v3 for API reference.",  # sic
        no_environment=2019,
        other_error=500,
        permission_error=500,
        nothing_found="slurmdb_jobs_get(0x0)",
        specifying="Specifing",  # sic
        tells_bad_token=True,
        errors_repeat_output=True,
        keeps_node_pattern=True,
        forgets_signals=True,
        refuses_partitions=True,
        refuses_too_large=True,
    ),
    "26.05": Habits(
        unread_query=500,
        unread_type=(415, "MIME type is unknown to any loaded plugins"),
        unread_body="Failure during parsing",
        lost_page="Unable to find requested URL endpoint. Please query the '/openapi/v3' endpoint or visit"
        " 'https://slurm.schedmd.com/rest_api.html' for the OpenAPI specification which includes a list of all possible"
        " slurmrestd endpoints.",
        no_environment=2127,
        other_error=422,
        permission_error=403,
        nothing_found="slurmdb_jobs_get()",
        specifying="Specifying",
        refuses_nobody=True,
    ),
}


def habits_of(release: str) -> Habits:
    """Return how a release answers."""
    return HABITS[release]
