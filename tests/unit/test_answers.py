"""What slurmrestd's answers mean, from captures of every release and version."""

from __future__ import annotations

import dataclasses
import json
import time

import jwt
import pytest

from slurm_rest.errors import (
    AccountingDown,
    ApiError,
    ControllerDown,
    JobNotFound,
    PermissionDenied,
    ProtocolError,
    SlurmError,
    SubmitRejected,
    TokenExpired,
    TokenMissing,
    TokenRejected,
    UnknownUser,
    UnsupportedVersion,
)
from slurm_rest.transport.answers import (
    error_of,
    is_ambiguous,
    read_answer,
    rejected_token,
    submit_error,
    submitted_id,
)
from tests.unit.captures import PLACES, Capture, capture, failure

OLD = "24.11.5"
GOOD = (
    *("jobs", "jobs_state", "nodes", "partitions", "diag", "ping", "bad_token_ping", "job_completed"),
    *("slurmdb_jobs", "slurmdb_jobs_none", "slurmdb_users", "cancel_ok", "cancel_batch", "cancel_again", "submit_ok"),
)


def read(status: int, content_type: str, raw: bytes, path: str = "/slurm/v0.0.42/ping/") -> SlurmError | None:
    return error_of(read_answer("GET", path, status, content_type, raw))


def token(**claims: object) -> str:
    return jwt.encode(dict(claims), b"k" * 32, algorithm="HS256")


# --- good ones ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", GOOD)
def test_good_answers_are_no_errors(place: str, name: str) -> None:
    answer = capture(place, name).answer
    assert error_of(answer) is None
    assert not is_ambiguous(answer)
    assert answer.release == place.split("/")[0]


def test_an_empty_304_is_no_error() -> None:
    assert read(304, "", b"") is None


def test_bytes_that_are_not_utf8_survive() -> None:
    raw = b'{"meta": {}, "errors": [], "jobs": [{"name": "a\xe9b"}]}'
    answer = read_answer("GET", "/slurm/v0.0.42/jobs/", 200, "application/json", raw)
    assert answer.body["jobs"] == [{"name": "a\udce9b"}]


# --- what slurmrestd itself says ------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
def test_no_usable_token(place: str) -> None:
    error = error_of(capture(place, "unauthorized_401").answer)
    assert type(error) is TokenMissing
    assert error.http_status == 401
    assert "SLURM_JWT" in error.hint


@pytest.mark.parametrize("place", PLACES)
def test_a_path_that_is_not_served(place: str) -> None:
    error = error_of(capture(place, "not_found_404").answer)
    assert type(error) is UnsupportedVersion


@pytest.mark.parametrize("place", PLACES)
def test_a_refused_token(place: str) -> None:
    error = error_of(capture(place, "bad_token_jobs").answer, token(sun="alice", exp=int(time.time()) + 600))
    assert type(error) is TokenRejected
    assert (error.http_status, error.error_number) == (511, 1007)
    assert "alice" in error.message
    assert "scontrol token" in error.hint


def test_who_may_not_act_as_another_is_told_to_stop_or_to_be_that_other() -> None:
    answer = capture("26.05.5/v0.0.45", "bad_token_jobs").answer
    error = rejected_token(token(sun="alice", exp=int(time.time()) + 600), answer.context, "bob")
    assert type(error) is TokenRejected
    assert "alice's, who may not act as bob" in error.message
    assert error.hint.startswith("Leave SLURM_REST_USER out, or give a token of bob's")


@pytest.mark.parametrize("place", PLACES)
def test_a_refused_token_at_accounting(place: str) -> None:
    """26.05 leaves out the words that tell it from a dead slurmdbd; a probe has to (see test_connection)."""
    error = error_of(capture(place, "bad_token_slurmdb_users").answer)
    assert type(error) is (TokenRejected if place.startswith(OLD) else AccountingDown)
    assert error.error_number == 7000


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (token(sun="alice", exp=1_700_000_000), TokenExpired, "expired at 2023-11-1"),
        (token(sun="alice"), TokenRejected, "exp"),
        (token(exp=4_000_000_000), TokenRejected, "names no user"),
        ("junk", TokenRejected, "not a JWT"),
        ("", TokenRejected, "this user"),
    ],
)
def test_a_refused_token_is_looked_at(text: str, kind: type[SlurmError], words: str) -> None:
    error = error_of(capture("26.05.5/v0.0.45", "bad_token_jobs").answer, text)
    assert type(error) is kind
    assert words in str(error)
    assert not text or text not in str(error)


