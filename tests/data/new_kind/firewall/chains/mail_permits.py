"""The rule by which only addresses with a permit send mail to other networks' servers (SMTP, RFC 5321, port 25)."""

from collections.abc import Iterator

from firewall.chains.rule_helpers import make_rule, match_field
from firewall.policy import GatewaySpec
from firewall.ruleset import Count, Field, Lookup, Match, Reject, RejectType, Rule

SMTP = 25


def iter_new_rules(gateway: GatewaySpec) -> Iterator[Rule]:
    """Yield the rule for the chain of first packets."""
    names = gateway.interfaces
    yield make_rule(
        match_field(Field.IIFNAME, names.lan),
        match_field(Field.OIFNAME, names.wan),
        Match(Field.TCP_DPORT, (SMTP,)),
        Lookup((Field.IP_SADDR,), "mail_permit4", negated=True),
        Count("refused"),
        Reject(RejectType.TCP_RESET),
        comment="no permit to send mail",
    )
