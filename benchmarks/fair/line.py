"""Members, a gateway, a provider with a slow line, and the internet: four network namespaces, and the gateway's own ruleset and queues.

The line is two token buckets with a long buffer behind the gateway, as provider and modem have them. All members leave as one public
IPv4 address, and have an IPv6 prefix each.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from itertools import pairwise
from time import time

from benchmarks.packets.cables import NamespaceThread
from firewall.compile import compile_policy
from firewall.diff import diff
from firewall.policy import (
    GatewayGroupSettings,
    GatewaySpec,
    Interfaces,
    Management,
    NatMappingSpec,
    Policy,
    RateLimitSpec,
    Shaping,
)
from firewall.ruleset import EMPTY
from gateway.kernel import KernelTable
from gateway.uplink_queues import set_queues

LINE = 20_000  # kbit/s in each direction
QUEUES = Shaping(19_000, 19_000)  # 95 % of it
BUFFER = 500_000  # octets: 200 ms of the line
DELAY = 20  # milliseconds that an answer of the internet takes
MEMBERS = 9
ADDRESSES = 4  # of IPv6 that each member uses
TARGETS = {4: "203.0.113.9", 6: "2001:db8:ffff::9"}
_PUBLIC = IPv4Address("198.51.100.1")
_FIRST4, _PREFIXES = IPv4Address("10.16.0.10"), int(IPv6Address("2001:db8:a0:10::"))
_INSIDE4, _INSIDE6, _ALL = "10.16.0.0/16", "2001:db8:a0::/48", "default"
_CARDS = (("m0", "lan0"), ("wan0", "down0"), ("up1", "far0"))


def get_address(member: int, version: int, number: int = 0) -> str:
    """Return an address of the member; of IPv4 there is one, of IPv6 there are several."""
    return str(_FIRST4 + member) if version == 4 else str(IPv6Address(_PREFIXES + (member << 64) + 1 + number))


class SlowLine:
    """The namespaces. Sockets are made in `members` and `internet`."""

    def __init__(self) -> None:
        self.members, self.gateway, self.provider, self.internet = (NamespaceThread(0) for _ in range(4))
        self._spaces = (self.members, self.gateway, self.provider, self.internet)
        for (near, far), (card, other) in zip(pairwise(self._spaces), _CARDS, strict=True):
            near.run("ip", "link", "add", card, "type", "veth", "peer", "name", other, "netns", str(far.id))
        for space, lines in zip(self._spaces, map("\n".join, _list_addresses_and_routes()), strict=True):
            space.run("ip", "-batch", "-", given=f"link set lo up\n{lines}\n")
        for space in (self.gateway, self.provider):
            space.run("sysctl", "-qw", "net.ipv4.ip_forward=1", "net.ipv6.conf.all.forwarding=1")
        for card in ("up1", "down0"):
            self.provider.run(*f"tc qdisc add dev {card} root tbf rate {LINE}kbit burst 5k limit {BUFFER}".split())
        self.internet.run(*f"tc qdisc add dev far0 root netem delay {DELAY}ms limit 10000".split())
        self._kernel: KernelTable = self.gateway.do(KernelTable)

    @contextmanager
    def run_gateway(self, shaping: Shaping | None, limited: Mapping[int, int]) -> Iterator[None]:
        """Load the gateway's ruleset for the block. limited: rate limits by member, in octets per second."""
        ruleset = compile_policy(_build_policy(shaping, limited))
        self.gateway.do(self._kernel.commit, diff(EMPTY, ruleset), int(time()))
        self.gateway.do(set_queues, self._kernel, ruleset.shaper)
        try:
            yield
        finally:
            self.gateway.do(set_queues, self._kernel, None)
            self.gateway.run("nft", "delete", "table", "inet", "netzwart")

    def close(self) -> None:
        """End the threads, and so the namespaces."""
        self.gateway.do(self._kernel.close)
        for space in self._spaces:
            space.close()


def _list_addresses_and_routes() -> Iterator[list[str]]:
    """Yield the lines for ip(8) in each namespace, from the members to the internet."""
    members = [f"addr add {get_address(member, 4)}/32 dev lo" for member in range(MEMBERS)]
    members += [f"addr add {get_address(member, 6, at)}/128 dev lo nodad" for member in range(MEMBERS) for at in range(ADDRESSES)]
    yield [*members, *_link("m0", 1, 2), *_routes(1, 1, _ALL, _ALL)]
    yield [*_link("lan0", 1, 1), *_link("wan0", 2, 1), *_routes(1, 2, _INSIDE4, _INSIDE6), *_routes(2, 2, _ALL, _ALL)]
    yield [*_link("down0", 2, 2), *_link("up1", 3, 1), *_routes(2, 1, f"{_PUBLIC}/32", _INSIDE6), *_routes(3, 2, _ALL, _ALL)]
    internet = [f"addr add {TARGETS[4]}/32 dev lo", f"addr add {TARGETS[6]}/128 dev lo nodad"]
    yield [*_link("far0", 3, 2), *internet, *_routes(3, 1, _ALL, _ALL)]


def _link(card: str, net: int, host: int) -> list[str]:
    addresses = (f"192.168.{net}.{host}/24", f"fd00:{net}::{host}/64")
    return [*(f"addr add {each} dev {card}{' nodad' if ':' in each else ''}" for each in addresses), f"link set {card} up"]


def _routes(net: int, host: int, to4: str, to6: str) -> list[str]:
    return [f"route add {to4} via 192.168.{net}.{host}", f"route add {to6} via fd00:{net}::{host}"]


def _build_policy(shaping: Shaping | None, limited: Mapping[int, int]) -> Policy:
    private = tuple(_FIRST4 + member for member in range(MEMBERS))
    prefixes = tuple(IPv6Network((_PREFIXES + (member << 64), 64)) for member in range(MEMBERS))
    return Policy(
        GatewaySpec(
            "gw1",
            Interfaces("lan0", "wan0", "lo"),
            Management((IPv4Network("172.31.0.0/24"),)),
            settings=GatewayGroupSettings(shaping=shaping),
        ),
        addresses=private,
        prefixes=prefixes,
        mappings=tuple(NatMappingSpec(each, _PUBLIC) for each in private),
        rate_limits=tuple(
            RateLimitSpec(member, prefix, rate, rate)
            for member, rate in limited.items()
            for prefix in (IPv4Network(private[member]), prefixes[member])
        ),
    )
