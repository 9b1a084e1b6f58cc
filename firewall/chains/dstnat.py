"""The destinations of new connections: the notice page for blocked members, port forwards, and from inside what none of them takes.

NAT chains see a connection's first packet alone, so nothing here costs the others.
"""

from collections.abc import Iterator

from firewall.chains import blocks
from firewall.chains.rule_helpers import DROP, at, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, Count, Dnat, Field, Hook, Lookup, Match, Priority, Refusal, Reject, Rule

DESTINATION_PORT = (Field.IP_DADDR, Field.L4PROTO, Field.TH_DPORT)


def chain(gateway: Gateway, used: Used) -> Chain:
    names = gateway.interfaces
    forwards = rule(at(Field.IIFNAME, names.lan, names.wan), Dnat(DESTINATION_PORT, "fwd4"), comment="port forwards")
    return Chain("dstnat", (*blocks.redirects(gateway, used), forwards, *_refused(gateway)), Hook("nat", "prerouting", Priority.DSTNAT))


def _refused(gateway: Gateway) -> Iterator[Rule]:
    """A member who calls a public address at a port without a forward hears so: behind this, routing would drop it in silence.

    Whoever is no member hears nothing, or somebody could send refusals to others in their name.
    """
    if not gateway.settings.publics:
        return
    here = at(Field.IIFNAME, gateway.interfaces.lan), Match(Field.IP_DADDR, gateway.settings.publics)
    nobody = Lookup((Field.IP_SADDR,), "up4", negated=True)
    yield rule(*here, nobody, Count("spoofed"), DROP, comment="held by nobody")
    yield rule(*here, Match(Field.L4PROTO, ("tcp",)), Count("refused"), Reject(Refusal.TCP_RESET), comment="no forward")
    yield rule(*here, Count("refused"), Reject(Refusal.ADMIN_PROHIBITED), comment="no forward")
