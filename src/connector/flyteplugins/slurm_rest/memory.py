"""What is remembered of the jobs that were asked about last, and no more than that. Pure."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["Recent"]

T = TypeVar("T")
_MOST = 20_000


class Recent(Generic[T]):
    """Values by key; of more than ``most`` those that were set first are forgotten."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: dict[str, T] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._kept)

    def __contains__(self, key: str) -> bool:
        """Tell whether there is one."""
        return key in self._kept

    def get(self, key: str) -> T | None:
        """Return a value, None where there is none."""
        return self._kept.get(key)

    def set(self, key: str, value: T) -> None:
        """Keep a value, as the newest."""
        self._kept.pop(key, None)
        self._kept[key] = value
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]

    def drop(self, key: str) -> None:
        """Forget a value."""
        self._kept.pop(key, None)
