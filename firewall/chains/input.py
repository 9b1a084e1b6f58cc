"""The chain of packets for the gateway itself."""

from ipaddress import IPv6Network

from firewall.chains.rule_helpers import ACCEPT, DROP, ERRORS4, ERRORS6, VRRP, make_rule, match_field
from firewall.policy import GatewaySpec, RoutingPeer, RoutingProtocol
from firewall.ruleset import Chain, Field, Hook, HookPriority, Limit, Match, Rule, VerdictAction, VerdictMap

NEIGHBOUR_DISCOVERY = ("nd-router-solicit", "nd-router-advert", "nd-neighbor-solicit", "nd-neighbor-advert")
# Switches that snoop forget a host that does not answer (RFC 2710, section 3): then neighbour discovery does not find the gateway.
_FROM_THE_LINK = (Match(Field.HOPLIMIT, (1,)), Match(Field.IP6_SADDR, (IPv6Network("fe80::/10"),)))
STATE_SYNC_PORT = 3780  # conntrackd's default
# BGP: RFC 4271, section 8.2.1; OSPF: IP protocol 89, RFC 2328, section 4.3
SPOKEN = {RoutingProtocol.BGP: Match(Field.TCP_DPORT, (179,)), RoutingProtocol.OSPF: Match(Field.L4PROTO, (89,))}


def build_chain(gateway: GatewaySpec) -> Chain:
    """Return the input chain. Neighbour discovery stands before connection state, because connection tracking leaves it untracked."""
    names, management = gateway.interfaces, gateway.management
    v4 = tuple(source for source in management.sources if source.version == 4)
    v6 = tuple(source for source in management.sources if source.version == 6)
    port = Match(Field.TCP_DPORT, (management.port,))
    rules = [make_rule(match_field(Field.IIFNAME, "lo"), ACCEPT)]
    for field, sources in ((Field.IP_SADDR, v4), (Field.IP6_SADDR, v6)):
        if sources:
            rules.append(make_rule(match_field(Field.IIFNAME, names.management), Match(field, sources), port, ACCEPT, comment="management"))
    if names.sync:
        rules.append(
            make_rule(match_field(Field.IIFNAME, names.sync), Match(Field.UDP_DPORT, (STATE_SYNC_PORT,)), ACCEPT, comment="state sync")
        )
    both = match_field(Field.IIFNAME, names.lan, names.wan)
    rules += build_routing_neighbour_rules(both, gateway.settings.protection.peers)
    elected = match_field(Field.IIFNAME, names.lan, names.wan, *filter(None, [names.sync]))
    rules += [
        make_rule(elected, Match(Field.L4PROTO, (VRRP,)), ACCEPT, comment="VRRP, RFC 9568"),
        make_rule(Match(Field.ICMPV6_TYPE, NEIGHBOUR_DISCOVERY), Match(Field.HOPLIMIT, (255,)), ACCEPT, comment="RFC 4861"),
        make_rule(both, Match(Field.ICMPV6_TYPE, ("mld-listener-query",)), *_FROM_THE_LINK, ACCEPT, comment="RFC 4890, 4.4.1"),
        make_rule(Match(Field.ICMP_TYPE, ERRORS4), Limit(1000, 100), ACCEPT),
        make_rule(Match(Field.ICMPV6_TYPE, ERRORS6), Limit(1000, 100), ACCEPT),
        make_rule(VerdictMap((Field.CT_STATE,), ((("established",), ACCEPT), (("related",), ACCEPT), (("invalid",), DROP)))),
        make_rule(Match(Field.ICMP_TYPE, ("echo-request",)), Limit(100, 100), ACCEPT),
        make_rule(Match(Field.ICMPV6_TYPE, ("echo-request",)), Limit(100, 100), ACCEPT),
    ]
    return Chain("input", tuple(rules), Hook("filter", "input", HookPriority.FILTER, VerdictAction.DROP))


def build_routing_neighbour_rules(both: Match, listed: tuple[RoutingPeer, ...]) -> list[Rule]:
    """Return the rules for what the listed routers may speak to the gateway, one for each protocol and family."""
    rules = []
    for routing in RoutingProtocol:
        for field, version in ((Field.IP_SADDR, 4), (Field.IP6_SADDR, 6)):
            sources = tuple(sorted({peer.address for peer in listed if peer.routing is routing and peer.address.version == version}))
            if sources:
                rules.append(make_rule(both, Match(field, sources), SPOKEN[routing], ACCEPT, comment=f"{routing} neighbours"))
    return rules
