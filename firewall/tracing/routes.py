"""The few routes of a gateway as values, by which it forwards packets: the longest prefix counts."""

from dataclasses import dataclass

from firewall.policy import Address, Prefix


@dataclass(frozen=True, slots=True)
class GatewayRoute:
    """A route: packets to the prefix leave by the interface; "" leads nowhere (a blackhole)."""

    to: Prefix
    interface: str


@dataclass(frozen=True, slots=True)
class RoutingTable:
    """The gateway's routes, and its own addresses by interface (a packet to one of these is for the gateway itself)."""

    routes: tuple[GatewayRoute, ...]
    own: tuple[tuple[str, Address], ...] = ()

    def is_own(self, address: Address) -> bool:
        """True if a packet to this address is for the gateway itself. Multicast groups, which it may belong to, count as itself."""
        return address.is_multicast or any(each == address for _, each in self.own)

    def find_interface(self, to: Address) -> str:
        """Return the interface by which a packet to the address leaves, "" for none."""
        leading = [route for route in self.routes if route.to.version == to.version and to in route.to]
        return max(leading, key=lambda route: route.to.prefixlen).interface if leading else ""

    def find_interface_address(self, interface: str, version: int) -> Address | None:
        """Return the gateway's address on an interface, None if it is not known."""
        return next((each for name, each in self.own if name == interface and each.version == version), None)
