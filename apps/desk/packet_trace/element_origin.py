"""Origins of set elements: the members, NAT mappings, forwards, bans and other objects that they were made from.

Each family of sets has a small function, registered in RESOLVERS under the family's name (firewall/sets.py). An element of a
family without one is shown by its key only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address, ip_network
from typing import Final

from django.db.models import F
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.bans.models import AllowEntry, Ban, Block, Listener
from apps.lib.fields import Address, Prefix
from apps.lib.ui import formats
from apps.members.models import Member, Tariff
from apps.nat.models import NatMapping, PortForward
from apps.nat.pinholes.models import Pinhole
from apps.network.models import Gateway
from apps.network.selectors import list_holdings_at
from apps.traffic.models import RateLimit
from firewall.render import PROTOCOLS
from firewall.ruleset import Element, Set
from firewall.sets import find_family, parse_length
from firewall.tracing.fields import unpack_values
from firewall.tracing.result import Reading


@dataclass(frozen=True, slots=True)
class ElementOrigin:
    """The object behind an element. kind: an identifier for programs; name: its title; note: who, why, until when; url: its page."""

    kind: str
    name: str
    note: str = ""
    url: str = ""

    def without_member(self) -> "ElementOrigin":
        """Return the same without any hint at the member; objects of the network itself are unchanged."""
        if self.kind not in OF_MEMBERS:
            return self
        return ElementOrigin(self.kind, str(OF_MEMBERS[self.kind] or self.name))


OF_MEMBERS: Final[Mapping[str, str | Promise]] = {
    "member": gettext_lazy("a member"),
    "mapping": gettext_lazy("a member"),
    "block": gettext_lazy("block of a member"),
    "rate limit": gettext_lazy("rate limit of a member"),
    "forward": "",
    "pinhole": "",
}
"""Kinds of things that are a member's, by what they are called without the member; "" where their own name tells nobody."""


@dataclass(frozen=True, slots=True)
class FoundElement:
    """An element of a set at a moment."""

    declaration: Set
    key: bytes
    element: Element
    at: datetime

    @property
    def keys(self) -> tuple[Reading, ...]:
        """The fields of its key."""
        return unpack_values(self.declaration.key, self.key)

    @property
    def values(self) -> tuple[Reading, ...]:
        """The fields of its value."""
        return unpack_values(self.declaration.value, self.element.value)


def list_origins(found: FoundElement) -> list[ElementOrigin]:
    """Return all objects that the element stands for; none if unknown."""
    family = find_family(found.declaration.name)
    resolver = RESOLVERS.get(family.name) if family else None
    return resolver(found) if resolver else []


def _resolve_holder(found: FoundElement) -> list[ElementOrigin]:
    """Return the holder of the address, or of the prefix that begins with it."""
    return list_holders(_require_address(found.keys[0]), found.at)


def list_holders(address: Address, at: datetime) -> list[ElementOrigin]:
    """Return the member who held the address at that time, or the gateway whose probe has it."""
    return [_build_member(holding.member, str(holding.address)) for holding in list_holdings_at(address, at)] or _list_probes(address)


def _resolve_mapping(found: FoundElement) -> list[ElementOrigin]:
    private = _require_address(found.keys[0])
    mappings = NatMapping.objects.filter(holding__prefix=ip_network(private), valid__contains=found.at).select_related("holding__member")
    leaves = [
        ElementOrigin(
            "mapping", str(each.holding.member), _describe_mapping(private, each), reverse("desk:member", args=[each.holding.member_id])
        )
        for each in mappings
    ]
    return leaves or _list_probes(private)


def _describe_mapping(private: Address, mapping: NatMapping) -> str:
    public = f"{mapping.public}:{mapping.ports}" if mapping.ports else mapping.public
    return _("%(private)s leaves as %(public)s") % {"private": private, "public": public}


