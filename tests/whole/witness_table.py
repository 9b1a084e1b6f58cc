"""A table of our own beside Netzwart's on each gateway, behind its forward chain: what was let through, by address and protocol.

It shares nothing with what Netzwart counts by: another table, another set, filled by the packets themselves.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from apps.traffic.selectors import Octets
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
    """up or down, an address, and the protocol as nft calls it."""

    gateway: str
    way: str
    address: str
    protocol: str


Seen = Mapping[Where, int]


def call(lab: Lab, gateway: str) -> None:
    """Let it look from now on."""
    lab.run(gateway, ["nft", "-f", "-"], text=TABLE)


def ask(lab: Lab, *gateways: str) -> dict[Where, int]:
    """Octets of IP packets that the gateways let through since."""
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
    """Who held an address when octets passed, as the witness saw them. holders: names of members by address."""

    holders: dict[str, str] = field(default_factory=dict)
    owed: Counter[tuple[str, str]] = field(default_factory=Counter)  # by member, and "up4", "down4", "up6", "down6"
    _noted: dict[Where, int] = field(default_factory=dict)

    def note(self, seen: Seen) -> None:
        """What passed since belongs to who holds the addresses until now."""
        for where, octets in seen.items():
            kind = where.way + ("6" if ":" in where.address else "4")
            self.owed[self.holders[where.address], kind] += octets - self._noted.get(where, 0)
            self._noted[where] = octets

    def owed_to(self, name: str) -> Octets:
        """All that a member is to be told."""
        return Octets(*(self.owed[name, kind] for kind in Octets._fields))

    def forget(self, gateway: str) -> None:
        """Its witness is gone, and the next one begins with nothing."""
        self._noted = {where: octets for where, octets in self._noted.items() if where.gateway != gateway}
