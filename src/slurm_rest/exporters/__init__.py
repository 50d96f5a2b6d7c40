"""Shows a client's metrics to Prometheus and to OpenTelemetry, where those packages are installed.

    from slurm_rest.exporters import to_opentelemetry, to_prometheus

    to_prometheus(slurm.metrics, "hpc")      # then prometheus_client.start_http_server(9100)
    to_opentelemetry(slurm.metrics, "hpc")   # to the meter provider that the process has set

Neither package is loaded before one of these functions is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from slurm_rest.metrics import Metrics

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from prometheus_client import CollectorRegistry

__all__ = ["to_opentelemetry", "to_prometheus"]


def to_prometheus(
    metrics: Metrics, client: str = "", *, registry: CollectorRegistry | None = None
) -> Callable[[], None]:
    """Show a client's metrics in a registry, by default prometheus_client's own; returns what ends that.

    Several clients of one process share the families; ``client`` is the label that tells them apart, a cluster's name
    for instance. Raises ConfigError when prometheus_client is not installed, or another client has the label.
    """
    from .prometheus import show

    return show(metrics, client, registry)


def to_opentelemetry(
    metrics: Metrics, client: str = "", *, meter_provider: MeterProvider | None = None
) -> Callable[[], None]:
    """Give a client's metrics to a meter provider, by default the process's own; returns what ends that.

    ``client`` is an attribute of each measurement, a cluster's name for instance. The histograms count from now on, the
    counters since the client was made. Raises ConfigError when opentelemetry-api is not installed, or another client
    has the label.
    """
    from .opentelemetry import give

    return give(metrics, client, meter_provider)
