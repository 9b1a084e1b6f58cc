"""Blocked members: what they still reach, and where their web goes instead.

Part of every ruleset: nobody's first block in the night writes rules.
"""

from collections.abc import Iterator

from firewall.chains.rule_helpers import RETURN, at, in_prefixes, jump, rule
from firewall.chains.used_sets import Used
from firewall.policy import Address, Gateway, Protocol
from firewall.ruleset import Chain, Count, DnatTo, Field, Lookup, Match, Part, Refusal, Reject, Rule

HTTP = 80
_DESTINATION = {4: Field.IP_DADDR, 6: Field.IP6_DADDR}
_PORT = {Protocol.TCP: Field.TCP_DPORT, Protocol.UDP: Field.UDP_DPORT}


def chain(gateway: Gateway) -> Chain:
    """Returns what a blocked member may begin, which is then decided on like anybody's; refuses the rest at once."""
    refuse = (Count("blocked"),)
    return Chain(
        "blocked",
        (
            *_reachable(gateway),
            *_notice(gateway),
            rule(Match(Field.L4PROTO, ("tcp",)), *refuse, Reject(Refusal.TCP_RESET)),
            rule(*refuse, Reject(Refusal.ADMIN_PROHIBITED)),
        ),
    )


def jumps(gateway: Gateway, used: Used) -> Iterator[Rule]:
    """Connections that a blocked member begins, and those to one, which reach nothing of what is left to him."""
    yield from begun(gateway, used)
    yield from (rule(destination, jump("blocked")) for destination in _blocked(used, Field.IP_DADDR, Field.IP6_DADDR))


def begun(gateway: Gateway, used: Used) -> Iterator[Rule]:
    """The first half of `jumps`, where packets both ways pass."""
    inside = at(Field.IIFNAME, gateway.interfaces.lan)
    yield from (rule(inside, source, jump("blocked")) for source in _blocked(used, Field.IP_SADDR, Field.IP6_SADDR))


def redirects(gateway: Gateway, used: Used) -> Iterator[Rule]:
    """HTTP of blocked members goes to the notice host, unless it is for a host that they reach anyway."""
    inside, http = at(Field.IIFNAME, gateway.interfaces.lan), Match(Field.TCP_DPORT, (HTTP,))
    for host in _hosts(gateway):
        own = tuple(each for each in _by_port(gateway).get((host.version, Protocol.TCP, HTTP), ()) if each != host)
        besides = (Match(_DESTINATION[host.version], own, negated=True),) if own else ()
        sources = _blocked(used, Field.IP_SADDR, None) if host.version == 4 else _blocked(used, None, Field.IP6_SADDR)
        for source in sources:
            yield rule(inside, source, *besides, http, DnatTo(host, gateway.settings.notice.port), comment="notice")


def _blocked(used: Used, field4: Field | None, field6: Field | None) -> Iterator[Lookup]:
    """The address of one field is that of a blocked member."""
    if field4:
        yield Lookup((field4,), "blocked4")
    if field6:
        yield from (in_prefixes(field6, "blocked6", length) for length in used.lengths("blocked6"))


def _hosts(gateway: Gateway) -> tuple[Address, ...]:
    """The notice hosts. They stand behind an interface of their own, or the answer would not come back this way."""
    notice = gateway.settings.notice
    return tuple(host for host in (notice.ipv4, notice.ipv6) if host) if gateway.interfaces.server else ()


def _by_port(gateway: Gateway) -> dict[tuple[int, Protocol, int], tuple[Address, ...]]:
    found: dict[tuple[int, Protocol, int], tuple[Address, ...]] = {}
    for each in sorted(gateway.settings.notice.reachable, key=lambda each: (each.address.version, each.protocol, each.port, each.address)):
        key = (each.address.version, each.protocol, each.port)
        found[key] = (*found.get(key, ()), each.address)
    return found


def _reachable(gateway: Gateway) -> Iterator[Rule]:
    for (version, protocol, port), hosts in _by_port(gateway).items():
        yield rule(Match(_DESTINATION[version], hosts), Match(_PORT[protocol], (port,)), RETURN, comment="stays reachable")


def _notice(gateway: Gateway) -> Iterator[Rule]:
    for host in _hosts(gateway):
        led: tuple[Part, ...] = (Match(Field.CT_STATUS, ("dnat",)), Match(_DESTINATION[host.version], (host,)))
        yield rule(*led, Match(Field.TCP_DPORT, (gateway.settings.notice.port,)), RETURN, comment="notice")
