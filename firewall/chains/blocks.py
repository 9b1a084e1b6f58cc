"""Chains and rules for blocked members: what they still reach, and the redirection of their HTTP to the notice page.

They are part of every ruleset, so that the first block in the night writes no rules.
"""

from collections.abc import Iterator

from firewall.chains.rule_helpers import RETURN, make_jump, make_rule, match_field, match_prefix
from firewall.chains.used_sets import UsedSets
from firewall.policy import Address, GatewaySpec, TransportProtocol
from firewall.ruleset import Chain, Count, DnatTo, Field, Lookup, Match, Part, Reject, RejectType, Rule

HTTP = 80
_DESTINATION = {4: Field.IP_DADDR, 6: Field.IP6_DADDR}
_PORT = {TransportProtocol.TCP: Field.TCP_DPORT, TransportProtocol.UDP: Field.UDP_DPORT}


def build_chain(gateway: GatewaySpec) -> Chain:
    """Return the chain that returns for what a blocked member may begin, which is then decided on as for any member, and refuses
    the rest at once.
    """
    refuse = (Count("blocked"),)
    return Chain(
        "blocked",
        (
            *_iter_reachable_rules(gateway),
            *_iter_notice_rules(gateway),
            make_rule(Match(Field.L4PROTO, ("tcp",)), *refuse, Reject(RejectType.TCP_RESET)),
            make_rule(*refuse, Reject(RejectType.ADMIN_PROHIBITED)),
        ),
    )


def iter_blocked_member_jumps(gateway: GatewaySpec, used: UsedSets) -> Iterator[Rule]:
    """Yield the jumps for connections from a blocked member, and for those to one, which match nothing that stays reachable.

    No member is behind the uplink, so what leaves there is to none.
    """
    yield from iter_blocked_sender_jumps(gateway, used)
    inward = Match(Field.OIFNAME, (gateway.interfaces.wan,), negated=True)
    lookups = _iter_blocked_lookups(used, Field.IP_DADDR, Field.IP6_DADDR)
    yield from (make_rule(inward, destination, make_jump("blocked")) for destination in lookups)


def iter_blocked_sender_jumps(gateway: GatewaySpec, used: UsedSets) -> Iterator[Rule]:
    """Yield the first half of `iter_blocked_member_jumps`, for chains that packets pass both ways."""
    inside = match_field(Field.IIFNAME, gateway.interfaces.lan)
    yield from (make_rule(inside, source, make_jump("blocked")) for source in _iter_blocked_lookups(used, Field.IP_SADDR, Field.IP6_SADDR))


def iter_notice_redirects(gateway: GatewaySpec, used: UsedSets) -> Iterator[Rule]:
    """Yield the rules that send blocked members' HTTP to the notice host, unless it is for a host that they reach anyway.

    For a chain that sees members' packets alone.
    """
    http = Match(Field.TCP_DPORT, (HTTP,))
    for host in _list_notice_hosts(gateway):
        own = tuple(each for each in _group_reachable_by_port(gateway).get((host.version, TransportProtocol.TCP, HTTP), ()) if each != host)
        besides = (Match(_DESTINATION[host.version], own, negated=True),) if own else ()
        sources = (
            _iter_blocked_lookups(used, Field.IP_SADDR, None) if host.version == 4 else _iter_blocked_lookups(used, None, Field.IP6_SADDR)
        )
        for source in sources:
            yield make_rule(http, source, *besides, DnatTo(host, gateway.settings.notice.port), comment="notice")


def _iter_blocked_lookups(used: UsedSets, field4: Field | None, field6: Field | None) -> Iterator[Lookup]:
    """Yield the lookups that match when the address in one of the fields is a blocked member's."""
    if field4:
        yield Lookup((field4,), "blocked4")
    if field6:
        yield from (match_prefix(field6, "blocked6", length) for length in used.list_lengths("blocked6"))


def _list_notice_hosts(gateway: GatewaySpec) -> tuple[Address, ...]:
    """Return the notice hosts, if they are behind an interface of their own; otherwise the answer would not come back this way."""
    notice = gateway.settings.notice
    return tuple(host for host in (notice.ipv4, notice.ipv6) if host) if gateway.interfaces.server else ()


def _group_reachable_by_port(gateway: GatewaySpec) -> dict[tuple[int, TransportProtocol, int], tuple[Address, ...]]:
    found: dict[tuple[int, TransportProtocol, int], tuple[Address, ...]] = {}
    for each in sorted(gateway.settings.notice.reachable, key=lambda each: (each.address.version, each.protocol, each.port, each.address)):
        key = (each.address.version, each.protocol, each.port)
        found[key] = (*found.get(key, ()), each.address)
    return found


def _iter_reachable_rules(gateway: GatewaySpec) -> Iterator[Rule]:
    for (version, protocol, port), hosts in _group_reachable_by_port(gateway).items():
        yield make_rule(Match(_DESTINATION[version], hosts), Match(_PORT[protocol], (port,)), RETURN, comment="stays reachable")


def _iter_notice_rules(gateway: GatewaySpec) -> Iterator[Rule]:
    for host in _list_notice_hosts(gateway):
        led: tuple[Part, ...] = (Match(Field.CT_STATUS, ("dnat",)), Match(_DESTINATION[host.version], (host,)))
        yield make_rule(*led, Match(Field.TCP_DPORT, (gateway.settings.notice.port,)), RETURN, comment="notice")
