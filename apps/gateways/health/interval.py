"""What happened on a gateway's machine between two readings: rates a second, shares, and levels at the end. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from firewall.health import CoreCounters, Forwarding, HealthCounters, KernelCounter, LinkCounters, LinkQueues, MachineLevels, QueueCounters
from firewall.policy import Address

SHORTEST: Final = 1.0  # seconds between two readings from which rates can be computed
UNREAL_SPEED: Final = 10  # Mbit/s, which the driver of tunnels claims; it negotiates nothing


@dataclass(frozen=True, slots=True)
class CoreLoad:
    """Load of one core. busy, softirq: shares of the time, 0 to 1; packets, dropped, squeezed: a second."""

    core: int
    busy: float
    softirq: float
    packets: float
    dropped: float
    squeezed: float


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """Load of one interface, a second; speed in Mbit/s, 0 if it is not known."""

    name: str
    is_up: bool
    speed: int
    received: float
    received_bits: float
    sent: float
    sent_bits: float
    errors: float
    dropped: float

    @property
    def packets(self) -> float:
        return self.received + self.sent

    @property
    def share(self) -> float:
        """Part of the speed that is used in the fuller direction; 0 if the speed is not known."""
        return max(self.received_bits, self.sent_bits) / (self.speed * 1e6) if self.speed > UNREAL_SPEED else 0.0


@dataclass(frozen=True, slots=True)
class QueueLoad:
    """Load of one receive queue of a card, a second."""

    queue: int
    packets: float
    dropped: float


@dataclass(frozen=True, slots=True)
class HealthInterval:
    """What happened between two readings of one boot. rates, ruleset: a second.

    clock_offset: seconds by which the machine's clock was ahead of the portal's; clock_doubt: how wrong that may be. queues: those of
    cards, by the interface's name; queue_loads: likewise, of cards that count by receive queue. addresses: of the interfaces, None if they
    are not known.
    """

    seconds: float
    cores: tuple[CoreLoad, ...]
    links: Mapping[str, LinkLoad]
    rates: Mapping[str, float]
    ruleset: Mapping[str, float]
    levels: MachineLevels
    forwarding: Forwarding
    clock_offset: float
    clock_doubt: float
    addresses: Mapping[str, tuple[Address, ...]] | None = None
    queues: Mapping[str, LinkQueues] = field(default_factory=dict)
    queue_loads: Mapping[str, tuple[QueueLoad, ...]] = field(default_factory=dict)

    @property
    def busiest(self) -> CoreLoad | None:
        """The core with the most work of the network; None if no core is known."""
        return max(self.cores, key=lambda each: each.softirq, default=None)

    def get_rate(self, *counters: KernelCounter) -> float:
        """Return the sum of these counters' rates; those that the kernel lacks count nothing."""
        return sum(self.rates.get(each, 0.0) for each in counters)


def compute_interval(before: HealthCounters, after: HealthCounters, *, clock_offset: float, clock_doubt: float) -> HealthInterval | None:
    """Return what happened in between; None if that is not known: the machine restarted, or both readings are of one moment."""
    seconds = (after.uptime - before.uptime) / 1000
    if before.boot != after.boot or seconds < SHORTEST:
        return None
    links = {each.name: each for each in before.links}
    counted = {each.name: each.counted for each in before.queues or ()}
    return HealthInterval(
        seconds=seconds,
        cores=_compute_cores(before.cores, after.cores, seconds),
        links={each.name: _compute_link(links.get(each.name, each), each, seconds) for each in after.links},
        rates=_compute_rates(before.counters, after.counters, seconds),
        ruleset=_compute_rates(before.ruleset, after.ruleset, seconds),
        levels=after.levels,
        forwarding=after.forwarding,
        clock_offset=clock_offset,
        clock_doubt=clock_doubt,
        addresses=after.addresses,
        queues={each.name: each for each in after.queues or ()},
        queue_loads={each.name: _compute_queues(counted.get(each.name, ()), each.counted, seconds) for each in after.queues or ()},
    )


def _compute_rates(before: Mapping[str, int], after: Mapping[str, int], seconds: float) -> dict[str, float]:
    """Return the rates of counters that both readings have. A counter that went back began again, and says nothing."""
    return {name: (value - before[name]) / seconds for name, value in after.items() if value >= before.get(name, value + 1)}


def _compute_cores(before: tuple[CoreCounters, ...], after: tuple[CoreCounters, ...], seconds: float) -> tuple[CoreLoad, ...]:
    """Return each core's load; none if a core was switched on or off meanwhile."""
    if len(before) != len(after):
        return ()
    return tuple(_compute_core(core, *pair, seconds) for core, pair in enumerate(zip(before, after, strict=True)))


def _compute_core(core: int, before: CoreCounters, after: CoreCounters, seconds: float) -> CoreLoad:
    ticks = max(after.total - before.total, 1)
    return CoreLoad(
        core,
        min(_count(before.busy, after.busy) / ticks, 1.0),
        min(_count(before.softirq, after.softirq) / ticks, 1.0),
        _count(before.packets, after.packets) / seconds,
        _count(before.dropped, after.dropped) / seconds,
        _count(before.squeezed, after.squeezed) / seconds,
    )


def _compute_link(before: LinkCounters, after: LinkCounters, seconds: float) -> LinkLoad:
    def rate(*names: str) -> float:
        return sum(_count(getattr(before, name), getattr(after, name)) for name in names) / seconds

    return LinkLoad(
        after.name,
        after.is_up,
        after.speed,
        received=rate("received"),
        received_bits=8 * rate("received_octets"),
        sent=rate("sent"),
        sent_bits=8 * rate("sent_octets"),
        errors=rate("received_errors", "sent_errors"),
        dropped=rate("received_dropped", "sent_dropped"),
    )


def _compute_queues(before: tuple[QueueCounters, ...], after: tuple[QueueCounters, ...], seconds: float) -> tuple[QueueLoad, ...]:
    """Return the load of each queue that both readings have."""
    known = {each.queue: each for each in before}
    pairs = [(known[each.queue], each) for each in after if each.queue in known]
    return tuple(
        QueueLoad(new.queue, _count(old.packets, new.packets) / seconds, _count(old.dropped, new.dropped) / seconds) for old, new in pairs
    )


def _count(before: int, after: int) -> int:
    """Return the difference, 0 if the counter began again."""
    return max(after - before, 0)
