"""Helpers for building rules."""

from firewall.addresses import PRIVATE
from firewall.ruleset import Field, Lookup, Match, Part, Rule, Verdict, VerdictAction
from firewall.sets import format_set_name

ACCEPT, DROP, RETURN = Verdict(VerdictAction.ACCEPT), Verdict(VerdictAction.DROP), Verdict(VerdictAction.RETURN)
ERRORS4 = ("destination-unreachable", "time-exceeded", "parameter-problem")
ERRORS6 = ("destination-unreachable", "packet-too-big", "time-exceeded", "parameter-problem")

VRRP = 112  # by number, because nft looks up names that it does not know in /etc/protocols, which may be missing
WITH_PORTS = Match(Field.L4PROTO, ("tcp", "udp", "icmp"))  # protocols that a block of ports serves; ICMP's identifiers count as ports


def make_rule(*parts: Part, comment: str = "") -> Rule:
    """Return a rule of these parts, from left to right."""
    return Rule(parts, comment)


def match_field(field: Field, *values: str) -> Match:
    """Return a match: the field, mostly an interface, is one of the values."""
    return Match(field, values)


def match_public_source() -> tuple[Match, ...]:
    """Return the matches of a source that is not private: as many comparisons cost a quarter of a lookup in a set of prefixes."""
    return tuple(Match(Field.IP_SADDR, (prefix,), negated=True) for prefix in PRIVATE)


def make_jump(chain: str) -> Verdict:
    """Return a verdict: go through another chain and come back."""
    return Verdict(VerdictAction.JUMP, chain)


def match_prefix(field: Field, family: str, length: int, *, negated: bool = False) -> Lookup:
    """Return a lookup: the address lies in a prefix of this length in the family's set; negated: in none."""
    whole = 32 if field in (Field.IP_SADDR, Field.IP_DADDR) else 128
    return Lookup((field,), format_set_name(family, length), None if length == whole else length, negated)
