"""Guarded services: TCP ports of servers where gateways answer SYNs in the server's stead, so that a flood of them never gets there.

A SYN is left untracked; otherwise it would take a place in the connection table before it is answered. The client's ACK belongs to
no connection yet. So both meet Synproxy where untracked and invalid packets end, and what follows is tracked. One rule for each
family and window scale in use, whatever the number of services.
"""

from collections.abc import Iterator

from firewall.chains import blocks
from firewall.chains.rule_helpers import ACCEPT, DROP, make_jump, make_rule, match_field
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Field, Lookup, Notrack, Rule, Synproxy, TcpFlags, Verdict, VerdictAction
from firewall.sets import format_set_name

SYN, ACK = TcpFlags(("syn",), ("fin", "rst", "ack")), TcpFlags(("ack",), ("fin", "syn", "rst"))
MSS = {4: 1460, 6: 1440}  # of Ethernet: 1500 octets without the headers of IP and TCP
_TO = {4: Field.IP_DADDR, 6: Field.IP6_DADDR}
_FROM = {4: Field.IP_SADDR, 6: Field.IP6_SADDR}


def is_in_use(used: UsedSets) -> bool:
    """True if any service is guarded."""
    return any(_iter_guard_sets(used))


def iter_untracked_rules(used: UsedSets) -> Iterator[Rule]:
    """Yield the rules for the raw chain: SYNs alone. What follows is tracked, because numbers and timestamps have to be translated."""
    yield from (make_rule(SYN, to, Notrack(), ACCEPT, comment="guarded services") for _version, _scale, to, _back in _iter_guard_sets(used))


def iter_synproxy_rules(gateway: GatewaySpec, used: UsedSets, flags: TcpFlags) -> Iterator[Rule]:
    """Yield the rules that answer SYNs, or check the ACKs that must bring a cookie, as `flags` says."""
    there = match_field(Field.OIFNAME, get_server_interface(gateway))
    for version, scale, to, _back in _iter_guard_sets(used):
        yield make_rule(there, flags, to, Synproxy(MSS[version], scale), comment="guarded services")


def get_verdict(used: UsedSets) -> Verdict:
    """Return the verdict on an invalid packet that is forwarded."""
    return Verdict(VerdictAction.GOTO, "strays") if is_in_use(used) else DROP


def build_chains(gateway: GatewaySpec, used: UsedSets) -> tuple[Chain, ...]:
    """Return `cookies`, for invalid packets that may bring one, and `strays`, where all others end.

    In `cookies`, a source that was banned or blocked since gets no further.
    """
    if not is_in_use(used):
        return ()
    asked = (make_rule(make_jump("bans")), make_rule(make_jump("spoofed")), *blocks.iter_blocked_sender_jumps(gateway, used))
    there = match_field(Field.OIFNAME, get_server_interface(gateway))
    led = (
        make_rule(there, ACK, to, Verdict(VerdictAction.GOTO, "cookies"), comment="guarded services")
        for _version, _scale, to, _back in _iter_guard_sets(used)
    )
    return Chain("cookies", (*asked, *iter_synproxy_rules(gateway, used, ACK), make_rule(DROP))), Chain("strays", (*led, make_rule(DROP)))


def iter_guarded_service_rules(gateway: GatewaySpec, used: UsedSets) -> Iterator[Rule]:
    """Yield the rules for tracked packets of guarded services where servers stand among members; what members exchange with them counts."""
    names = gateway.interfaces
    if names.server:  # all directions to and from servers are in the verdict map already
        return
    inside, outside = (names.lan, names.wan)
    for _version, _scale, to, back in _iter_guard_sets(used):
        yield make_rule(match_field(Field.IIFNAME, outside), match_field(Field.OIFNAME, inside), to, ACCEPT, comment="guarded services")
        yield make_rule(match_field(Field.IIFNAME, inside), match_field(Field.OIFNAME, outside), back, ACCEPT, comment="guarded services")
        yield make_rule(
            match_field(Field.IIFNAME, inside), match_field(Field.OIFNAME, inside), to, make_jump("up"), comment="guarded services"
        )
        yield make_rule(
            match_field(Field.IIFNAME, inside), match_field(Field.OIFNAME, inside), back, make_jump("down"), comment="guarded services"
        )


def get_server_interface(gateway: GatewaySpec) -> str:
    """Return the interface behind which servers stand."""
    return gateway.interfaces.server or gateway.interfaces.lan


def _iter_guard_sets(used: UsedSets) -> Iterator[tuple[int, int, Lookup, Lookup]]:
    """Yield for each set in use: IP version, window scale, the lookup of packets to its services, and that of packets from them."""
    for version in (4, 6):
        for scale in used.list_lengths(f"guard{version}"):
            name = format_set_name(f"guard{version}", scale)
            to = Lookup((_TO[version], Field.L4PROTO, Field.TH_DPORT), name)
            yield version, scale, to, Lookup((_FROM[version], Field.L4PROTO, Field.TH_SPORT), name)
