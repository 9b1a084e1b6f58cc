"""Listeners: where servers of the network itself listen, and their hosts, to whom ICMP errors must come.

A host stays while any listener is on it: whoever touches one listener brings all of its host.
"""

from firewall import names
from firewall.elements.forwards import PROTOCOL_KEY
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Address, Keys, Policy, PolicyError, Protocol
from firewall.ruleset import PLAIN, Element

PORTS, HOSTS = {4: "lst4", 6: "lst6"}, {4: "lst4_hosts", 6: "lst6_hosts"}


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when two servers listen at one place, or a port is none."""
    sets: ElementsBySet = {}
    for each in policy.listeners:
        if not 0 < each.port < 65536:
            raise PolicyError(f"listener {each.id}: port {each.port} is not between 1 and 65535")
        port = sets.setdefault(PORTS[each.address.version], {})
        port[_key(each.protocol, each.address, each.port)] = Element(comment=names.comment(each.name))
        sets.setdefault(HOSTS[each.address.version], {})[each.address.packed] = PLAIN
    places = [f"{each.protocol} {each.port} on {each.address}" for each in policy.listeners]
    all_different("listener at", places, [key for name in PORTS.values() for key in sets.get(name, {})])
    return sets


def _key(protocol: Protocol, address: Address, port: int) -> bytes:
    return address.packed + PROTOCOL_KEY[protocol] + port.to_bytes(2) + b"\0\0"


def keys(touched: Keys) -> KeysBySet:
    """Where the touched listeners are, if they are."""
    found: KeysBySet = {}
    for protocol, address, port in touched.listeners:
        found.setdefault(PORTS[address.version], set()).add(_key(protocol, address, port))
        found.setdefault(HOSTS[address.version], set()).add(address.packed)
    return found
