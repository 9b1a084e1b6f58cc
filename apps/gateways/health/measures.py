"""Measures: one number each of a gateway's health, stored over time and drawn as charts."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.gateways.health.rule import HealthSituation
from apps.lib.ui import formats
from firewall.health import KernelCounter


class MeasureUnit(StrEnum):
    """Unit of a measure."""

    SHARE = "share"  # of one
    PACKETS = "packets"  # a second
    BITS = "bits"  # a second
    COUNT = "count"
    SECONDS = "seconds"
    MILLISECONDS = "milliseconds"
    DEGREES = "degrees"


@dataclass(frozen=True)
class Measure:
    """One number. key: in stored readings. compute: returns it, or None if the machine does not tell it."""

    key: str
    title: Promise
    unit: MeasureUnit
    compute: Callable[[HealthSituation], float | None]


def _sum_links(name: str) -> Callable[[HealthSituation], float | None]:
    return lambda situation: sum(getattr(each, name) for each in situation.carrying_links) if situation.carrying_links else None


def _read_wan(name: str) -> Callable[[HealthSituation], float | None]:
    return lambda situation: getattr(situation.interval.links.get(situation.wan), name, None)


def _sum_cores(name: str) -> Callable[[HealthSituation], float | None]:
    return lambda situation: sum(getattr(each, name) for each in situation.interval.cores) if situation.interval.cores else None


def _read_rate(*counters: KernelCounter) -> Callable[[HealthSituation], float | None]:
    return lambda situation: situation.interval.get_rate(*counters) if set(counters) & set(situation.interval.rates) else None


def _read_ruleset(name: str) -> Callable[[HealthSituation], float | None]:
    return lambda situation: situation.interval.ruleset.get(name)


def _read_probe(family: int) -> Callable[[HealthSituation], float | None]:
    return lambda situation: situation.probes[family].median_ms if family in situation.probes else None


def _compute_loss(family: int) -> Callable[[HealthSituation], float | None]:
    def compute(situation: HealthSituation) -> float | None:
        figures = situation.probes.get(family)
        return figures.lost / figures.sent if figures and figures.sent else None

    return compute


def _compute_mean_core(situation: HealthSituation) -> float | None:
    cores = situation.interval.cores
    return sum(each.busy for each in cores) / len(cores) if cores else None


def _compute_fill(situation: HealthSituation) -> float | None:
    levels = situation.interval.levels
    return levels.connections / levels.most_connections if levels.most_connections else None


def _compute_memory(situation: HealthSituation) -> float | None:
    levels = situation.interval.levels
    return 1 - levels.memory_available / levels.memory if levels.memory else None


def _compute_disk(situation: HealthSituation) -> float | None:
    levels = situation.interval.levels
    return 1 - levels.disk_free / levels.disk if levels.disk else None


def _read_busiest(situation: HealthSituation) -> float | None:
    return situation.interval.busiest.softirq if situation.interval.busiest else None


def _read_temperature(situation: HealthSituation) -> float | None:
    return situation.interval.levels.temperature / 1000 or None


S, P, B = MeasureUnit.SHARE, MeasureUnit.PACKETS, MeasureUnit.BITS
_DROPPED = (KernelCounter.CONNTRACK_DROP, KernelCounter.CONNTRACK_EARLY_DROP)
_COOKIES = (KernelCounter.SYN_COOKIES, KernelCounter.REQUEST_QUEUE_COOKIES)
_EXCEEDED = (KernelCounter.TIME_EXCEEDED4, KernelCounter.TIME_EXCEEDED6)
ALL: Final = (
    Measure("probe4_ms", _("IPv4 probe, median of five minutes"), MeasureUnit.MILLISECONDS, _read_probe(4)),
    Measure("probe6_ms", _("IPv6 probe, median of five minutes"), MeasureUnit.MILLISECONDS, _read_probe(6)),
    Measure("probe4_lost", _("IPv4 probes lost"), S, _compute_loss(4)),
    Measure("probe6_lost", _("IPv6 probes lost"), S, _compute_loss(6)),
    Measure("busiest_core", _("busiest core, work of the network"), S, _read_busiest),
    Measure("mean_core", _("all cores, average"), S, _compute_mean_core),
    Measure("packets", _("packets"), P, _sum_links("received")),
    Measure("received_bits", _("from the internet"), B, _read_wan("received_bits")),
    Measure("sent_bits", _("to the internet"), B, _read_wan("sent_bits")),
    Measure("errors", _("damaged packets"), P, _sum_links("errors")),
    Measure("dropped", _("packets dropped by interfaces"), P, _sum_links("dropped")),
    Measure("backlog_dropped", _("packets dropped by the backlog"), P, _sum_cores("dropped")),
    Measure("squeezed", _("rounds that ended with work left"), P, _sum_cores("squeezed")),
    Measure("connections", _("open connections"), MeasureUnit.COUNT, lambda situation: situation.interval.levels.connections),
    Measure("connections_share", _("fill level of the connection table"), S, _compute_fill),
    Measure("insert_failed", _("collisions of new connections"), P, _read_rate(KernelCounter.CONNTRACK_INSERT_FAILED)),
    Measure("connections_dropped", _("connections without room"), P, _read_rate(*_DROPPED)),
    Measure("search_restart", _("repeated searches in the connection table"), P, _read_rate(KernelCounter.CONNTRACK_SEARCH_RESTART)),
    Measure("clash_resolve", _("resolved collisions"), P, _read_rate(KernelCounter.CONNTRACK_CLASH_RESOLVE)),
    Measure("listen_overflows", _("overflows of the gateway’s own services"), P, _read_rate(KernelCounter.LISTEN_OVERFLOWS)),
    Measure("syn_cookies", _("SYN cookies sent"), P, _read_rate(*_COOKIES)),
    Measure("time_exceeded", _("packets whose hop limit ended"), P, _read_rate(*_EXCEEDED)),
    Measure("spoofed", _("forged source addresses"), P, _read_ruleset("spoofed")),
    Measure("refused", _("refused packets"), P, _read_ruleset("refused")),
    Measure("leaked", _("held back: no public source"), P, _read_ruleset("leaked")),
    Measure("unmapped", _("from members without a public address"), P, _read_ruleset("unmapped")),
    Measure("memory_used", _("memory"), S, _compute_memory),
    Measure("disk_used", _("disk"), S, _compute_disk),
    Measure("temperature", _("hottest sensor"), MeasureUnit.DEGREES, _read_temperature),
    Measure("clock_offset", _("clock ahead of the portal’s"), MeasureUnit.SECONDS, lambda situation: situation.interval.clock_offset),
)
BY_KEY: Final = {each.key: each for each in ALL}
_DIGITS: Final = 4


def compute_measures(situation: HealthSituation) -> dict[str, float]:
    """Return all measures that the machine tells, by key; none of a gateway in memory, which has no machine."""
    if not situation.interval.links:
        return {}
    found = ((each.key, each.compute(situation)) for each in ALL)
    return {key: round(value, _DIGITS) for key, value in found if value is not None}


def format_measure(unit: MeasureUnit, value: float) -> str:
    """Return the value with its unit, for people."""
    write: Mapping[MeasureUnit, Callable[[float], str]] = {
        MeasureUnit.SHARE: lambda share: formats.format_percent(100 * share, 0),
        MeasureUnit.PACKETS: formats.format_packets,
        MeasureUnit.BITS: formats.format_rate,
        MeasureUnit.COUNT: lambda count: formats.format_number(round(count)),
        MeasureUnit.SECONDS: lambda seconds: f"{'−' if seconds < 0 else ''}{formats.format_duration(abs(seconds))}",
        MeasureUnit.MILLISECONDS: lambda milliseconds: formats.format_duration(milliseconds / 1000),
        MeasureUnit.DEGREES: lambda degrees: f"{formats.format_number(round(degrees))}{formats.SPACE}°C",
    }
    return write[unit](value)
