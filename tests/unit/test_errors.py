"""The error tree: its shape, its texts, and that errors survive pickling."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurm_rest import errors
from slurm_rest.errors import (
    ErrorContext,
    JobNotFound,
    SlurmError,
    SlurmIssue,
    SpecError,
    SubmitRejected,
    SubmitUncertain,
    Timeout,
    TokenExpired,
    TokenRejected,
    UnsupportedVersion,
    WaitTimeout,
)

CONTEXT = ErrorContext(
    method="GET",
    path="/slurm/v0.0.42/job/7",
    http_status=404,
    errors=(SlurmIssue("Unable to query JobId=7", None), SlurmIssue("", 2017, "Invalid job id specified", "_get")),
    warnings=(SlurmIssue("look out"),),
    request_id="r3",
)
TREE = {
    "ConfigError": "SlurmError",
    "NoAccounting": "AccountingDown",
    "OutcomeUnknown": "JobNotFound",
    "SpecError": "SlurmError",
    "AuthError": "SlurmError",
    "TokenMissing": "AuthError",
    "TokenRejected": "AuthError",
    "TokenSourceError": "ConfigError",
    "TokenExpired": "TokenRejected",
    "UnknownUser": "AuthError",
    "TransportError": "SlurmError",
    "Unreachable": "TransportError",
    "HostKeyError": "TransportError",
    "CommandMissing": "TransportError",
    "Timeout": "TransportError",
    "ProtocolError": "TransportError",
    "AnswerTooLarge": "ProtocolError",
    "ControllerDown": "SlurmError",
    "AccountingDown": "SlurmError",
    "ApiError": "SlurmError",
    "SubmitRejected": "ApiError",
    "JobNotFound": "ApiError",
    "PermissionDenied": "ApiError",
    "UnsupportedVersion": "ApiError",
    "VersionNotServed": "UnsupportedVersion",
    "FilesError": "SlurmError",
    "FileMissing": "FilesError",
    "SubmitUncertain": "SlurmError",
    "WaitTimeout": "SlurmError",
}


def test_the_tree_is_as_documented() -> None:
    classes = {
        name: kind.__bases__[0].__name__
        for name, kind in vars(errors).items()
        if inspect.isclass(kind) and issubclass(kind, SlurmError) and kind is not SlurmError
    }
    assert classes == TREE
    assert {*TREE, "SlurmError", "SlurmIssue", "ErrorContext"} == set(errors.__all__)
    for name in TREE:
        assert name in (errors.__doc__ or "")


def test_pythons_own_kinds_catch_ours() -> None:
    assert issubclass(SpecError, ValueError)
    assert issubclass(Timeout, TimeoutError)
    assert issubclass(WaitTimeout, TimeoutError)


def test_the_data_of_an_answer_can_be_read_from_its_error() -> None:
    error = JobNotFound("no such job", hint="Look again.", context=CONTEXT)
    assert error.http_status == 404
    assert error.error_number == 2017
    assert error.error_name == "Invalid job id specified"
    assert error.source == "_get"
    assert error.request_id == "r3"
    assert [str(warning) for warning in error.warnings] == ["look out"]
    assert str(error) == "no such job. Look again."


def test_an_error_without_an_answer_has_empty_data() -> None:
    error = SlurmError("away")
    assert (error.http_status, error.error_number, error.error_name, error.source) == (None, None, "", "")
    assert error.warnings == ()
    assert str(error) == "away"


@pytest.mark.parametrize(
    ("issue", "shown"),
    [
        (SlurmIssue(), "no description"),
        (SlurmIssue("Batch job submission failed", 2000, "Invalid partition name specified"),
         "Batch job submission failed: Invalid partition name specified [2000]"),
        (SlurmIssue("same", 5, "same"), "same [5]"),
        (SlurmIssue("", None, "only a name"), "only a name"),
        (SlurmIssue("no number", 0), "no number"),
    ],
)  # fmt: skip
def test_an_issue_shows_all_that_slurm_said(issue: SlurmIssue, shown: str) -> None:
    assert str(issue) == shown


@pytest.mark.parametrize(
    "error",
    [
        SlurmError("a", hint="b", context=CONTEXT),
        SpecError("a", field="mem", hint="b"),
        TokenExpired("a", context=CONTEXT),
        Timeout("a", hint="b"),
        SubmitRejected("a", context=CONTEXT, cancelled_job_id=7),
        UnsupportedVersion("a", version="v0.0.40", supported=["v0.0.42"]),
        SubmitUncertain("a", key="slurm-rest:0"),
        WaitTimeout("a", job_ids=[1, 2]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_a_process_border(error: SlurmError) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is type(error)
        assert str(twin) == str(error)
        assert vars(twin) == vars(error)


@given(st.text(), st.text())
def test_the_text_is_one_line_that_can_be_printed(message: str, hint: str) -> None:
    for text in (str(SlurmError(message, hint=hint)), str(TokenRejected(message)), SlurmError(message).message):
        assert text.isprintable()


def test_text_of_the_cluster_cannot_steer_a_terminal() -> None:
    assert str(SlurmError("a\n\tb \x1b[2J \udcff é")) == "a b \\x1b[2J \\udcff é"
