"""Everything that slurm_rest raises.

    SlurmError
    |- ConfigError                 settings are missing, contradict each other, or cannot be read
    |  `- TokenSourceError         a token source gives none: its command fails, its file cannot be read
    |- SpecError                   a request that is wrong before anything is sent (also a ValueError)
    |- AuthError
    |  |- TokenMissing             no token is configured, or slurmrestd saw none (HTTP 401)
    |  |- TokenRejected            Slurm does not accept the token (1007)
    |  |- TokenExpired             its own claims say that it ran out
    |  `- UnknownUser              the token is good, its user does not exist on the cluster
    |- TransportError
    |  |- Unreachable              nothing answered: name, port, socket, TLS
    |  |- HostKeyError             the SSH host is not known, or not the one that is known
    |  |- Timeout                  connected, but no answer in time
    |  |- CommandMissing           the host has no such command of Slurm's
    |  `- ProtocolError            something answered that is not slurmrestd, or the answer was cut
    |     `- AnswerTooLarge        it was not read to its end, to spare this process's memory
    |- ControllerDown              slurmrestd answers, slurmctld does not
    |- AccountingDown              slurmrestd answers, slurmdbd does not
    |  `- NoAccounting             the cluster keeps none
    |- ApiError                    Slurm understood the request and said no
    |  |- SubmitRejected
    |  |- JobNotFound
    |  |  `- OutcomeUnknown        it was there, and nobody can tell how it ended
    |  |- PermissionDenied
    |  `- UnsupportedVersion       the API version in use cannot express this
    |     `- VersionNotServed      slurmrestd serves none of the API versions that are asked for
    |- FilesError                  a file on the cluster cannot be read or removed
    |  `- FileMissing              it is not there, or not yet
    |- SubmitUncertain             the answer to a submission was lost: there may be a job
    `- WaitTimeout                 a wait ended before its jobs did (also a TimeoutError)

The text of an error says what happened and, in ``hint``, what to do next. ``context`` keeps what Slurm
sent as data. No token, key or job environment is ever part of an error.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = [
    "AccountingDown",
    "AnswerTooLarge",
    "ApiError",
    "AuthError",
    "CommandMissing",
    "ConfigError",
    "ControllerDown",
    "ErrorContext",
    "FileMissing",
    "FilesError",
    "HostKeyError",
    "JobNotFound",
    "NoAccounting",
    "OutcomeUnknown",
    "PermissionDenied",
    "ProtocolError",
    "SlurmError",
    "SlurmIssue",
    "SpecError",
    "SubmitRejected",
    "SubmitUncertain",
    "Timeout",
    "TokenExpired",
    "TokenMissing",
    "TokenRejected",
    "TokenSourceError",
    "TransportError",
    "UnknownUser",
    "Unreachable",
    "UnsupportedVersion",
    "VersionNotServed",
    "WaitTimeout",
]


@dataclass(frozen=True, slots=True)
class SlurmIssue:
    """One element of slurmrestd's ``errors`` or ``warnings``; each key may be missing there."""

    description: str = ""
    number: int | None = None
    name: str = ""
    source: str = ""

    def __str__(self) -> str:
        text = self.description or self.name or "no description"
        if self.name and self.name != text:
            text = f"{text}: {self.name}"
        return f"{text} [{self.number}]" if self.number else text


@dataclass(frozen=True, slots=True)
class ErrorContext:
    """Where an error comes from: the request that was made and what the server said about it.

    ``request_id`` is this client's own number for the request; it appears in its log lines too. ``command``,
    ``exit_status`` and ``stderr`` are those of one of Slurm's commands, where one was run.
    """

    method: str = ""
    path: str = ""
    http_status: int | None = None
    errors: tuple[SlurmIssue, ...] = ()
    warnings: tuple[SlurmIssue, ...] = ()
    request_id: str = ""
    command: str = ""
    exit_status: int | None = None
    stderr: str = ""


class SlurmError(Exception):
    """Root of all errors of this package."""

    def __init__(self, message: str, *, hint: str = "", context: ErrorContext | None = None) -> None:
        message = _one_line(message)
        super().__init__(message)
        self.message = message
        self.hint = _one_line(hint)
        self.context = context or ErrorContext()

    def __str__(self) -> str:
        """Return the message and the hint on one line."""
        return f"{self.message}. {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[object, ...]:
        # BaseException would rebuild from args alone and lose the keyword-only fields.
        return _rebuild, (type(self), self.args, dict(self.__dict__))

    @property
    def http_status(self) -> int | None:
        """The HTTP status of the answer, None when there was none."""
        return self.context.http_status

    @property
    def error_number(self) -> int | None:
        """Slurm's number of the first error, for instance 2017 for an unknown job."""
        return next((issue.number for issue in self.context.errors if issue.number is not None), None)

    @property
    def error_name(self) -> str:
        """Slurm's own words for ``error_number``."""
        return next((issue.name for issue in self.context.errors if issue.name), "")

    @property
    def source(self) -> str:
        """The function or JSON pointer that Slurm names as the origin."""
        return next((issue.source for issue in self.context.errors if issue.source), "")

    @property
    def warnings(self) -> tuple[SlurmIssue, ...]:
        """Warnings that came in the same answer."""
        return self.context.warnings

    @property
    def request_id(self) -> str:
        """This client's number for the request, also found in its log lines."""
        return self.context.request_id


def _one_line(text: str) -> str:
    """Keep what a server or a caller wrote from breaking lines or steering a terminal."""
    if text.isprintable():
        return text
    words = " ".join(text.split())
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in words)


def _rebuild(kind: type[SlurmError], args: tuple[object, ...], state: dict[str, object]) -> SlurmError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class ConfigError(SlurmError):
    """A setting is missing, unreadable or contradicts another one."""


