"""Virtual addresses of failover among the addresses of members: no member can get one, and no pool gives it."""

from ipaddress import ip_network

from django.utils.translation import gettext as _

from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.network.kept_free import is_kept_free
from apps.network.models import Failover, GatewayGroup, Pool


def find_failover_with(address: Address, *, besides: GatewayGroup | None = None) -> Failover | None:
    """Return the failover of another group than `besides` that has this virtual address. There is one row for each group at most."""
    rows = Failover.objects.select_related("group").exclude(group=besides)
    return next((row for row in rows if any(each.ip == address for each in row.addresses)), None)


def can_be_assigned(pool: Pool, address: Address) -> bool:
    """True if a member can get the address from this pool, which may be out of service for the moment."""
    if pool.kind == Pool.Kind.PUBLIC4 or address not in pool.prefix:
        return False
    ends = (pool.prefix.network_address, pool.prefix.broadcast_address)
    if address.version == 4 and pool.prefix.prefixlen < 31 and address in ends:
        return False
    return not is_kept_free(pool, ip_network((str(address), pool.member_length), strict=False))


def refuse_virtual_addresses(pool: Pool) -> None:
    """Raise Problem if the pool would give a virtual address to members."""
    for row in Failover.objects.select_related("group"):
        for each in row.addresses:
            if can_be_assigned(pool, each.ip):
                words = _("%(address)s is a virtual address of the gateways of %(group)s. Keep it free here.")
                raise Problem(words % {"address": each.ip, "group": row.group}, "kept", offer=str(each.ip), culprit=row)
