"""The destinations of new connections: the notice page for blocked members, and port forwards."""

from firewall.chains import blocks
from firewall.chains.parts import at, rule
from firewall.chains.used import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, Dnat, Field, Hook, Priority

DESTINATION_PORT = (Field.IP_DADDR, Field.L4PROTO, Field.TH_DPORT)


def chain(gateway: Gateway, used: Used) -> Chain:
    names = gateway.interfaces
    forwards = rule(at(Field.IIFNAME, names.lan, names.wan), Dnat(DESTINATION_PORT, "fwd4"), comment="port forwards")
    return Chain("dstnat", (*blocks.redirects(gateway, used), forwards), Hook("nat", "prerouting", Priority.DSTNAT))
