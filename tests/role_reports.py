"""Reports of roles as two gateways with failover send them, stored as if they had been asked."""

from collections.abc import Mapping
from typing import Any

from django.db import connection
from django.utils import timezone

from apps.deployments.models import GatewayState, Revision
from apps.gateways.roles.observation import note_carriers, store_roles
from apps.network.models import Failover, GatewayGroup
from firewall.roles import FailoverRole, FamilyRole, RolesAre
from tests import factories

PRIMARY, STANDBY = FailoverRole.PRIMARY, FailoverRole.STANDBY


def set_up_failover(network: factories.Network) -> None:
    """Manage the failover of the group, whose nat-1 is preferred for IPv4; both gateways run the same revision."""
    Failover.objects.create(group=network.group, inside=["10.0.0.254/11"])
    revision = make_revision(network.group)
    for gateway in network.gateways:
        GatewayState.objects.update_or_create(gateway=gateway, defaults={"revision": revision})


def make_revision(group: GatewayGroup) -> Revision:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        return Revision.objects.create(group=group, snapshot=cursor.fetchone()[0])


def report(network: factories.Network, number: int, role: FailoverRole, **changes: Any) -> None:
    """Store what one gateway tells of IPv4."""
    since, carries = changes.pop("since", 1_800_000_000), changes.pop("carries", role is PRIMARY)
    four = FamilyRole(4, role, since, carries, changes.pop("is_drained", False))
    told: dict[str, Any] = {"elected_age": 0, "synchronised_age": 9, "tracked": 20_000}
    store_roles(network.gateways[number], RolesAre((four,), **(told | changes)), timezone.now())


def report_both(network: factories.Network, first: Mapping[str, Any] | None = None, other: Mapping[str, Any] | None = None) -> None:
    """Store reports of a carrier, nat-1, and its standby, with these changes."""
    for number, (role, changes) in enumerate(((PRIMARY, first), (STANDBY, other))):
        report(network, number, **{"role": role} | dict(changes or {}))
    note_carriers(network.group, timezone.now())
