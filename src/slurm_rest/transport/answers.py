"""Reads slurmrestd's answers and says what they mean. Pure code: bytes in, values or errors out.

The HTTP status alone decides nothing. slurmrestd sends 500 with a job created and 200 with none, 26.05 sends 403 for a
dead controller, and every number of slurmctld arrives as 500 on 24.11 and as 422 on 26.05. So the verdict follows
Slurm's own error numbers first; all of the cases here were seen on 24.11.5 and 26.05.5.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import orjson

from slurm_rest.auth import read_claims
from slurm_rest.errors import (
    AccountingDown,
    ApiError,
    AuthError,
    ControllerDown,
    ErrorContext,
    JobNotFound,
    NoAccounting,
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
from slurm_rest.records import items, mapping, number, read_issues, text

from .advice import SUBMIT_AGAIN, advice_about, advice_for

__all__ = [
    "NO_SUCH_USER",
    "Answer",
    "error_of",
    "is_ambiguous",
    "listing_of",
    "no_accounting",
    "no_such_user",
    "read_answer",
    "submit_error",
    "submitted_id",
    "unserved_accounting",
]

# "Unable to resolve user": 24.11 and 26.05 look each name up where slurmrestd runs.
NO_SUCH_USER = 2166

# A token that ends within this time may have ended already by another clock.
_SUSPICIOUS_SECONDS = 900.0
_RENEW_HINT = "Make a new one, for instance with: scontrol token"
# Slurm's numbers. 1007 authentication, 1800 "connect failure", 7000 database, 2017 unknown job, 2002 and 2010 rights.
_REJECTED_TOKEN, _CONNECT_FAILURE, _NO_DATABASE, _UNKNOWN_JOB, _NOBODY = 1007, 1800, 7000, 2017, 6010
_NOT_ALLOWED = frozenset({2002, 2010})
# The ones that a dead controller hides behind: -1 on job/{id} and jobs/state, 1 on DELETE.
_AMBIGUOUS = frozenset({-1, 1})
# The request was on its way when the controller's answer failed: nobody knows what became of it.
_LOST_ANSWER = frozenset({-1, 1, 1002, 1003, 1005, 5000, 5001, 5002, 5003, 5004, 5005, 5006, 5007, 5008})


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. ``body`` is empty unless it was a JSON object; ``text`` is then the start of what came.

    ``token`` is the one that it was asked with, ``user`` the name that was to be acted as, empty for the token's own.
    """

    context: ErrorContext
    body: Mapping[str, object] = field(default_factory=dict, repr=False)
    is_json: bool = False
    text: str = ""
    raw: bytes = field(default=b"", repr=False)
    token: str = field(default="", repr=False)
    user: str = ""

    @property
    def status(self) -> int:
        """The HTTP status."""
        return self.context.http_status or 0

    @property
    def numbers(self) -> set[int]:
        """The error numbers that Slurm gave."""
        return {issue.number for issue in self.context.errors if issue.number is not None}

    @property
    def release(self) -> str:
        """The Slurm release that answered, as ``meta`` has it: ``24.11.5``."""
        return text(mapping(mapping(self.body.get("meta")).get("slurm")).get("release"))

    @property
    def cluster(self) -> str:
        """The cluster that answered."""
        return text(mapping(mapping(self.body.get("meta")).get("slurm")).get("cluster"))


def read_answer(
    method: str,
    path: str,
    status: int,
    content_type: str,
    raw: bytes,
    request_id: str = "",
    like: Answer | None = None,
    *,
    token: str = "",
    user: str = "",
) -> Answer:
    """Read one HTTP answer; bytes that are not UTF-8 survive as surrogates (one odd job name spoils a whole list).

    ``like`` is an earlier answer; with the same status and bytes it is not read again, and its body is shared.
    ``token`` and ``user`` are what it was asked with.
    """
    if like is not None and like.is_json and (status, raw) == (like.status, like.raw):
        context = replace(like.context, method=method, path=path, request_id=request_id)
        return replace(like, context=context, token=token, user=user)
    body: object = None
    if content_type.partition(";")[0].strip().lower() == "application/json":
        try:
            body = _parse(raw)
        except ValueError as error:
            message = f"{method} {path}: the answer is not complete JSON ({len(raw)} bytes)"
            hint = "The connection was cut, or something between client and slurmrestd changed the answer."
            where = ErrorContext(method, path, status, request_id=request_id)
            raise ProtocolError(message, hint=hint, context=where) from error
    if not isinstance(body, Mapping):
        where = ErrorContext(method, path, status, request_id=request_id)
        words = raw[:300].decode("utf-8", "replace").strip()
        return Answer(where, text=words, raw=raw, token=token, user=user)
    errors, warnings = read_issues(body.get("errors")), read_issues(body.get("warnings"))
    context = ErrorContext(method, path, status, errors, warnings, request_id)
    return Answer(context, body, is_json=True, raw=raw, token=token, user=user)


