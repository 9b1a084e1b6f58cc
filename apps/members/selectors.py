"""Queries about members, devices, rooms and tariffs."""

from functools import reduce
from ipaddress import ip_address, ip_network
from operator import and_
from string import hexdigits
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat, Lower, Now, Replace

from apps.lib.database.unaccent import make_unaccented_expression
from apps.lib.fields import MacField, Prefix, extract_mac_digits, make_mac_digits_expression
from apps.lib.web.cached_rows import cache_rows
from apps.members.models import Device, Member, Membership, Room, Tariff

MOST_ROOMS = 1000


def search_members(members: QuerySet[Member], text: str) -> QuerySet[Member]:
    """Return the members that the text may mean.

    It may be parts of the name in any order, with or without accents, `M-2207`, a room such as `B-214` or `b214`, an e-mail
    address, an address that they hold now, a prefix with one of their holdings in it, or a MAC address.
    """
    text = text.strip().replace("\0", "")
    if not text:
        return members
    if _is_address(text):
        return members.filter(holdings__prefix__covers=text, holdings__valid__contains=Now()).distinct()
    if prefix := _parse_prefix(text):
        return members.filter(holdings__prefix__within=prefix, holdings__valid__contains=Now()).distinct()
    mac = _parse_mac(text)  # after addresses, because 2001:db8:a0:10::5 has twelve digits too
    if mac:
        return members.filter(Exists(Device.objects.filter(member=OuterRef("pk"), mac=mac)))
    return members.alias(bare_name=make_unaccented_expression("name")).filter(_build_word_filter(text))


def _build_word_filter(text: str) -> Q:
    """Build a filter in which each alternative uses one index of the member table, so that the database can combine the indexes."""
    found = reduce(and_, (Q(bare_name__contains=make_unaccented_expression(Value(word))) for word in text.split()))
    if "@" in text:
        found |= Q(email__icontains=text)
    digits = text.upper().removeprefix("M-")
    if digits.isascii() and digits.isdigit() and len(digits) < 10:
        found |= Q(number=int(digits))
    found |= Q(room__in=list(list_rooms_by_name(text).values_list("pk", flat=True)[:MOST_ROOMS]))
    site, dash, room = text.partition("-")
    if dash and site and room:
        rooms = Room.objects.filter(site__code__iexact=site, name__istartswith=room)
        found |= Q(room__in=list(rooms.values_list("pk", flat=True)[:MOST_ROOMS]))
    return found


def _parse_mac(text: str) -> str | None:
    try:
        return MacField().parse(text)
    except ValueError:
        return None


def _parse_prefix(text: str) -> Prefix | None:
    try:
        return ip_network(text, strict=False) if "/" in text and "%" not in text else None
    except ValueError:
        return None


def _is_address(text: str) -> bool:
    try:
        return "%" not in text and bool(ip_address(text))
    except ValueError:
        return False


def search_devices(text: str) -> QuerySet[Device]:
    """Return devices with the text in their name, or its hex digits in their MAC address, whatever the separators."""
    wanted = Q(name__icontains=text)
    digits = extract_mac_digits(text)
    if digits and all(digit in hexdigits for digit in digits):
        wanted |= Q(written__contains=digits)
    return Device.objects.alias(written=make_mac_digits_expression("mac")).filter(wanted)


def list_by_email(email: str) -> list[Member]:
    """Return members with this e-mail address who have not left; at most two, because with several the sender is unknown."""
    return list(Member.objects.filter(email__iexact=email).exclude(state=Member.State.LEFT).order_by("pk")[:2]) if email else []


def list_rooms_by_name(text: str) -> QuerySet[Room]:
    """Return rooms by name as people write them: B-214, b214 and “B 214” are the same room."""
    name = _strip_separators(Lower(Concat("site__code", "name")))
    return Room.objects.select_related("site").alias(written=name).filter(written="".join(text.lower().replace("-", "").split()))


def _strip_separators(text: Any) -> Any:
    return Replace(Replace(text, Value("-"), Value("")), Value(" "), Value(""))


def find_most_common_tariff() -> Tariff | None:
    """Return the offered tariff with the most active members; if no tariff has any, one that is not a trial."""
    active = Count("member", filter=Q(member__state=Member.State.ACTIVE))
    return Tariff.objects.filter(offered=True).annotate(number=active).order_by("-number", "trial", "pk").first()


def count_members(tariff: Tariff) -> int:
    """Return the number of members with this tariff who have not left."""
    return Member.objects.filter(tariff=tariff).exclude(state=Member.State.LEFT).count()


def list_tariffs() -> QuerySet[Tariff]:
    """Return all tariffs by name, the offered ones first, each with the `number` of its members who have not left."""
    staying = Count("member", filter=~Q(member__state=Member.State.LEFT))
    return Tariff.objects.annotate(number=staying).order_by("-offered", "name")


@cache_rows
def list_cached_devices(member: Member) -> QuerySet[Device]:
    """Return the member's devices by name, read once for all parts of a page."""
    return Device.objects.filter(member=member)


@cache_rows
def list_memberships(member: Member) -> QuerySet[Membership]:
    """Return the times in which the member was active, the first one first. Read once for all parts of a page."""
    return Membership.objects.filter(member=member).order_by("valid")
