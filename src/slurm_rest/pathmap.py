"""Which directories of the cluster are at hand here, and under what names. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .errors import ConfigError

__all__ = ["PathMap"]

_FORM = "Write CLUSTER=LOCAL,..., for instance /home=/mnt/home,/scratch=/mnt/scratch (SLURM_REST_PATH_MAP)."


@dataclass(frozen=True, slots=True)
class PathMap:
    """Pairs of a directory on the cluster and the same directory here. The longest one that fits counts."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, value: object) -> PathMap:
        """Read ``/home=/mnt/home,/scratch``, or a mapping; a directory alone has the same name on both sides.

        Raises ConfigError for anything else.
        """
        if value in (None, ""):
            return cls()
        if isinstance(value, PathMap):
            return value
        if isinstance(value, str):
            pieces = [piece.strip() for piece in value.split(",") if piece.strip()]
            return cls._of((_side(left), _side(right if equals else left)) for left, equals, right in _split(pieces))
        if isinstance(value, Mapping):
            return cls._of((_side(left), _side(right)) for left, right in value.items())
        raise ConfigError(f"The path map is of type {type(value).__name__}", hint=_FORM)

    @classmethod
    def _of(cls, pairs: Iterable[tuple[str, str]]) -> PathMap:
        found: dict[str, str] = {}
        for cluster, local in pairs:
            if found.setdefault(cluster, local) != local:
                raise ConfigError(f"The path map has {cluster} twice", hint="Keep one.")
        return cls(tuple(sorted(found.items(), key=lambda pair: len(pair[0]), reverse=True)))

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def to_local(self, path: str) -> str | None:
        """Return where a path of the cluster is here, None where it is not covered."""
        return _translate(path, self.pairs)

    def split(self, path: str) -> tuple[str, str] | None:
        """Return the directory here that a path of the cluster is below, and the rest; None where it is not covered."""
        clean = _clean(path)
        for cluster, local in self.pairs:
            rest = _below(clean, cluster)
            if rest is not None:
                return local, rest
        return None

    def to_cluster(self, path: str) -> str | None:
        """Return what the cluster calls a path of this host, None where it is not covered."""
        if not self.pairs:
            return None
        back = sorted(((local, cluster) for cluster, local in self.pairs), key=lambda pair: len(pair[0]), reverse=True)
        return _translate(path, back)

    def is_top(self, path: str) -> bool:
        """Tell whether a path of the cluster is itself one of the directories, or holds one."""
        clean = _clean(path)
        return any(cluster == clean or _below(cluster, clean) is not None for cluster, _ in self.pairs)


def _split(pieces: Iterable[str]) -> Iterable[tuple[str, str, str]]:
    return (piece.partition("=") for piece in pieces)


def _translate(path: str, pairs: Iterable[tuple[str, str]]) -> str | None:
    clean = _clean(path)
    for here, there in pairs:
        rest = _below(clean, here)
        if rest is not None:
            return posixpath.join(there, rest) if rest else there
    return None


def _below(path: str, top: str) -> str | None:
    """Return what is left of a path below a directory, None where it is not below."""
    if path == top:
        return ""
    prefix = top if top == "/" else f"{top}/"
    return path[len(prefix) :] if path.startswith(prefix) else None


def _clean(path: str) -> str:
    clean = posixpath.normpath(path)
    # POSIX leaves the meaning of two slashes open; nobody means anything by them.
    return clean[1:] if clean.startswith("//") else clean


def _side(value: object) -> str:
    text = str(value).strip()
    if not text.startswith("/") or "\0" in text:
        raise ConfigError(f"{text!r} in the path map is no absolute path", hint=_FORM)
    return _clean(text)
