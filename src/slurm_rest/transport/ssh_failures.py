"""What failures of SSH mean, as errors that name what is wrong and what to do."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

from slurm_rest.errors import AuthError, ConfigError, HostKeyError, Unreachable

if TYPE_CHECKING:
    import asyncssh

_TRY = "Try it with: ssh -v HOST true"

__all__ = ["hung_up", "no_way", "reason", "translated"]


def no_way(target: str, where: str, error: asyncssh.ChannelOpenError) -> Unreachable:
    """Return the error about a target that the host does not connect to."""
    import asyncssh

    if error.code == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED:
        hint = "Its sshd must allow AllowTcpForwarding, or for a socket AllowStreamLocalForwarding."
        return Unreachable(f"{where} does not forward connections to {target}", hint=hint)
    hint = "SLURM_REST_URL is as seen from the SSH host (SLURM_REST_SSH_TUNNEL); is slurmrestd running there?"
    return Unreachable(f"Nothing listens at {target} as seen from {where}: {reason(error)}", hint=hint)


@contextlib.contextmanager
def translated(where: str, said: list[str]) -> Iterator[None]:
    """Turn asyncssh's errors about a connection into ours; ``said`` is what the host says at login."""
    import asyncssh

    try:
        with _configuration(where):
            yield
    except asyncssh.HostKeyNotVerifiable as error:
        hint = "Compare the key (ssh-keyscan shows it) with what the host's owner says, then add it to the known hosts."
        hint += " If another one stands there, ask why it changed: somebody may be in between."
        hint += " A jump host of ~/.ssh/config is looked for in ~/.ssh/known_hosts alone."
        raise HostKeyError(f"The host key of {where} is not trusted: {error.reason}", hint=hint) from error
    except asyncssh.PermissionDenied as error:
        hint = (
            "Check SLURM_REST_SSH_USER and SLURM_REST_SSH_KEY_FILE; a password or a code that the host wants beside the"
        )
        hint += " key cannot be given. Try it with: ssh -o BatchMode=yes HOST true"
        raise AuthError(f"{where} does not let us in: {error.reason}", hint=hint) from error
    except (socket.gaierror, UnicodeError) as error:
        raise Unreachable(f"The SSH host {where} is not known", hint="Check SLURM_REST_SSH_HOST.") from error
    except (asyncio.TimeoutError, TimeoutError) as error:
        hint = "Check host and port, and firewalls between."
        raise Unreachable(f"{where} did not take a connection in time", hint=hint) from error
    except ConnectionRefusedError as error:
        raise Unreachable(f"No sshd listens at {where}", hint="Check SLURM_REST_SSH_PORT.") from error
    except (asyncssh.Error, OSError) as error:
        if said and isinstance(error, hung_up()):
            hint = "Does it take logins of this account at present (expired, /etc/nologin)? " + _TRY
            words = " ".join("".join(said).split())[-300:]
            # Without the cause: this host means it, and another call counts against the caller (PerSourcePenalties).
            raise Unreachable(f"{where} hangs up at the login and says: {words}", hint=hint) from None
        raise _no_connection(where, error) from error


@contextlib.contextmanager
def _configuration(where: str) -> Iterator[None]:
    """Turn what ~/.ssh/config has wrong into ConfigError."""
    import asyncssh

    try:
        yield
    except asyncssh.ConfigParseError as error:
        raise ConfigError(f"Cannot use the SSH configuration: {error}", hint="Look into ~/.ssh/config.") from error
    except UnicodeDecodeError as error:
        hint = "Look into ~/.ssh/config and the files that it includes."
        raise ConfigError("The SSH configuration has bytes that are no UTF-8", hint=hint) from error
    except RecursionError as error:
        raise ConfigError(f"A jump host of {where} leads back to itself", hint="Look into ~/.ssh/config.") from error
    except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
        if error.filename is None:
            raise
        hint = (
            "~/.ssh/config names it (IdentityFile, ProxyCommand and the like); where ssh goes on without a key's file,"
        )
        hint += " this does not: take the line out, or set SLURM_REST_SSH_KEY_FILE."
        raise ConfigError(f"{error.filename}, for SSH to {where}: {error.strerror}", hint=hint) from error


def _no_connection(where: str, error: BaseException) -> Unreachable:
    return Unreachable(f"No SSH connection to {where}: {reason(error)}", hint=_TRY)


def hung_up() -> tuple[type[Exception], ...]:
    """Return the errors of a host that closes the connection."""
    import asyncssh

    return asyncssh.ConnectionLost, ConnectionResetError


def reason(error: BaseException) -> str:
    """Return what an error of asyncssh or the system says."""
    return str(getattr(error, "reason", "") or error or type(error).__name__)
