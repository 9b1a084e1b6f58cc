"""Timeouts of members' connections in the connection table, where the kernel's own are too short, or far too long.

RFC 4787, REQ-5: a UDP mapping lives at least two minutes from its last packet, for ports below 1024 less where their service needs
no more. RFC 5382, REQ-5: an open TCP connection at least 2 hours and 4 minutes. nft has no such timeouts for ICMP: there the
profile alone decides.
"""

from collections.abc import Iterator

from firewall.chains.rule_helpers import make_rule
from firewall.policy import GatewaySpec, Profile
from firewall.ruleset import Field, Match, Rule, SetTimeout

LEAST_UDP = 120  # seconds
QUESTIONS = (53, 123)
"""UDP ports of DNS and NTP: a question and its answer, thousands of times a minute, which nobody comes back to."""


def iter_timeout_rules(gateway: GatewaySpec) -> Iterator[Rule]:
    """Yield the rules for a chain that sees only a connection's first packet, once it may pass. TCP has one only where no profile
    says how long.
    """
    profile = gateway.settings.profile
    kept = profile or Profile()
    udp = SetTimeout("udp", (("unreplied", max(LEAST_UDP, kept.udp)), ("replied", max(LEAST_UDP, kept.udp_stream))))
    yield make_rule(Match(Field.UDP_DPORT, QUESTIONS, negated=True), udp, comment="RFC 4787, REQ-5")
    if profile is None:
        tcp = SetTimeout("tcp", (("established", kept.tcp_established),))
        yield make_rule(Match(Field.L4PROTO, ("tcp",)), tcp, comment="RFC 5382, REQ-5")
