"""What is for the gateway itself."""

from ipaddress import IPv6Network

from firewall.chains.parts import ACCEPT, DROP, ERRORS4, ERRORS6, at, rule
from firewall.policy import Gateway
from firewall.ruleset import Action, Chain, Field, Hook, Limit, Match, Priority, VerdictMap

NEIGHBOUR_DISCOVERY = ("nd-router-solicit", "nd-router-advert", "nd-neighbor-solicit", "nd-neighbor-advert")
# Switches that listen forget whoever does not answer (RFC 2710, section 3): then nobody finds the gateway by neighbour discovery.
_FROM_THE_LINK = (Match(Field.HOPLIMIT, (1,)), Match(Field.IP6_SADDR, (IPv6Network("fe80::/10"),)))
STATE_SYNC_PORT = 3780  # conntrackd's default


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
    rules += [
        rule(both, Match(Field.L4PROTO, ("vrrp",)), ACCEPT, comment="VRRP, RFC 9568"),
        rule(Match(Field.ICMPV6_TYPE, NEIGHBOUR_DISCOVERY), Match(Field.HOPLIMIT, (255,)), ACCEPT, comment="RFC 4861"),
        rule(both, Match(Field.ICMPV6_TYPE, ("mld-listener-query",)), *_FROM_THE_LINK, ACCEPT, comment="RFC 4890, 4.4.1"),
        rule(Match(Field.ICMP_TYPE, ERRORS4), Limit(1000, 100), ACCEPT),
        rule(Match(Field.ICMPV6_TYPE, ERRORS6), Limit(1000, 100), ACCEPT),
        rule(VerdictMap((Field.CT_STATE,), ((("established",), ACCEPT), (("related",), ACCEPT), (("invalid",), DROP)))),
        rule(Match(Field.ICMP_TYPE, ("echo-request",)), Limit(100, 100), ACCEPT),
        rule(Match(Field.ICMPV6_TYPE, ("echo-request",)), Limit(100, 100), ACCEPT),
    ]
    return Chain("input", tuple(rules), Hook("filter", "input", Priority.FILTER, Action.DROP))
