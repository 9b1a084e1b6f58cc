"""Shaper of a gateway's uplink: CAKE in each direction as lines of text, one for each part of the kernel that belongs to it.

Written as tc(8) writes it, from tc-cake(8), and by the same functions for what is wanted and for what the kernel holds, so that both can be
compared and shown. Must not know netlink: gateway/shaper.py translates.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from firewall.policy import Framing, PolicyError
from firewall.profile import SysctlDifference
from firewall.ruleset import UplinkShaper

RATES: Final = range(1_000, 10_000_001)  # kbit/s; slower than the lower end, not even a gateway's management would feel well
HALF_UPLINK: Final = "netzwart-down"
"""The device (IFB) in which what arrives from the uplink waits: a queueing discipline works only where packets leave."""
TRIAL_DEVICE: Final = "netzwart-try"
"""The device on which a shaper is tried."""
OWN_DEVICES: Final = frozenset({HALF_UPLINK, TRIAL_DEVICE})
ROUND_TRIP: Final = 100  # milliseconds: tc-cake's default, for hosts anywhere on the internet
HOSTS: Final = 1_024  # CAKE_QUEUES: as many hosts can be told apart by number
WHOLE_ADDRESS: Final = 128


class Isolation(StrEnum):
    """Whose share is the same: those who send through the uplink, or those who receive from it."""

    SOURCES = "dual-srchost"
    DESTINATIONS = "dual-dsthost"


@dataclass(frozen=True, slots=True)
class FramingCost:
    """What the line adds to a packet: octets, the least octets of a frame, and how these are cut into cells (noatm, atm or ptm)."""

    overhead: int
    least: int
    cells: str = "noatm"


FRAMING_COSTS: Final[Mapping[Framing, FramingCost | None]] = {
    Framing.RAW: None,
    Framing.ETHERNET: FramingCost(38, 84),
    Framing.DOCSIS: FramingCost(18, 64),
    Framing.PTM: FramingCost(22, 0, "ptm"),
    Framing.PPPOE_PTM: FramingCost(30, 0, "ptm"),
    Framing.PPPOE_ATM: FramingCost(40, 0, "atm"),
}
"""As tc-cake(8) has them under ethernet, docsis, bridged-ptm, pppoe-ptm and pppoe-llcsnap. None: as the kernel counts its packets."""


@dataclass(frozen=True, slots=True)
class Cake:
    """One CAKE. rate: octets per second; round_trip: milliseconds.

    counts_drops: a dropped packet has already used the line, as where it arrives.
    """

    rate: int
    isolation: str
    framing: FramingCost | None
    counts_drops: bool
    others: tuple[str, ...] = ("besteffort", "nat", "nowash", "no-ack-filter", "split-gso")
    round_trip: int = ROUND_TRIP

    def render(self) -> str:
        """Return it as tc writes it."""
        kbit, rest = divmod(self.rate * 8, 1_000)
        rate = f"{self.rate * 8}bit" if rest else f"{kbit}kbit"
        line = "raw" if self.framing is None else f"{self.framing.cells} overhead {self.framing.overhead} mpu {self.framing.least}"
        drops = "ingress" if self.counts_drops else "egress"
        return " ".join(("cake bandwidth", rate, self.isolation, *self.others, drops, f"rtt {self.round_trip}ms", line))


def build_cakes(shaper: UplinkShaper) -> dict[str, Cake]:
    """Return the wanted CAKE of each device, by its name; none for a direction without a rate."""
    framing = FRAMING_COSTS[shaper.shaping.framing]
    up, down = shaper.shaping.up * 125, shaper.shaping.down * 125
    cakes = {shaper.interface: Cake(up, Isolation.SOURCES, framing, counts_drops=False)} if up else {}
    return cakes | ({HALF_UPLINK: Cake(down, Isolation.DESTINATIONS, framing, counts_drops=True)} if down else {})


def name_queue(device: str) -> str:
    """Return the name of a device's queueing discipline, as a kernel setting."""
    return f"queue of {device}"


def name_hosts(device: str) -> str:
    """Return the name of how the addresses of one member are told from those of another, as a kernel setting."""
    return f"members in the queue of {device}"


def name_arrivals(interface: str) -> str:
    """Return the name of where the packets that arrive at an interface are sent, as a kernel setting."""
    return f"arriving at {interface}"


def describe_hosts(length: int) -> str:
    """Return how addresses are told apart."""
    return f"IPv4 by address, IPv6 by /{length}"


def build_shaper_settings(shaper: UplinkShaper | None) -> dict[str, str]:
    """Return the wanted kernel settings by name."""
    return dict(_iter_settings(shaper)) if shaper else {}


def _iter_settings(shaper: UplinkShaper) -> Iterator[tuple[str, str]]:
    for device, cake in build_cakes(shaper).items():
        yield name_queue(device), cake.render()
        yield name_hosts(device), describe_hosts(shaper.length)
    if shaper.shaping.down:
        yield name_arrivals(shaper.interface), f"to {HALF_UPLINK}"


def list_shaper_differences(shaper: UplinkShaper, found: Mapping[str, str]) -> tuple[SysctlDifference, ...]:
    """Return the kernel settings that differ from the shaper's; `found` has values as `build_shaper_settings` writes them."""
    wanted = build_shaper_settings(shaper)
    return tuple(SysctlDifference(name, text, found.get(name, "")) for name, text in wanted.items() if found.get(name) != text)


def check_shaper(shaper: UplinkShaper) -> None:
    """Raise PolicyError for the first invalid value, naming it."""
    for name, rate in (("up", shaper.shaping.up), ("down", shaper.shaping.down)):
        if rate and rate not in RATES:
            raise PolicyError(f"shaping.{name}: {rate} kbit/s is not between {RATES[0]} and {RATES[-1]}")
    if not (shaper.shaping.up or shaper.shaping.down):
        raise PolicyError("shaping: neither direction has a rate")
    if not 0 < shaper.length <= WHOLE_ADDRESS:
        raise PolicyError(f"shaping: an IPv6 prefix of length {shaper.length} does not exist")
    if not shaper.interface or shaper.interface in OWN_DEVICES:
        raise PolicyError(f"shaping: “{shaper.interface}” cannot be shaped")


def count_shaper_changes(before: UplinkShaper | None, after: UplinkShaper | None) -> int:
    """Return the number of kernel settings that differ."""
    old, new = build_shaper_settings(before), build_shaper_settings(after)
    return sum(old.get(name) != new.get(name) for name in old.keys() | new.keys())


def render_shaper_change(before: UplinkShaper | None, after: UplinkShaper | None) -> Iterator[str]:
    """Yield the change as comment lines to stand beside the transaction, because nft does not set queueing disciplines."""
    old, new = build_shaper_settings(before), build_shaper_settings(after)
    yield from (f"# {name}: as the kernel makes it by itself" for name in old if name not in new)
    yield from (f"# {name}: {text}" for name, text in new.items() if old.get(name) != text)
