"""Elements of listeners: the ports of the network's own servers, and these servers' addresses, to which ICMP errors must come.

A guarded listener is in the set of its window scale and not among the others; its host is among theirs. A host's element stays
while any listener is on it: a caller that touches one listener brings all listeners of its host.
"""

from ipaddress import ip_address

from firewall import names
from firewall.elements.forwards import PROTOCOL_KEY, parse_service
from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.elements.unique import check_unique
from firewall.policy import Address, Policy, PolicyError, ServerListenerSpec, TouchedKeys, TransportProtocol
from firewall.ruleset import PLAIN, Element
from firewall.sets import format_set_name, parse_prefix_length, split_set_name

PORTS, HOSTS, GUARDED = {4: "listener4", 6: "listener6"}, {4: "listener4_hosts", 6: "listener6_hosts"}, {4: "guard4", 6: "guard6"}
SCALES = range(15)  # RFC 7323, 2.3


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when two servers listen at one place, a port is not valid, or a listener
    cannot be guarded.
    """
    sets: ElementsBySet = {}
    for each in policy.listeners:
        if not 0 < each.port < 65536:
            raise PolicyError(f"listener {each.id}: port {each.port} is not between 1 and 65535")
        port = sets.setdefault(_get_set_name(each), {})
        port[_pack_key(each.protocol, each.address, each.port)] = Element(comment=names.sanitize_comment(each.name))
        sets.setdefault(HOSTS[each.address.version], {})[each.address.packed] = PLAIN
    places = [f"{each.protocol} {each.port} on {each.address}" for each in policy.listeners]
    check_unique("listener at", places, {key for name in sets if name not in HOSTS.values() for key in sets[name]})
    return sets


def _get_set_name(listener: ServerListenerSpec) -> str:
    version = listener.address.version
    if listener.window_scale is None:
        return PORTS[version]
    if listener.protocol is not TransportProtocol.TCP:
        raise PolicyError(f"listener {listener.id}: {listener.protocol} has no SYNs that could be answered; only TCP can be guarded")
    if listener.window_scale not in SCALES:
        raise PolicyError(f"listener {listener.id}: a window scale of {listener.window_scale} is not between 0 and 14")
    return format_set_name(GUARDED[version], listener.window_scale)


def _pack_key(protocol: TransportProtocol, address: Address, port: int) -> bytes:
    return address.packed + PROTOCOL_KEY[protocol] + port.to_bytes(2) + b"\0\0"


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that the touched listeners would have, guarded or not."""
    found: KeysBySet = {}
    for protocol, address, port in touched.listeners:
        version = address.version
        for name in (PORTS[version], *(format_set_name(GUARDED[version], scale) for scale in SCALES)):
            found.setdefault(name, set()).add(_pack_key(protocol, address, port))
        found.setdefault(HOSTS[version], set()).add(address.packed)
    return found


def parse_element(name: str, key: bytes, element: Element) -> ServerListenerSpec:
    """Return the listener that an element of the sets of ports is; its id is 0. Raises ElementError."""
    address, service = key[:-8], key[-8:]
    scale = parse_prefix_length(name) if split_set_name(name)[0] in GUARDED.values() else None
    return ServerListenerSpec(0, ip_address(address), *parse_service(service), element.comment, scale)
