"""Elements of NAT mappings: the public address and ports that a private address leaves with; and, once more, those that may leave at all.

There is one map for each way of sharing, because the rule that looks it up says how the port is chosen. Each private address is in
one of them.
"""

from ipaddress import IPv4Address

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.policy import NatMappingSpec, Policy, PolicyError, SharingMode, TouchedKeys
from firewall.ruleset import PLAIN, Element

MAPS = {SharingMode.SHARED: "snat4", SharingMode.OWN: "snat4_own", SharingMode.BLOCKS: "snat4_block"}
WHOLE, BLOCK = "out4", "out4_block"  # sources that leave with any protocol, and those that leave only with protocols that have ports


def build_elements(policy: Policy) -> ElementsBySet:
    """Return the elements, by set. Raises PolicyError when a private address has two mappings, or a block of ports is not valid."""
    sets: ElementsBySet = {name: {} for name in (*MAPS.values(), WHOLE, BLOCK)}
    shared, out = sets["snat4"], sets[WHOLE]
    for mapping in policy.mappings:
        private = mapping.private.packed
        if mapping.sharing is SharingMode.SHARED:
            shared[private] = Element(mapping.public.packed)
            out[private] = PLAIN
        elif mapping.sharing is SharingMode.OWN:
            sets["snat4_own"][private] = Element(mapping.public.packed)
            out[private] = PLAIN
        else:
            sets["snat4_block"][private] = Element(_pack_block(mapping))
            sets[BLOCK][private] = PLAIN
    if len(out.keys() | sets[BLOCK].keys()) != len(policy.mappings):
        _raise_duplicate(policy.mappings)
    return sets


def _pack_block(mapping: NatMappingSpec) -> bytes:
    """Return the block's value: address and first port, then address and last port."""
    first, last = mapping.first_port, mapping.last_port
    if not 0 < first < last < 65536:
        raise PolicyError(
            f"NAT mapping of {mapping.private}: ports {first} to {last} are not a block; a block has two or more, up to 65535"
        )
    return b"".join(mapping.public.packed + port.to_bytes(2) + b"\0\0" for port in (first, last))


def _raise_duplicate(mappings: tuple[NatMappingSpec, ...]) -> None:
    """Raise PolicyError for the private address with two mappings.

    It names both public addresses, because one of them may be that of a gateway's probe.
    """
    first: dict[IPv4Address, NatMappingSpec] = {}
    for mapping in mappings:
        before = first.setdefault(mapping.private, mapping)
        if before is not mapping:
            raise PolicyError(f"NAT mapping of {mapping.private} is given twice: to {before.public} and to {mapping.public}")


def build_keys(touched: TouchedKeys) -> KeysBySet:
    """Return the keys, by set, that mappings of the touched addresses would have."""
    return {name: {address.packed for address in touched.addresses} for name in (*MAPS.values(), WHOLE, BLOCK)}


def parse_element(name: str, key: bytes, element: Element) -> NatMappingSpec:
    """Return the mapping of an element of one of the MAPS."""
    sharing = next(sharing for sharing, of in MAPS.items() if of == name)
    private, public, ports = IPv4Address(key), IPv4Address(element.value[:4]), element.value[4:]
    return NatMappingSpec(private, public, sharing, int.from_bytes(ports[:2]), int.from_bytes(ports[8:10]))
