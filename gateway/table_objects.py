"""Objects of our table as the kernel dumps them: the table, its chains, sets, rules and named counters. No elements; changes nothing.

Each function asks over the socket that it is given, which no other thread uses meanwhile. Layouts: linux/netfilter/nf_tables.h.
"""

from hashlib import blake2b

from firewall.ruleset import TABLE, Chain, Hook, HookPriority, Set, Type, VerdictAction, compute_width
from gateway import elements as codec
from gateway import netlink
from gateway.netlink import Netlink
from gateway.netlink_attributes import iter_attribute_spans, pack_text, parse_attribute_text, parse_attributes, parse_number
from gateway.table import UNKNOWN_RULES

_TABLE_NAME, _TABLE_HANDLE = 1, 4
_CHAIN_TABLE, _CHAIN_NAME, _CHAIN_HOOK, _CHAIN_POLICY, _CHAIN_TYPE = 1, 3, 4, 5, 7
_HOOK_NUMBER, _HOOK_PRIORITY = 1, 2
_CHAIN_ITSELF = (2, 4, 5, 7, 10)  # handle, hook, policy, type, flags; not counts, nor the number of rules that use it
_RULE_TABLE, _RULE_CHAIN, _RULE_HANDLE, _RULE_EXPRESSIONS, _EXPRESSION_NAME = 1, 2, 3, 4, 1
_SET_TABLE, _SET_NAME, _SET_FLAGS, _SET_KEY_TYPE, _SET_DATA_TYPE, _SET_DESCRIPTION, _SET_EXPR, _SET_EXPRESSIONS = 1, 2, 3, 4, 6, 9, 17, 18
_SET_DATA_LENGTH = 7
_SET_LIVES = 11
_DESCRIPTION_SIZE = 1
_ANONYMOUS, _MAP, _TIMEOUT, _DYNAMIC = 0x1, 0x8, 0x10, 0x20
_KNOWN_FLAGS = _MAP | _TIMEOUT | _DYNAMIC | 0x100  # NFT_SET_EXPR; not interval, constant or objects: ours are none of these
_OBJECT_TABLE, _OBJECT_NAME, _OBJECT_TYPE, _OBJECT_DATA = 1, 2, 3, 4
_COUNTER_OBJECT = 1
_COUNTER_OCTETS, _COUNTER_PACKETS = 1, 2

_HOOKS = ("prerouting", "input", "forward", "output", "postrouting")  # NF_INET_*, in the order of their numbers
_TYPE_NUMBERS = {7: Type.IPV4, 8: Type.IPV6, 12: Type.PROTO, 13: Type.PORT}  # nft's TYPE_*, six bits each in a concatenation


def read_handle(over: Netlink) -> int | None:
    """Return the table's handle, None if there is no table."""
    [body] = over.ask(netlink.GETTABLE, [pack_text(_TABLE_NAME, TABLE)])
    return None if body is None else parse_number(parse_attributes(body)[_TABLE_HANDLE])


def read_chains(over: Netlink) -> dict[str, Chain]:
    """Return the chains by name; their rules are not read."""
    found = (parse_attributes(body) for body in _dump(over, netlink.GETCHAIN, _CHAIN_TABLE))
    named = ((parse_attribute_text(given[_CHAIN_NAME]), given) for given in found)
    return {name: Chain(name, UNKNOWN_RULES, _parse_hook(given)) for name, given in named}


def read_declarations(over: Netlink) -> dict[str, Set]:
    """Return the declarations of the sets by name."""
    found = (_parse_declaration(parse_attributes(body)) for body in _dump(over, netlink.GETSET, _SET_TABLE))
    return {each.name: each for each in found if each}


def read_named_counters(over: Netlink) -> dict[str, tuple[int, int]]:
    """Return packets and octets of each named counter."""
    found = (parse_attributes(body) for body in _dump(over, netlink.GETOBJ, _OBJECT_TABLE))
    counters = (given for given in found if parse_number(given[_OBJECT_TYPE]) == _COUNTER_OBJECT)
    return {parse_attribute_text(given[_OBJECT_NAME]): _parse_counts(given[_OBJECT_DATA]) for given in counters}


def list_rule_handles(over: Netlink) -> dict[str, list[int]]:
    """Return the handles of each chain's rules, in the order of the rules."""
    handles: dict[str, list[int]] = {}
    for body in _dump(over, netlink.GETRULE, _RULE_TABLE):
        given = parse_attributes(body)
        handles.setdefault(parse_attribute_text(given[_RULE_CHAIN]), []).append(parse_number(given[_RULE_HANDLE]))
    return handles


