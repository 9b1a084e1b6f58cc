"""From a policy to the ruleset of one gateway, whole or by what changed.

People become elements here; chains.py has the shape that looks them up. Both ways end in `assemble`, so that a change
compiled alone gives the very ruleset that compiling everything would give.
"""

from collections.abc import Iterable, Mapping, Set
from ipaddress import IPv4Address, IPv6Network
from typing import TypeAlias

from firewall import chains, names, probing
from firewall.diff import Delta, ElementChange, diff_shape
from firewall.policy import Ban, Forward, Gateway, Keys, NatMapping, Policy, PolicyError, Protocol
from firewall.ruleset import PLAIN, Element, Elements, Ruleset, Type
from firewall.ruleset import Set as Declaration

PROTOCOL_KEY = {Protocol.TCP: b"\x06\0\0\0", Protocol.UDP: b"\x11\0\0\0"}  # IANA protocol numbers, padded
BAN_LENGTHS = {4: range(8, 33), 6: (*range(16, 65), 128)}  # one rule each way per length in use, so they are bounded
MEMBER_LENGTHS = range(32, 65)
MOST_MEMBER_LENGTHS = 4
SMALLEST_SET, LARGEST_SET = 1 << 16, 1 << 24

_PORT_MAP = (Type.IPV4, Type.PROTO, Type.PORT)
_FIXED_SETS = ("up4", "down4", "snat4", "fwd4")

ElementsBySet: TypeAlias = dict[str, dict[bytes, Element]]


def compile_policy(policy: Policy) -> Ruleset:
    """The whole ruleset of the policy's gateway.

    Raises PolicyError when the policy must not be deployed, naming the culprits.
    """
    return assemble(policy.gateway, elements_of(policy))


def compile_change(running: Ruleset, *, touched: Keys, come: Policy) -> Delta:
    """What a change makes of a running ruleset: `touched` names the objects that may differ, `come` has those that exist now.

    Costs what the touched objects and sets cost, not what the network does. What is in `come` counts as touched.
    """
    return change_shape(running, come.gateway, change_elements(running, touched, elements_of(come)))


def change_elements(running: Ruleset, touched: Keys, come: ElementsBySet) -> dict[str, ElementChange]:
    """What a change makes of the elements: of each set those that leave and enter. The gateways of a group share it."""
    keys = _element_keys(touched, running)
    found = {
        name: _element_change(name, running.elements.get(name, {}), keys.get(name, set()), come.get(name, {}))
        for name in sorted(keys.keys() | come.keys())
    }
    return {name: change for name, change in found.items() if change.removed or change.added}


def change_shape(running: Ruleset, gateway: Gateway, changes: Mapping[str, ElementChange]) -> Delta:
    """The whole delta around these changes of elements: chains and sets of prefix lengths that come or go, and sets that grow.

    Raises PolicyError when what comes cannot be this gateway's.
    """
    probing.collide(gateway, {name: change.added for name, change in changes.items()})
    counts = {name: len(elements) for name, elements in running.elements.items()}
    for name, change in changes.items():
        counts[name] = counts.get(name, 0) + len(change.added) - len(change.removed)
    shape = diff_shape(running, _shape(gateway, counts))
    elements = dict(changes)
    for name, (old, new) in shape.sets.items():
        of = new or old
        if of:  # the set is made anew, or goes: all its elements do
            before_all = running.elements.get(name, {})
            elements[name] = ElementChange(of, before_all, elements[name].apply(before_all) if new else {})
    return Delta(shape.chains, shape.sets, dict(sorted(elements.items())), shape.counters)


def _element_keys(touched: Keys, running: Ruleset) -> dict[str, set[bytes]]:
    """Under which keys of which sets the touched objects are, if they are."""
    addresses = {address.packed for address in touched.addresses}
    keys = dict.fromkeys(("up4", "down4", "snat4"), addresses) if addresses else {}
    if touched.ports:
        keys["fwd4"] = {_port_key(*port) for port in touched.ports}
    for prefix in touched.prefixes:
        for name in (names.up6(prefix.prefixlen), names.down6(prefix.prefixlen)):
            keys.setdefault(name, set()).add(prefix.network_address.packed)
    for banned in touched.bans:
        keys.setdefault(names.bans(banned.version, banned.prefixlen), set()).add(banned.network_address.packed)
    return {name: each for name, each in keys.items() if name in running.elements}


def _element_change(name: str, running: Elements, touched: Set[bytes], after: Elements) -> ElementChange:
    removed = {key: running[key] for key in sorted(touched | after.keys()) if key in running and running[key] != after.get(key)}
    added = {key: element for key, element in sorted(after.items()) if running.get(key) != element}
    return ElementChange(_declare(name, len(running)), removed, added)


def elements_of(policy: Policy) -> ElementsBySet:
    """What the policy's objects are in the kernel: for each set its elements.

    Raises PolicyError when two objects are the same element.
    """
    members = {address.packed: PLAIN for address in policy.addresses}
    _all_different("address", policy.addresses, members)
    return {
        "up4": members,
        "down4": members.copy(),
        "snat4": _mappings(policy.mappings),
        "fwd4": _forwards(policy.forwards),
        **_prefixes(policy.prefixes),
        **_bans(policy.bans),
    }


def _mappings(mappings: tuple[NatMapping, ...]) -> dict[bytes, Element]:
    elements = {mapping.private.packed: Element(mapping.public.packed) for mapping in mappings}
    if len(elements) != len(mappings):
        _name_twice(mappings)
    return elements


