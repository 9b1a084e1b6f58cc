"""An independent table beside Netzwart's on each gateway, behind its forward chain. It counts forwarded octets by address and protocol.

It shares nothing with Netzwart's counters: the table and its sets are separate, and the packets themselves fill the sets.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from apps.traffic.selectors import OctetsByDirection
from lab.lab import Lab

TABLE = """
table inet witness {
  set up4 { type ipv4_addr . inet_proto; size 4096; flags dynamic; }
  set down4 { type ipv4_addr . inet_proto; size 4096; flags dynamic; }
  set up6 { type ipv6_addr . inet_proto; size 4096; flags dynamic; }
  set down6 { type ipv6_addr . inet_proto; size 4096; flags dynamic; }
  chain forward {
    type filter hook forward priority 300;
    iifname "lan0" oifname "wan0" update @up4 { ip saddr . meta l4proto counter }
    iifname "wan0" oifname "lan0" update @down4 { ip daddr . meta l4proto counter }
    iifname "lan0" oifname "wan0" update @up6 { ip6 saddr . meta l4proto counter }
    iifname "wan0" oifname "lan0" update @down6 { ip6 daddr . meta l4proto counter }
  }
}
"""


class Where(NamedTuple):
    """Key of a count: gateway, direction (up or down), address, and the protocol as nft names it."""

    gateway: str
    way: str
    address: str
    protocol: str


Seen = Mapping[Where, int]


def call(lab: Lab, gateway: str) -> None:
    """Start the witness table on this gateway."""
    lab.run(gateway, ["nft", "-f", "-"], text=TABLE)


def ask(lab: Lab, *gateways: str) -> dict[Where, int]:
    """Return the octets of IP packets that the gateways forwarded since the witness started."""
    return {where: octets for name in gateways for where, octets in _of(lab, name).items()}


def _of(lab: Lab, gateway: str) -> dict[Where, int]:
    listed = json.loads(lab.run(gateway, ["nft", "-j", "list", "table", "inet", "witness"]).stdout)["nftables"]
    sets = [each["set"] for each in listed if "set" in each]
    return {
        Where(gateway, each["name"][:-1], *element["elem"]["val"]["concat"]): element["elem"]["counter"]["bytes"]
        for each in sets
        for element in each.get("elem", ())
    }


@dataclass
class Books:
    """Octets owed to each member, by who held an address when the witness saw them pass. holders: members' names by address."""

    holders: dict[str, str] = field(default_factory=dict)
    owed: Counter[tuple[str, str]] = field(default_factory=Counter)  # by member, and "up4", "down4", "up6" or "down6"
    _noted: dict[Where, int] = field(default_factory=dict)

    def note(self, seen: Seen) -> None:
        """Attribute the octets that passed since the last call to the addresses' current holders."""
        for where, octets in seen.items():
            kind = where.way + ("6" if ":" in where.address else "4")
            self.owed[self.holders[where.address], kind] += octets - self._noted.get(where, 0)
            self._noted[where] = octets

    def owed_to(self, name: str) -> OctetsByDirection:
        """Return all octets that the portal must show for this member."""
        return OctetsByDirection(*(self.owed[name, kind] for kind in OctetsByDirection._fields))

    def forget(self, gateway: str) -> None:
        """Forget this gateway's counts, because its next witness starts at zero."""
        self._noted = {where: octets for where, octets in self._noted.items() if where.gateway != gateway}
