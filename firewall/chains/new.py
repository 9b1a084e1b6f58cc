"""The chain of a connection's first packet."""

from firewall import limit_sets, probing
from firewall.chains import blocks, guards, icmp6, pinholes
from firewall.chains.rule_helpers import RETURN, WITH_PORTS, make_jump, make_rule, match_field
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec, Interfaces
from firewall.ruleset import Chain, Count, Field, Lookup, Match, Reject, RejectType, Rule


def build_chain(gateway: GatewaySpec, used: UsedSets) -> Chain:
    """Return the chain, which returns when a connection is allowed (so that the packet is counted too), and refuses it otherwise."""
    refuse = (Count("refused"),)
    return Chain(
        "new",
        (
            make_rule(make_jump("bans")),
            make_rule(make_jump("spoofed")),
            *((make_rule(make_jump("bogons")),) if gateway.settings.protection.bogons else ()),
            *blocks.iter_blocked_member_jumps(gateway, used),
            *((make_rule(make_jump("limits")),) if limit_sets.list_meters(gateway.settings.limits) else ()),
            icmp6.build_new_icmp6_rule(),
            *guards.iter_synproxy_rules(gateway, used, guards.ACK),
            make_rule(Match(Field.CT_STATUS, ("dnat",)), RETURN, comment="port forwards"),
            *_build_outbound_rules(gateway),
            *_build_server_rules(gateway.interfaces),
            *pinholes.iter_new_rules(gateway),
            *probing.iter_new_rules(gateway),
            make_rule(Match(Field.L4PROTO, ("tcp",)), *refuse, Reject(RejectType.TCP_RESET)),
            make_rule(*refuse, Reject(RejectType.ADMIN_PROHIBITED)),
        ),
    )


def _build_outbound_rules(gateway: GatewaySpec) -> tuple[Rule, ...]:
    """Return the rules from a member to the internet: over IPv4 only with protocols that the member's public address allows.

    The rules at the end of the chain refuse the rest.
    """
    way = (match_field(Field.IIFNAME, gateway.interfaces.lan), match_field(Field.OIFNAME, gateway.interfaces.wan))
    block = Lookup((Field.IP_SADDR,), "out4_block")
    return (
        make_rule(*way, Lookup((Field.IP_SADDR,), "out4"), RETURN, comment="has a public address"),
        make_rule(*way, Match(Field.NFPROTO, ("ipv6",)), RETURN),
        make_rule(*way, WITH_PORTS, block, RETURN, comment="has a block of ports"),
        make_rule(
            *way, block, Count("portless"), Count("refused"), Reject(RejectType.ADMIN_PROHIBITED), comment="a block has no such ports"
        ),
        make_rule(*way, Count("unmapped"), comment="no public address"),
    )


def _build_server_rules(names: Interfaces) -> tuple[Rule, ...]:
    """Return the rules by which members may begin connections to servers, and servers to the internet.

    The internet may reach listeners and forwards alone.
    """
    if not names.server:
        return ()
    return (
        make_rule(match_field(Field.IIFNAME, names.lan), match_field(Field.OIFNAME, names.server), RETURN, comment="servers"),
        make_rule(match_field(Field.IIFNAME, names.server), match_field(Field.OIFNAME, names.wan), RETURN, comment="servers"),
    )
