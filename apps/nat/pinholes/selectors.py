"""Read queries for IPv6 pinholes."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.db.models import Count, F, Q, QuerySet

from apps.lib.database.validity import is_valid_now, is_valid_now_or_later
from apps.lib.fields import Address, Prefix
from apps.lib.web.cached_rows import cache_rows
from apps.members.models import Member
from apps.nat.pinholes.models import Pinhole
from apps.network.models import Holding, Pool
from apps.network.selectors import list_cached_holdings


def list_pinholes() -> QuerySet[Pinhole]:
    """Return all current pinholes, on or off, with what their rows show."""
    return Pinhole.objects.filter(is_valid_now()).select_related("holding__member", "holding__pool")


def list_member_pinholes(member: Member) -> QuerySet[Pinhole]:
    """Return the member's current pinholes, by address."""
    return list_pinholes().filter(holding__member=member).order_by("address", "protocol", "port", "id")


@cache_rows
def list_cached_pinholes(member: Member) -> QuerySet[Pinhole]:
    """Return the same, read once for all parts of a page."""
    return list_member_pinholes(member)


def list_member_prefixes(member: Member) -> list[Holding]:
    """Return the member's current IPv6 prefixes, the newest last. A prefix without a beginning comes first."""
    prefixes = [each for each in list_cached_holdings(member) if each.kind == Pool.Kind.PREFIX6]
    return sorted(prefixes, key=lambda each: (each.valid.lower or datetime.min.replace(tzinfo=UTC), each.pk))


def count_by_member(members: Sequence[int]) -> dict[int, int]:
    """Return how many pinholes each of these members has now; members without any are left out."""
    found = Pinhole.objects.filter(is_valid_now(), holding__member__in=members).order_by().values_list("holding__member")
    return dict(found.annotate(number=Count("pk")))


def list_pinholes_in(prefix: Prefix, port: int | None = None) -> QuerySet[Pinhole]:
    """Return the current pinholes of addresses in the prefix; with a port, those that let it in."""
    lets_in = Q() if port is None else _build_overlap_filter(port, 1)
    return list_pinholes().filter(lets_in, address__within=prefix).order_by("address", "protocol", "port")


def list_pinholes_on_port(port: int) -> QuerySet[Pinhole]:
    """Return the current pinholes that name this port, alone or in a range."""
    return list_pinholes().filter(build_port_filter(port)).order_by("address", "protocol", "port")


def build_port_filter(port: int, ports: int = 1) -> Q:
    """Return the filter for pinholes that name one of these ports; pinholes of all ports do not match."""
    return _build_overlap_filter(port, ports) & ~Q(port=0)


def find_overlapping(address: Address, protocol: str, port: int, ports: int, *, but: int | None = None) -> Pinhole | None:
    """Return a pinhole that opens a part of this now or later."""
    same = Q() if protocol == Pinhole.Protocol.ALL else Q(protocol__in=[protocol, Pinhole.Protocol.ALL])
    found = Pinhole.objects.filter(is_valid_now_or_later(), same, _build_overlap_filter(port, ports), address=address)
    found = found.exclude(pk=but) if but else found
    return found.select_related("holding__member").order_by("port", "id").first()


def _build_overlap_filter(port: int, ports: int) -> Q:
    return Q(port__lt=port + ports, port__gt=port - F("ports"))