@pytest.mark.parametrize("place", PLACES)
def test_an_unknown_job(place: str) -> None:
    error = error_of(capture(place, "job_unknown").answer)
    assert type(error) is JobNotFound
    assert (error.http_status, error.error_number) == (404, 2017)
    assert error.error_name == "Invalid job id specified"
    assert "MinJobAge" in error.hint


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (failure(502, 1800, "Unable to contact slurm controller (connect failure)"), ControllerDown),
        (failure(500, 1800), ControllerDown),
        (failure(422, 1800), ControllerDown),
        (failure(504, 5004, "Socket timed out on send/recv operation"), ControllerDown),
        (failure(500, 5005, "Zero Bytes were transmitted or received"), ControllerDown),
        (failure(422, 5004), ControllerDown),
        (failure(502, None, path="/slurm/v0.0.42/partitions/"), ControllerDown),
        (failure(502, 7000, path="/slurmdb/v0.0.42/jobs/"), AccountingDown),
        (failure(502, None, path="/slurmdb/v0.0.42/jobs/"), AccountingDown),
        (failure(504, 5004, path="/slurmdb/v0.0.42/jobs/"), AccountingDown),
        (failure(200, 7000, path="/slurmdb/v0.0.42/jobs/"), AccountingDown),
        (failure(200, 1007), TokenRejected),
        (failure(500, 6010), UnknownUser),
        (failure(422, 2002, "Access/permission denied"), PermissionDenied),
        (failure(500, 2010), PermissionDenied),
        (failure(500, 2017), JobNotFound),
        (failure(404, None, path="/slurm/v0.0.42/job/99999999"), JobNotFound),
        (failure(404, None, path="/slurm/v0.0.42/node/n1"), ApiError),
        (failure(422, 9000, "Unable to find partition"), ApiError),
        (failure(200, 0, "No error", path="/slurm/v0.0.42/node/x"), ApiError),
        (failure(500, 2000), ApiError),
    ],
)
def test_numbers_tell_and_not_the_status(answer: Capture, kind: type[SlurmError]) -> None:
    assert type(error_of(answer.answer)) is kind


@pytest.mark.parametrize(
    ("status", "number", "ambiguous"),
    [(500, -1, True), (500, 1, True), (403, 1, True), (500, None, True), (500, 2000, False), (200, -1, False)],
)
def test_what_only_a_ping_can_tell(status: int, number: int | None, ambiguous: bool) -> None:
    assert is_ambiguous(failure(status, number).answer) is ambiguous


# --- what is not slurmrestd's ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "content_type", "raw"),
    [
        (404, "text/html", b"<html><h1>Not Found</h1><p>The requested URL was not found on this server.</p></html>"),
        (404, "text/plain", b"404 page not found"),
        (404, "text/plain", b"The requested URL was not found on this server."),
        (404, "application/json", b'{"detail": "Not Found"}'),
        (200, "application/json", b'{"status": "ok"}'),
        (200, "application/json", b"[]"),
        (403, "application/json", b'{"kind": "Status", "code": 403, "message": "forbidden"}'),
        (200, "text/html", b"<html>Welcome to nginx!</html>"),
        (200, "text/plain", b"hello"),
        (302, "text/html", b""),
        (511, "text/html", b"<html>Please log in to the guest network</html>"),
    ],
)
def test_other_services_are_recognised(status: int, content_type: str, raw: bytes) -> None:
    error = read(status, content_type, raw)
    assert type(error) is ProtocolError
    assert f"HTTP {status}" in error.message
    assert "Check the URL" in error.hint


@pytest.mark.parametrize(
    ("status", "raw", "hint"),
    [
        (502, b"<html>Bad Gateway</html>", "is slurmrestd running behind it"),
        (503, b"Service Unavailable", "is slurmrestd running behind it"),
        (504, b"<html>Gateway Time-out</html>", "is slurmrestd running behind it"),
        (413, b"<html>Request Entity Too Large</html>", "8 MB of body"),
        (414, b"<html>Request-URI Too Large</html>", "64 KB of URL"),
        (
            400,
            b"<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>\r\n",
            "write https:// in the URL",
        ),
        (400, b"<html>\r\n<head><title>400 Bad Request</title></head>\r\n", "Check the URL"),
    ],
)
def test_a_proxys_pages_say_what_to_look_at(status: int, raw: bytes, hint: str) -> None:
    error = read(status, "text/html", raw)
    assert type(error) is ProtocolError
    assert hint in error.hint


