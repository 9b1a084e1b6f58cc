"""How fast members may be through the uplink: by their tariffs, and who is limited now."""

from apps.deployments.desired_state.readers.blocks import touched_holdings
from apps.deployments.desired_state.readers.members import HELD
from apps.deployments.desired_state.readers.reader import Reading, network
from apps.network.models import GatewayGroup, Uplink
from firewall.policy import RateLimit

_OCTETS = "coalesce({of}.up_kbit, 0) * 125, coalesce({of}.down_kbit, 0) * 125"  # a second
_HELD = "h.kind IN ('private4', 'prefix6')"
_ONLY = "AND h.prefix = ANY(%(held)s::cidr[])"


def _limit(pk: int, prefix: str, up: int, down: int, expires: int = 0) -> RateLimit:
    return RateLimit(pk, network(prefix), up, down, expires)


TARIFFS = Reading(
    HELD.format(
        columns=f"t.id, h.prefix, {_OCTETS.format(of='t')}",
        join="JOIN members_tariff t ON t.id = m.tariff_id",
        where=f"{_HELD} AND (t.up_kbit IS NOT NULL OR t.down_kbit IS NOT NULL)",
        order="h.prefix",
    ),
    _ONLY,
    touched_holdings,
    _limit,
)
NOW = Reading(
    HELD.format(
        columns=f"r.id, h.prefix, {_OCTETS.format(of='r')},"
        " CASE WHEN upper_inf(r.valid) THEN 0 ELSE ceil(extract(epoch FROM upper(r.valid)))::bigint END",
        join="JOIN traffic_ratelimit r ON r.member_id = m.id",
        where=f"{_HELD} AND r.valid @> %(at)s::timestamptz",
        order="h.prefix",
    ),
    _ONLY,
    touched_holdings,
    _limit,
)


def switched_off(group: GatewayGroup) -> bool:
    """Is nobody's rate limited in this group?"""
    return Uplink.objects.filter(group=group, limits_rates=False).exists()
