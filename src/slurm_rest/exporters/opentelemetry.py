"""Metrics for OpenTelemetry: counters and gauges are observed when they are read, histograms are given as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import slurm_rest
from slurm_rest.errors import ConfigError
from slurm_rest.metrics import BATCH_BOUNDS, SECONDS_BOUNDS, BatchRecord, Metrics, RequestRecord

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

__all__ = ["give"]

Attributes = dict[str, str]
_instruments: WeakKeyDictionary[MeterProvider, _Instruments] = WeakKeyDictionary()


def give(metrics: Metrics, client: str, meter_provider: MeterProvider | None) -> Callable[[], None]:
    """Add a client to the instruments of a provider, which are made with the first one."""
    try:
        from opentelemetry.metrics import get_meter_provider  # not installed with this package
    except ImportError:
        hint = "Install it: pip install opentelemetry-api opentelemetry-sdk"
        raise ConfigError("OpenTelemetry needs opentelemetry-api, which is not installed", hint=hint) from None
    provider = meter_provider or get_meter_provider()
    if provider not in _instruments:
        _instruments[provider] = _Instruments(provider)
    return _instruments[provider].add(client, metrics)


class _Instruments:
    """The instruments of one provider, for all clients: each may be made only once."""

    def __init__(self, provider: MeterProvider) -> None:
        self._clients: dict[str, Metrics] = {}
        meter = provider.get_meter("slurm_rest", slurm_rest.__version__)
        self._seconds = meter.create_histogram(
            "slurm_rest.request.duration",
            unit="s",
            description="Time from sending to the whole answer.",
            explicit_bucket_boundaries_advisory=SECONDS_BOUNDS,
        )
        self._jobs = meter.create_histogram(
            "slurm_rest.request.jobs",
            unit="{job}",
            description="How many jobs one request is about.",
            explicit_bucket_boundaries_advisory=BATCH_BOUNDS,
        )
        for name, unit, text, read in _COUNTERS:
            meter.create_observable_counter(name, [self._observe(read)], unit=unit, description=text)
        for name, unit, text, read in _GAUGES:
            meter.create_observable_gauge(name, [self._observe(read)], unit=unit, description=text)

    def add(self, client: str, metrics: Metrics) -> Callable[[], None]:
        if client in self._clients:
            hint = "Give each client of this process a name of its own."
            raise ConfigError(f"Another client is shown to OpenTelemetry as {client!r}", hint=hint)
        self._clients[client] = metrics

        def on_request(request: RequestRecord) -> None:
            labels = {"client": client, "transport": request.transport, "operation": request.operation}
            self._seconds.record(request.seconds, labels | {"outcome": request.outcome})

        def on_batch(batch: BatchRecord) -> None:
            labels = {"client": client, "transport": batch.transport, "operation": batch.operation}
            self._jobs.record(batch.jobs, labels)

        ends = [metrics.on_request(on_request), metrics.on_batch(on_batch)]

        def remove() -> None:
            if self._clients.get(client) is metrics:
                del self._clients[client]
                for end in ends:
                    end()

        return remove

    def _observe(self, read: _Read) -> Callable[[CallbackOptions], Iterable[Observation]]:
        from opentelemetry.metrics import Observation

        def observe(_: CallbackOptions) -> Iterator[Observation]:
            for client, metrics in self._clients.copy().items():
                for value, attributes in read(metrics):
                    yield Observation(value, {"client": client, **attributes})

        return observe


_Read = Callable[[Metrics], Iterable[tuple[float, Attributes]]]


def _requests(metrics: Metrics) -> Iterator[tuple[float, Attributes]]:
    for (transport, operation, outcome), count in dict(metrics.requests).items():
        yield count, {"transport": transport, "operation": operation, "outcome": outcome}


def _fallbacks(metrics: Metrics) -> Iterator[tuple[float, Attributes]]:
    for (source, target), count in dict(metrics.fallbacks).items():
        yield count, {"source": source, "target": target}


def _plain(read: Callable[[Metrics], float | None]) -> _Read:
    def values(metrics: Metrics) -> Iterator[tuple[float, Attributes]]:
        value = read(metrics)
        if value is not None:
            yield value, {}

    return values


_COUNTERS: tuple[tuple[str, str, str, _Read], ...] = (
    ("slurm_rest.requests", "{request}", "Requests made and commands run.", _requests),
    ("slurm_rest.fallbacks", "{switch}", "Switches from one transport to another.", _fallbacks),
    ("slurm_rest.received", "By", "Bytes of answers.", _plain(lambda one: one.bytes_received)),
    (
        "slurm_rest.uncertain_submissions",
        "{submission}",
        "Submissions that ended with SubmitUncertain.",
        _plain(lambda one: one.uncertain_submissions),
    ),
    ("slurm_rest.token.renewals", "{token}", "New tokens for others.", _plain(lambda one: one.token_renewals)),
    ("slurm_rest.token.failures", "{failure}", "Sources without a token.", _plain(lambda one: one.token_failures)),
)
_GAUGES: tuple[tuple[str, str, str, _Read], ...] = (
    ("slurm_rest.token.age", "s", "Time since the token was issued.", _plain(lambda one: one.token_age)),
    ("slurm_rest.token.remaining", "s", "Time until the token ends.", _plain(lambda one: one.token_seconds_left)),
)
