"""Reads what an import is compared with from the database."""

from collections import defaultdict
from collections.abc import Iterable

from django.utils import timezone

from apps.desk.people_import.known_network import KnownForward, KnownMember, KnownNetwork, KnownSite, KnownTariff
from apps.lib.database.validity import is_valid_now, is_valid_now_or_later
from apps.lib.fields import Address, Prefix
from apps.members.models import Device, Member, Room, Site, Tariff
from apps.members.selectors import find_most_common_tariff
from apps.nat.mappings_bulk import SnatPlaces
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Holding, Pool
from apps.network.prefix_lengths import read_lengths_in_use
from apps.preferences.declarations import DEFAULT_LANGUAGE
from apps.preferences.selectors import read_setting

_MEMBER = (
    "id",
    "number",
    "name",
    "email",
    "language",
    "state",
    "tariff_id",
    "room_id",
    "since",
    "paid_until",
    "note",
    "version",
    "erased_at",
)
_FORWARD = ("public", "protocol", "holding__member_id", "holding__prefix", "public_port", "private_port", "ports")


def read_known_network() -> KnownNetwork:
    """Return the network as it is now. A constant number of queries; memory grows with the network."""
    tariff = find_most_common_tariff()
    held = dict(Holding.objects.filter(is_valid_now_or_later()).order_by().values_list("prefix", "member_id").iterator())
    return KnownNetwork(
        today=timezone.localdate(),
        language=read_setting(DEFAULT_LANGUAGE),
        default_tariff=tariff.pk if tariff else None,
        members=_read_members(),
        tariffs={each.name.lower(): KnownTariff(each.pk, each.name, each.offered) for each in Tariff.objects.all()},
        sites=[KnownSite(each.pk, each.name, each.code) for each in Site.objects.order_by("pk")],
        rooms={(site, name.lower()): pk for pk, site, name in Room.objects.order_by().values_list("pk", "site_id", "name").iterator()},
        devices={mac: (member, pk) for pk, member, mac in Device.objects.order_by().values_list("pk", "member_id", "mac").iterator()},
        held=held,
        publics=_read_publics(held),
        forwards=_read_forwards(),
        pools=list(Pool.objects.exclude(kind=Pool.Kind.PUBLIC4).order_by("pk")),
        lengths=read_lengths_in_use(),
        places=SnatPlaces(),
    )


def _read_members() -> dict[int, KnownMember]:
    rows = Member.objects.order_by().values_list(*_MEMBER).iterator()
    return {row[1]: KnownMember(*row) for row in rows}


def _read_publics(held: Iterable[Prefix]) -> dict[Prefix, Address]:
    """Return as what each private address leaves. held: its objects are used again, which take most of the memory."""
    same = {prefix: prefix for prefix in held}
    rows = NatMapping.objects.filter(is_valid_now()).order_by().values_list("holding__prefix", "public").iterator()
    return {same.get(prefix, prefix): public for prefix, public in rows}


def _read_forwards() -> dict[tuple[Address, str], list[KnownForward]]:
    found: dict[tuple[Address, str], list[KnownForward]] = defaultdict(list)
    for public, protocol, *values in PortForward.objects.filter(is_valid_now_or_later()).order_by().values_list(*_FORWARD):
        found[public, protocol].append(KnownForward(*values))
    return found
