"""Sentences about what cannot be banned."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.bans.feeds import BadLine
from apps.bans.prefixes import Fault

SENTENCES: dict[Fault, Promise | str] = {
    Fault.NO_PREFIX: gettext_lazy("“%(text)s” is no address or prefix. Write it like 203.0.113.66, 203.0.113.0/24 or 2001:db8::/32."),
    Fault.HOST_BITS: gettext_lazy("%(text)s has bits behind its length; %(offer)s is the network."),
    Fault.TOO_WIDE: gettext_lazy("%(text)s is too wide for a ban. %(offer)s would be the widest here."),
    Fault.ODD_LENGTH: gettext_lazy("%(text)s is between /64 and /128; an IPv6 ban is a network up to /64, such as %(offer)s, or one host."),
    Fault.MAPPED: gettext_lazy("%(text)s is an IPv4 address in IPv6 form, as no packet carries it. Write %(offer)s."),
    Fault.RANGE: gettext_lazy("“%(text)s” is no range. Write the lower address first, and both of the same family."),
    Fault.TRAILING: gettext_lazy("“%(text)s”: behind the address only a count, or a comment after # or ;, can stand."),
    Fault.NO_COUNT: gettext_lazy("“%(text)s” has no count, so it cannot be compared with the minimum that you asked for."),
    Fault.TOO_LONG: gettext_lazy("“%(text)s” is longer than a line can be."),
    Fault.OWN: gettext_lazy("%(text)s would ban ourselves: it overlaps %(culprit)s."),
}


def explain(fault: Fault, text: str, offer: str = "", culprit: str = "") -> str:
    """One sentence."""
    return str(SENTENCES[fault]) % {"text": text, "offer": offer, "culprit": culprit}


def of_line(bad: BadLine) -> str:
    """`line 17: …`"""
    return _("line %(line)d: %(why)s") % {"line": bad.line, "why": explain(bad.fault, bad.text, bad.offer, bad.culprit)}
