"""When another way to Slurm may be tried: the one place that says so.

Slurm's own refusals never go elsewhere: another way would only hear them again, or get around them. What is wrong with
the settings (ConfigError, HostKeyError) is for people to mend, so it is told and not got around either.
"""

from __future__ import annotations

from slurm_rest.errors import (
    AccountingDown,
    AnswerTooLarge,
    AuthError,
    CommandMissing,
    ConfigError,
    ControllerDown,
    HostKeyError,
    NoAccounting,
    SlurmError,
    TokenSourceError,
    TransportError,
    UnknownUser,
    Unreachable,
    VersionNotServed,
)

__all__ = ["falls_through", "is_daemon_away", "is_unusable", "proves_nothing_was_sent"]

# The last two: slurmrestd or the commands there answer that a daemon behind them does not (5xx), which may be true of
# that host only.
_FALLS = (TransportError, AuthError, TokenSourceError, VersionNotServed, ControllerDown, AccountingDown)
# What is too large here is so everywhere.
_STAYS = (HostKeyError, UnknownUser, AnswerTooLarge)
_NOTHING_SENT = (Unreachable, AuthError, TokenSourceError, VersionNotServed, CommandMissing)


def falls_through(error: SlurmError) -> bool:
    """Return whether the next way may be tried after this error.

    Unreachable, no answer in time, an answer that is nobody's, no such command, login refused (after renewal) or
    impossible for want of a token, API version not served, daemon away, accounting kept but not served.
    """
    if isinstance(error, NoAccounting):
        return error.elsewhere
    return isinstance(error, _FALLS) and not isinstance(error, _STAYS)


def is_daemon_away(error: SlurmError) -> bool:
    """Return whether the way itself answered, and only the daemon behind it did not."""
    return isinstance(error, (ControllerDown, AccountingDown))


def is_unusable(error: SlurmError) -> bool:
    """Return whether a way that is only second choice is to be passed over: its settings are wrong, not the request."""
    return isinstance(error, (HostKeyError, ConfigError))


def proves_nothing_was_sent(error: SlurmError) -> bool:
    """Return whether an action that must not be done twice was certainly not done."""
    return isinstance(error, _NOTHING_SENT) and falls_through(error)