def _parse(raw: bytes) -> object:
    try:
        return orjson.loads(raw)
    except ValueError:
        # Or it is no more than what orjson is strict about: bytes that are no UTF-8, halves of surrogates, NaN.
        return json.loads(raw.decode("utf-8", "surrogateescape"))


def error_of(answer: Answer, token: str = "", now: float | None = None) -> SlurmError | None:
    """Return the error that an answer means, None when it is a good one.

    ``token`` and ``now``, the server's time in Unix seconds, only serve to look at ``exp``.
    """
    if not answer.is_json:
        return _plain_error(answer)
    if not _is_slurms(answer):
        return _not_slurmrestd(answer)
    if not answer.context.errors and answer.status < 400:
        return None
    return _auth_error(answer, token, now) or _daemon_error(answer) or _refusal(answer)


def _is_slurms(answer: Answer) -> bool:
    # Every JSON answer of slurmrestd has meta; other services write JSON too, with lists of errors of their own.
    return isinstance(answer.body.get("meta"), Mapping) or bool(answer.numbers)


def _not_slurmrestd(answer: Answer) -> ProtocolError:
    hint = "Check the URL: is it slurmrestd's host and port, or a proxy in front of it?"
    if answer.status in (502, 503, 504):
        hint = "A proxy answered: is slurmrestd running behind it, and may the proxy reach it?"
    elif answer.status == 400 and "sent to HTTPS port" in answer.text:
        hint = "That port speaks https: write https:// in the URL."
    elif answer.status in (413, 414):
        hint = "A proxy takes no request as large as that: it has to let 64 KB of URL and 8 MB of body pass."
    kind = "JSON of another service" if answer.is_json else "no JSON"
    where = f"{answer.context.method} {answer.context.path}"
    message = f"{where}: HTTP {answer.status} and {kind}, so this is not slurmrestd's answer"
    return ProtocolError(message, hint=hint, context=answer.context)


def listing_of(answer: Answer, name: str) -> list[Mapping[str, object]]:
    """Return the objects of a list that every good answer to this question has, be it empty (24.11, 26.05).

    An answer without it is the answer to another request. Read as an empty list it would say that all jobs are gone.
    """
    if name not in answer.body:
        where = f"{answer.context.method} {answer.context.path}"
        message = f"{where}: HTTP {answer.status} without {name!r}, so this is the answer to another request"
        hint = "Does a proxy in front of slurmrestd mix answers up, or keep old ones?"
        raise ProtocolError(message, hint=hint, context=answer.context)
    return items(answer.body[name])


def is_ambiguous(answer: Answer) -> bool:
    """True for errors that a dead controller and other faults share, so that only a ping can tell."""
    return answer.is_json and _is_slurms(answer) and answer.status >= 400 and answer.numbers <= _AMBIGUOUS


def _plain_error(answer: Answer) -> SlurmError | None:
    context, words = answer.context, answer.text
    where = f"{context.method} {context.path}"
    if answer.status == 401:
        hint = "Set SLURM_JWT (scontrol token prints one), or one of the SLURM_REST_TOKEN_* settings."
        return TokenMissing("slurmrestd wants a token and got none that it can use", hint=hint, context=context)
    # Web servers have pages about a "requested URL" as well; slurmrestd's is one line of plain text.
    if "find requested URL" in words and "<" not in words:
        hint = "This slurmrestd does not serve the path in this API version."
        return UnsupportedVersion(f"{where}: not served here", hint=hint, context=context)
    if answer.status == 304:
        return None
    if answer.status in (400, 405, 406, 415, 500) and len(words) < 200 and "<" not in words:
        hint = "slurmrestd could not read the request: check names in the path, and values; its log may say more."
        return ApiError(f"{where}: HTTP {answer.status}: {words or 'no text'}", hint=hint, context=context)
    return _not_slurmrestd(answer)


