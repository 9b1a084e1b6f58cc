"""All metrics in the text format of Prometheus (Prometheus documentation, "Exposition formats"). Reads the database only."""

from collections.abc import Iterator
from datetime import datetime

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from apps.metrics import database_metrics, gateway_metrics, machine_metrics, portal_metrics


class PortalCollector(Collector):
    """Collects everything as it is at one time. Nothing is kept in the process, so that it does not matter which process answers."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        for module in (gateway_metrics, machine_metrics, portal_metrics, database_metrics):
            yield from module.iter_metrics(self._now)

    def describe(self) -> list[Metric]:
        """Return nothing: registering must not read the database."""
        return []


def render_metrics(now: datetime) -> bytes:
    """Return the text."""
    collectors = CollectorRegistry()
    collectors.register(PortalCollector(now))
    return generate_latest(collectors)
