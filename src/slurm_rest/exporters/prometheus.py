"""Metrics for prometheus_client, read when it is scraped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from slurm_rest.errors import ConfigError
from slurm_rest.metrics import Histogram, Metrics

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric
    from prometheus_client.registry import Collector

__all__ = ["show"]

_collectors: WeakKeyDictionary[CollectorRegistry, _Clients] = WeakKeyDictionary()


def show(metrics: Metrics, client: str, registry: CollectorRegistry | None) -> Callable[[], None]:
    """Add a client to the collector of a registry, which is registered with the first one."""
    try:
        from prometheus_client import REGISTRY  # not installed with this package
    except ImportError:
        hint = "Install it: pip install prometheus_client"
        raise ConfigError("Metrics for Prometheus need prometheus_client, which is not installed", hint=hint) from None
    where = registry or REGISTRY
    if where not in _collectors:
        collector = _Clients()
        where.register(cast("Collector", collector))
        _collectors[where] = collector
    return _collectors[where].add(client, metrics)


class _Clients:
    """All clients that are shown in one registry: its families may exist only once."""

    def __init__(self) -> None:
        self._clients: dict[str, Metrics] = {}

    def add(self, client: str, metrics: Metrics) -> Callable[[], None]:
        if client in self._clients:
            hint = "Give each client of this process a name of its own."
            raise ConfigError(f"Another client is shown to Prometheus as {client!r}", hint=hint)
        self._clients[client] = metrics

        def remove() -> None:
            if self._clients.get(client) is metrics:
                del self._clients[client]

        return remove

    def describe(self) -> Iterable[Metric]:
        """Name nothing ahead: the registry would else collect once at registration."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield all families."""
        clients = self._clients.copy()
        yield from _requests(clients)
        yield _histograms(clients, "request_seconds", "Time from sending to the whole answer.", lambda one: one.seconds)
        yield _histograms(clients, "request_jobs", "How many jobs one request is about.", lambda one: one.batches)
        yield _total(clients, "received_bytes", "Bytes of answers.", lambda one: one.bytes_received)
        yield _total(
            clients,
            "uncertain_submissions",
            "Submissions that ended with SubmitUncertain.",
            lambda one: one.uncertain_submissions,
        )
        yield _total(clients, "token_renewals", "New tokens in place of others.", lambda one: one.token_renewals)
        yield _total(clients, "token_failures", "Times that a source gave no token.", lambda one: one.token_failures)
        yield _gauge(clients, "token_age_seconds", "Time since the token was issued.", lambda one: one.token_age)
        yield _gauge(
            clients, "token_remaining_seconds", "Time until the token ends.", lambda one: one.token_seconds_left
        )


def _requests(clients: Mapping[str, Metrics]) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily

    labels = ["client", "transport", "operation", "outcome"]
    requests = CounterMetricFamily("slurm_rest_requests", "Requests made and commands run.", labels=labels)
    switches = CounterMetricFamily(
        "slurm_rest_fallbacks", "Switches from one transport to another.", labels=["client", "source", "target"]
    )
    for client, metrics in clients.items():
        for request, count in dict(metrics.requests).items():
            requests.add_metric([client, *request], count)
        for switch, count in dict(metrics.fallbacks).items():
            switches.add_metric([client, *switch], count)
    yield requests
    yield switches


def _histograms(
    clients: Mapping[str, Metrics], name: str, text: str, read: Callable[[Metrics], dict[tuple[str, str], Histogram]]
) -> Metric:
    from prometheus_client.core import HistogramMetricFamily

    family = HistogramMetricFamily(f"slurm_rest_{name}", text, labels=["client", "transport", "operation"])
    for client, metrics in clients.items():
        for labels, histogram in read(metrics).copy().items():
            buckets = [("+Inf" if bound == float("inf") else str(bound), n) for bound, n in histogram.cumulative()]
            family.add_metric([client, *labels], buckets, histogram.total)
    return family


def _total(clients: Mapping[str, Metrics], name: str, text: str, read: Callable[[Metrics], float]) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(f"slurm_rest_{name}", text, labels=["client"])
    for client, metrics in clients.items():
        family.add_metric([client], read(metrics))
    return family


def _gauge(clients: Mapping[str, Metrics], name: str, text: str, read: Callable[[Metrics], float | None]) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(f"slurm_rest_{name}", text, labels=["client"])
    for client, metrics in clients.items():
        value = read(metrics)
        if value is not None:
            family.add_metric([client], value)
    return family
