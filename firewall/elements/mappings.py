"""NAT mappings: which public address a private one leaves as, and with which ports; and, once more, who may leave at all.

One map for each way of sharing, because the rule that looks it up says how the port is chosen. Each private address is in one of them.
"""

from ipaddress import IPv4Address

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.policy import Keys, NatMapping, Policy, PolicyError, Sharing
from firewall.ruleset import PLAIN, Element

MAPS = {Sharing.SHARED: "snat4", Sharing.OWN: "snat4_own", Sharing.BLOCKS: "snat4_block"}
WHOLE, BLOCK = "out4", "out4_block"  # who leaves with any protocol, and who with those that have ports


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when a private address has two mappings, or a block is none."""
    sets: ElementsBySet = {name: {} for name in (*MAPS.values(), WHOLE, BLOCK)}
    shared, out = sets["snat4"], sets[WHOLE]
    for mapping in policy.mappings:
        private = mapping.private.packed
        if mapping.sharing is Sharing.SHARED:
            shared[private] = Element(mapping.public.packed)
            out[private] = PLAIN
        elif mapping.sharing is Sharing.OWN:
            sets["snat4_own"][private] = Element(mapping.public.packed)
            out[private] = PLAIN
        else:
            sets["snat4_block"][private] = Element(_block(mapping))
            sets[BLOCK][private] = PLAIN
    if len(out.keys() | sets[BLOCK].keys()) != len(policy.mappings):
        _name_twice(policy.mappings)
    return sets


def _block(mapping: NatMapping) -> bytes:
    """Address and port of its first and of its last."""
    first, last = mapping.first_port, mapping.last_port
    if not 0 < first < last < 65536:
        raise PolicyError(f"NAT mapping of {mapping.private}: ports {first} to {last} are no block: give it two or more, to 65535")
    return b"".join(mapping.public.packed + port.to_bytes(2) + b"\0\0" for port in (first, last))


def _name_twice(mappings: tuple[NatMapping, ...]) -> None:
    """Both public addresses are named: one of them may be that of a gateway's probe."""
    first: dict[IPv4Address, NatMapping] = {}
    for mapping in mappings:
        before = first.setdefault(mapping.private, mapping)
        if before is not mapping:
            raise PolicyError(f"NAT mapping of {mapping.private} is given twice: to {before.public} and to {mapping.public}")


def keys(touched: Keys) -> KeysBySet:
    """Where the mappings of the touched addresses are, if they are."""
    return {name: {address.packed for address in touched.addresses} for name in (*MAPS.values(), WHOLE, BLOCK)}
