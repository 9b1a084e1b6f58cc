"""ICMPv6 on its way through (RFC 4890, section 4.3): which messages pass beside those that conntrack knows a connection to.

Conntrack calls an echo request or a node information query new; errors are related to the connection that they quote, or invalid; what
belongs to one link (neighbour and listener discovery) is untracked, and everything else invalid. Invalid and untracked do not pass.
"""

from firewall.chains.rule_helpers import DROP, ERRORS6, make_rule
from firewall.ruleset import Chain, Count, Field, Match, Rule


def build_new_rule() -> Rule:
    """Of those that open a connection none but echo requests: node information stays at home (4.3.5)."""
    return make_rule(Match(Field.ICMPV6_TYPE, ("echo-request",), negated=True), Count("refused"), DROP, comment="RFC 4890, 4.3.5")


def build_related_chain() -> Chain:
    """Of errors none but the four that are defined (4.3.1, 4.3.2), so that nobody talks through unassigned ones (4.3.4)."""
    errors = make_rule(Match(Field.ICMPV6_TYPE, ERRORS6, negated=True), Count("refused"), DROP, comment="RFC 4890, 4.3.4")
    return Chain("related", (errors,))
