"""Reading port forwards and NAT mappings."""

from collections.abc import Mapping
from datetime import datetime

from django.db import connection
from django.db.models import Count, Q, QuerySet

from apps.lib.fields import Address
from apps.lib.validity import holds_now
from apps.members.models import Member
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Pool

LOWEST_OFFERED = 1024


def forwards() -> QuerySet[PortForward]:
    """All forwards that hold now, on or off, with what their rows show."""
    return PortForward.objects.filter(holds_now()).select_related("holding__member", "holding__device")


def forwards_of(member: Member) -> QuerySet[PortForward]:
    """The member's forwards, by public port."""
    return forwards().filter(holding__member=member).order_by("protocol", "public_port")


def mappings() -> QuerySet[NatMapping]:
    """How every address leaves now."""
    return NatMapping.objects.filter(holds_now()).select_related("holding", "pool")


def mappings_of(member: Member) -> QuerySet[NatMapping]:
    """How the member's addresses leave."""
    return NatMapping.objects.filter(holds_now(), holding__member=member).select_related("holding").order_by("holding__prefix")


def public_addresses_of(member: Member) -> list[str]:
    """The public addresses the member leaves as, each once."""
    return sorted({str(mapping.public) for mapping in mappings_of(member)})


def holder_of_port(public: Address, protocol: str, port: int) -> PortForward | None:
    """The forward that holds a public port now or later."""
    held = PortForward.objects.filter(public=public, protocol=protocol, public_port=port, valid__isempty=False)
    return held.select_related("holding__member").order_by("-id").first()


def free_port(public: Address, protocol: str, wanted: int) -> int | None:
    """The next port from `wanted` on that nobody holds now; from 1024 when there is none above."""
    query = """
        SELECT min(port) FROM generate_series(%(start)s, 65535) AS port WHERE NOT EXISTS (
            SELECT FROM nat_portforward WHERE public = %(public)s AND protocol = %(protocol)s AND public_port = port
            AND (upper_inf(valid) OR upper(valid) > now()))
    """
    with connection.cursor() as cursor:
        for start in (wanted, LOWEST_OFFERED):
            cursor.execute(query, {"start": start, "public": str(public), "protocol": protocol})
            port: int | None = cursor.fetchone()[0]
            if port:
                return port
    return None


def public_pools() -> QuerySet[Pool]:
    """Pools that public addresses come from."""
    return Pool.objects.filter(kind=Pool.Kind.PUBLIC4)


def leaves_as(public: Address, port: int | None = None) -> QuerySet[NatMapping]:
    """Who leaves as this public address now, with this port or with any."""
    return _with_port(NatMapping.objects.filter(holds_now(), public=public), port)


def left_as(public: Address, at: datetime, port: int | None = None) -> QuerySet[NatMapping]:
    """Who left as this public address at that moment; with a port, who can have left with it: with blocks and own addresses one member."""
    return _with_port(NatMapping.objects.filter(public=public, valid__contains=at), port)


def _with_port(mappings: QuerySet[NatMapping], port: int | None) -> QuerySet[NatMapping]:
    some = mappings if port is None else mappings.filter(Q(block=None) | Q(block__contains=port))
    return some.select_related("holding__member").order_by("holding__prefix")


def port_led_to(public: Address, port: int, at: datetime) -> QuerySet[PortForward]:
    """Where this public port led at that moment: one forward per protocol, if it was on then or not."""
    led = PortForward.objects.filter(public=public, public_port=port, valid__contains=at)
    return led.select_related("holding__member").order_by("protocol")


def forwards_on_port(port: int, public: Address | None = None) -> QuerySet[PortForward]:
    """The forwards of this public port, on any or on this address."""
    found = forwards().filter(public_port=port)
    return found.filter(public=public) if public else found


def leaving_as_pools() -> Mapping[int, int]:
    """As how many addresses of each public pool somebody leaves now; of a pool of blocks, how many of these somebody has."""
    leaving = NatMapping.objects.filter(holds_now()).order_by().values_list("pool", "pool__sharing")
    counted = leaving.annotate(addresses=Count("public", distinct=True), members=Count("holding__member", distinct=True))
    return {pool: members if sharing == Pool.Sharing.BLOCKS else addresses for pool, sharing, addresses, members in counted}


def leaving_in(pool: Pool) -> QuerySet[NatMapping, tuple[object, int]]:
    """The addresses of a public pool and how many members leave as each, by address."""
    mapped = (
        NatMapping.objects.filter(holds_now(), pool=pool).values_list("public").annotate(number=Count("holding__member", distinct=True))
    )
    return mapped.order_by("public")
