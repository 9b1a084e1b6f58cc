"""Rules for ICMPv6 on its way through (RFC 4890, section 4.3): the messages that pass besides those of connections that conntrack knows.

Conntrack calls an echo request or a node information query new; errors are related to the connection that they quote, or invalid;
messages that belong to one link (neighbour and listener discovery) are untracked, and everything else is invalid. Invalid and
untracked packets do not pass.
"""

from firewall.chains.rule_helpers import DROP, ERRORS6, make_rule
from firewall.ruleset import Chain, Count, Field, Match, Rule


def build_new_icmp6_rule() -> Rule:
    """Return the rule that drops all messages that open a connection except echo requests: node information stays inside (4.3.5)."""
    return make_rule(Match(Field.ICMPV6_TYPE, ("echo-request",), negated=True), Count("refused"), DROP, comment="RFC 4890, 4.3.5")


def build_icmp6_error_chain() -> Chain:
    """Return the chain that drops all errors except the four defined ones (4.3.1, 4.3.2), so that unassigned ones carry no messages
    (4.3.4).
    """
    errors = make_rule(Match(Field.ICMPV6_TYPE, ERRORS6, negated=True), Count("refused"), DROP, comment="RFC 4890, 4.3.4")
    return Chain("related", (errors,))
