"""What a client counts and times. Cheap, without I/O, and without any library for metrics.

``Metrics`` is plain numbers that can be read at any time; ``slurm_rest.exporters`` shows them to Prometheus and
OpenTelemetry. Labels come from fixed sets, never from jobs, hosts or users.
"""

from __future__ import annotations

import logging
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

__all__ = ["BATCH_BOUNDS", "SECONDS_BOUNDS", "BatchRecord", "Histogram", "Metrics", "RequestRecord", "request_fields"]

log = logging.getLogger("slurm_rest")
T = TypeVar("T")

# A state of one job takes 2 ms, a listing of everything 5 s, a dead slurmctld 10 to 20 s.
SECONDS_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
# Up to 1000 ids go into one request.
BATCH_BOUNDS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


@dataclass(slots=True)
class Histogram:
    """Counts values by upper bounds. ``counts`` has one place more than ``bounds``, for what is above the last."""

    bounds: tuple[float, ...]
    counts: list[int] = field(default_factory=list)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = self.counts or [0] * (len(self.bounds) + 1)

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self.counts)

    def observe(self, value: float) -> None:
        """Count one value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def cumulative(self) -> list[tuple[float, int]]:
        """Return how many values were at most each bound, the last bound being infinity."""
        found, so_far = [], 0
        for bound, count in zip((*self.bounds, float("inf")), self.counts, strict=True):
            so_far += count
            found.append((bound, so_far))
        return found


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """One request, or one command, that has ended.

    ``operation`` is ``GET jobs/state`` or a command's name; ``outcome`` is ``ok`` or the name of the error's class;
    ``seconds`` is the time from sending to the whole answer.
    """

    transport: str
    operation: str
    outcome: str
    seconds: float
    bytes_received: int = 0
    status: int | None = None
    request_id: str = ""


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """How many jobs one request is about."""

    transport: str
    operation: str
    jobs: int


@dataclass(slots=True)
class Metrics:
    """The counters and timings of one client, since it was made.

    ``requests`` counts by (transport, operation, outcome); ``seconds`` and ``batches`` are histograms by (transport,
    operation), ``batches`` of how many jobs one request was about. ``fallbacks`` counts by (from, to) transport.
    ``token_renewals`` counts new tokens in place of earlier ones, ``token_failures`` the times that a source gave none.
    """

    requests: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    seconds: dict[tuple[str, str], Histogram] = field(default_factory=dict)
    batches: dict[tuple[str, str], Histogram] = field(default_factory=dict)
    bytes_received: int = 0
    fallbacks: Counter[tuple[str, str]] = field(default_factory=Counter)
    uncertain_submissions: int = 0
    token_renewals: int = 0
    token_failures: int = 0
    token_issued: float | None = None
    token_expires: float | None = None
    _clock: Callable[[], float] = field(default=time.time, repr=False)
    _request_listeners: list[Callable[[RequestRecord], object]] = field(default_factory=list, repr=False)
    _batch_listeners: list[Callable[[BatchRecord], object]] = field(default_factory=list, repr=False)

    @property
    def request_count(self) -> int:
        """How many requests were made and commands run."""
        return sum(self.requests.values())

    @property
    def token_age(self) -> float | None:
        """Seconds since the token in use was issued, by the server's clock; None without one that says so."""
        return None if self.token_issued is None else self._clock() - self.token_issued

    @property
    def token_seconds_left(self) -> float | None:
        """Seconds until the token in use ends, by the server's clock; None without one that says so."""
        return None if self.token_expires is None else self.token_expires - self._clock()

    def use_clock(self, clock: Callable[[], float]) -> None:
        """Measure a token's age by this clock, which gives Unix seconds."""
        self._clock = clock

    def on_request(self, listener: Callable[[RequestRecord], object]) -> Callable[[], None]:
        """Call ``listener`` after each request, in the client's loop; returns what ends that."""
        self._request_listeners.append(listener)
        return lambda: self._request_listeners.remove(listener)

    def on_batch(self, listener: Callable[[BatchRecord], object]) -> Callable[[], None]:
        """Call ``listener`` for each request that is about jobs by their ids; returns what ends that."""
        self._batch_listeners.append(listener)
        return lambda: self._batch_listeners.remove(listener)

    def record(self, request: RequestRecord) -> None:
        """Count one request."""
        self.requests[request.transport, request.operation, request.outcome] += 1
        key = (request.transport, request.operation)
        if key not in self.seconds:
            self.seconds[key] = Histogram(SECONDS_BOUNDS)
        self.seconds[key].observe(request.seconds)
        self.bytes_received += request.bytes_received
        _tell(self._request_listeners, request)

    def record_batch(self, transport: str, operation: str, jobs: int) -> None:
        """Note how many jobs one request is about."""
        key = (transport, operation)
        if key not in self.batches:
            self.batches[key] = Histogram(BATCH_BOUNDS)
        self.batches[key].observe(jobs)
        _tell(self._batch_listeners, BatchRecord(transport, operation, jobs))

    def record_fallback(self, source: str, target: str) -> None:
        """Count one switch from a transport to another."""
        self.fallbacks[source, target] += 1

    def as_dict(self) -> dict[str, object]:
        """Return everything as plain data for JSON: lists of objects with their labels."""
        return {
            "requests": [
                {"transport": transport, "operation": operation, "outcome": outcome, "count": count}
                for (transport, operation, outcome), count in sorted(dict(self.requests).items())
            ],
            "seconds": _listed(self.seconds.copy().items()),
            "batches": _listed(self.batches.copy().items()),
            "bytes_received": self.bytes_received,
            "fallbacks": [
                {"from": source, "to": target, "count": count}
                for (source, target), count in sorted(dict(self.fallbacks).items())
            ],
            "uncertain_submissions": self.uncertain_submissions,
            "token_renewals": self.token_renewals,
            "token_failures": self.token_failures,
            "token_age": self.token_age,
            "token_seconds_left": self.token_seconds_left,
        }


def _tell(listeners: Iterable[Callable[[T], object]], news: T) -> None:
    for listener in list(listeners):
        _call(listener, news)


def _call(listener: Callable[[T], object], news: T) -> None:
    try:
        listener(news)
    except Exception:
        # Somebody else's code must not end a request that has been answered.
        log.warning("A listener of the metrics failed", exc_info=True)


def request_fields(request: RequestRecord) -> dict[str, object]:
    """Return the fields that a log record about a request carries beside its text."""
    return {
        "slurm_transport": request.transport,
        "slurm_operation": request.operation,
        "slurm_outcome": request.outcome,
        "slurm_status": request.status,
        "slurm_seconds": request.seconds,
        "slurm_bytes": request.bytes_received,
        "slurm_request_id": request.request_id,
    }


def _listed(histograms: Iterable[tuple[tuple[str, str], Histogram]]) -> list[dict[str, object]]:
    return [
        {
            "transport": transport,
            "operation": operation,
            "count": histogram.count,
            "sum": histogram.total,
            "at_most": {str(bound): count for bound, count in histogram.cumulative()},
        }
        for (transport, operation), histogram in sorted(histograms, key=lambda item: item[0])
    ]