@pytest.mark.parametrize("raw", [b"", b'{"meta": {', b"null x"])
def test_half_an_answer_is_not_read_as_a_whole_one(raw: bytes) -> None:
    with pytest.raises(ProtocolError, match="not complete JSON"):
        read(200, "application/json", raw)


@pytest.mark.parametrize("status", [400, 406, 415, 500])
def test_short_plain_refusals_keep_their_words(status: int) -> None:
    error = read(status, "text/plain", b"Unable to parse query.")
    assert type(error) is ApiError
    assert f"HTTP {status}: Unable to parse query." in error.message


# --- submissions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["submit_ok", "submit_ok_held", "submit_unknown_field"])
def test_a_job_id_without_errors_is_a_job_whatever_is_warned(place: str, name: str) -> None:
    answer = capture(place, name).answer
    assert submitted_id(answer) == capture(place, name).body["job_id"]
    assert error_of(answer) is None
    assert bool(answer.context.warnings) is (name != "submit_ok")


@pytest.mark.parametrize("place", PLACES)
def test_an_unknown_flag_makes_a_job_except_in_v0_0_40(place: str) -> None:
    answer = capture(place, "submit_bad_flag").answer
    assert answer.status == 500
    assert 9207 in answer.numbers
    assert bool(submitted_id(answer)) is (not place.endswith("v0.0.40"))


@pytest.mark.parametrize("place", PLACES)
def test_a_wrong_type_makes_none_though_the_status_is_200(place: str) -> None:
    answer = capture(place, "submit_bad_type_no_job_id").answer
    error, maybe = submit_error(answer)
    assert (answer.status, submitted_id(answer), maybe) == (200, 0, False)
    assert type(error) is SubmitRejected
    assert "Expected OpenAPI type=string" in error.message


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("name", "numbers"), [("submit_error_partition", {2000}), ("submit_error_no_environment", {2019, 2127})]
)
def test_refusals_carry_slurms_number(place: str, name: str, numbers: set[int]) -> None:
    answer = capture(place, name).answer
    error, maybe = submit_error(answer)
    assert type(error) is SubmitRejected
    assert error.error_number in numbers
    assert answer.status == (500 if place.startswith(OLD) else 422)
    assert not maybe
    assert str(error.error_name) in error.message


def test_a_refusal_gives_advice() -> None:
    error, _ = submit_error(capture(PLACES[0], "submit_error_partition").answer)
    assert "partitions" in error.hint


@pytest.mark.parametrize(
    ("answer", "kind", "maybe"),
    [
        (failure(502, 1800), ControllerDown, False),
        (failure(504, 5004), ControllerDown, True),
        (failure(500, 5005), ControllerDown, True),
        (failure(422, 5004), ControllerDown, True),
        (failure(502, None), ControllerDown, True),
        (failure(500, -1), ApiError, True),
        (failure(500, None), ApiError, True),
        (failure(511, 1007), TokenRejected, False),
        (failure(500, 6010), UnknownUser, False),
        (failure(422, 2002), SubmitRejected, False),
        (failure(422, 2012), SubmitRejected, False),
        (failure(404, 2017), SubmitRejected, False),
        (failure(422, None), SubmitRejected, False),
        (failure(200, None, job_id=0), SubmitRejected, False),
        (failure(200, None, job_id=-1), SubmitRejected, False),
        (failure(200, None, result={"job_id": 0}), SubmitRejected, False),
        (Capture("POST", "/s", 401, "text/plain", b"Authentication failure"), TokenMissing, False),
        (Capture("POST", "/s", 400, "text/plain", b"Unable to parse query."), SubmitRejected, False),
        (Capture("POST", "/s", 500, "text/plain", b"Unspecified error"), ApiError, True),
        (Capture("POST", "/s", 503, "text/html", b"<html>busy</html>"), ProtocolError, True),
        (Capture("POST", "/s", 200, "application/json", b'{"status": "ok"}'), ProtocolError, True),
        (Capture("POST", "/s", 200, "text/html", b"<html>hello</html>"), ProtocolError, True),
        # Answers to other requests, as something between that mixes them up would give them.
        (dataclasses.replace(capture("24.11.5/v0.0.42", "ping"), method="POST"), ProtocolError, True),
        (dataclasses.replace(capture("26.05.5/v0.0.45", "diag"), method="POST"), ProtocolError, True),
        (failure(200, None, jobs=[]), ProtocolError, True),
        (failure(200, None, job_id="370"), ProtocolError, True),
        # Other services have lists of errors, too.
        (Capture("POST", "/s", 504, "application/json", b'{"errors": [{"message": "slow"}]}'), ProtocolError, True),
        (Capture("POST", "/s", 429, "application/json", b'{"errors": [{"message": "busy"}]}'), ProtocolError, True),
        (Capture("POST", "/s", 511, "application/json", b'{"errors": []}'), ProtocolError, True),
    ],
)
def test_the_verdict_on_a_submission_without_a_job_id(answer: Capture, kind: type[SlurmError], maybe: bool) -> None:
    assert submitted_id(answer.answer) == 0
    error, lost = submit_error(answer.answer)
    assert (type(error), lost) == (kind, maybe)


