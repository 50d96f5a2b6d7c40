"""Metrics as Prometheus and OpenTelemetry see them, through the real packages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from slurm_rest.errors import ConfigError
from slurm_rest.exporters import to_opentelemetry, to_prometheus
from slurm_rest.metrics import Metrics, RequestRecord

Show = Callable[..., Callable[[], None]]


def filled(count: int = 1) -> Metrics:
    """Return metrics of some requests."""
    metrics = Metrics(_clock=lambda: 1000.0)
    for _ in range(count):
        fill(metrics)
    return metrics


def fill(metrics: Metrics) -> None:
    metrics.record(RequestRecord("rest", "GET jobs/state", "ok", 0.004, 500, 200, "r1"))
    metrics.record(RequestRecord("rest", "GET jobs/state", "Timeout", 61.0))
    metrics.record_batch("rest", "GET jobs/state", 700)
    metrics.record_fallback("rest", "ssh")
    metrics.uncertain_submissions += 1
    metrics.token_renewals += 1
    metrics.token_issued, metrics.token_expires = 900.0, 2700.0


def scraped(registry: CollectorRegistry) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = generate_latest(registry).decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_what_prometheus_scrapes() -> None:
    registry = CollectorRegistry()
    to_prometheus(filled(2), "hpc", registry=registry)
    found = scraped(registry)

    def value(name: str, **labels: str) -> float:
        return found[name, frozenset({"client": "hpc", **labels}.items())]

    one = {"transport": "rest", "operation": "GET jobs/state"}
    assert value("slurm_rest_requests_total", outcome="ok", **one) == 2
    assert value("slurm_rest_requests_total", outcome="Timeout", **one) == 2
    assert value("slurm_rest_request_seconds_count", **one) == 4
    assert value("slurm_rest_request_seconds_sum", **one) == pytest.approx(122.008)
    assert value("slurm_rest_request_seconds_bucket", le="0.005", **one) == 2
    assert value("slurm_rest_request_seconds_bucket", le="+Inf", **one) == 4
    assert value("slurm_rest_request_jobs_bucket", le="1000.0", **one) == 2
    assert value("slurm_rest_request_jobs_bucket", le="500.0", **one) == 0
    assert value("slurm_rest_received_bytes_total") == 1000
    assert value("slurm_rest_fallbacks_total", source="rest", target="ssh") == 2
    assert value("slurm_rest_uncertain_submissions_total") == 2
    assert value("slurm_rest_token_renewals_total") == 2
    assert value("slurm_rest_token_failures_total") == 0
    assert value("slurm_rest_token_age_seconds") == 100
    assert value("slurm_rest_token_remaining_seconds") == 1700


def test_clients_share_the_families_of_a_registry_and_leave_it() -> None:
    registry = CollectorRegistry()
    remove = to_prometheus(filled(1), "a", registry=registry)
    to_prometheus(filled(3), "b", registry=registry)
    with pytest.raises(ConfigError, match="'b'"):
        to_prometheus(Metrics(), "b", registry=registry)
    totals = {dict(labels)["client"]: value for (name, labels), value in scraped(registry).items() if "bytes" in name}
    assert totals == {"a": 500, "b": 1500}
    remove()
    remove()
    assert {dict(labels)["client"] for _, labels in scraped(registry)} == {"b"}


def read(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    data = reader.get_metrics_data()
    assert data is not None
    return {
        metric.name: list(metric.data.data_points)
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


def test_what_opentelemetry_is_given() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    metrics = filled(1)
    to_opentelemetry(metrics, "hpc", meter_provider=provider)
    fill(metrics)
    found = read(reader)
    requests = {point.attributes["outcome"]: point.value for point in found["slurm_rest.requests"]}
    assert requests == {"ok": 2, "Timeout": 2}
    assert all(point.attributes["client"] == "hpc" for points in found.values() for point in points)
    durations = {point.attributes["outcome"]: point for point in found["slurm_rest.request.duration"]}
    assert (durations["ok"].count, durations["ok"].sum) == (1, 0.004)
    assert 0.0025 in durations["ok"].explicit_bounds
    assert [(point.count, point.sum) for point in found["slurm_rest.request.jobs"]] == [(1, 700)]
    single = {name: points[0].value for name, points in found.items() if len(points) == 1 and "request" not in name}
    assert single == {
        "slurm_rest.fallbacks": 2,
        "slurm_rest.received": 1000,
        "slurm_rest.uncertain_submissions": 2,
        "slurm_rest.token.renewals": 2,
        "slurm_rest.token.failures": 0,
        "slurm_rest.token.age": 100,
        "slurm_rest.token.remaining": 1700,
    }


def test_a_client_that_left_gives_nothing_more() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader])
    left, kept = filled(1), filled(1)
    remove = to_opentelemetry(left, "a", meter_provider=provider)
    to_opentelemetry(kept, "b", meter_provider=provider)
    with pytest.raises(ConfigError, match="'a'"):
        to_opentelemetry(left, "a", meter_provider=provider)
    remove()
    fill(left)
    fill(kept)
    clients = {point.attributes["client"] for points in read(reader).values() for point in points}
    assert clients == {"b"}


@pytest.mark.parametrize(
    ("package", "function"), [("prometheus_client", "to_prometheus"), ("opentelemetry", "to_opentelemetry")]
)
def test_without_the_package_it_says_what_to_install(package: str, function: str) -> None:
    code = (
        f"import sys; sys.modules[{package!r}] = None\n"
        f"from slurm_rest.exporters import {function} as show\n"
        "from slurm_rest.errors import ConfigError\n"
        "from slurm_rest.metrics import Metrics\n"
        "try: show(Metrics())\n"
        "except ConfigError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install" in done.stdout
