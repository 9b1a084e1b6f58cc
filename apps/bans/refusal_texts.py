"""Sentences for what cannot be banned, and for feeds that were not refreshed."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.bans.feed_parser import BadLine
from apps.bans.prefixes import BanFault

SENTENCES: dict[BanFault, Promise | str] = {
    BanFault.NO_PREFIX: gettext_lazy("“%(text)s” is no address or prefix. Write it like 203.0.113.66, 203.0.113.0/24 or 2001:db8::/32."),
    BanFault.HOST_BITS: gettext_lazy("%(text)s has bits behind its length; %(offer)s is the network."),
    BanFault.TOO_WIDE: gettext_lazy("%(text)s is too wide for a ban. %(offer)s would be the widest here."),
    BanFault.ODD_LENGTH: gettext_lazy(
        "%(text)s is between /64 and /128; an IPv6 ban is a network up to /64, such as %(offer)s, or one host."
    ),
    BanFault.MAPPED: gettext_lazy("%(text)s is an IPv4 address in IPv6 form, as no packet carries it. Write %(offer)s."),
    BanFault.RANGE: gettext_lazy("“%(text)s” is no range. Write the lower address first, and both of the same family."),
    BanFault.TRAILING: gettext_lazy("“%(text)s”: behind the address only a count, or a comment after # or ;, can stand."),
    BanFault.NO_COUNT: gettext_lazy("“%(text)s” has no count, so it cannot be compared with the minimum that you asked for."),
    BanFault.TOO_LONG: gettext_lazy("“%(text)s” is longer than a line can be."),
    BanFault.DIRECTION: gettext_lazy("“%(text)s”: the direction can be in, out or both."),
    BanFault.OWN: gettext_lazy("%(text)s would ban ourselves: it overlaps %(culprit)s."),
}


def explain(fault: BanFault, text: str, offer: str = "", culprit: str = "") -> str:
    """Return one sentence for the fault."""
    return str(SENTENCES[fault]) % {"text": text, "offer": offer, "culprit": culprit}


def explain_line(bad: BadLine) -> str:
    """Return the sentence for a bad line, with its number: `line 17: …`"""
    return _("line %(line)d: %(why)s") % {"line": bad.line, "why": explain(bad.fault, bad.text, bad.offer, bad.culprit)}


FEED: dict[str, Promise | str] = {
    "scheme": gettext_lazy("“%(what)s” is neither http nor https."),
    "address": gettext_lazy("“%(what)s” is no address of a feed. Write it like https://example.org/list.txt, without a password in it."),
    "unknown host": gettext_lazy("There is no host called %(what)s."),
    "private": gettext_lazy("%(what)s is not on the public internet, or is one of our own networks. NETZWART_FEED_PRIVATE=1 allows that."),
    "unreachable": gettext_lazy("It cannot be reached: %(what)s"),
    "certificate": gettext_lazy("Its certificate is not valid: %(what)s"),
    "status": gettext_lazy("The server answers %(what)s."),
    "redirects": gettext_lazy("It leads from one address to the next without end, at last to %(what)s."),
    "downgrade": gettext_lazy("It leads from https to %(what)s, which anybody on the way could change."),
    "too big": gettext_lazy("It is larger than %(what)s MiB."),
    "too many": gettext_lazy("It is too long: %(what)s."),
    "too slow": gettext_lazy("It did not come within %(what)s seconds."),
    "cut off": gettext_lazy("It was cut off on the way: %(what)s octets came."),
    "endless": gettext_lazy("The server does not say where it ends, so nobody could tell a whole list from a half."),
    "web page": gettext_lazy("A web page came instead of a list. Take the address of the file itself."),
    "encoded": gettext_lazy("It came compressed (%(what)s), although we asked for plain text."),
    "no directory": gettext_lazy("Files are read from one directory alone, and NETZWART_FEED_DIRECTORY names none."),
    "outside": gettext_lazy("“%(what)s” lies outside the directory that files are read from."),
    "no file": gettext_lazy("There is no file %(what)s in the directory that files are read from."),
    "problem": gettext_lazy("%(what)s"),
    "bad": gettext_lazy("Most of its lines cannot be bans (%(what)s). Is it a list of addresses?"),
    "broken": gettext_lazy("The portal failed (%(what)s); its log says more."),
}


def explain_feed_fault(fault: str, what: str) -> str:
    """Return one sentence that says why a feed was not refreshed."""
    return str(FEED[fault]) % {"what": what}