def _resolve_forward(found: FoundElement) -> list[ElementOrigin]:
    public, protocol, port = map(str, found.keys)
    of = {"public": public, "protocol": PROTOCOLS.get(int(protocol), ""), "public_port__lte": int(port)}
    there = PortForward.objects.filter(**of, public_port__gt=int(port) - F("ports"), valid__contains=found.at, enabled=True)
    return [
        ElementOrigin(
            "forward",
            _("port forward %(forward)s") % {"forward": each},
            " · ".join(filter(None, [str(each.holding.member), each.purpose])),
            f"{reverse('desk:member', args=[each.holding.member_id])}#forwards",
        )
        for each in there.select_related("holding__member")
    ]


def _resolve_pinhole(found: FoundElement) -> list[ElementOrigin]:
    """Return the pinhole that opens this port, this protocol, or all of the address."""
    address, *rest = map(str, found.keys)
    there = Pinhole.objects.filter(address=address, valid__contains=found.at, enabled=True)
    there = there.filter(protocol=PROTOCOLS.get(int(rest[0]), "") if rest else Pinhole.Protocol.ALL)
    port = int(rest[1]) if rest[1:] else 0
    there = there.filter(port__gte=1, port__lte=port, port__gt=port - F("ports")) if port else there.filter(port=0)
    return [_build_pinhole(each) for each in there.select_related("holding__member").order_by("pk")]


def _build_pinhole(pinhole: Pinhole) -> ElementOrigin:
    note = " · ".join(filter(None, [str(pinhole.holding.member), pinhole.purpose]))
    url = f"{reverse('desk:member', args=[pinhole.holding.member_id])}#pinholes"
    return ElementOrigin("pinhole", _("pinhole %(pinhole)s") % {"pinhole": pinhole}, note, url)


def _resolve_ban(found: FoundElement) -> list[ElementOrigin]:
    """Return the bans of this prefix on all enabled lists."""
    prefix = _compute_prefix(found)
    bans = Ban.objects.filter(prefix=prefix, list__enabled=True).select_related("list", "author").order_by("pk")
    return [
        ElementOrigin("ban", _("ban of %(prefix)s") % {"prefix": ban.prefix_text}, _describe_ban(ban, found.at), _build_ban_url(ban))
        for ban in bans
    ]


def _resolve_allowed(found: FoundElement) -> list[ElementOrigin]:
    """Return the allow entry of this prefix."""
    entries = AllowEntry.objects.filter(prefix=_compute_prefix(found)).select_related("author")
    words = _("allow entry of %(prefix)s")
    return [
        ElementOrigin("allowed", words % {"prefix": each.prefix_text}, _describe_entry(each, found.at), _build_entry_url(each))
        for each in entries
    ]


def _build_entry_url(entry: AllowEntry) -> str:
    return reverse("bans:allow_entry", args=[entry.pk])


def _describe_ban(ban: Ban, at: datetime) -> str:
    return ", ".join([_describe_entry(ban, at), _("list %(list)s") % {"list": ban.list}])


def _describe_entry(row: Ban | AllowEntry, at: datetime) -> str:
    """Describe the row's comment, author and end."""
    by = _("by %(author)s") % {"author": row.author.name} if row.author else ""
    ends = _("ends %(moment)s") % {"moment": formats.format_moment(row.expires, at, with_zone=True)} if row.expires else _("permanent")
    comment = _("“%(comment)s”") % {"comment": row.comment} if row.comment else ""
    return ", ".join(filter(None, [comment, by, ends]))


def _build_ban_url(ban: Ban) -> str:
    return f"{reverse('bans:list', args=[ban.list_id])}?{urlencode({'q': str(ban.prefix)})}"


def _resolve_block(found: FoundElement) -> list[ElementOrigin]:
    """Return the block; its number is in the element's comment."""
    number = found.element.comment.removeprefix("block ")
    blocks = Block.objects.filter(pk=number).select_related("member") if number.isdecimal() else []
    return [_build_block(each) for each in blocks]


def _build_block(block: Block) -> ElementOrigin:
    words = _("block of %(member)s") % {"member": block.member}
    return ElementOrigin("block", words, block.get_reason_display(), reverse("bans:block", args=[block.pk]))


