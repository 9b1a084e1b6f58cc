"""The first packet of a connection."""

from firewall import probing
from firewall.chains import blocks
from firewall.chains.parts import RETURN, at, jump, rule
from firewall.chains.used import Used
from firewall.policy import Gateway, Interfaces
from firewall.ruleset import Chain, Count, Field, Match, Refusal, Reject, Rule


def chain(gateway: Gateway, used: Used) -> Chain:
    """A connection's first packet: returns when it is allowed (so that it is counted too), is refused otherwise."""
    names = gateway.interfaces
    refuse = (Count("refused"),)
    return Chain(
        "new",
        (
            rule(jump("bans")),
            rule(jump("spoofed")),
            *blocks.jumps(gateway, used),
            rule(Match(Field.CT_STATUS, ("dnat",)), RETURN, comment="port forwards"),
            rule(at(Field.IIFNAME, names.lan), at(Field.OIFNAME, names.wan), RETURN),
            *_servers(names),
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


def _servers(names: Interfaces) -> tuple[Rule, ...]:
    """Members may begin connections to servers, and servers to the internet; what the internet may reach is a listener or a forward."""
    if not names.server:
        return ()
    return (
        rule(at(Field.IIFNAME, names.lan), at(Field.OIFNAME, names.server), RETURN, comment="servers"),
        rule(at(Field.IIFNAME, names.server), at(Field.OIFNAME, names.wan), RETURN, comment="servers"),
    )