class TokenSourceError(ConfigError):
    """A token source gives no token: its command fails or takes too long, its file cannot be read."""


class SpecError(SlurmError, ValueError):
    """A job or request that is wrong before anything is sent.

    ``field`` names the option or field at fault, empty when it is the script as a whole. ``line`` is the script's line
    where it stands. ``kind`` is what sort of fault it is, in a job's description: ``script``, ``directive``, ``usage``
    (an option that does not exist, is ambiguous, or lacks its value), ``value``, ``conflict`` or ``inexpressible``.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str = "",
        line: int | None = None,
        kind: str = "",
        hint: str = "",
        context: ErrorContext | None = None,
    ) -> None:
        super().__init__(message, hint=hint, context=context)
        self.field = field
        self.line = line
        self.kind = kind


class AuthError(SlurmError):
    """Slurm does not know who is asking."""


class TokenMissing(AuthError):
    """No token is configured, or none arrived at slurmrestd (HTTP 401)."""


class TokenRejected(AuthError):
    """Slurm refused the token: wrong key, not a JWT, or not for this user (error 1007)."""


class TokenExpired(TokenRejected):
    """Slurm refused the token, and the token itself says that its time is over."""


class UnknownUser(AuthError):
    """The token's user does not exist on the cluster."""


class TransportError(SlurmError):
    """The exchange itself failed; nothing is known about what Slurm thinks."""


class Unreachable(TransportError):
    """No connection: wrong host or port, nothing listening, TLS refused."""


class HostKeyError(TransportError):
    """The SSH host's key is not among the known ones, or differs from the one that is known."""


class CommandMissing(TransportError):
    """The host has no such command: Slurm is not installed there, or not on the path of the login."""


class Timeout(TransportError, TimeoutError):
    """A connection, but no answer in time."""


class ProtocolError(TransportError):
    """An answer that is not slurmrestd's, or one that was cut short."""


class AnswerTooLarge(ProtocolError):
    """An answer, or a command's output, that is larger than this client reads; the request was too wide."""


class ControllerDown(SlurmError):
    """Slurmrestd answers but cannot reach slurmctld."""


class AccountingDown(SlurmError):
    """Slurmrestd answers but cannot reach slurmdbd."""


class NoAccounting(AccountingDown):
    """The cluster keeps no accounting, so nothing but the controller's memory (MinJobAge) tells how jobs ended.

    ``elsewhere`` says that it keeps some, and only this slurmrestd does not serve it.
    """

    elsewhere = False


class ApiError(SlurmError):
    """Slurm understood the request and refused it."""


class SubmitRejected(ApiError):
    """Slurm refused the job; there is none.

    ``cancelled_job_id`` is the id of a job that Slurm created along with its errors and that this client
    cancelled again (v0.0.41+ does so for an unknown flag word), None otherwise.
    """

    def __init__(
        self, message: str, *, hint: str = "", context: ErrorContext | None = None, cancelled_job_id: int | None = None
    ) -> None:
        super().__init__(message, hint=hint, context=context)
        self.cancelled_job_id = cancelled_job_id


class JobNotFound(ApiError):
    """No job with this id, neither in the controller nor where else was looked."""


class OutcomeUnknown(JobNotFound):
    """A job was there and is no more, and nobody can tell how it ended. ``job_id`` is its id; this is no guess."""

    def __init__(self, message: str, *, job_id: int, hint: str = "", context: ErrorContext | None = None) -> None:
        super().__init__(message, hint=hint, context=context)
        self.job_id = job_id


class PermissionDenied(ApiError):
    """Slurm's rules do not let this user do this (2002, 2010)."""


class UnsupportedVersion(ApiError):
    """The API version in use lacks a field, an operation or itself.

    ``supported`` lists the versions that have it, oldest first.
    """

    def __init__(
        self,
        message: str,
        *,
        version: str = "",
        supported: Iterable[str] = (),
        hint: str = "",
        context: ErrorContext | None = None,
    ) -> None:
        super().__init__(message, hint=hint, context=context)
        self.version = version
        self.supported = tuple(supported)


class VersionNotServed(UnsupportedVersion):
    """Slurmrestd does not serve the API version that is set, or none that this client knows; ``supported`` it does."""


class FilesError(SlurmError):
    """A file on the cluster cannot be read or removed.

    ``path`` is its path there. ``kind`` is why: ``missing``, ``denied``, ``loop`` (links that lead to each other),
    ``away`` (a link to where nothing leads from here), ``kind`` (no regular file, or a directory), ``failed``.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        kind: str = "failed",
        hint: str = "",
        context: ErrorContext | None = None,
    ) -> None:
        super().__init__(message, hint=hint, context=context)
        self.path = path
        self.kind = kind


class FileMissing(FilesError):
    """There is no such file on the cluster, or not yet: a job's output appears when the job starts."""

    def __init__(self, message: str, *, path: str = "", hint: str = "", context: ErrorContext | None = None) -> None:
        super().__init__(message, path=path, kind="missing", hint=hint, context=context)


class SubmitUncertain(SlurmError):
    """The answer to a submission was lost, and it could not be told in time whether there is a job, or still will be.

    ``key`` is the text that this client put into the job's comment: a job that carries it is this one. Submitting again
    is safe with the same ``idempotency_key``.
    """

    def __init__(self, message: str, *, key: str, hint: str = "", context: ErrorContext | None = None) -> None:
        super().__init__(message, hint=hint, context=context)
        self.key = key


class WaitTimeout(SlurmError, TimeoutError):
    """A wait ran out of time; the jobs go on. ``job_ids`` are those that had not ended."""

    def __init__(self, message: str, *, job_ids: Iterable[int] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.job_ids = tuple(job_ids)
