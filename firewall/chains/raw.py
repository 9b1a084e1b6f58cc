"""Before connection tracking: what must never depend on it, whatever fills its table."""

from firewall.chains import listeners
from firewall.chains.parts import ACCEPT, at, rule
from firewall.chains.used import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, Field, Hook, Match, Notrack, Priority, Rule


def prerouting(gateway: Gateway, used: Used) -> Chain:
    """What comes in."""
    return _chain(gateway, "prerouting", Field.IIFNAME, Field.TCP_DPORT, *listeners.untracked(gateway, used))


def output(gateway: Gateway) -> Chain:
    """What the gateway itself sends: both directions, or the answers alone would be tracked."""
    return _chain(gateway, "output", Field.OIFNAME, Field.TCP_SPORT)


def _chain(gateway: Gateway, hook: str, interface: Field, port: Field, *more: Rule) -> Chain:
    """Management and state sync never depend on connection tracking, whatever fills its table."""
    names = gateway.interfaces
    rules = [rule(at(interface, names.management), Match(port, (gateway.management.port,)), Notrack(), ACCEPT, comment="management")]
    if names.sync:
        rules.append(rule(at(interface, names.sync), Notrack(), ACCEPT, comment="state sync"))
    return Chain(f"raw_{hook}", (*rules, *more), Hook("filter", hook, Priority.RAW))
