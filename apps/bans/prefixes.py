"""Parser of prefixes that can be banned: text in; out comes a prefix, or a fault with an alternative.

Pure: no Django, no I/O. `apps.bans.refusal_texts` turns faults into sentences.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address, summarize_address_range

from firewall.addresses import parse_prefix
from firewall.elements.bans import LENGTHS as BAN_LENGTHS
from firewall.policy import Address, Prefix

_LENGTH = re.compile("0|[1-9][0-9]{0,2}")


class BanFault(StrEnum):
    """Reason why a text cannot be a ban."""

    NO_PREFIX = "no prefix"
    HOST_BITS = "bits behind the length"
    TOO_WIDE = "too wide"
    ODD_LENGTH = "length between /64 and /128"
    MAPPED = "IPv4 in IPv6 form"
    MAPPED_WIDE = "too much IPv4 in IPv6 form"
    RANGE = "no range"
    TRAILING = "something behind the address"
    NO_COUNT = "no count"
    TOO_LONG = "line too long"
    OWN = "covers our own network"
    DIRECTION = "no direction"
    BROKEN_TABLE = "broken table"


class UnbannablePrefix(ValueError):  # noqa: N818 - a finding about a text, not an error of the program
    """Raised for a text that cannot be banned. `offer`: an alternative, if there is one; `culprit`: what prevents the ban."""

    def __init__(self, fault: BanFault, offer: str = "", culprit: str = "") -> None:
        super().__init__(fault.value)
        self.fault, self.offer, self.culprit = fault, offer, culprit


def parse_ban_prefix(text: str) -> Prefix:
    """Return the prefix that the text names. Raises UnbannablePrefix."""
    if "/" in text and not _LENGTH.fullmatch(text.partition("/")[2]):
        raise UnbannablePrefix(BanFault.NO_PREFIX)  # a mask, or a number with leading zeros or signs
    try:
        prefix = parse_prefix(text, strict=False)
    except ValueError:
        raise UnbannablePrefix(BanFault.NO_PREFIX) from None
    if "/" in text and str(prefix.network_address) != str(_parse_address(text.partition("/")[0])):
        raise UnbannablePrefix(BanFault.HOST_BITS, offer=str(prefix))
    return validate_length(prefix)


def validate_length(prefix: Prefix) -> Prefix:
    """Return the prefix itself, if its length can be banned. Raises UnbannablePrefix."""
    first = prefix.network_address
    if isinstance(first, IPv6Address):
        if first.scope_id:
            raise UnbannablePrefix(BanFault.NO_PREFIX)
        if first.ipv4_mapped is not None:
            raise _build_mapped_fault(first.ipv4_mapped, prefix.prefixlen - 96)
    lengths = BAN_LENGTHS[prefix.version]
    if prefix.prefixlen < lengths[0]:
        raise UnbannablePrefix(BanFault.TOO_WIDE, offer=f"{first}/{lengths[0]}")
    if prefix.prefixlen not in lengths:
        raise UnbannablePrefix(BanFault.ODD_LENGTH, offer=str(prefix.supernet(new_prefix=64)))
    return prefix


def _build_mapped_fault(first: IPv4Address, length: int) -> UnbannablePrefix:
    """Return the fault of an IPv4-mapped prefix, of which this is the IPv4 part. It offers that part, if its length can be banned."""
    if length not in BAN_LENGTHS[4]:
        return UnbannablePrefix(BanFault.MAPPED_WIDE)
    return UnbannablePrefix(BanFault.MAPPED, offer=str(first if length == 32 else IPv4Network((first, length))))


def parse_ban_range(text: str) -> list[Prefix]:
    """Return the prefixes that make up the range `first-last`, or the one prefix that the text names. Raises UnbannablePrefix."""
    first, dash, last = text.partition("-")
    return (
        [validate_length(prefix) for prefix in _iter_between(_parse_address(first), _parse_address(last))]
        if dash
        else [parse_ban_prefix(text)]
    )


def _parse_address(text: str) -> Address:
    try:
        return ip_address(text)
    except ValueError:
        raise UnbannablePrefix(BanFault.NO_PREFIX) from None


def _iter_between(first: Address, last: Address) -> Iterator[Prefix]:
    try:
        yield from summarize_address_range(first, last)
    except (TypeError, ValueError):  # of two families, or backwards
        raise UnbannablePrefix(BanFault.RANGE) from None