def _auth_error(answer: Answer, token: str, now: float | None) -> AuthError | None:
    context = answer.context
    says_auth = any("authentication error" in issue.description.lower() for issue in context.errors)
    if answer.status == 511 or _REJECTED_TOKEN in answer.numbers or (_NO_DATABASE in answer.numbers and says_auth):
        return rejected_token(token, context, answer.user, now)
    if _NOBODY in answer.numbers:
        return unknown_user(context, answer.user)
    return None


def unknown_user(context: ErrorContext, acts_as: str = "", told: str = "") -> UnknownUser:
    """Say that the cluster does not know the user of the token, or the one to act as."""
    who = f"The user {acts_as!r}" if acts_as else "The token's user"
    message = told or f"{who} does not exist on the cluster"
    hint = "Check the user to act as (SLURM_REST_USER)." if acts_as else f"Check the claim sun. {_RENEW_HINT}"
    return UnknownUser(message, hint=hint, context=context)


def rejected_token(token: str, context: ErrorContext, user: str = "", now: float | None = None) -> TokenRejected:
    """Say why Slurm refused a token, as far as the token itself shows it."""
    claims = read_claims(token)
    if claims.expires is not None and claims.is_expired(now):
        when = claims.expires.astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")
        return TokenExpired(f"The token expired at {when}", hint=_RENEW_HINT, context=context)
    if claims.problem and token:
        return TokenRejected(f"Slurm refused the token: {claims.problem}", hint=_RENEW_HINT, context=context)
    who, hint = user or claims.user or "this user", _RENEW_HINT
    if user and claims.user and user != claims.user:
        reason = f"it is {claims.user}'s, who may not act as {user}, or it is not signed with this cluster's key"
        hint = f"Leave SLURM_REST_USER out, or give a token of {user}'s: scontrol token prints one to {user}."
    else:
        reason = f"it is not signed with this cluster's key, or may not act as {who}"
    if claims.ends_soon(time.time() + _SUSPICIOUS_SECONDS):
        reason += ", or the server's clock is ahead of this one"
    return TokenRejected(f"Slurm refused the token: {reason}", hint=hint, context=context)


def _daemon_error(answer: Answer) -> SlurmError | None:
    context, numbers = answer.context, answer.numbers
    if _NO_DATABASE in numbers:
        return AccountingDown(
            "slurmrestd cannot reach slurmdbd (accounting)", hint="Jobs still run; ask again later.", context=context
        )
    gateway = answer.status in (502, 504) and not numbers - _LOST_ANSWER - {_CONNECT_FAILURE}
    broken = bool(numbers) and numbers <= _LOST_ANSWER - _AMBIGUOUS
    if _CONNECT_FAILURE in numbers or gateway or broken:
        if context.path.startswith("/slurmdb/"):
            return AccountingDown("slurmdbd (accounting) gave no answer", hint="Ask again later.", context=context)
        return controller_down(context)
    return None


def controller_down(context: ErrorContext) -> ControllerDown:
    """Say that slurmctld is away."""
    hint = "slurmrestd answers, so the address is right; check slurmctld (scontrol ping)."
    return ControllerDown("slurmrestd cannot reach slurmctld", hint=hint, context=context)


def no_such_user(names: str, where: str, context: ErrorContext) -> ApiError:
    """Return the error for a question about users that nobody knows; ``where`` is the host that looked them up."""
    hint = "Names are looked up on the host that was asked; is this one right?"
    return ApiError(f"There is no user {names} at {where}", hint=hint, context=context)


def no_accounting(where: str) -> NoAccounting:
    """Say that the cluster keeps no accounting."""
    hint = "Only jobs in the controller's memory are known (MinJobAge); AccountingStorageType would keep all."
    return NoAccounting(f"The cluster of {where} keeps no accounting", hint=hint)


