"""Which token sources the settings name, and in what order they are asked."""

from __future__ import annotations

import getpass
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from .auth import (
    ChainToken,
    CommandToken,
    EnvironmentToken,
    FileToken,
    KeyToken,
    NoToken,
    ScontrolToken,
    StaticToken,
    TokenProvider,
)
from .errors import ConfigError

__all__ = ["TOKEN_SOURCES", "TokenArgument", "make_provider", "read_path"]

# Where one layer names several, they are asked in this order.
TOKEN_SOURCES = ("token", "token_file", "token_command", "jwt_key_file", "token_ssh")
TokenArgument = str | TokenProvider | Sequence[str | TokenProvider]
_FORMS = "env, env:NAME, file:PATH, command:WORDS, key:PATH, ssh"
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


class _Maker:
    """Makes providers from settings; the values around them come from all layers."""

    def __init__(self, values: Mapping[str, object], environ: Mapping[str, str]) -> None:
        self._values = values
        self._environ = environ

    def make(self, kind: str, value: object) -> TokenProvider:
        """Return the provider of one setting."""
        if kind == "token":
            return self._from_token(value)
        if kind == "token_file":
            return FileToken(read_path(value))
        if kind == "token_command":
            return CommandToken(_command(value))
        if kind == "token_ssh":
            return self._scontrol()
        return KeyToken(read_path(value), self._user(), key_id=str(self._values.get("jwt_key_id") or ""))

    def _from_token(self, value: object) -> TokenProvider:
        if isinstance(value, str):
            return StaticToken(value)
        if callable(getattr(value, "token", None)):
            return cast("TokenProvider", value)
        if isinstance(value, (list, tuple)) and value:
            return chained([self._named(one) for one in value])
        raise ConfigError(
            f"The token is of type {type(value).__name__}",
            hint="Pass its text, a token provider, or a list of sources.",
        )

    def _named(self, source: object) -> TokenProvider:
        """Return the provider that one element of a list stands for; its text is not shown, it may be a token."""
        if not isinstance(source, str):
            if callable(getattr(source, "token", None)):
                return cast("TokenProvider", source)
            raise ConfigError(f"A token source is of type {type(source).__name__}", hint=f"A list takes: {_FORMS}.")
        kind, colon, value = source.partition(":")
        if kind == "env" and (value or not colon):
            return EnvironmentToken(self._environ, value or "SLURM_JWT")
        if kind == "ssh" and not colon:
            return self._scontrol()
        setting = {"file": "token_file", "command": "token_command", "key": "jwt_key_file"}.get(kind)
        if setting and value:
            return self.make(setting, value)
        raise ConfigError("A list of token sources has an entry that is none", hint=f"It takes: {_FORMS}.")

    def _scontrol(self) -> ScontrolToken:
        host = str(self._values.get("ssh_host") or "")
        if not host:
            raise ConfigError("A token over SSH needs a host", hint="Set SLURM_REST_SSH_HOST, or pass ssh_host=.")
        return ScontrolToken(host)

    def _user(self) -> str:
        return str(self._values.get("user") or "") or _own_name()


def make_provider(
    given: Mapping[str, object],
    variables: Mapping[str, object],
    profile: Mapping[str, object],
    environ: Mapping[str, str],
) -> TokenProvider:
    """Take the token from the first layer that says anything about one: arguments, environment, profile.

    Sources of the same layer are a chain, in the order of TOKEN_SOURCES; in the environment SLURM_JWT comes first.
    """
    maker = _Maker({**profile, **variables, **given}, environ)
    layers: list[Mapping[str, object]] = [given, variables, profile]
    if "SLURM_JWT" in environ:
        layers[1] = {**variables, "token": EnvironmentToken(environ)}
    for layer in layers:
        named = [name for name in TOKEN_SOURCES if _says(layer, name)]
        if named:
            return chained([maker.make(name, layer[name]) for name in named])
    return NoToken()


def chained(providers: Sequence[TokenProvider]) -> TokenProvider:
    """Return the one provider, or a chain of several; chains within chains are laid flat."""
    flat: list[TokenProvider] = []
    for one in providers:
        flat += one.providers if isinstance(one, ChainToken) else [one]
    return flat[0] if len(flat) == 1 else ChainToken(flat)


def _says(layer: Mapping[str, object], name: str) -> bool:
    if name == "token_ssh":
        return _is_on(layer.get(name))
    # An empty token is an answer too: whoever passes one must not get another identity's.
    return bool(layer.get(name)) or (name == "token" and name in layer)


def _is_on(value: object) -> bool:
    word = str("" if value is None else value).lower()
    if word not in (*_YES, *_NO):
        raise ConfigError(f"token_ssh is {value!r}", hint="It is 1 or 0 (SLURM_REST_TOKEN_SSH).")
    return word in _YES


def read_path(value: object) -> Path:
    """Return a path, with ``~`` for a home."""
    try:
        return Path(str(value)).expanduser()
    except RuntimeError:
        raise ConfigError(f"{str(value)!r} names the home of a user who does not exist") from None


def _command(value: object) -> list[str]:
    hint = "Check SLURM_REST_TOKEN_COMMAND."
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ConfigError(f"The token command cannot be split into words: {error}", hint=hint) from None
    if not isinstance(words, (list, tuple)) or not words or not all(isinstance(word, str) for word in words):
        raise ConfigError("The token command is not a list of words", hint=hint)
    return list(words)


def _own_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        raise ConfigError("This process's user has no name to sign a token for", hint="Set SLURM_REST_USER.") from None
