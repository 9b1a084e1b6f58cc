"""Rules for the pinholes: what the internet and other members may connect to at members' IPv6 addresses."""

from collections.abc import Iterator

from firewall.chains.rule_helpers import RETURN, make_rule, match_field
from firewall.policy import GatewaySpec
from firewall.ruleset import Field, Lookup, Match, Rule

ADDRESS, PROTOCOL, PORT = Field.IP6_DADDR, Field.L4PROTO, Field.TH_DPORT


def iter_new_rules(gateway: GatewaySpec) -> Iterator[Rule]:
    """Yield the rules, into the members' network alone, so that a pinhole opens nothing on the way out."""
    names = gateway.interfaces
    ways = match_field(Field.IIFNAME, names.lan, names.wan), match_field(Field.OIFNAME, names.lan)
    yield make_rule(*ways, Match(Field.ICMPV6_TYPE, ("echo-request",)), RETURN, comment="RFC 4890, 4.3.1")
    yield make_rule(*ways, Lookup((ADDRESS, PROTOCOL, PORT), "pinhole6"), RETURN, comment="pinholes")
    yield make_rule(*ways, Lookup((ADDRESS, PROTOCOL), "pinhole_protocol6"), RETURN, comment="all ports")
    yield make_rule(*ways, Lookup((ADDRESS,), "pinhole_host6"), RETURN, comment="everything")
