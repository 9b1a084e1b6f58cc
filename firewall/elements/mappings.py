"""NAT mappings: which public address a private one leaves as."""

from ipaddress import IPv4Address

from firewall.elements.types import ElementsBySet, KeysBySet
from firewall.policy import Keys, NatMapping, Policy, PolicyError
from firewall.ruleset import Element


def elements(policy: Policy) -> ElementsBySet:
    """Raises PolicyError when a private address has two mappings."""
    mapped = {mapping.private.packed: Element(mapping.public.packed) for mapping in policy.mappings}
    if len(mapped) != len(policy.mappings):
        _name_twice(policy.mappings)
    return {"snat4": mapped}


def _name_twice(mappings: tuple[NatMapping, ...]) -> None:
    """Both public addresses are named: one of them may be that of a gateway's probe."""
    first: dict[IPv4Address, NatMapping] = {}
    for mapping in mappings:
        before = first.setdefault(mapping.private, mapping)
        if before is not mapping:
            raise PolicyError(f"NAT mapping of {mapping.private} is given twice: to {before.public} and to {mapping.public}")


def keys(touched: Keys) -> KeysBySet:
    """Where the mappings of the touched addresses are, if they are."""
    return {"snat4": {address.packed for address in touched.addresses}}
