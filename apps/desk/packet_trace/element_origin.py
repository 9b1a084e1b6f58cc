"""What people made that stands behind an element of a set: a member, a mapping, a forward, a ban.

One small function for each family of sets, registered in RESOLVERS under the family's name (firewall/sets.py). A family without one
is shown by its key alone.
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
from apps.network.selectors import held_at
from apps.traffic.models import RateLimit
from firewall.render import PROTOCOLS
from firewall.ruleset import Element, Set
from firewall.sets import family_of, length_of
from firewall.tracing.fields import values_of
from firewall.tracing.result import Reading


@dataclass(frozen=True, slots=True)
class Behind:
    """A thing that people made. kind: a word for programs; name: what it is called; note: who, why, until when; url: its page."""

    kind: str
    name: str
    note: str = ""
    url: str = ""

    def unnamed(self) -> "Behind":
        """The same without a word of who the member is; what is the network's own is as it was."""
        if self.kind not in OF_MEMBERS:
            return self
        return Behind(self.kind, str(OF_MEMBERS[self.kind] or self.name))


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
class Found:
    """An element of a set at a moment."""

    declaration: Set
    key: bytes
    element: Element
    at: datetime

    @property
    def keys(self) -> tuple[Reading, ...]:
        """The fields of its key."""
        return values_of(self.declaration.key, self.key)

    @property
    def values(self) -> tuple[Reading, ...]:
        """The fields of its value."""
        return values_of(self.declaration.value, self.element.value)


def behind(found: Found) -> list[Behind]:
    """Everything that the element stands for; none if nobody knows."""
    family = family_of(found.declaration.name)
    resolver = RESOLVERS.get(family.name) if family else None
    return resolver(found) if resolver else []


def _holder(found: Found) -> list[Behind]:
    """Who holds the address, or the prefix of this length."""
    return holders(_address(found.keys[0]), found.at)


def holders(address: Address, at: datetime) -> list[Behind]:
    """The member who held the address then, or the gateway whose probe has it."""
    return [_member(holding.member, str(holding.address)) for holding in held_at(address, at)] or _probe(address)


def _mapping(found: Found) -> list[Behind]:
    private = _address(found.keys[0])
    mappings = NatMapping.objects.filter(holding__prefix=ip_network(private), valid__contains=found.at).select_related("holding__member")
    leaves = [
        Behind("mapping", str(each.holding.member), _leaves(private, each), reverse("desk:member", args=[each.holding.member_id]))
        for each in mappings
    ]
    return leaves or _probe(private)


def _leaves(private: Address, mapping: NatMapping) -> str:
    public = f"{mapping.public}:{mapping.ports}" if mapping.ports else mapping.public
    return _("%(private)s leaves as %(public)s") % {"private": private, "public": public}


def _forward(found: Found) -> list[Behind]:
    public, protocol, port = map(str, found.keys)
    of = {"public": public, "protocol": PROTOCOLS.get(int(protocol), ""), "public_port__lte": int(port)}
    there = PortForward.objects.filter(**of, public_port__gt=int(port) - F("ports"), valid__contains=found.at, enabled=True)
    return [
        Behind(
            "forward",
            _("port forward %(forward)s") % {"forward": each},
            " · ".join(filter(None, [str(each.holding.member), each.purpose])),
            f"{reverse('desk:member', args=[each.holding.member_id])}#forwards",
        )
        for each in there.select_related("holding__member")
    ]


def _pinhole(found: Found) -> list[Behind]:
    """The pinhole that opens this port, this protocol, or everything of the address."""
    address, *rest = map(str, found.keys)
    there = Pinhole.objects.filter(address=address, valid__contains=found.at, enabled=True)
    there = there.filter(protocol=PROTOCOLS.get(int(rest[0]), "") if rest else Pinhole.Protocol.ALL)
    port = int(rest[1]) if rest[1:] else 0
    there = there.filter(port__gte=1, port__lte=port, port__gt=port - F("ports")) if port else there.filter(port=0)
    return [_of_pinhole(each) for each in there.select_related("holding__member").order_by("pk")]


def _of_pinhole(pinhole: Pinhole) -> Behind:
    note = " · ".join(filter(None, [str(pinhole.holding.member), pinhole.purpose]))
    url = f"{reverse('desk:member', args=[pinhole.holding.member_id])}#pinholes"
    return Behind("pinhole", _("pinhole %(pinhole)s") % {"pinhole": pinhole}, note, url)


def _ban(found: Found) -> list[Behind]:
    """The bans of this prefix on all lists that are on."""
    prefix = _prefix(found)
    bans = Ban.objects.filter(prefix=prefix, list__enabled=True).select_related("list", "author").order_by("pk")
    return [Behind("ban", _("ban of %(prefix)s") % {"prefix": ban.shown}, _of_ban(ban, found.at), _ban_url(ban)) for ban in bans]


def _allowed(found: Found) -> list[Behind]:
    """The allow entry of this prefix."""
    entries = AllowEntry.objects.filter(prefix=_prefix(found)).select_related("author")
    words = _("allow entry of %(prefix)s")
    return [Behind("allowed", words % {"prefix": each.shown}, _noted(each, found.at), _entry_url(each)) for each in entries]


