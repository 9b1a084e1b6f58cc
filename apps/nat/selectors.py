"""Read queries for port forwards and NAT mappings."""

from collections.abc import Mapping
from datetime import datetime

from django.db import connection
from django.db.models import Count, F, Q, QuerySet

from apps.lib.database.validity import is_valid_now, is_valid_now_or_later
from apps.lib.fields import Address
from apps.lib.web.cached_rows import cache_rows
from apps.members.models import Member
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Pool

LOWEST_OFFERED = 1024


def list_forwards() -> QuerySet[PortForward]:
    """Return all current forwards, on or off, with what their rows show."""
    return PortForward.objects.filter(is_valid_now()).select_related("holding__member", "holding__device")


def list_member_forwards(member: Member) -> QuerySet[PortForward]:
    """Return the member's current forwards, by public port."""
    return list_forwards().filter(holding__member=member).order_by("protocol", "public_port")


def list_mappings() -> QuerySet[NatMapping]:
    """Return the current mappings of all holdings."""
    return NatMapping.objects.filter(is_valid_now()).select_related("holding", "pool")


@cache_rows
def list_cached_forwards(member: Member) -> QuerySet[PortForward]:
    """Return the same, read once for all parts of a page."""
    return list_member_forwards(member)


@cache_rows
def list_member_mappings(member: Member) -> QuerySet[NatMapping]:
    """Return the current mappings of the member's holdings, read once for all parts of a page."""
    found = NatMapping.objects.filter(is_valid_now(), holding__member=member).select_related("holding")
    return found.order_by("holding__prefix")


def list_member_public_addresses(member: Member) -> list[str]:
    """Return the public addresses that the member leaves as, each once."""
    return sorted({str(mapping.public) for mapping in list_member_mappings(member)})


def build_ports_filter(first: int, last: int) -> Q:
    """Return the filter for forwards of any of these public ports, both ends included."""
    return Q(public_port__lte=last, public_port__gt=first - F("ports"))


def find_overlapping_forward(public: Address, protocol: str, first: int, ports: int = 1) -> PortForward | None:
    """Return a forward that holds any of these public ports now or later."""
    held = PortForward.objects.filter(
        build_ports_filter(first, first + ports - 1), is_valid_now_or_later(), public=public, protocol=protocol
    )
    return held.select_related("holding__member").order_by("public_port", "id").first()


def find_free_port(public: Address, protocol: str, wanted: int, ports: int = 1) -> int | None:
    """Return the first port of a span of this length that is free now and later, from `wanted` on; if none is free there, from 1024 on."""
    query = """
        SELECT min(first) FROM (
            SELECT %(start)s::int AS first UNION ALL
            SELECT public_port + ports FROM nat_portforward WHERE public = %(public)s AND protocol = %(protocol)s
                AND public_port + ports >= %(start)s AND (upper_inf(valid) OR upper(valid) > now())
        ) candidates WHERE first + %(ports)s <= 65536 AND NOT EXISTS (
            SELECT FROM nat_portforward WHERE public = %(public)s AND protocol = %(protocol)s
            AND int4range(public_port, public_port + ports) && int4range(first, first + %(ports)s)
            AND (upper_inf(valid) OR upper(valid) > now()))
    """
    with connection.cursor() as cursor:
        for start in (wanted, LOWEST_OFFERED):
            cursor.execute(query, {"start": start, "public": str(public), "protocol": protocol, "ports": ports})
            port: int | None = cursor.fetchone()[0]
            if port:
                return port
    return None


def list_public_pools() -> QuerySet[Pool]:
    """Return the pools of public addresses."""
    return Pool.objects.filter(kind=Pool.Kind.PUBLIC4)


def list_leaving_as(public: Address, port: int | None = None) -> QuerySet[NatMapping]:
    """Return the current mappings to this public address, with this port or with any."""
    return _filter_by_port(NatMapping.objects.filter(is_valid_now(), public=public), port)


def list_mappings_at(public: Address, at: datetime, port: int | None = None) -> QuerySet[NatMapping]:
    """Return the mappings to this public address at that moment. With a port, those that can have used it: with blocks and own addresses,
    the mappings of one member.
    """
    return _filter_by_port(NatMapping.objects.filter(public=public, valid__contains=at), port)


def _filter_by_port(mappings: QuerySet[NatMapping], port: int | None) -> QuerySet[NatMapping]:
    some = mappings if port is None else mappings.filter(Q(block=None) | Q(block__contains=port))
    return some.select_related("holding__member").order_by("holding__prefix")


def list_forwards_at(public: Address, port: int, at: datetime) -> QuerySet[PortForward]:
    """Return the forwards of this public port at that moment: one per protocol, on or off."""
    led = PortForward.objects.filter(build_ports_filter(port, port), public=public, valid__contains=at)
    return led.select_related("holding__member").order_by("protocol")


def list_forwards_on_port(port: int, public: Address | None = None) -> QuerySet[PortForward]:
    """Return the current forwards of this public port, alone or in a range, on any or on this address."""
    found = list_forwards().filter(build_ports_filter(port, port))
    return found.filter(public=public) if public else found


def count_used_by_pool() -> Mapping[int, int]:
    """Return, by the id of the public pool, how many of its addresses are in use now; for a pool of blocks: how many members."""
    leaving = NatMapping.objects.filter(is_valid_now()).order_by().values_list("pool", "pool__sharing")
    counted = leaving.annotate(addresses=Count("public", distinct=True), members=Count("holding__member", distinct=True))
    return {pool: members if sharing == Pool.Sharing.BLOCKS else addresses for pool, sharing, addresses, members in counted}


def count_mapped_members(pool: Pool) -> int:
    """Return how many members leave from a public pool now."""
    return NatMapping.objects.filter(is_valid_now(), pool=pool).values("holding__member").distinct().count()


def count_members_by_address(pool: Pool) -> QuerySet[NatMapping, tuple[object, int]]:
    """Return the public addresses of a pool in use, and how many members leave as each, by address."""
    mapped = (
        NatMapping.objects.filter(is_valid_now(), pool=pool).values_list("public").annotate(number=Count("holding__member", distinct=True))
    )
    return mapped.order_by("public")


def count_public_by_pool() -> dict[int, int]:
    """Return how many public addresses are in use now, by the pool's id."""
    leaving = NatMapping.objects.filter(is_valid_now()).order_by().values_list("pool")
    return dict(leaving.annotate(number=Count("public", distinct=True)))