def fingerprint_chains(over: Netlink) -> dict[str, str]:
    """Return for each chain a hash of what the kernel dumps of it and its rules (nft would read every element and print none)."""
    chains = {}
    for body in _dump(over, netlink.GETCHAIN, _CHAIN_TABLE):
        given = parse_attributes(body)
        itself = repr([given.get(kind) for kind in _CHAIN_ITSELF]).encode()
        chains[parse_attribute_text(given[_CHAIN_NAME])] = blake2b(itself, digest_size=16)
    for body in _dump(over, netlink.GETRULE, _RULE_TABLE):
        chain = chains.get(parse_attribute_text(parse_attributes(body)[_RULE_CHAIN]))
        if chain:
            chain.update(_strip_counts(body))
    return {name: seen.hexdigest() for name, seen in chains.items()}


def _dump(over: Netlink, kind: int, table_attribute: int) -> list[bytes]:
    """Return the messages about objects of our table. Some kernels also send those of other tables, whatever the request says."""
    ours = pack_text(table_attribute, TABLE)
    try:
        return [body for body in over.dump(kind, ours) if body.startswith(ours)]
    except netlink.MissingObjectError:
        return []


def _parse_counts(data: bytes) -> tuple[int, int]:
    counts = parse_attributes(data)
    return parse_number(counts[_COUNTER_PACKETS]), parse_number(counts[_COUNTER_OCTETS])


def _strip_counts(rule: bytes) -> bytes:
    """Return a rule's attributes without the data of its own counters, which change with every packet."""
    parts, kept = [], 0
    for kind, start, end in iter_attribute_spans(rule):
        for _, begin, stop in iter_attribute_spans(rule, start, end) if kind == _RULE_EXPRESSIONS else ():
            if parse_attributes(rule[begin:stop]).get(_EXPRESSION_NAME) == b"counter\0":
                parts.append(rule[kept:begin])
                kept = stop
    return b"".join(parts) + rule[kept:]


def _parse_declaration(given: dict[int, bytes]) -> Set | None:
    """Parse a set's declaration; None for anonymous sets, which belong to rules."""
    flags = parse_number(given.get(_SET_FLAGS, b""))
    if flags & _ANONYMOUS:
        return None
    known = not flags & ~_KNOWN_FLAGS
    size = parse_attributes(given.get(_SET_DESCRIPTION, b"")).get(_DESCRIPTION_SIZE, b"")
    value = _parse_types(parse_number(given.get(_SET_DATA_TYPE, b""))) if flags & _MAP else ()
    return Set(
        parse_attribute_text(given[_SET_NAME]),
        _parse_types(parse_number(given.get(_SET_KEY_TYPE, b""))) if known else (),
        parse_number(size),
        value,
        counter=(_SET_EXPR in given or _SET_EXPRESSIONS in given) and not codec.is_limit(given.get(_SET_EXPR, b"")),
        timeout=bool(flags & _TIMEOUT and not flags & _DYNAMIC),
        ranges=bool(value) and parse_number(given.get(_SET_DATA_LENGTH, b"")) == 2 * compute_width(value),
        dynamic=bool(flags & _DYNAMIC),
        lives=parse_number(given.get(_SET_LIVES, b"")) // 1000,
        polices=codec.is_limit(given.get(_SET_EXPR, b"")),
    )


def _parse_types(concatenated: int) -> tuple[Type, ...]:
    """Split nft's concatenated type number: six bits for each type, the last type lowest.

    Types that are not ours are left out, so that the declaration differs from ours.
    """
    types = []
    while concatenated:
        types.append(_TYPE_NUMBERS.get(concatenated & 0x3F))
        concatenated >>= 6
    return tuple(each for each in reversed(types) if each)


def _parse_hook(given: dict[int, bytes]) -> Hook | None:
    if _CHAIN_HOOK not in given:
        return None
    hook = parse_attributes(given[_CHAIN_HOOK])
    at, priority = parse_number(hook[_HOOK_NUMBER]), int.from_bytes(hook[_HOOK_PRIORITY], signed=True)
    kind, name = parse_attribute_text(given.get(_CHAIN_TYPE, b"")), _HOOKS[at] if at < len(_HOOKS) else f"hook-{at}"
    policy = VerdictAction.ACCEPT if parse_number(given.get(_CHAIN_POLICY, b"\1")) else VerdictAction.DROP
    if priority not in set(HookPriority):
        return Hook(f"{kind}-at-{priority}", name, HookPriority.FILTER, policy)  # no compiled chain has such a hook
    return Hook(kind, name, HookPriority(priority), policy)