def _entry_url(entry: AllowEntry) -> str:
    return reverse("bans:allow_entry", args=[entry.pk])


def _of_ban(ban: Ban, at: datetime) -> str:
    return ", ".join([_noted(ban, at), _("list %(list)s") % {"list": ban.list}])


def _noted(row: Ban | AllowEntry, at: datetime) -> str:
    """What people noted of it."""
    by = _("by %(author)s") % {"author": row.author.name} if row.author else ""
    ends = _("ends %(moment)s") % {"moment": formats.moment(row.expires, at, with_zone=True)} if row.expires else _("without an end")
    comment = _("“%(comment)s”") % {"comment": row.comment} if row.comment else ""
    return ", ".join(filter(None, [comment, by, ends]))


def _ban_url(ban: Ban) -> str:
    return f"{reverse('bans:list', args=[ban.list_id])}?{urlencode({'q': str(ban.prefix)})}"


def _block(found: Found) -> list[Behind]:
    """The block of whoever holds the address; the element's comment has its number."""
    number = found.element.comment.removeprefix("block ")
    blocks = Block.objects.filter(pk=number).select_related("member") if number.isdecimal() else []
    return [_of_block(each) for each in blocks]


def _of_block(block: Block) -> Behind:
    words = _("block of %(member)s") % {"member": block.member}
    return Behind("block", words, block.get_reason_display(), reverse("bans:block", args=[block.pk]))


def _rate_limit(found: Found) -> list[Behind]:
    """The rate limit of whoever holds the address; the element's comment has its number."""
    number = found.element.comment.removeprefix("rate limit ")
    limits = RateLimit.objects.filter(pk=number).select_related("member") if number.isdecimal() else []
    return [_of_rate(each) for each in limits]


def _of_rate(limit: RateLimit) -> Behind:
    words = _("rate limit of %(member)s") % {"member": limit.member}
    return Behind("rate limit", words, limit.get_reason_display(), reverse("desk:member", args=[limit.member_id]))


def _tariff(found: Found) -> list[Behind]:
    """The tariff; the element's comment has its number."""
    number = found.element.comment.removeprefix("tariff ")
    tariffs = Tariff.objects.filter(pk=number) if number.isdecimal() else []
    words = _("tariff %(tariff)s")
    return [Behind("tariff", words % {"tariff": each}, "", reverse("members:tariff", args=[each.pk])) for each in tariffs]


def _listener(found: Found) -> list[Behind]:
    """The listener of this address, protocol and port, or all of a server's host."""
    address, *place = found.keys
    there = Listener.objects.filter(address=str(address), enabled=True).order_by("pk")
    if place:
        protocol, port = map(str, place)
        there = there.filter(protocol=PROTOCOLS.get(int(protocol), ""), port=int(port))
    return [_of_listener(each) for each in there]


def _of_listener(listener: Listener) -> Behind:
    return Behind("listener", _("listener %(listener)s") % {"listener": listener}, "", reverse("bans:listener", args=[listener.pk]))


def _member(member: Member, note: str) -> Behind:
    return Behind("member", str(member), note, reverse("desk:member", args=[member.pk]))


def _probe(address: Address) -> list[Behind]:
    of = {"probe_source4": address} if address.version == 4 else {"probe_source6": address}
    return [_of_probe(each) for each in Gateway.objects.filter(**of)]


def _of_probe(gateway: Gateway) -> Behind:
    return Behind("probe", _("probe of %(gateway)s") % {"gateway": gateway}, "", reverse("gateways:gateway", args=[gateway.pk]))


def _address(reading: Reading) -> Address:
    if not isinstance(reading, IPv4Address | IPv6Address):
        raise TypeError(f"{reading!r} is no address")
    return reading


def _prefix(found: Found) -> Prefix:
    return ip_network((_address(found.keys[0]), length_of(found.declaration.name)))


RESOLVERS: dict[str, Callable[[Found], list[Behind]]] = {
    "up4": _holder,
    "down4": _holder,
    "up6": _holder,
    "down6": _holder,
    "snat4": _mapping,
    "snat4_own": _mapping,
    "snat4_block": _mapping,
    "out4": _mapping,
    "out4_block": _mapping,
    "fwd4": _forward,
    "pin6": _pinhole,
    "pinproto6": _pinhole,
    "pinhost6": _pinhole,
    "bans4": _ban,
    "bans6": _ban,
    "bansin4": _ban,
    "bansin6": _ban,
    "bansout4": _ban,
    "bansout6": _ban,
    "allowed4": _allowed,
    "allowed6": _allowed,
    "blocked4": _block,
    "blocked6": _block,
    **{f"tariff{way}{version}": _tariff for way in ("up", "down") for version in (4, 6)},
    **{f"rate{way}{version}": _rate_limit for way in ("up", "down") for version in (4, 6)},
    "lst4": _listener,
    "lst6": _listener,
    "guard4": _listener,
    "guard6": _listener,
    "lst4_hosts": _listener,
    "lst6_hosts": _listener,
}