def _name_twice(mappings: tuple[NatMapping, ...]) -> None:
    """Both public addresses are named: one of them may be that of a gateway's probe."""
    first: dict[IPv4Address, NatMapping] = {}
    for mapping in mappings:
        before = first.setdefault(mapping.private, mapping)
        if before is not mapping:
            raise PolicyError(f"NAT mapping of {mapping.private} is given twice: to {before.public} and to {mapping.public}")


def _forwards(forwards: tuple[Forward, ...]) -> dict[bytes, Element]:
    elements = {_public_key(forward): Element(forward.private.packed + _port(forward, forward.private_port)) for forward in forwards}
    _all_different("forward of", [f"{each.protocol} {each.public}:{each.public_port}" for each in forwards], elements)
    return elements


def _public_key(forward: Forward) -> bytes:
    return forward.public.packed + PROTOCOL_KEY[forward.protocol] + _port(forward, forward.public_port)


def _port_key(protocol: Protocol, public: IPv4Address, port: int) -> bytes:
    return public.packed + PROTOCOL_KEY[protocol] + port.to_bytes(2) + b"\0\0"


def _port(forward: Forward, port: int) -> bytes:
    if not 0 < port < 65536:
        raise PolicyError(f"forward {forward.id}: port {port} is not between 1 and 65535")
    return port.to_bytes(2) + b"\0\0"


def _prefixes(prefixes: tuple[IPv6Network, ...]) -> ElementsBySet:
    sets: ElementsBySet = {}
    for prefix in prefixes:
        length = prefix.prefixlen
        if length not in MEMBER_LENGTHS:
            raise PolicyError(f"prefix {prefix}: a member's prefix is between /32 and /64 long")
        sets.setdefault(names.up6(length), {})[prefix.network_address.packed] = PLAIN
    _all_different("prefix", prefixes, [key for elements in sets.values() for key in elements])
    return sets | {name.replace("up", "down"): elements.copy() for name, elements in sets.items()}


def _bans(bans: tuple[Ban, ...]) -> ElementsBySet:
    sets: ElementsBySet = {}
    for ban in bans:
        family, length = ban.prefix.version, ban.prefix.prefixlen
        if length not in BAN_LENGTHS[family]:
            raise PolicyError(f"ban {ban.id}: {ban.prefix} is {'wider' if length < 24 else 'narrower'} than a ban can be")
        element = Element(comment=names.comment(ban.comment), expires=ban.expires)
        sets.setdefault(names.bans(family, length), {})[ban.prefix.network_address.packed] = element
    _all_different("ban of", [ban.prefix for ban in bans], [key for elements in sets.values() for key in elements])
    return sets


def _all_different(kind: str, objects: Iterable[object], keys: Mapping[bytes, Element] | list[bytes]) -> None:
    listed = list(objects)
    if len(listed) == len(keys):
        return
    seen: set[object] = set()
    for each in listed:
        if each in seen:
            raise PolicyError(f"{kind} {each} is given twice")
        seen.add(each)


def assemble(gateway: Gateway, elements: Mapping[str, Elements]) -> Ruleset:
    """The ruleset around these elements; sets of lengths that nobody uses any more are left out.

    Raises PolicyError when they cannot be this gateway's.
    """
    shape = _shape(gateway, {name: len(each) for name, each in elements.items()})
    probing.collide(gateway, elements)
    return Ruleset(shape.chains, shape.sets, {name: elements[name] for name in shape.sets}, shape.counters)


def _shape(gateway: Gateway, counts: Mapping[str, int]) -> Ruleset:
    """The ruleset without its elements, from how many each set has."""
    _check_management(gateway)
    sets = {name: _declare(name, counts[name]) for name in sorted(counts) if name in _FIXED_SETS or counts[name]}
    lengths = chains.Lengths(_lengths(sets, "up6_"), _lengths(sets, "bans4_"), _lengths(sets, "bans6_"))
    if len(lengths.members6) > MOST_MEMBER_LENGTHS:
        text = "members' IPv6 prefixes have {} different lengths; at most {} are possible"
        raise PolicyError(text.format(len(lengths.members6), MOST_MEMBER_LENGTHS))
    return Ruleset(chains.build(gateway, lengths), sets, {}, chains.counters(gateway))


def _check_management(gateway: Gateway) -> None:
    if not gateway.management.sources:
        raise PolicyError(f"gateway {gateway.name}: no management network is given; this ruleset would lock everybody out")


def _lengths(sets: Mapping[str, Declaration], start: str) -> tuple[int, ...]:
    return tuple(sorted(int(name.removeprefix(start)) for name in sets if name.startswith(start)))


def _declare(name: str, count: int) -> Declaration:
    """A set that takes `count` elements and some more; its size changes rarely, because a new size empties its counters."""
    size = SMALLEST_SET
    while size < count:
        size *= 4
    if size > LARGEST_SET:
        raise PolicyError(f"set {name}: {count} elements are more than {LARGEST_SET}")
    family = Type.IPV6 if "6_" in name else Type.IPV4
    match name:
        case "snat4":
            return Declaration(name, (Type.IPV4,), size, value=(Type.IPV4,))
        case "fwd4":
            return Declaration(name, _PORT_MAP, size, value=(Type.IPV4, Type.PORT))
        case _:
            return Declaration(name, (family,), size, counter=True, timeout=name.startswith("bans"))
