"""Sentences for what cannot be banned, and for feeds that were not refreshed."""

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.bans.feed_parser import BadLine
from apps.bans.prefixes import BanFault

SENTENCES: dict[BanFault, Promise | str] = {
    BanFault.NO_PREFIX: gettext_lazy(
        "“%(text)s” is not an address or prefix. Write it like 203.0.113.66, 203.0.113.0/24 or 2001:db8::/32."
    ),
    BanFault.HOST_BITS: gettext_lazy("%(text)s has host bits set; the network is %(offer)s."),
    BanFault.TOO_WIDE: gettext_lazy("%(text)s is too large for a ban. The largest allowed here is %(offer)s."),
    BanFault.ODD_LENGTH: gettext_lazy(
        "%(text)s is between /64 and /128; an IPv6 ban is a network up to /64, such as %(offer)s, or one host."
    ),
    BanFault.MAPPED: gettext_lazy("%(text)s is an IPv4-mapped IPv6 address, which no packet carries. Write %(offer)s."),
    BanFault.MAPPED_WIDE: gettext_lazy(
        "%(text)s contains IPv4-mapped IPv6 addresses, which no packet carries. Write IPv4 prefixes from /8 to /32."
    ),
    BanFault.RANGE: gettext_lazy("“%(text)s” is not a valid range. Write the lower address first, and use the same IP version for both."),
    BanFault.TRAILING: gettext_lazy("“%(text)s”: only a count, or a comment after # or ;, is allowed after the address."),
    BanFault.NO_COUNT: gettext_lazy("“%(text)s” has no count, so it cannot be compared with the minimum count."),
    BanFault.TOO_LONG: gettext_lazy("The line “%(text)s” is too long."),
    BanFault.DIRECTION: gettext_lazy("“%(text)s”: the direction can be in, out or both."),
    BanFault.BROKEN_TABLE: gettext_lazy(
        "The %(text)s cannot be read to its end, so none of it is used. Is it cut off, or is a quotation mark missing?"
    ),
    BanFault.OWN: gettext_lazy("%(text)s would ban ourselves: it overlaps %(culprit)s."),
}


def explain_fault(fault: BanFault, text: str, offer: str = "", culprit: str = "") -> str:
    """Return one sentence for the fault."""
    return str(SENTENCES[fault]) % {"text": text, "offer": offer, "culprit": culprit}


def explain_line(bad: BadLine) -> str:
    """Return the sentence for a bad line, with its number: `line 17: …`"""
    return _("line %(line)d: %(why)s") % {"line": bad.line, "why": explain_fault(bad.fault, bad.text, bad.offer, bad.culprit)}


FEED: dict[str, Promise | str] = {
    "scheme": gettext_lazy("“%(what)s” is neither http nor https."),
    "address": gettext_lazy(
        "“%(what)s” is not an address of a feed. Write it like https://example.org/list.txt, without a password in it."
    ),
    "unknown host": gettext_lazy("Host %(what)s not found."),
    "private": gettext_lazy("%(what)s is not on the public internet, or is one of our own networks. NETZWART_FEED_PRIVATE=1 allows that."),
    "unreachable": gettext_lazy("The server cannot be reached: %(what)s"),
    "certificate": gettext_lazy("The server’s certificate is not valid: %(what)s"),
    "status": gettext_lazy("The server answered %(what)s."),
    "redirects": gettext_lazy("Too many redirects, the last one to %(what)s."),
    "downgrade": gettext_lazy("The server redirects from https to %(what)s, which could be changed on the way."),
    "too big": gettext_lazy("The feed is larger than %(what)s MiB."),
    "too many": gettext_lazy("The feed is too long: %(what)s."),
    "too slow": gettext_lazy("The feed did not arrive within %(what)s seconds."),
    "cut off": gettext_lazy("The transfer broke off after %(what)s octets."),
    "endless": gettext_lazy("The server does not say where the feed ends, so a whole list cannot be told from a truncated one."),
    "web page": gettext_lazy("A web page came instead of a list. Take the address of the file itself."),
    "encoded": gettext_lazy("The feed came compressed (%(what)s), although we asked for plain text."),
    "no directory": gettext_lazy("Files are read only from one directory, and NETZWART_FEED_DIRECTORY is not set."),
    "outside": gettext_lazy("“%(what)s” lies outside the directory that files are read from."),
    "no file": gettext_lazy("File %(what)s not found in the directory that files are read from."),
    "problem": gettext_lazy("%(what)s"),
    "bad": gettext_lazy("Most of its lines cannot be bans (%(what)s). Is it a list of addresses?"),
    "broken table": gettext_lazy("It cannot be read to its end: row %(what)s is broken. Is it cut off, or is a quotation mark missing?"),
    "broken": gettext_lazy("The portal failed (%(what)s); its log says more."),
}


def explain_feed_fault(fault: str, what: str) -> str:
    """Return one sentence that says why a feed was not refreshed."""
    return str(FEED[fault]) % {"what": what}
