"""Guarded services: TCP ports of servers where gateways answer SYNs in the server's stead, so that a flood of them never gets there.

A SYN is left untracked, or it would take a place in the connection table before anybody has answered it; the client's ACK belongs to no
connection yet. So both meet Synproxy where untracked and invalid packets end, and what follows is tracked. One rule for each family and
window scale in use, whatever the number of services.
"""

from collections.abc import Iterator

from firewall.chains import blocks
from firewall.chains.rule_helpers import ACCEPT, DROP, at, jump, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway
from firewall.ruleset import Action, Chain, Field, Lookup, Notrack, Rule, Synproxy, TcpFlags, Verdict
from firewall.sets import of_length

SYN, ACK = TcpFlags(("syn",), ("fin", "rst", "ack")), TcpFlags(("ack",), ("fin", "syn", "rst"))
MSS = {4: 1460, 6: 1440}  # of Ethernet: 1500 octets without the headers of IP and TCP
_TO = {4: Field.IP_DADDR, 6: Field.IP6_DADDR}
_FROM = {4: Field.IP_SADDR, 6: Field.IP6_SADDR}


def in_use(used: Used) -> bool:
    """Is any service guarded?"""
    return any(_sets(used))


def untracked(used: Used) -> Iterator[Rule]:
    """For the raw chain: SYNs alone. What follows is tracked, because numbers and timestamps have to be translated."""
    yield from (rule(SYN, to, Notrack(), ACCEPT, comment="guarded services") for _version, _scale, to, _back in _sets(used))


def answered(gateway: Gateway, used: Used, flags: TcpFlags) -> Iterator[Rule]:
    """SYNs, or the ACKs that must bring a cookie."""
    there = at(Field.OIFNAME, side(gateway))
    for version, scale, to, _back in _sets(used):
        yield rule(there, flags, to, Synproxy(MSS[version], scale), comment="guarded services")


def verdict(used: Used) -> Verdict:
    """What befalls an invalid packet that is forwarded."""
    return Verdict(Action.GOTO, "strays") if in_use(used) else DROP


def chains(gateway: Gateway, used: Used) -> tuple[Chain, ...]:
    """`cookies`, for invalid packets that may bring one: who was banned or blocked since gets no further. `strays`: all others end."""
    if not in_use(used):
        return ()
    asked = (rule(jump("bans")), rule(jump("spoofed")), *blocks.begun(gateway, used))
    there = at(Field.OIFNAME, side(gateway))
    led = (rule(there, ACK, to, Verdict(Action.GOTO, "cookies"), comment="guarded services") for _version, _scale, to, _back in _sets(used))
    return Chain("cookies", (*asked, *answered(gateway, used, ACK), rule(DROP))), Chain("strays", (*led, rule(DROP)))


def passing(gateway: Gateway, used: Used) -> Iterator[Rule]:
    """Tracked packets of guarded services where servers stand among members, who pay for what they exchange with them."""
    names = gateway.interfaces
    if names.server:  # all ways to and from there are in the map already
        return
    inside, outside = (names.lan, names.wan)
    for _version, _scale, to, back in _sets(used):
        yield rule(at(Field.IIFNAME, outside), at(Field.OIFNAME, inside), to, ACCEPT, comment="guarded services")
        yield rule(at(Field.IIFNAME, inside), at(Field.OIFNAME, outside), back, ACCEPT, comment="guarded services")
        yield rule(at(Field.IIFNAME, inside), at(Field.OIFNAME, inside), to, jump("up"), comment="guarded services")
        yield rule(at(Field.IIFNAME, inside), at(Field.OIFNAME, inside), back, jump("down"), comment="guarded services")


def side(gateway: Gateway) -> str:
    """The interface behind which servers stand."""
    return gateway.interfaces.server or gateway.interfaces.lan


def _sets(used: Used) -> Iterator[tuple[int, int, Lookup, Lookup]]:
    """For each set in use: IP version, window scale, what goes to its services, and what comes from them."""
    for version in (4, 6):
        for scale in used.lengths(f"guard{version}"):
            name = of_length(f"guard{version}", scale)
            to = Lookup((_TO[version], Field.L4PROTO, Field.TH_DPORT), name)
            yield version, scale, to, Lookup((_FROM[version], Field.L4PROTO, Field.TH_SPORT), name)
