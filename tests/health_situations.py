"""Builds health readings and what follows from them: a healthy gateway, with one thing changed."""

import dataclasses
from datetime import datetime
from ipaddress import ip_address
from typing import Any

from apps.gateways.health.interval import CoreLoad, HealthInterval, LinkLoad
from apps.gateways.health.reading_store import GatewayReading, store_readings
from apps.gateways.health.rule import HealthSituation
from apps.network.models import Gateway
from firewall.health import CoreCounters, Forwarding, HealthCounters, KernelCounter, LinkCounters, MachineLevels

LEVELS = MachineLevels(1000, 262_144, 8 << 30, 6 << 30, 100 << 30, 80 << 30, 45_000)
CORE = CoreLoad(0, busy=0.3, softirq=0.2, packets=5000, dropped=0, squeezed=0)
ADDRESSES = {"lo": (ip_address("127.0.0.1"), ip_address("::1")), "lan0": (ip_address("10.0.0.1"), ip_address("fe80::1"))}
LINK = LinkLoad("lan0", True, 1000, received=5000, received_bits=4e7, sent=5000, sent_bits=4e7, errors=0, dropped=0)


def build_interval(**changed: Any) -> HealthInterval:
    """Build ten seconds of a healthy machine with two cores."""
    usual = HealthInterval(
        seconds=10,
        cores=(CORE, dataclasses.replace(CORE, core=1)),
        links={name: dataclasses.replace(LINK, name=name) for name in ("lan0", "wan0", "sync0", "mgmt0")},
        rates=dict.fromkeys(KernelCounter, 0.0),
        ruleset={"spoofed": 0.5, "refused": 20.0, "leaked": 0.0, "unmapped": 0.0, "portless": 0.0},
        levels=LEVELS,
        forwarding=Forwarding(True, True, True, True),
        clock_offset=0.02,
        clock_doubt=0.01,
        addresses=ADDRESSES,
    )
    return dataclasses.replace(usual, **changed)


def build_situation(
    *, families: frozenset[int] = frozenset({4, 6}), sync: str = "sync0", sets: dict[str, tuple[int, int]] | None = None, **changed: Any
) -> HealthSituation:
    """Build the situation of a gateway that is healthy but for what is changed in its interval."""
    return HealthSituation("lan0", "wan0", sync, families, build_interval(**changed), sets=sets or {})


def change_link(name: str, **changed: Any) -> dict[str, LinkLoad]:
    """Build healthy links, one of them changed."""
    links = dict(build_interval().links)
    links[name] = dataclasses.replace(links[name], **changed)
    return links


def change_core(**changed: Any) -> tuple[CoreLoad, ...]:
    """Build two healthy cores, the second one changed."""
    return (CORE, dataclasses.replace(CORE, core=1, **changed))


def build_counters(seconds: float, clock: float, **changed: Any) -> HealthCounters:
    """Build what a healthy machine has counted after this time since boot. clock: its Unix time."""
    ticks, packets = int(seconds * 100), int(seconds * 5000)
    usual = HealthCounters(
        boot="one",
        uptime=int(seconds * 1000),
        clock=int(clock * 1000),
        agent="0.1.0+aaaaaaaa",
        cores=tuple(CoreCounters(ticks * 3 // 10, ticks // 5, ticks, packets, 0, 0) for _ in range(2)),
        links=tuple(
            LinkCounters(name, True, 1000, packets, packets * 1000, 0, 0, packets, packets * 1000, 0, 0)
            for name in ("lan0", "mgmt0", "sync0", "wan0")
        ),
        counters=dict.fromkeys(KernelCounter, 0),
        ruleset={"spoofed": int(seconds), "refused": int(seconds * 20), "leaked": 0, "unmapped": 0},
        levels=LEVELS,
        forwarding=Forwarding(True, True, True, True),
    )
    return dataclasses.replace(usual, **changed)


def store_reading(gateway: Gateway, counters: HealthCounters, at: datetime) -> None:
    """Store a reading that was true at exactly this moment."""
    store_readings([GatewayReading(gateway, counters, at, at)])