def test_the_words_of_a_plain_refusal_are_kept() -> None:
    error, _ = submit_error(Capture("POST", "/s", 400, "text/plain", b"Unable to parse query.").answer)
    assert "Unable to parse query." in error.message


@pytest.mark.parametrize("place", PLACES)
def test_v0_0_40_and_41_say_the_id_twice(place: str) -> None:
    whole = capture(place, "submit_ok")
    if "result" in whole.body:
        body = {key: value for key, value in whole.body.items() if key != "job_id"}
        answer = dataclasses.replace(whole.answer, body=body)
        assert submitted_id(answer) == whole.body["job_id"]


def test_no_error_shows_the_token() -> None:
    secret = token(sun="alice", exp=4_000_000_000)
    for place in PLACES:
        for name in ("bad_token_jobs", "bad_token_slurmdb_users", "submit_error_partition", "job_unknown"):
            answer = capture(place, name).answer
            errors = [error_of(answer, secret), submit_error(answer, secret)[0]]
            assert all(secret not in f"{error} {error!r} {vars(error or Exception())}" for error in errors)


# --- what to do about them ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "number", "hint"),
    [
        ("/slurm/v0.0.42/node/nosuch", None, "Is there such a node? get_nodes() has all."),
        ("/slurm/v0.0.42/partition/nosuch", 9000, "Is there such a partition?"),
        ("/slurm/v0.0.42/jobs/", 9202, "times are datetimes or Unix seconds"),
        ("/slurm/v0.0.42/jobs/state/", 9000, "check names, ids and times"),
        ("/slurmdb/v0.0.42/jobs/", 2165, "nobody of that name or id"),
        ("/slurmdb/v0.0.42/jobs/", 31999, "the logs of slurmrestd and slurmdbd"),
        ("/slurm/v0.0.42/nodes/", 31999, "the logs of slurmrestd and slurmctld"),
    ],
)
def test_a_refusal_that_says_little_says_what_to_look_at(path: str, number: int | None, hint: str) -> None:
    issue = {"description": "x", "error": "No error", **({"error_number": number} if number else {})}
    error = read(500, "application/json", json.dumps({"meta": {}, "errors": [issue]}).encode(), path)
    assert isinstance(error, ApiError)
    assert hint in error.hint


def test_what_slurmrestd_cannot_parse_says_so() -> None:
    error = read(400, "text/plain", b"Unable to parse URL path.")
    assert isinstance(error, ApiError)
    assert "check names in the path" in error.hint


def test_a_job_is_refused_with_what_to_do_whatever_the_reason() -> None:
    for number, hint in ((31999, "Change what is wrong, and submit it again."), (2000, "List partitions")):
        body = {"meta": {}, "errors": [{"error": "x", "error_number": number}]}
        answer = read_answer("POST", "/slurm/v0.0.42/job/submit", 500, "application/json", json.dumps(body).encode())
        error, lost = submit_error(answer)
        assert isinstance(error, SubmitRejected)
        assert (hint in error.hint, lost) == (True, False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'"caf\xe9"', "caf\udce9"),
        (b'"\\ud800"', "\ud800"),
        (b"Infinity", float("inf")),
        (b"18446744073709551614", 2**64 - 2),
    ],
)
def test_odd_values_are_read_as_they_are(text: bytes, value: object) -> None:
    answer = read_answer("GET", "/x", 200, "application/json", b'{"meta": {}, "it": ' + text + b"}")
    assert answer.body["it"] == value
