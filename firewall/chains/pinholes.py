"""What of members' IPv6 addresses anybody may connect to: the internet, and other members."""

from collections.abc import Iterator

from firewall.chains.rule_helpers import RETURN, at, rule
from firewall.policy import Gateway
from firewall.ruleset import Field, Lookup, Match, Rule

ADDRESS, PROTOCOL, PORT = Field.IP6_DADDR, Field.L4PROTO, Field.TH_DPORT


def new(gateway: Gateway) -> Iterator[Rule]:
    """Into the members' network alone, so that a hole opens nothing on the way out."""
    names = gateway.interfaces
    ways = at(Field.IIFNAME, names.lan, names.wan), at(Field.OIFNAME, names.lan)
    yield rule(*ways, Match(Field.ICMPV6_TYPE, ("echo-request",)), RETURN, comment="RFC 4890, 4.3.1")
    yield rule(*ways, Lookup((ADDRESS, PROTOCOL, PORT), "pin6"), RETURN, comment="pinholes")
    yield rule(*ways, Lookup((ADDRESS, PROTOCOL), "pinproto6"), RETURN, comment="all ports")
    yield rule(*ways, Lookup((ADDRESS,), "pinhost6"), RETURN, comment="everything")
