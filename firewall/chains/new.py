"""The first packet of a connection."""

from firewall import limit_sets, probing
from firewall.chains import blocks, guards, icmp6, pinholes
from firewall.chains.rule_helpers import RETURN, WITH_PORTS, at, jump, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway, Interfaces
from firewall.ruleset import Chain, Count, Field, Lookup, Match, Refusal, Reject, Rule


def chain(gateway: Gateway, used: Used) -> Chain:
    """A connection's first packet: returns when it is allowed (so that it is counted too), is refused otherwise."""
    refuse = (Count("refused"),)
    return Chain(
        "new",
        (
            rule(jump("bans")),
            rule(jump("spoofed")),
            *((rule(jump("bogons")),) if gateway.settings.protection.bogons else ()),
            *blocks.jumps(gateway, used),
            *((rule(jump("limits")),) if limit_sets.meters(gateway.settings.limits) else ()),
            icmp6.new(),
            *guards.answered(gateway, used, guards.ACK),
            rule(Match(Field.CT_STATUS, ("dnat",)), RETURN, comment="port forwards"),
            *_out(gateway),
            *_servers(gateway.interfaces),
            *pinholes.new(gateway),
            *probing.new(gateway),
            rule(Match(Field.L4PROTO, ("tcp",)), *refuse, Reject(Refusal.TCP_RESET)),
            rule(*refuse, Reject(Refusal.ADMIN_PROHIBITED)),
        ),
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


def _servers(names: Interfaces) -> tuple[Rule, ...]:
    """Members may begin connections to servers, and servers to the internet; what the internet may reach is a listener or a forward."""
    if not names.server:
        return ()
    return (
        rule(at(Field.IIFNAME, names.lan), at(Field.OIFNAME, names.server), RETURN, comment="servers"),
        rule(at(Field.IIFNAME, names.server), at(Field.OIFNAME, names.wan), RETURN, comment="servers"),
    )