def unserved_accounting(where: str) -> NoAccounting:
    """Say that accounting is kept, but not served there: slurmrestd was started with openapi/slurmctld alone."""
    hint = "Load openapi/slurmdbd there, too (-s, or SLURMRESTD_OPENAPI_PLUGINS), or set SLURM_REST_SSH_HOST beside it."
    error = NoAccounting(f"The slurmrestd of {where} serves no accounting", hint=hint)
    error.elsewhere = True
    return error


def _describe(answer: Answer) -> str:
    if answer.context.errors:
        return "; ".join(str(issue) for issue in answer.context.errors[:3])
    return f"HTTP {answer.status}: {answer.text}" if answer.text else f"HTTP {answer.status} without a reason"


def _refusal(answer: Answer) -> ApiError:
    context, numbers = answer.context, answer.numbers
    message = f"{context.method} {context.path}: {_describe(answer)}"
    if _UNKNOWN_JOB in numbers or (answer.status == 404 and "/job" in context.path):
        hint = "Finished jobs leave the controller after MinJobAge (300 s by default)."
        return JobNotFound(message, hint=hint, context=context)
    if numbers & _NOT_ALLOWED:
        return PermissionDenied(message, hint="Slurm's rules do not let this user do it.", context=context)
    return ApiError(message, hint=advice_about(context.method, context.path, numbers), context=context)


def submitted_id(answer: Answer) -> int:
    """Return the id of the job that a submission created, 0 for none. Nothing else tells."""
    return max(_named_id(answer) or 0, 0)


def _named_id(answer: Answer) -> int | None:
    ids = (number(answer.body.get("job_id")), number(mapping(answer.body.get("result")).get("job_id")))
    return max((one for one in ids if one is not None), default=None)


def submit_error(answer: Answer, token: str = "", now: float | None = None) -> tuple[SlurmError, bool]:
    """Return the error of a submission that named no job, and whether a job may exist all the same."""
    if _made_none(answer):
        reasons = "; ".join(str(issue) for issue in answer.context.warnings) or "it gave no reason"
        message = f"Slurm took the request but made no job: {reasons}"
        return SubmitRejected(message, hint="A value has the wrong type.", context=answer.context), False
    error = error_of(answer, token, now)
    if error is None:
        hint = "Is something between client and slurmrestd that changes answers?"
        error = ProtocolError("The answer to the submission names no job", hint=hint, context=answer.context)
    if isinstance(error, ApiError) and not isinstance(error, UnsupportedVersion):
        # A server's failure without a number is nobody's refusal: a proxy's, or one on the way to slurmctld.
        lost = all(_is_lost(one) for one in answer.numbers) and (answer.numbers or answer.status >= 500)
        if lost and not _is_parsers(answer):
            return error, True
        hint = advice_for(answer.numbers) or SUBMIT_AGAIN
        return SubmitRejected(f"Slurm refused the job: {_describe(answer)}", hint=hint, context=answer.context), False
    # A refused connection to slurmctld never carried the job; any other fault on the way may have.
    lost = isinstance(error, (ControllerDown, ProtocolError)) and _CONNECT_FAILURE not in answer.numbers
    return error, lost


def _made_none(answer: Answer) -> bool:
    """Tell a submission's answer without an error and without a job: it names the id 0, or a value in the wrong form.

    slurmrestd's parser names the place of that in a warning (24.11, 26.05). A good answer that does neither is the
    answer to another request.
    """
    silent = answer.is_json and _is_slurms(answer) and not answer.context.errors and answer.status < 400
    named = _named_id(answer) is not None or any(issue.source.startswith("#/") for issue in answer.context.warnings)
    return silent and named


def _is_parsers(answer: Answer) -> bool:
    """Tell the words of slurmrestd's own parser, which names the place in the body: it asked nobody.

    ``Invalid cpu_frequency`` comes with number -1 on 24.11 and 26.05, as lost answers do.
    """
    return bool(answer.context.errors) and all(issue.source.startswith("#/") for issue in answer.context.errors)


def _is_lost(number: int) -> bool:
    # Below 1000 stand the system's own numbers: 104 (reset by peer) when slurmctld ended over the request.
    return number in _LOST_ANSWER or 0 < number < 1000
