"""The first packet of a connection."""

from firewall import probing
from firewall.chains.parts import RETURN, WITH_PORTS, at, jump, rule
from firewall.policy import Gateway
from firewall.ruleset import Chain, Count, Field, Lookup, Match, Refusal, Reject, Rule


def chain(gateway: Gateway) -> Chain:
    """A connection's first packet: returns when it is allowed (so that it is counted too), is refused otherwise."""
    names = gateway.interfaces
    refuse = (Count("refused"),)
    return Chain(
        "new",
        (
            rule(jump("bans")),
            rule(jump("spoofed")),
            _no_hairpin(gateway),
            rule(Match(Field.CT_STATUS, ("dnat",)), RETURN, comment="port forwards"),
            *_out(gateway),
            rule(
                at(Field.IIFNAME, names.wan),
                at(Field.OIFNAME, names.lan),
                Match(Field.ICMPV6_TYPE, ("echo-request",)),
                RETURN,
                comment="RFC 4890, 4.3.1",
            ),
            *probing.new(gateway),
            rule(Match(Field.L4PROTO, ("tcp",)), *refuse, Reject(Refusal.TCP_RESET)),
            rule(*refuse, Reject(Refusal.ADMIN_PROHIBITED)),
        ),
    )


def _no_hairpin(gateway: Gateway) -> Rule:
    """To a forward from inside, without a public address to come from: the answer would not find its way back through the gateway."""
    names = gateway.interfaces
    return rule(
        *(at(Field.IIFNAME, names.lan), at(Field.OIFNAME, names.lan), Match(Field.CT_STATUS, ("dnat",))),
        *(Lookup((Field.IP_SADDR,), name, negated=True) for name in ("out4", "out4_block")),
        *(Count("unmapped"), Count("refused"), Reject(Refusal.ADMIN_PROHIBITED)),
        comment="no public address",
    )


def _out(gateway: Gateway) -> tuple[Rule, ...]:
    """From a member to the internet: over IPv4 only with what his public address is good for. What is left is refused below."""
    way = (at(Field.IIFNAME, gateway.interfaces.lan), at(Field.OIFNAME, gateway.interfaces.wan))
    block = Lookup((Field.IP_SADDR,), "out4_block")
    return (
        rule(*way, Lookup((Field.IP_SADDR,), "out4"), RETURN, comment="has a public address"),
        rule(*way, Match(Field.NFPROTO, ("ipv6",)), RETURN),
        rule(*way, WITH_PORTS, block, RETURN, comment="has a block of ports"),
        rule(*way, block, Count("portless"), Count("refused"), Reject(Refusal.ADMIN_PROHIBITED), comment="a block has no such ports"),
        rule(*way, Count("unmapped"), comment="no public address"),
    )
