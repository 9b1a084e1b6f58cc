"""Metrics of the gateways' machines: the counters of their last health reading, from which Prometheus computes rates."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from apps.gateways.health.judgement import FRESH
from apps.gateways.health.models import HealthReading
from firewall.health import HealthCounters

CORE_TIMES: Final = {"busy": "Time that the core was busy.", "softirq": "Time that the core spent in soft interrupts."}
CORE_COUNTS: Final = {
    "packets": "Packets that the core took from its queues.",
    "dropped": "Packets that the core's backlog had no room for.",
    "squeezed": "Rounds that ended with work left.",
}
LINK_COUNTS: Final = {
    "received": ("packets", "Packets received."),
    "received_octets": ("bytes", "Bytes received."),
    "received_errors": ("errors", "Damaged packets received."),
    "received_dropped": ("dropped", "Received packets without room."),
    "sent": ("packets", "Packets sent."),
    "sent_octets": ("bytes", "Bytes sent."),
    "sent_errors": ("errors", "Packets that could not be sent."),
    "sent_dropped": ("dropped", "Packets that the queue refused."),
}
LEVELS: Final = {
    "connections": ("conntrack_entries", "Open connections."),
    "most_connections": ("conntrack_limit", "Largest number of connections."),
    "memory": ("memory_bytes", "Memory."),
    "memory_available": ("memory_available_bytes", "Memory that is available."),
    "disk": ("disk_bytes", "Size of the disk of the agent's state."),
    "disk_free": ("disk_free_bytes", "Free space on that disk."),
}
type NamedCounters = Sequence[tuple[str, HealthReading, HealthCounters]]


def iter_metrics(now: datetime) -> Iterator[Metric]:
    """Yield metrics of the gateways whose last reading is fresh: old counters would look like a standstill."""
    fresh = HealthReading.objects.filter(at__range=(now - FRESH, now), gateway__retired=None).select_related("gateway")
    rows = fresh.order_by("gateway_id", "-at").distinct("gateway_id")
    read = [(each.gateway.name, each, counters) for each in rows if (counters := each.parse_counters())]
    yield from _iter_cores(read)
    yield from _iter_links(read)
    yield from _iter_counters(read)
    yield from _iter_levels(read)


def _iter_cores(read: NamedCounters) -> Iterator[Metric]:
    labels = ["gateway", "core"]
    for names, unit, factor in ((CORE_TIMES, "_seconds", 0.01), (CORE_COUNTS, "", 1)):
        for name, words in names.items():
            family = CounterMetricFamily(f"netzwart_core_{name}{unit}", words, labels=labels)
            for gateway, _row, counters in read:
                for at, core in enumerate(counters.cores):
                    family.add_metric([gateway, str(at)], getattr(core, name) * factor)
            yield family


def _iter_links(read: NamedCounters) -> Iterator[Metric]:
    for name, (unit, words) in LINK_COUNTS.items():
        family = CounterMetricFamily(f"netzwart_link_{name.partition('_')[0]}_{unit}", words, labels=["gateway", "link"])
        for gateway, _row, counters in read:
            for link in counters.links:
                family.add_metric([gateway, link.name], getattr(link, name))
        yield family
    up = GaugeMetricFamily("netzwart_link_up", "1 if the interface is on and has a carrier.", labels=["gateway", "link"])
    speed = GaugeMetricFamily("netzwart_link_speed_bits_per_second", "Speed that the interface negotiated.", labels=["gateway", "link"])
    for gateway, _row, counters in read:
        for link in counters.links:
            up.add_metric([gateway, link.name], float(link.is_up))
            if link.speed:
                speed.add_metric([gateway, link.name], link.speed * 1e6)
    yield from (up, speed)


def _iter_counters(read: NamedCounters) -> Iterator[Metric]:
    labels = ["gateway", "counter"]
    kernel = CounterMetricFamily("netzwart_kernel_events", "Counters of the kernel's network stack, by its own names.", labels=labels)
    ruleset = CounterMetricFamily("netzwart_ruleset_packets", "Packets of the ruleset's named counters.", labels=labels)
    for gateway, _row, counters in read:
        for family, found in ((kernel, counters.counters), (ruleset, counters.ruleset)):
            for name, value in found.items():
                family.add_metric([gateway, name], value)
    yield from (kernel, ruleset)


def _iter_levels(read: NamedCounters) -> Iterator[Metric]:
    for name, (metric, words) in LEVELS.items():
        family = GaugeMetricFamily(f"netzwart_{metric}", words, labels=["gateway"])
        for gateway, _row, counters in read:
            family.add_metric([gateway], getattr(counters.levels, name))
        yield family
    heat = GaugeMetricFamily("netzwart_temperature_celsius", "Hottest sensor.", labels=["gateway"])
    clock = GaugeMetricFamily("netzwart_clock_offset_seconds", "How far the gateway's clock is ahead of the portal's.", labels=["gateway"])
    uptime = GaugeMetricFamily("netzwart_boot_timestamp_seconds", "When the gateway's machine started.", labels=["gateway"])
    at = GaugeMetricFamily("netzwart_health_reading_timestamp_seconds", "When this was read.", labels=["gateway"])
    for gateway, row, counters in read:
        if counters.levels.temperature:
            heat.add_metric([gateway], counters.levels.temperature / 1000)
        clock.add_metric([gateway], counters.clock / 1000 - row.at.timestamp())
        uptime.add_metric([gateway], row.at.timestamp() - counters.uptime / 1000)
        at.add_metric([gateway], row.at.timestamp())
    yield from (heat, clock, uptime, at)
