"""The first packet of a connection."""

from firewall import limiting, probing
from firewall.chains import icmp6, pinholes
from firewall.chains.parts import RETURN, at, jump, rule
from firewall.policy import Gateway
from firewall.ruleset import Chain, Count, Field, Match, Refusal, Reject


def chain(gateway: Gateway) -> Chain:
    """A connection's first packet: returns when it is allowed (so that it is counted too), is refused otherwise."""
    names = gateway.interfaces
    refuse = (Count("refused"),)
    return Chain(
        "new",
        (
            rule(jump("bans")),
            rule(jump("spoofed")),
            *((rule(jump("bogons")),) if gateway.settings.protection.bogons else ()),
            *((rule(jump("limits")),) if limiting.meters(gateway.settings.limits) else ()),
            icmp6.new(),
            rule(Match(Field.CT_STATUS, ("dnat",)), RETURN, comment="port forwards"),
            rule(at(Field.IIFNAME, names.lan), at(Field.OIFNAME, names.wan), RETURN),
            *pinholes.new(gateway),
            *probing.new(gateway),
            rule(Match(Field.L4PROTO, ("tcp",)), *refuse, Reject(Refusal.TCP_RESET)),
            rule(*refuse, Reject(Refusal.ADMIN_PROHIBITED)),
        ),
    )
