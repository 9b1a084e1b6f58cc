"""What is for the gateway itself."""

from ipaddress import IPv6Network

from firewall.chains.rule_helpers import ACCEPT, DROP, ERRORS4, ERRORS6, VRRP, at, rule
from firewall.policy import Gateway, Peer, Routing
from firewall.ruleset import Action, Chain, Field, Hook, Limit, Match, Priority, Rule, VerdictMap

NEIGHBOUR_DISCOVERY = ("nd-router-solicit", "nd-router-advert", "nd-neighbor-solicit", "nd-neighbor-advert")
# Switches that listen forget whoever does not answer (RFC 2710, section 3): then nobody finds the gateway by neighbour discovery.
_FROM_THE_LINK = (Match(Field.HOPLIMIT, (1,)), Match(Field.IP6_SADDR, (IPv6Network("fe80::/10"),)))
STATE_SYNC_PORT = 3780  # conntrackd's default
# BGP: RFC 4271, section 8.2.1; OSPF: IP protocol 89, RFC 2328, section 4.3
SPOKEN = {Routing.BGP: Match(Field.TCP_DPORT, (179,)), Routing.OSPF: Match(Field.L4PROTO, (89,))}


def chain(gateway: Gateway) -> Chain:
    """What is for the gateway itself. Neighbour discovery stands before connection state, which does not track it."""
    names, management = gateway.interfaces, gateway.management
    v4 = tuple(source for source in management.sources if source.version == 4)
    v6 = tuple(source for source in management.sources if source.version == 6)
    port = Match(Field.TCP_DPORT, (management.port,))
    rules = [rule(at(Field.IIFNAME, "lo"), ACCEPT)]
    for field, sources in ((Field.IP_SADDR, v4), (Field.IP6_SADDR, v6)):
        if sources:
            rules.append(rule(at(Field.IIFNAME, names.management), Match(field, sources), port, ACCEPT, comment="management"))
    if names.sync:
        rules.append(rule(at(Field.IIFNAME, names.sync), Match(Field.UDP_DPORT, (STATE_SYNC_PORT,)), ACCEPT, comment="state sync"))
    both = at(Field.IIFNAME, names.lan, names.wan)
    rules += peers(both, gateway.settings.protection.peers)
    rules += [
        rule(both, Match(Field.L4PROTO, (VRRP,)), ACCEPT, comment="VRRP, RFC 9568"),
        rule(Match(Field.ICMPV6_TYPE, NEIGHBOUR_DISCOVERY), Match(Field.HOPLIMIT, (255,)), ACCEPT, comment="RFC 4861"),
        rule(both, Match(Field.ICMPV6_TYPE, ("mld-listener-query",)), *_FROM_THE_LINK, ACCEPT, comment="RFC 4890, 4.4.1"),
        rule(Match(Field.ICMP_TYPE, ERRORS4), Limit(1000, 100), ACCEPT),
        rule(Match(Field.ICMPV6_TYPE, ERRORS6), Limit(1000, 100), ACCEPT),
        rule(VerdictMap((Field.CT_STATE,), ((("established",), ACCEPT), (("related",), ACCEPT), (("invalid",), DROP)))),
        rule(Match(Field.ICMP_TYPE, ("echo-request",)), Limit(100, 100), ACCEPT),
        rule(Match(Field.ICMPV6_TYPE, ("echo-request",)), Limit(100, 100), ACCEPT),
    ]
    return Chain("input", tuple(rules), Hook("filter", "input", Priority.FILTER, Action.DROP))


def peers(both: Match, listed: tuple[Peer, ...]) -> list[Rule]:
    """What the listed routers may speak to the gateway, a rule for each protocol and family."""
    rules = []
    for routing in Routing:
        for field, version in ((Field.IP_SADDR, 4), (Field.IP6_SADDR, 6)):
            sources = tuple(sorted({peer.address for peer in listed if peer.routing is routing and peer.address.version == version}))
            if sources:
                rules.append(rule(both, Match(field, sources), SPOKEN[routing], ACCEPT, comment=f"{routing} neighbours"))
    return rules