def _resolve_rate_limit(found: FoundElement) -> list[ElementOrigin]:
    """Return the rate limit; its number is in the element's comment."""
    number = found.element.comment.removeprefix("rate limit ")
    limits = RateLimit.objects.filter(pk=number).select_related("member") if number.isdecimal() else []
    return [_build_rate_limit(each) for each in limits]


def _build_rate_limit(limit: RateLimit) -> ElementOrigin:
    words = _("rate limit of %(member)s") % {"member": limit.member}
    return ElementOrigin("rate limit", words, limit.get_reason_display(), reverse("desk:member", args=[limit.member_id]))


def _resolve_tariff(found: FoundElement) -> list[ElementOrigin]:
    """Return the tariff; its number is in the element's comment."""
    number = found.element.comment.removeprefix("tariff ")
    tariffs = Tariff.objects.filter(pk=number) if number.isdecimal() else []
    words = _("tariff %(tariff)s")
    return [ElementOrigin("tariff", words % {"tariff": each}, "", reverse("members:tariff", args=[each.pk])) for each in tariffs]


def _resolve_listener(found: FoundElement) -> list[ElementOrigin]:
    """Return the listener at this address, protocol and port, or all listeners at a server's address."""
    address, *place = found.keys
    there = Listener.objects.filter(address=str(address), enabled=True).order_by("pk")
    if place:
        protocol, port = map(str, place)
        there = there.filter(protocol=PROTOCOLS.get(int(protocol), ""), port=int(port))
    return [_build_listener(each) for each in there]


def _build_listener(listener: Listener) -> ElementOrigin:
    return ElementOrigin("listener", _("listener %(listener)s") % {"listener": listener}, "", reverse("bans:listener", args=[listener.pk]))


def _build_member(member: Member, note: str) -> ElementOrigin:
    return ElementOrigin("member", str(member), note, reverse("desk:member", args=[member.pk]))


def _list_probes(address: Address) -> list[ElementOrigin]:
    of = {"probe_source4": address} if address.version == 4 else {"probe_source6": address}
    return [_build_probe(each) for each in Gateway.objects.filter(**of)]


def _build_probe(gateway: Gateway) -> ElementOrigin:
    return ElementOrigin("probe", _("probe of %(gateway)s") % {"gateway": gateway}, "", reverse("gateways:gateway", args=[gateway.pk]))


def _require_address(reading: Reading) -> Address:
    if not isinstance(reading, IPv4Address | IPv6Address):
        raise TypeError(f"{reading!r} is no address")
    return reading


def _compute_prefix(found: FoundElement) -> Prefix:
    return ip_network((_require_address(found.keys[0]), parse_length(found.declaration.name)))


RESOLVERS: dict[str, Callable[[FoundElement], list[ElementOrigin]]] = {
    "up4": _resolve_holder,
    "down4": _resolve_holder,
    "up6": _resolve_holder,
    "down6": _resolve_holder,
    "snat4": _resolve_mapping,
    "snat4_own": _resolve_mapping,
    "snat4_block": _resolve_mapping,
    "out4": _resolve_mapping,
    "out4_block": _resolve_mapping,
    "forward4": _resolve_forward,
    "pinhole6": _resolve_pinhole,
    "pinhole_protocol6": _resolve_pinhole,
    "pinhole_host6": _resolve_pinhole,
    "bans4": _resolve_ban,
    "bans6": _resolve_ban,
    "bans_in4": _resolve_ban,
    "bans_in6": _resolve_ban,
    "bans_out4": _resolve_ban,
    "bans_out6": _resolve_ban,
    "allowed4": _resolve_allowed,
    "allowed6": _resolve_allowed,
    "blocked4": _resolve_block,
    "blocked6": _resolve_block,
    **{f"tariff_{way}{version}": _resolve_tariff for way in ("up", "down") for version in (4, 6)},
    **{f"rate_{way}{version}": _resolve_rate_limit for way in ("up", "down") for version in (4, 6)},
    "listener4": _resolve_listener,
    "listener6": _resolve_listener,
    "guard4": _resolve_listener,
    "guard6": _resolve_listener,
    "listener4_hosts": _resolve_listener,
    "listener6_hosts": _resolve_listener,
}
