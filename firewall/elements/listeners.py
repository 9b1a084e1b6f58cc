"""Listeners: where servers of the network itself listen, and their hosts, to whom ICMP errors must come.

A guarded one stands in the set of its window scale and not among the others; its host is one like theirs. A host stays while any
listener is on it: whoever touches one listener brings all of its host.
"""

from firewall import names
from firewall.elements.forwards import PROTOCOL_KEY
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import all_different
from firewall.policy import Address, Keys, Listener, Policy, PolicyError, Protocol
from firewall.ruleset import PLAIN, Element
from firewall.sets import of_length

PORTS, HOSTS, GUARDED = {4: "lst4", 6: "lst6"}, {4: "lst4_hosts", 6: "lst6_hosts"}, {4: "guard4", 6: "guard6"}
SCALES = range(15)  # RFC 7323, 2.3


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when two servers listen at one place, a port is none, or something cannot be guarded."""
    sets: ElementsBySet = {}
    for each in policy.listeners:
        if not 0 < each.port < 65536:
            raise PolicyError(f"listener {each.id}: port {each.port} is not between 1 and 65535")
        port = sets.setdefault(_set_of(each), {})
        port[_key(each.protocol, each.address, each.port)] = Element(comment=names.comment(each.name))
        sets.setdefault(HOSTS[each.address.version], {})[each.address.packed] = PLAIN
    places = [f"{each.protocol} {each.port} on {each.address}" for each in policy.listeners]
    all_different("listener at", places, {key for name in sets if name not in HOSTS.values() for key in sets[name]})
    return sets


def _set_of(listener: Listener) -> str:
    version = listener.address.version
    if listener.window_scale is None:
        return PORTS[version]
    if listener.protocol is not Protocol.TCP:
        raise PolicyError(f"listener {listener.id}: {listener.protocol} has no SYNs that could be answered; only TCP can be guarded")
    if listener.window_scale not in SCALES:
        raise PolicyError(f"listener {listener.id}: a window scale of {listener.window_scale} is not between 0 and 14")
    return of_length(GUARDED[version], listener.window_scale)


def _key(protocol: Protocol, address: Address, port: int) -> bytes:
    return address.packed + PROTOCOL_KEY[protocol] + port.to_bytes(2) + b"\0\0"


def keys(touched: Keys) -> KeysBySet:
    """Where the touched listeners are, if they are, guarded or not."""
    found: KeysBySet = {}
    for protocol, address, port in touched.listeners:
        version = address.version
        for name in (PORTS[version], *(of_length(GUARDED[version], scale) for scale in SCALES)):
            found.setdefault(name, set()).add(_key(protocol, address, port))
        found.setdefault(HOSTS[version], set()).add(address.packed)
    return found
